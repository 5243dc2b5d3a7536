#!/usr/bin/env python3
"""cli_test.py --drdebug DRDEBUG --work DIR CASE - `drdebug trace` and `drdebug slice` as a user meets them.

SPDX-License-Identifier: MIT

The programs in this folder mark their lines: /* ROOT CAUSE */, /* CRITERION */, /* UNRELATED */ and so on. They are made
by gcc at -O0 and at -Og, recorded, and sliced; expectations are found by marker.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = ["-O0", "-Og"]


class Run:
    """A recording of a subject, and slices of it. Libraries and their debug information are most of the work, and the same
    in each: only what is made at -Og has them, and what is to be loaded."""

    def __init__(self, test, name, *flags, program=None, lines=True, argument="input", loaded=False):
        self.test, self.name, self.source = test, name, os.path.join(HERE, name + ".c")
        stem = (program or name) + "".join(flags)
        self.dir = stem + ".pinball"
        debug = ["-g"] if lines else []
        link = [] if loaded or "-Og" in flags else ["-static"]
        subprocess.run(["gcc", *debug, "-w", "-pthread", *link, *flags, "-o", stem, self.source], check=True)
        shutil.rmtree(self.dir, ignore_errors=True)
        with open("input", "w") as f:
            f.write("t")
        subprocess.run([test.drdebug, "record", "-q", "-o", self.dir, "--", "./" + stem, argument], timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def line(self, marker):
        with open(self.source) as f:
            found = [n for n, text in enumerate(f, 1) if f"/* {marker} */" in text]
        assert len(found) == 1, (self.source, marker, found)
        return found[0]

    def at(self, marker):
        return f"{self.name}.c:{self.line(marker)}"

    def slice(self, *words):
        """The slice as JSON."""
        done = self.test.call("slice", self.dir, "--json", *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def check_lines(self, what, result, there=(), not_there=()):
        have = {row["line"] for row in result["lines"] if row["file"] and row["file"].endswith(self.name + ".c")}
        for marker in there:
            self.test.check(f"{self.dir}: {what}: {marker} is in the slice", self.line(marker) in have, True)
        for marker in not_there:
            self.test.check(f"{self.dir}: {what}: {marker} is in the slice", self.line(marker) in have, False)


class Test:
    def __init__(self, args):
        self.drdebug, self.checks, self.failures = args.drdebug, 0, []

    def check(self, what, have, want):
        self.checks += 1
        if have != want:
            self.failures.append(f"{what}: {have!r}, expected {want!r}")

    def call(self, *arguments):
        return subprocess.run([self.drdebug, *arguments], capture_output=True, text=True, timeout=60, check=False)

    def expect(self, status, out, err, *arguments):
        """Status, and patterns that must be found in both outputs."""
        done = self.call(*arguments)
        self.check(f"{arguments}: status ({done.stderr})", done.returncode, status)
        self.check(f"{arguments}: prints {out!r} in {done.stdout!r}", bool(re.search(out, done.stdout)), True)
        self.check(f"{arguments}: says {err!r} in {done.stderr!r}", bool(re.search(err, done.stderr)), True)
        return done

    def runs(self, name, **options):
        for level in LEVELS:
            yield Run(self, name, level, **options)


# ---- slices ----


def atomic(test):
    """Another thread's write between two lines that were meant to be one."""
    for run in test.runs("atomic"):
        for what, words in (("k", ["k", "at", run.at("CRITERION")]), ("failure", ["--at", "failure"])):
            result = run.slice(*words)
            run.check_lines(what, result, there=["ROOT CAUSE"])
            cause = [n for n, row in enumerate(result["lines"]) if row["line"] == run.line("ROOT CAUSE")]
            across = [e for e in result["edges"] if e["on"] in cause and e["across_threads"]]
            test.check(f"{run.dir}: {what}: edges across threads", {e["what"] for e in across} >= {"x"}, True)
        text = test.call("slice", run.dir, "--at", "failure", "--full").stdout
        test.check(f"{run.dir}: the text tells who read it: {text}",
                   bool(re.search(r"ROOT CAUSE.*data +x, read by T\d", text)), True)


def jumps(test):
    """A switch that is a table of jumps."""
    for run in test.runs("jumps"):
        result = run.slice("result", "at", run.at("CRITERION"))
        run.check_lines("result", result, there=["SWITCH", "READ"], not_there=["UNRELATED"])
        brought = {result["lines"][row["line"]]["line"] for row in result["story"] if row["how"] == "came from outside"}
        test.check(f"{run.dir}: what came from outside", brought & {run.line("READ"), run.line("SWITCH")}, {run.line("READ")})
        result = run.slice("--data", "result", "at", run.at("CRITERION"))
        run.check_lines("result by data", result, not_there=["SWITCH", "READ", "UNRELATED"])


def saved(test):
    """A register that is saved and restored is looked through."""
    for run in test.runs("saved"):
        words = ["result", "at", run.at("CRITERION")]
        run.check_lines("result", run.slice(*words), there=["SOURCE"], not_there=["BRANCH", "READ"])
        run.check_lines("no pruning", run.slice("--no-prune", *words), there=["SOURCE", "BRANCH", "READ"])


def failure(name, there):
    def case(test):
        for run in test.runs(name):
            result = run.slice("--at", "failure")
            run.check_lines("failure", result, there=there, not_there=["UNRELATED"] if name != "twice" else [])
            row = result["lines"][0]
            test.check(f"{run.dir}: the criterion comes first", (row["criterion"], row["line"]),
                       (True, run.line("FAILS" if name == "wrong" else "CRASH")))
    return case


def ends(test):
    """Other ends than those of a line of its own: in a library, by a call, a trap, a smashed stack."""
    for how, there in (("library", "NO NAME"), ("call", "NO FUNCTION"), ("smash", "SMASHED"), ("trap", None),
                       ("raise", None)):
        run = Run(test, "ends", "-O0", "-fstack-protector-all", program=how, argument=how)
        result = run.slice("--at", "failure")
        test.check(f"{how}: where", (result["criterion"]["line"], result["criterion"]["thread"]),
                   (run.line("CRASH " + how), 2))
        run.check_lines(how, result, there=[there] if there else [])
    run = Run(test, "ends", "-O0", program="exits", argument="3")
    result = run.slice("--at", "failure")
    test.check("a status", (result["criterion"]["what"], result["criterion"]["note"]), ("the status", "exit status 3"))
    run.check_lines("a status", result, there=["STATUS"])
    run = Run(test, "ends", "-O0", program="ends_well", argument="0")
    test.expect(1, r"\A\Z", "the program did not fail; say what the slice is of", "slice", run.dir, "--at", "failure")
    test.check("said before a trace is made", os.path.exists(f"{run.dir}/trace"), False)


# ---- criteria ----


def criteria(test):
    run = Run(test, "wrong", "-O0")
    sum_line = run.at("SUM")
    whole = run.slice("sum", "at", sum_line)
    run.check_lines("sum", whole, there=["ROOT CAUSE", "ADD"], not_there=["UNRELATED"])
    test.check("one argument or several", run.slice(f"sum at {sum_line}"), whole)
    test.check("%eax is what the function returned", run.slice("%eax", "at", sum_line)["lines"][1:],
               whole["lines"][1:])
    thin = run.slice("--thin", "sum", "at", sum_line)
    test.check("a thin slice is smaller", thin["instructions"] < whole["instructions"], True)

    second = run.slice("uses", "of", run.at("ADD"), "--instance", "2")
    last = run.slice("uses", "of", run.at("ADD"))
    test.check("uses of an instance", second["instructions"] < last["instructions"], True)
    run.check_lines("uses", second, there=["ROOT CAUSE"])
    position = last["lines"][0]["first"]
    here = run.slice("sum", "at", position)
    test.check("a position is a place", here["criterion"]["position"], position)
    test.check("the position's slice", here["instructions"] < last["instructions"], True)

    wrote = run.slice("last", "write", "of", "table")
    test.check("last write", (wrote["lines"][0]["line"], wrote["lines"][0]["criterion"]),
               (run.line("ROOT CAUSE"), True))
    flow = [e for e in last["edges"] if e["what"].startswith("table")]
    address = min(int(e["address"], 16) for e in flow)
    memory = run.slice(hex(address), "4", "at", "end")
    run.check_lines("memory", memory, there=["ROOT CAUSE"], not_there=["ADD"])
    gone = Run(test, "gone", "-O1")
    result = gone.slice("n", "at", gone.at("LAST"))
    gone.check_lines("n", result, there=["CHANGED"])
    test.check("a variable that is gone behind the line", result["criterion"]["note"],
               "before the line: it has no place behind it")
    test.check("symbols work at the end", run.slice("table", "at", "end")["instructions"] > 0, True)


    both = run.slice("sum,", f"{hex(address)} 4", "at", sum_line)
    run.check_lines("several", both, there=["ROOT CAUSE", "ADD"])
    test.check("several are more than one", both["instructions"] >= whole["instructions"], True)
    pc = [int(row["first"].split(":")[2], 16) for row in last["lines"] if row["line"] == run.line("ADD")][0]
    there = run.slice("sum", "at", f"*{pc:#x}")
    behind = run.slice("sum", "at", f"*{pc:#x}", f"*{pc + 23:#x}")
    test.check("behind a range", behind["instructions"] > there["instructions"], True)
    test.check("a range is a place", behind["criterion"]["line"], run.line("ADD"))


def steps(test):
    """Statements in order: every row's first and last are there, and no position twice."""
    for run in (Run(test, "wrong", "-O0"), Run(test, "atomic", "-Og")):
        result = run.slice("--at", "failure", "--steps")
        places = [step["position"] for step in result["steps"]]
        test.check(f"{run.dir}: once each", len(set(places)), len(places))
        for n, row in enumerate(result["lines"]):
            if row["own"] and row["instances"]:
                mine = [step["position"] for step in result["steps"] if step["line"] == n]
                test.check(f"{run.dir}: {row['line']}: the first", mine[:1], [row["first"]])
                test.check(f"{run.dir}: {row['line']}: of its thread",
                           {place.split(":")[0] for place in mine}, {f"T{row['thread']}"})
    result = Run(test, "wrong", "-O0").slice("--thin", "--at", "failure", "--steps")
    adds = [n for n, row in enumerate(result["lines"]) if row["line"] == run.line("FAILS")]
    test.check("steps are executions", len(result["steps"]) > len(result["lines"]) and not adds[1:], True)


def output(test):
    run = Run(test, "wrong", "-O0")
    done = test.expect(0, r"\Acriterion  T1 wrong.c:\d+  the branch that led here, SIGABRT\n"
                          r"slice      \d+ of \d+ instructions, \d+ lines, 1 thread\n"
                          r"  T1 wrong.c:\d+ +assert\(sum == 140\); /\* FAILS \*/ +criterion\n"
                          r"  T1 :\d+ +sum = total\(8\); /\* SUM \*/ +data +sum\n", r"\A\Z",
                       "slice", run.dir, "--at", "failure", "--full")
    rows = len([line for line in done.stdout.split("\n") if line.startswith("  T1")])
    short = test.expect(0, rf"\.\.\. {rows - 2} more lines; `--lines {rows}`", "", "slice", run.dir, "--at", "failure",
                        "--full", "--lines", "2")
    test.check("--lines 2", short.stdout.count("\n  T1"), 2)
    test.expect(0, r"\Acriterion  T1 .*\nstory\n  T1 wrong.c:\d+ +assert\(.*criterion\n(  T1 .*\n)*"
                   r"  T1 \S+ .*ROOT CAUSE.*\n(  T1 .*\n)*slice      \d+ of ", r"\A\Z", "slice", run.dir, "--at", "failure")
    result = run.slice("--at", "failure", "--all")
    test.check("--all lists every node", len(result["nodes"]), result["instructions"])
    done = test.expect(0, r"\n  T1:\d+:[0-9a-f]+ +wrong.c:\d+ in total", "", "slice", run.dir, "--at", "failure", "--all")
    test.check("--all prints every node", done.stdout.count("\n  T1:"), result["instructions"])
    for row in result["lines"]:
        if row["instances"]:
            done = test.call("replay", "-q", "--until", row["last"], run.dir)
            test.check(f"{row['last']} is a position: {done.stderr}", done.returncode, 0)
            break
    test.expect(0, "criterion\nNothing that was executed made it.\n", "", "slice", run.dir, "0x10", "8", "at", "end")
    test.check("the text is that of the recording", "changed " in test.call("slice", run.dir, "--at", "failure").stdout, False)
    os.utime(f"{run.dir}/head", (1, 1))
    test.expect(0, r"\nchanged    wrong.c since this was recorded: ", "", "slice", run.dir, "--at", "failure")


def findings(test):
    """What facts say of the slice's lines is above the story, and marked in it; a right program has nothing."""
    run = Run(test, "overflow", "-O0")
    test.expect(0, rf"\Acriterion .*\nfindings\n  T1 {run.at('ROOT CAUSE')}  overflow: writes 1 byte at 0 bytes behind the end of a "
                   r"block of 24 that overflow.c:\d+ \(T1\) allocated\nstory\n", r"\A\Z", "slice", run.dir, "--at", "failure")
    result = run.slice("--at", "failure")
    test.check("kinds", [found["kind"] for found in result["findings"]], ["overflow"])
    marked = {result["lines"][row["line"]]["line"] for row in result["story"] if row["mark"]}
    test.check("marks", marked, {run.line("ROOT CAUSE")})
    right = Run(test, "forward", "-O0")
    test.check("a right program", right.slice("last", "at", right.at("DECIDES"))["findings"], [])
    beside = Run(test, "beside", "-O0")
    result = beside.slice("seen", "at", "end")
    test.check("of the memory of a row", [(f["kind"], result["lines"][f["line"]]["line"]) for f in result["findings"]],
               [("lost update", beside.line("ROOT CAUSE"))])
    passed = Run(test, "passed", "-O0")
    missed = passed.slice("result", "at", passed.at("CRITERION"))["missed"]
    test.check("what did not happen", (missed[0]["how"], missed[0]["line"], missed[0]["words"]),
               ("led past", passed.line("PASSES"), f":{passed.line('PASSED')}, 2 times"))
    test.check("what that came from", missed[1]["line"], passed.line("CAUSE"))
    test.expect(0, r"\nmissed\n  T1 passed.c:\d+ +if .* led past +:\d+, 2 times\n", "", "slice", passed.dir, "result", "at",
                passed.at("CRITERION"))
    test.check("thin slices tell nothing of it", passed.slice("--thin", "result", "at", passed.at("CRITERION"))["missed"], [])


def cached_traces():
    """Without what is kept beside them."""
    return [name for name in os.listdir("cache/drdebug") if name.endswith(".trace")]


def read(path):
    with open(path) as f:
        return f.read()


def files(test):
    run = Run(test, "wrong", "-O0")
    test.expect(0, "criterion", r"\A\Z", "slice", run.dir, "--at", "failure", "--sum", "a.sum", "--dep", "a.dep", "--dot",
                "a.dot", "--html", "a.html")
    cause, add = run.line("ROOT CAUSE"), run.line("ADD")
    every = "".join(f" 1:{n}" for n in range(1, 9))
    test.check("statements have their instances", f"wrong.c:{add} #{every}\n" in read("a.sum"), True)
    dependences = re.findall(rf"^1 \S+/wrong.c:{add} (\d) <- 1 \S+/wrong.c:{cause} (\d)  0x[0-9a-f]+ 4$", read("a.dep"),
                             re.MULTILINE)
    test.check("each sum has its number", dependences, [(str(n), str(n)) for n in range(1, 9)])
    lines = read("a.dep").split("\n")
    test.check("each dependence is there once", len(lines), len(set(lines)))
    test.check("a graph", bool(re.search(r'^digraph .*n\d+ -> n\d+ \[label="table\[\d\]"\].*^}$', read("a.dot"),
                                         re.MULTILINE | re.DOTALL)), True)
    page = read("a.html")
    ids, links = set(re.findall(r'id="([^"]+)"', page)), set(re.findall(r'href="#([^"]+)"', page))
    test.check("links lead somewhere", links - ids, set())
    test.check("an id is there once", len(re.findall(r' id="[^"]+"', page)), len(ids))
    test.check("the line is marked", bool(re.search(rf'class="line in" data-r="[^"]+"><summary><span>{cause}</span>.*ROOT CAUSE',
                                                    page)), True)
    test.check("text is escaped", "i &lt; 8" in page and "i < 8" not in page.partition("<script>")[0], True)
    test.expect(1, r"\A\Z", "none/a.dot: No such file", "slice", run.dir, "--at", "failure", "--dot", "none/a.dot")


def traces(test):
    run, other = Run(test, "wrong", "-O0", loaded=True), Run(test, "divide", "-O0")
    test.expect(0, r"\Awrong-O0.pinball: trace of \d+ k instructions, [\d.]+ k blocks executed, 1 thread, [\d.]+ KiB\n\Z",
                r"\A\Z", "trace", run.dir)
    before = os.stat(f"{run.dir}/trace").st_mtime_ns
    test.expect(0, "slice ", "", "slice", run.dir, "--at", "failure")
    test.check("the trace is used again", os.stat(f"{run.dir}/trace").st_mtime_ns, before)
    test.expect(0, "trace of", "", "trace", "-o", "some.trace", run.dir)
    test.expect(0, "SIGABRT", "", "slice", run.dir, "--trace", "some.trace", "--at", "failure")
    test.expect(1, "", "some.trace: not a trace of divide-O0.pinball", "slice", other.dir, "--trace", "some.trace",
                "--at", "failure")
    with open("some.trace", "r+b") as f:
        f.truncate(1000)
    test.expect(1, "", "some.trace: ", "slice", run.dir, "--trace", "some.trace", "--at", "failure")
    test.expect(1, "", "input: not a trace", "slice", run.dir, "--trace", "input", "--at", "failure")
    test.expect(1, "", "typo.trace: there is no such trace", "slice", run.dir, "--trace", "typo.trace", "--at", "failure")
    test.check("a trace that was only named is made", os.path.exists("typo.trace"), False)
    shutil.copy("some.trace", f"{run.dir}/trace")
    test.expect(0, "SIGABRT", "", "slice", run.dir, "--at", "failure")

    os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
    shutil.rmtree("cache", ignore_errors=True)
    if os.path.exists("packed"):
        os.remove("packed")
    test.expect(0, "", "", "pack", "-o", "packed", run.dir)
    whole = json.loads(test.call("slice", "packed", "--json", "--at", "failure").stdout)
    test.check("a packed pinball's trace is in the cache", len(cached_traces()), 1)
    test.check("a packed pinball", whole, run.slice("--at", "failure"))
    start = [row for row in whole["lines"] if row["line"] == run.line("SUM")][0]["first"]
    window = run.slice("--at", "failure", "--window", f"{start}..")
    test.check("a window is smaller", window["total"] < whole["total"] // 10, True)
    run.check_lines("window", window, there=["ADD"], not_there=["ROOT CAUSE"])
    test.expect(1, "", r"never reached in this window", "slice", run.dir, "--window", f"{start}..",
                "uses", "of", run.at("ROOT CAUSE"))


def kept(test):
    run = Run(test, "wrong", "-O0")
    test.expect(0, r"\A\Z", r"\A\Z", "slice", run.dir, "--list")
    first = test.expect(0, "criterion", "", "slice", run.dir, "--at", "failure", "-o", "why")
    test.expect(0, "criterion", "", "slice", run.dir, "--thin", "sum", "at", run.at("SUM"), "-o", "sum")
    test.expect(0, r"\Asum  \d+ of \d+ instructions  sum at wrong.c:\d+\nwhy  \d+ of \d+ instructions  failure\n\Z", "",
                "slice", run.dir, "--list")
    test.check("shown as it was", test.call("slice", run.dir, "--show", "why").stdout, first.stdout)
    test.expect(1, "", "why: there is a slice of this name", "slice", run.dir, "--at", "failure", "-o", "why")
    test.expect(0, "", "", "verify", run.dir)
    test.expect(0, r"\A\Z", r"\A\Z", "slice", run.dir, "--delete", "why")
    test.expect(1, "", "why: no slice of this name", "slice", run.dir, "--delete", "why")
    test.expect(1, "", "why: no slice of this name", "slice", run.dir, "--show", "why")
    test.expect(1, "", "../trace: a slice's name", "slice", run.dir, "--delete", "../trace")
    with open(f"{run.dir}/slices/sum", "r+b") as f:
        f.seek(200)
        f.write(b"?")
    test.expect(1, "", "slices/sum: chunk 0: ", "slice", run.dir, "--show", "sum")


def versions(test):
    """What another drdebug left behind is made again, or refused if the user named it; it is never misread."""
    def other(path, *version):
        done = subprocess.run([os.environ["OTHER_VERSION"], path, *version], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    run = Run(test, "wrong", "-O0")
    first = test.expect(0, "SIGABRT", "", "slice", run.dir, "--at", "failure", "-o", "why").stdout
    ours = other(f"{run.dir}/trace", "99")
    test.check("it is of that version now", other(f"{run.dir}/trace"), "99")
    def shown(text):
        return [row for row in text.splitlines() if not row.startswith("again ")]

    test.check("a slice is the same", shown(test.call("slice", run.dir, "--at", "failure").stdout), shown(first))
    test.check("the trace was made again", other(f"{run.dir}/trace"), ours)

    test.expect(0, "trace of", "", "trace", "-o", "some.trace", run.dir)
    other("some.trace", "99")
    test.expect(1, r"\A\Z", f"some.trace: a trace of version 99, this drdebug reads version {ours}; .* makes it again",
                "slice", run.dir, "--trace", "some.trace", "--at", "failure")
    test.check("what the user named is left alone", other("some.trace"), "99")

    os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
    test.expect(0, "", "", "pack", "-o", "packed", run.dir)
    test.expect(0, "SIGABRT", "", "slice", "packed", "--at", "failure")
    [cached] = cached_traces()
    other(f"cache/drdebug/{cached}", "1")
    test.expect(0, "SIGABRT", "", "slice", "packed", "--at", "failure")
    test.check("the cached trace was made again", other(f"cache/drdebug/{cached}"), ours)

    other(f"{run.dir}/slices/why", "99")
    refused = "slices/why: a slice of version 99, this drdebug reads version 1; delete it and make it again"
    test.expect(1, r"\A\Z", refused, "slice", run.dir, "--show", "why")
    test.expect(1, r"\A\Z", refused, "slice", run.dir, "--list")
    other(f"{run.dir}/slices/why", "none")
    told = test.call("slice", run.dir, "--show", "why").stdout
    test.check("the first ones did not say", told.splitlines()[:-1], first.splitlines()[:-1])


def no_lines(test):
    """Without debug information: by function and offset."""
    run = Run(test, "divide", "-O1", program="plain", lines=False)
    test.expect(0, r"\Acriterion  T1 main\+0x[0-9a-f]+ in plain-O1  divisor %e.x, SIGFPE\n.*\n"
                   r"  T1  main\+0x[0-9a-f]+ in plain-O1 +criterion\n", "", "slice", run.dir, "--at", "failure", "--full")
    test.expect(0, "people", "", "slice", run.dir, "people", "at", "end")
    test.expect(1, "", "divide.c: no ", "slice", run.dir, "n", "at", "divide.c:3")


def shared(test):
    """Lines of optimised code whose statements begin where those of others do."""
    for level in ("-O1", "-O2", "-O3"):
        run = Run(test, "shared", level)
        for marker in ("HEAD", "ADD"):
            test.expect(1, "", "was reached 10 times: there is no instance 11", "slice", run.dir, "head", "at",
                        run.at(marker), "--instance", "11")
        for instance in ("1", "7", "10"):
            result = run.slice("head", "at", run.at("HEAD"), "--instance", instance)
            run.check_lines("head", result, there=["MADE"], not_there=["SUM"])
        run.check_lines("key", run.slice("n->key", "at", run.at("KEY"), "--thin"), there=["KEY"], not_there=["SUM"])
        run.check_lines("cold", run.slice("head->key", "at", run.at("COLD")), there=["KEY", "HEAD"])
        failed = test.call("slice", run.dir, "uses", "of", run.at("HEAD"))
        test.check(f"{run.dir}: uses: {failed.stderr}", failed.returncode == 0 or
                   "left no instruction of this line where it is reached" in failed.stderr, True)


def end_row(test):
    """A row of the line table that has no bytes ends with its function: what comes behind is none of that line."""
    text = subprocess.run(["gcc", "-g", "-O2", "-w", "-fno-inline", "-fno-pie", "-S", "-o", "-",
                           os.path.join(HERE, "shared.c")], capture_output=True, text=True, check=True).stdout
    start = text.index("\nmain:")
    end = text.index("\t.cfi_endproc", start)
    with open("end_row.s", "w") as f:
        f.write(f"{text[:end]}\t.loc 1 3 1 is_stmt 0 view .LVUend\n{text[end:]}")
    subprocess.run(["gcc", "-no-pie", "-o", "end_row", "end_row.s"], check=True)
    symbols = subprocess.run(["nm", "end_row"], capture_output=True, text=True, check=True).stdout
    start = re.search(r"^0*(\w+) T _start$", symbols, re.MULTILINE)[1]
    test.call("record", "-q", "-o", "end_row.pinball", "--", "./end_row", "input")
    found = test.call("slice", "end_row.pinball", "%rdx", "at", f"*0x{start}", "--json")
    criterion = json.loads(found.stdout)["criterion"]
    test.check("a line of what comes behind the function", (criterion["file"], criterion["line"]), (None, 0))


def vectors(test):
    """Variables in vector registers, as wide as this machine has them."""
    with open("/proc/cpuinfo") as f:
        cpu = f.read().split()
    hidden = re.search(r"cpu=([23])", os.environ.get("DRDEBUG_ENGINE", ""))  # from what is recorded: an older CPU
    shown = int(hidden[1]) if hidden else 4
    for flag, width, there, level in (("-mavx", 32, "avx", 3), ("-mavx512f", 64, "avx512f", 4)):
        if there not in cpu or level > shown:
            continue
        run = Run(test, "vectors", "-O2", flag, f"-DVECTOR_BYTES={width}")
        result = run.slice("vector", "at", run.at("AT"), "--thin", "--values")
        run.check_lines("vector", result, there=["LOW", "HIGH"])
        wants = result["criterion"]["wants"]
        test.check(f"{run.dir}: all of it is wanted", [w.get("register") for w in wants],
                   ["ymm0"] if width == 32 else ["zmm20"])
        part = run.slice(f"vector[{width // 4 - 2}]", "at", run.at("AT"), "--thin")["criterion"]["wants"]
        test.check(f"{run.dir}: an element", [w.get("register") for w in part],
                   [f"{wants[0]['register']}[{width - 8}..{width - 5}]"])
        if width == 64:
            test.expect(2, "", "it has 16 elements", "slice", run.dir, "vector[16]", "at", run.at("AT"))
        values = [e["value"] for e in result["edges"] if e["what"] == "vector"]
        test.check(f"{run.dir}: its value is known", [v.startswith("{00 00 00 00 00 00 80 3f") for v in values], [True])
    test.check("a machine without AVX", True, True)


def bad_input(test):
    run = Run(test, "wrong", "-O0")
    sum_line = run.at("SUM")
    for err, *words in (
            ("nosuch: no such variable .*\nhint: ", "nosuch", "at", sum_line),
            ("wrong.c:1 has no code; the next line with code is \\d+", "sum", "at", "wrong.c:1"),
            ("wrong.c:9999: there is no code", "sum", "at", "wrong.c:9999"),
            ("was reached 8 times: there is no instance 9", "sum", "at", run.at("ADD"), "--instance", "9"),
            ("reached by thread 7|no thread 7", "sum", "at", sum_line, "--thread", "7"),
            ("there is no thread 7", "table", "at", "end", "--thread", "7"),
            ("no such source file; there are wrong.c", "sum", "at", "rong.c:3"),
            ("no such source file; there are wrong.c", "sum", "at", "xyz.c:3"),
            ("T1:1:123 is not in the trace", "sum", "at", "T1:1:123"),
            ("was never written", "last", "write", "of", "0x10", "8")):
        test.expect(1, r"\A\Z", err, "slice", run.dir, *words)
    for err, *words in (
            ("no criterion given", ), ("%foo: no such register", "%foo", "at", "end"),
            ("0x1234: how many bytes", "0x1234", "at", "end"), ("a criterion is", "a", "b", "c", "d"),
            ("--at begin: only", "--at", "begin"), ("--lines 0: not a number", "--lines", "0", "sum", "at", "end"),
            ("thread 0: threads have numbers from 1 on", "sum", "at", sum_line, "thread", "0"),
            ("thread 0: threads have", "sum", "at", sum_line, "frame", "1", "thread", "0"),
            ("`thread` is said twice", "table", "at", "end", "thread", "1", "thread", "1"),
            ("`frame` is said twice", "sum at end frame 7 frame 7"),
            ("`frame` is said twice", "sum", "at", sum_line, "frame", "1", "thread", "1", "frame", "0"),
            ("thread 0: threads have", "sum", "at", sum_line, "--prune", f"table at {sum_line} thread 0"),
            ("a comma is between", "sum,", "at", "end"), ("\\*x: not an address", "sum", "at", "*0x401000", "*x"),
            ("a window is FROM..TO", "--window", "x", "sum", "at", "end"),
            ("goes beyond the end of memory", "0xffffffffffffffff", "8", "at", "end"),
            ("--steps goes with --json", "--steps", "sum", "at", "end"),
            ("ends before it begins", "--window", "T1:9:401000..T1:8:401000", "sum", "at", "end"), ("--frob: unknown option", "--frob"),
            ("is another one", "--at", "failure", "sum", "at", "end"), ("take no criterion", "--list", "sum")):
        test.expect(2, r"\A\Z", err, "slice", run.dir, *words)
    test.expect(1, "", "none: No such file", "slice", "none", "--at", "failure")
    exits = Run(test, "jumps", "-O0")
    test.expect(1, "", "the program did not fail; say what", "slice", exits.dir, "--at", "failure")
    gone = Run(test, "jumps", "-O2")
    test.expect(1, "", r"optimized out.*\nhint: `uses of|is a constant here", "slice", gone.dir, "unrelated", "at",
                gone.at("CRITERION"))


# ---- the other way, and less ----


def shown(result, name):
    return {(row["thread"], row["line"]) for row in result["lines"]
            if row["file"] and row["file"].endswith(name) and row["instances"]}


def forward(test):
    """What a value led to, in another thread, too; and what it did not."""
    for run in test.runs("forward"):
        words = ["seed", "at", run.at("SEED")]
        result = run.slice("--forward", *words)
        test.check(f"{run.dir}: kind", result["kind"], "forward")
        run.check_lines("seed", result, there=["READS", "LOOP", "SCALED", "RESULT", "DECIDES", "CRASH"],
                        not_there=["OTHER", "UNRELATED", "TEXT", "FACTOR"])
        rows = result["lines"]
        test.check(f"{run.dir}: the criterion comes first", (rows[0]["criterion"], rows[0]["line"]),
                   (True, run.line("SEED")))
        distance = {row["line"]: row["distance"] for row in rows if row["file"] and "distance" in row}
        test.check(f"{run.dir}: nearer lines come first",
                   0 < distance[run.line("READS")] < distance[run.line("RESULT")] < distance[run.line("CRASH")], True)
        test.check(f"{run.dir}: ordered", [row.get("distance", 1 << 32) for row in rows],
                   sorted(row.get("distance", 1 << 32) for row in rows))
        reads = [n for n, row in enumerate(rows) if row["line"] == run.line("READS")][0]
        edge = result["edges"][rows[reads]["edge"]]
        test.check(f"{run.dir}: what came to it", (edge["line"], edge["on"], edge["what"], edge["kinds"][0]),
                   (reads, 0, "seed", "data"))
        back = run.slice("uses", "of", run.at("DECIDES"))
        run.check_lines("the way back", back, there=["SEED", "READS"], not_there=["OTHER", "UNRELATED"])
        test.expect(0, r"\Acriterion  T1 forward.c:\d+  seed\nforward    \d+ of \d+ instructions, \d+ lines, 2 threads\n"
                       r"  T1 forward.c:\d+ .*SEED \*/ +criterion\n  T2 :\d+ .*READS \*/ +data +seed\n", r"\A\Z",
                    "slice", run.dir, "--forward", *words)
        line = run.slice("--forward", "uses", "of", run.at("OTHER"))
        run.check_lines("a line", line, there=["OTHER", "UNRELATED"], not_there=["READS", "DECIDES", "TEXT"])
        copied = run.slice("--forward", "--data", "text", "at", run.at("TEXT"))
        run.check_lines("copied bytes", copied, there=["COPY", "LAST"], not_there=["UNRELATED", "DECIDES"])
        every = run.slice("--forward", "--all", *words)
        test.check(f"{run.dir}: --all", len(every["nodes"]), every["instructions"])
        test.check(f"{run.dir}: nodes say how they depend", all(node["kinds"] for node in every["nodes"]), True)
        test.expect(0, r"\nNothing depends on it.\n", "", "slice", run.dir, "--forward", "other", "at", "end")


def chop(test):
    for run in test.runs("forward"):
        words = ["seed", "at", run.at("SEED"), "--to", "failure"]
        result = run.slice(*words)
        test.check(f"{run.dir}: kind", (result["kind"], result["to"]["text"]), ("chop", "failure"))
        run.check_lines("chop", result, there=["SEED", "READS", "SCALED", "RESULT", "DECIDES"],
                        not_there=["FACTOR", "OTHER", "UNRELATED", "COPY"])
        whole = run.slice("--at", "failure")
        ahead = run.slice("--forward", *words[:3])
        test.check(f"{run.dir}: it is what both have", shown(result, "forward.c"),
                   shown(whole, "forward.c") & shown(ahead, "forward.c"))
        target = [row for row in result["lines"] if row.get("target")]
        test.check(f"{run.dir}: the other end is there", len(target), 1)
        test.check(f"{run.dir}: and is reached", target[0]["distance"] > 0, True)
        test.expect(0, r"\Acriterion  T1 forward.c:\d+  seed\nto         T1 .*\nchop       \d+ of", r"\A\Z", "slice", run.dir,
                    *words)
        test.expect(0, "Nothing leads from the one to the other", r"\A\Z", "slice", run.dir, "other", "at",
                    run.at("OTHER"), "--to", "failure")
        test.expect(0, r"\nchop ", r"\A\Z", "slice", run.dir, "seed", "at", run.at("SEED"), "--to",
                    f"result at {run.at('RESULT')}")


def prune(test):
    """Variables in memory, on the stack, in registers; registers; ranges."""
    for run in test.runs("forward"):
        words = ["result", "at", run.at("RESULT")]
        whole = run.slice(*words)
        run.check_lines("whole", whole, there=["SEED", "READS", "LOOP"])
        for what, gone in (("seed", ["SEED"]), ("work::local", ["SEED", "READS"]), ("scaled::value", ["SEED", "READS", "LOOP"]),
                           ("local", ["SEED", "READS"])):
            less = run.slice(*words, "--prune", what)
            test.check(f"{run.dir}: {what} is said", less["prune"], [what])
            test.check(f"{run.dir}: {what}: smaller", less["instructions"] < whole["instructions"], True)
            run.check_lines(f"without {what}", less, not_there=gone)
        copied = ["--data", "last", "at", run.at("LAST")]
        run.check_lines("copied", run.slice(*copied), there=["TEXT", "COPY"])
        run.check_lines("copied, pruned", run.slice(*copied, "--prune", "text"), there=["COPY"], not_there=["TEXT"])
        run.check_lines("copied, pruned", run.slice("--forward", "text", "at", run.at("TEXT"), "--prune", "text"),
                        not_there=["COPY", "LAST"])
        if run.dir.startswith("forward-Og"):
            continue
        run.check_lines("without i", run.slice(*words, "--prune", "work::i"), there=["SEED", "READS", "LOOP"])
        both = run.slice(*words, "--prune", "seed", "--prune", "work::i")
        one = run.slice(*words, "--prune", "seed")
        test.check(f"{run.dir}: both", both["instructions"] < one["instructions"], True)
        address = [int(edge["address"], 16) for edge in whole["edges"] if edge["what"] == "seed"][0]
        for what in (f"{address:#x} 4", f"{address:#x}..{address + 4:#x}"):
            test.check(f"{run.dir}: memory is what the variable is", run.slice(*words, "--prune", what)["instructions"],
                       one["instructions"])
        rax = run.slice(*words, "--prune", "%rax")
        test.check(f"{run.dir}: %eax is %rax", run.slice(*words, "--prune", "%eax")["edges"], rax["edges"])
        test.check(f"{run.dir}: %rax", rax["instructions"] < whole["instructions"], True)
        ahead = run.slice("--forward", "seed", "at", run.at("SEED"), "--prune", "result")
        run.check_lines("forward", ahead, there=["READS", "RESULT"], not_there=["DECIDES", "CRASH"])
        test.check(f"{run.dir}: no edge by it", [edge for edge in ahead["edges"] if edge["what"] == "result"], [])


def limits(test):
    run = Run(test, "forward", "-O0", loaded=True)
    whole = run.slice("--at", "failure")
    full = {(row["thread"], row["line"]): row.get("distance") for row in whole["lines"] if row["file"]}
    for words, keep in ((["--only-thread", "2"], lambda row: row["thread"] == 2),
                        (["--only-thread", "2,1"], lambda row: True),
                        (["--only-file", "forward.*"], lambda row: (row["file"] or "").endswith("forward.c")),
                        (["--only-file", "nosuch*", "--only-file", "*/forward.c", "--only-thread", "1"],
                         lambda row: row["thread"] == 1 and (row["file"] or "").endswith("forward.c")),
                        (["--only-module", "*/forward-O*"], lambda row: "forward" in row["module"])):
        part = run.slice("--at", "failure", *words)
        mine = [row for row in part["lines"] if row["instances"]]
        test.check(f"{run.dir}: {words}: only these", all(map(keep, mine)), True)
        test.check(f"{run.dir}: {words}: all of these", len(mine),
                   len([row for row in whole["lines"] if row["instances"] and keep(row)]))
        test.check(f"{run.dir}: {words}: distances are those of the whole",
                   [full[row["thread"], row["line"]] for row in mine if row["file"]],
                   [row.get("distance") for row in mine if row["file"]])
        test.check(f"{run.dir}: {words}: counted", (part["instructions"], part["shown"]),
                   (whole["instructions"], sum(row["instances"] for row in mine)))
        ends = {end for edge in part["edges"] for end in (edge["line"], edge["on"])}
        test.check(f"{run.dir}: {words}: edges are between rows", ends <= set(range(len(part["lines"]))), True)
    test.expect(0, r"\nlimited    \d+ of these \d+ instructions are of thread 2, file forward.c\n", r"\A\Z", "slice", run.dir,
                "--at", "failure", "--only-thread", "2", "--only-file", "forward.c")
    library = run.slice("--forward", "seed", "at", run.at("SEED"), "--only-module", "libc.so*")
    rows = [row for row in library["lines"] if row["instances"]]
    test.check(f"{run.dir}: of a library", bool(rows) and all("libc.so" in row["module"] for row in rows), True)
    every = run.slice("--at", "failure", "--only-thread", "2", "--all")
    test.check("--all", len(every["nodes"]), every["shown"])
    test.check("--all: of the thread", {node["position"].split(":")[0] for node in every["nodes"]}, {"T2"})


def narrowed(test):
    """All outputs, kept ones, and what is wrong."""
    run = Run(test, "forward", "-O0")
    words = ["seed", "at", run.at("SEED")]
    for name, more in (("ahead", ["--forward"]), ("chop", ["--to", "failure", "--prune", "work::i"]),
                       ("less", ["--forward", "--prune", "result", "--only-thread", "2"])):
        made = test.expect(0, "criterion", r"\A\Z", "slice", run.dir, *words, *more, "-o", name, "--sum", "a.sum", "--dep",
                           "a.dep", "--dot", "a.dot", "--html", "a.html")
        for kind in ("sum", "dep"):
            test.check(f"{name}: READS is in a.{kind}", bool(re.search(rf"forward.c:{run.line('READS')} ", read(f"a.{kind}"))),
                       True)
            test.check(f"{name}: OTHER is not in a.{kind}",
                       bool(re.search(rf"forward.c:{run.line('OTHER')} ", read(f"a.{kind}"))), False)
        test.check(f"{name}: a.dot", bool(re.search(r"n\d+ -> n\d+ ", read("a.dot"))), True)
        page = read("a.html")
        ids, links = set(re.findall(r'id="([^"]+)"', page)), set(re.findall(r'href="#([^"]+)"', page))
        test.check(f"{name}: links lead somewhere", links - ids, set())
        test.check(f"{name}: shown as it was", test.call("slice", run.dir, "--show", name).stdout, made.stdout)
    test.expect(0, rf"\Aahead  .*  forward: seed at forward.c:\d+\nchop  .*  seed at forward.c:\d+ to failure\nless  .*"
                   r"  forward: seed", "", "slice", run.dir, "--list")
    ahead, less = run.slice("--show", "ahead"), run.slice("--show", "ahead", "--prune", "result")
    test.check("a kept slice is pruned", less["instructions"] < ahead["instructions"], True)
    test.check("... like a new one", less["instructions"],
               run.slice("--forward", *words, "--prune", "result")["instructions"])
    test.check("limits of a kept one", run.slice("--show", "ahead", "--only-thread", "1")["shown"] < ahead["shown"], True)
    for err, *more in (("--only-thread x: say 2, or 2,3", "--only-thread", "x"), ("--only-thread 1,: say", "--only-thread", "1,"),
                       ("%foo: no such register", "--prune", "%foo"), ("0x1234: how many bytes", "--prune", "0x1234"),
                       ("no range of memory", "--prune", "0x20..0x10"), ("cannot be pruned; say", "--prune", "*p"),
                       ("either of them", "--forward", "--to", "failure"), ("a criterion is", "--to", "a b c")):
        test.expect(2, r"\A\Z", err, "slice", run.dir, *words, *more)
    for err, *more in (("there is no thread 9", "--only-thread", "9"),
                       ("nosuch: no such variable where the criterion is; .* FUNCTION::nosuch", "--prune", "nosuch"),
                       ("work::nosuch: no such variable", "--prune", "work::nosuch"),
                       ("nosuch: no such variable at that place, nor where the criterion is; .* FUNCTION::nosuch",
                        "--prune", f"nosuch at {run.at('SEED')}"),
                       ("has no code", "--to", "seed at forward.c:1")):
        test.expect(1, r"\A\Z", err, "slice", run.dir, *words, *more)
    test.expect(2, r"\A\Z", r"nothing follows from the failure.*\nhint: ", "slice", run.dir, "--at", "failure", "--forward")


# ---- right values, output, and programs that complain ----


def statements(run, result):
    """The numbers of the statements of right.c that are in a slice, without the criterion's own line."""
    have = {row["line"] for row in result["lines"] if row["file"] and row["file"].endswith("right.c") and row["instances"]}
    return {n for n in range(11) if run.line(f"S{n}") in have}


def right(test):
    """The golden sets of a wrong value, and of others that are right."""
    run = Run(test, "right", "-O0")
    wrong, x, t = (f"{name} at {run.at(where)}" for name, where in (("w", "S10"), ("x", "S8"), ("t", "S9")))
    others = ("--correct", x, "--correct", t)
    test.check("the slice", statements(run, run.slice(wrong)), {0, 1, 2, 3, 4, 7})
    test.check("what may be wrong", statements(run, run.slice(wrong, *others)), {0, 2, 7})
    test.check("... strictly", statements(run, run.slice(wrong, "--correct-strictly", x)), {0, 2, 7})
    test.check("without what is right", statements(run, run.slice(wrong, "--minus", x, "--minus", t)), {7})
    test.check("in both", statements(run, run.slice(wrong, "--common", x)), {0, 1, 3, 4})
    test.check("in either", statements(run, run.slice(wrong, "--plus", x, "--plus", t)), {0, 1, 2, 3, 4, 5, 6, 7})
    same = run.slice(wrong, "--minus", x, "--plus", x)
    test.check("of several, one after the other", statements(run, same), {2, 7})
    here = run.slice(x)["criterion"]["position"]
    test.check("POSITION:EXPRESSION", statements(run, run.slice(wrong, "--correct", f"{here}:x")), {0, 2, 7})
    test.check("instance", run.slice(f"{x} instance 1")["instructions"], run.slice(x)["instructions"])
    told = run.slice(wrong, "--minus", x)
    test.check("all that is counted is shown", (told["instructions"], sum(row["instances"] for row in told["lines"])),
               (told["shown"], told["shown"]))
    for words, says in ((("--minus", "nothing that"), "a criterion is"), (("--to", "failure", "--minus", x), "not with --to"),
                        (("--correct", x, "-o", "part"), "a part of a slice is not kept"),
                        (("--correct", f"{x} instance 2"), "instance 2"), (("--correct", f"{x} instance 0"), "from 1 on")):
        test.expect(1 if "instance 2" in says else 2, r"\A\Z", says, "slice", run.dir, wrong, *words)


def of_output(test):
    run = Run(test, "right", "-O0")
    result = run.slice("--of-output", "w ")
    test.check("what", result["criterion"]["what"], "output `w 12`")
    test.check("bytes", sum(want["bytes"] for want in result["criterion"]["wants"]), len("w 12"))
    test.check("what made it", {2, 7, 10} <= statements(run, result), True)
    for pattern in ("w*", "/^w [0-9]+$/"):
        test.check(pattern, run.slice("--of-output", pattern)["criterion"]["wants"], result["criterion"]["wants"])
    test.check("the last one", run.slice("--of-output", "*")["criterion"]["what"], "output `right: wrong width 12`")
    test.expect(1, r"\A\Z", "no line of its output has `nobody` in it", "slice", run.dir, "--of-output", "nobody")
    test.expect(1, r"\A\Z", r"/\(/: ", "slice", run.dir, "--of-output", "/(/")
    test.expect(2, r"\A\Z", "is another one", "slice", run.dir, "--of-output", "w", "x", "at", "end")
    done = test.expect(0, "", "", "slice", run.dir, "--of-output", "w 1", "--full")
    again = done.stdout.splitlines()[-1]
    test.check("the last row", again, f"again      drdebug slice --of-output 'w 1' --full {run.dir}")
    repeated = subprocess.run(again.replace("again      drdebug", shlex.quote(test.drdebug)), shell=True, check=True,
                              capture_output=True, text=True, timeout=60)
    test.check("says the same", repeated.stdout, done.stdout)
    result = run.slice("--at", "failure")
    test.check("a message and a status", (result["criterion"]["line"], result["criterion"]["note"]),
               (run.line("MESSAGE"), "exit status 3"))
    test.check("why", statements(run, result), {0, 1, 2, 3, 4, 7})


def complains(test):
    """An exception, a message and exit(), two sanitizers."""
    source = os.path.join(HERE, "complains.cc")
    with open(source) as f:
        text = f.read().splitlines()
    line = {mark: n for n, row in enumerate(text, 1) for mark in re.findall(r"/\* ([A-Z]+) \*/", row)}
    flags = {"overflows": ["-fsanitize=address"], "adds": ["-fsanitize=undefined", "-fno-sanitize-recover=all"]}
    for how, where, what in (("throws", "THROWS", "the branch that led here"), ("dies", "EXIT", "the branch that led here"),
                             ("overflows", "OVERFLOWS", "the address that AddressSanitizer reports"),
                             ("adds", "ADDS", "what UndefinedBehaviorSanitizer reports")):
        subprocess.run(["g++", "-g", "-w", "-O0", *flags.get(how, ()), "-o", how, source], check=True)
        subprocess.run([test.drdebug, "record", "-q", "-o", how + ".pinball", "--", "./" + how, how], timeout=60, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "ASAN_OPTIONS": "symbolize=0", "UBSAN_OPTIONS": "symbolize=0"})
        result = json.loads(test.call("slice", how + ".pinball", "--at", "failure", "--json").stdout)
        have = {row["line"] for row in result["lines"] if row["file"] == source}
        test.check(f"{how}: criterion", (result["criterion"]["line"], result["criterion"]["what"]), (line[where], what))
        test.check(f"{how}: the cause", line["PICK"] in have, True)


def wide(test):
    """Lines are as long as the terminal is wide; without source there is the instruction."""
    run = Run(test, "right", "-O0")
    def rows(columns, *words):
        line = f"stty cols {columns}; exec {shlex.quote(test.drdebug)} slice {run.dir} {shlex.join(words)}"
        return subprocess.run(["script", "-qc", line, "/dev/null"], capture_output=True, text=True, timeout=60,
                              check=True, stdin=subprocess.DEVNULL).stdout.splitlines()
    narrow, broad = rows(80, "--at", "failure"), rows(150, "--at", "failure")
    shown = 'fprintf(stderr, "right: wrong width %d\\n", w); /* MESSAGE */'
    test.check("all of the line", any(shown in row for row in broad), True)
    test.check("a part of it", any(shown[:20] in row for row in narrow) and not any(shown in row for row in narrow), True)
    run = Run(test, "right", "-O0", program="bare", lines=False)
    test.check("instructions", bool(re.search(r"main\+0x[0-9a-f]+ in bare-O0: mov\w* .*%", test.call("slice", run.dir, "--at", "failure").stdout)), True)


def moved(test):
    """Sources that are elsewhere now."""
    os.makedirs("old/sub", exist_ok=True)
    shutil.copy(os.path.join(HERE, "right.c"), "old/sub/right.c")
    run = Run(test, "right", "-O0")
    here = os.getcwd()
    subprocess.run(["gcc", "-g", "-w", "-O0", "-static", "-o", "moved", f"{here}/old/sub/right.c"], check=True)
    subprocess.run([test.drdebug, "record", "-q", "-o", "moved.pinball", "--", "./moved"], check=False, timeout=60,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shutil.rmtree("new", ignore_errors=True)
    os.rename("old", "new")
    os.makedirs("old=new", exist_ok=True)
    for options, there in (((), False), (("--source-dir", f"{here}/old={here}/new"), True), (("--source-dir", f"{here}/o={here}/new"), False),
                           (("--source-dir", f"{here}/old/sub/=new/sub"), True), (("--source-dir", "new/sub"), True),
                           (("--source-dir", "old=new"), False)):
        text = test.call("slice", "moved.pinball", "--at", "failure", *options).stdout
        test.check(f"{options}: source", "int z = y + 2;" in text, there)
    test.check("where it is without", f"{run.line('S2')}" in text, True)


CASES = {"atomic": atomic, "jumps": jumps, "saved": saved, "null": failure("null", ["ROOT CAUSE"]),
         "wrong": failure("wrong", ["ROOT CAUSE"]), "twice": failure("twice", ["ROOT CAUSE", "MADE"]),
         "divide": failure("divide", ["ROOT CAUSE"]), "overflow": failure("overflow", ["ROOT CAUSE"]), "ends": ends,
         "criteria": criteria, "steps": steps, "output": output, "findings": findings, "files": files, "traces": traces, "kept": kept,
         "versions": versions,
         "no_lines": no_lines, "bad_input": bad_input, "forward": forward, "chop": chop, "prune": prune, "limits": limits,
         "narrowed": narrowed, "shared": shared, "vectors": vectors,
         "end_row": end_row,
         "right": right, "of_output": of_output, "complains": complains, "wide": wide, "moved": moved}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("case", choices=CASES)
    args = parser.parse_args()
    args.drdebug = os.path.abspath(args.drdebug)
    work = os.path.join(args.work, args.case)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    os.chdir(work)
    os.environ["XDG_STATE_HOME"] = os.path.abspath("state")  # for the recorder's key: there may be no HOME
    test = Test(args)
    CASES[args.case](test)
    for failed in test.failures:
        print("FAILED:", failed)
    print(f"{test.checks} checks, {len(test.failures)} failures")
    if not test.failures:
        shutil.rmtree(work)
    sys.exit(1 if test.failures or not test.checks else 0)


if __name__ == "__main__":
    main()
