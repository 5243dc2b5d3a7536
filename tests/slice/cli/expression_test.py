#!/usr/bin/env python3
"""expression_test.py --drdebug DRDEBUG --work DIR CASE - criteria that are C expressions, values, deadlocks.

SPDX-License-Identifier: MIT

Subjects and markers are those of cli_test.py. `gdb` compares what an expression reads with what GDB says about it, in
all programs and at all levels.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys

import cli_test

SKIP = 77


class Run(cli_test.Run):
    """The same, of C++, too."""

    def __init__(self, test, name, *flags, compiler="gcc", argument="input", suffix=".c"):
        self.test, self.name, self.suffix = test, name, suffix
        self.source = os.path.join(cli_test.HERE, name + suffix)
        stem = f"{name}-{compiler}" + "".join(flags) + f"-{argument}"
        self.dir = stem + ".pinball"
        # Static: reading the debug information of libraries would take most of the time.
        subprocess.run([compiler, "-g", "-w", "-pthread", "-static", *flags, "-o", stem, self.source], check=True)
        shutil.rmtree(self.dir, ignore_errors=True)
        subprocess.run([test.drdebug, "record", "-q", "-o", self.dir, "--", "./" + stem, argument], timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def at(self, marker):
        return f"{self.name}{self.suffix}:{self.line(marker)}"

    def marks(self, result):
        """Marked lines that are in the slice."""
        with open(self.source) as f:
            marked = {n: m[1] for n, text in enumerate(f, 1) if (m := re.search(r"/\* ([A-Z][A-Z 0-9]*) \*/", text))}
        return {marked[row["line"]] for row in result["lines"]
                if row["line"] in marked and row["instances"] and row["file"].endswith(self.name + self.suffix)}


# ---- what an expression reads ----

# Expression, where, and the marked lines of its thin and of its data slice.
C = [
    ("list->key", "END", {"KEY"}, {"KEY", "LIST"}),
    ("list->next->key", "END", {"KEY"}, {"KEY", "LIST", "NEXT"}),
    ("(*list).next->number", "END", {"NUMBER"}, {"NUMBER", "LIST", "NEXT"}),
    ("(*(list->next)).letters[3]", "END", {"NUMBER"}, {"NUMBER", "LIST", "NEXT"}),
    ("nodes[2].number", "END", {"NUMBER"}, {"NUMBER"}),
    ("nodes[which].weight", "END", {"WEIGHT"}, {"WEIGHT", "WHICH", "LOOKED"}),
    ("matrix[which][nodes[0].key + 2]", "END", {"MATRIX"}, {"MATRIX", "KEY", "WHICH", "LOOKED"}),
    ("matrix[2][2]", "END", {"MATRIX"}, {"MATRIX"}),
    ("list->flags.middle", "END", {"MIDDLE", "HIGH"}, {"MIDDLE", "HIGH"} | {"LIST"}),
    ("{int} &mine", "END", {"MINE"}, {"MINE"}),
    ("mine", "END", {"MINE"}, {"MINE"}),
    ("ours.key", "END", {"OURS"}, {"OURS"}),
    ("count::total", "END", {"STATIC"}, {"STATIC"}),
    ("'expressions.c'::list->key", "END", {"KEY"}, {"KEY", "LIST"}),
    ("'expressions.c'::count::total", "END", {"STATIC"}, {"STATIC"}),
    ("((struct node *) (char *) list + 1)->number", "END", {"NUMBER"}, {"NUMBER", "LIST"}),
    ("(&nodes[1])[1].number", "END", {"NUMBER"}, {"NUMBER"}),
    ("which == 2 ? list->key : nodes[2].number", "END", {"KEY", "WHICH", "LOOKED"}, {"KEY", "LIST", "WHICH", "LOOKED"}),
    ("0 && mine || which", "END", {"WHICH", "LOOKED"}, {"WHICH", "LOOKED"}),
    ("*(int *) &mine", "END", {"MINE"}, {"MINE"}),
    ("grid[n - 1][i]", "LOCAL", {"GRID", "KEY"}, None),
    ("p->next->number", "LOCAL", {"NUMBER"}, {"NUMBER", "NEXT", "LIST", "LOOKED"}),
]

WRONG = [
    ("&list", 2, "an address is computed by the compiler, it is read from nowhere"),
    ("3 + 4", 2, "reads no variable, memory or register: it is a constant"),
    ("sizeof list", 2, "it is a constant"),
    ("list->kex", 1, "kex: no such member of struct node: it has key, next, flags"),
    ("list.key", 1, "key: struct node [*] has no members; a pointer's are behind ->"),
    ("*which", 2, "which: int is no pointer; a number becomes one by a cast"),
    ("*(void *) list", 2, "a void pointer says not what it leads to"),
    ("count()", 2, "it calls a function"),
    ("list->key = 3", 2, "it changes something"),
    ("which++", 2, "it changes something"),
    ("nodes[which", 2, "a bracket that is not closed"),
    ("nodes[", 2, "it ends early"),
    ("list->", 2, "no member's name"),
    ("which + ", 2, "it ends early"),
    ("which which", 2, "which which: a criterion is `EXPRESSION at FILE:LINE`"),
    ("which] + 1", 2, "it is not understood"),
    ("nosuch->x", 1, "nosuch: no such variable is visible here\nhint: variables are those in scope"),
    ("look::local", 1, "look::local: no such variable is visible here"),
    ("(struct node) which", 2, "a cast is to a number or a pointer"),
    ("which / (which - 2)", 2, "it divides by zero"),
    ("nodes[0].next[1l << 40].next->key", 1, "there is no memory at 0x"),
    ("%foo + 1", 2, "%foo: no such register"),
    ("$xmm1.v4_float[4]", 2, "a register's parts are such as"),
    ("{int}", 2, "it ends early"),
    ("{which} list", 2, "it has braces without a type"),
    ("(" * 80 + "which" + ")" * 80, 2, "nested too deeply"),
]


def c(test):
    run = Run(test, "expressions", "-O0")
    for text, where, thin, data in C:
        for option, want in (("--thin", thin), ("--data", data)):
            if want is not None:
                have = run.marks(run.slice(option, f"{text} at {run.at(where)}")) - {"END", "LOCAL"}
                test.check(f"{text} {option}", have, want)
    names = run.slice("--thin", f"$r8l, $sp, $xmm1.v4_float[2], $xmm2.v2_double[1] + 1 at {run.at('END')}")
    test.check("GDB's names", [w["register"] for w in names["criterion"]["wants"]],
               ["r8b", "rsp", "xmm1[8..11]", "xmm2[8..15]"])
    several = run.slice("--thin", f"list->key, mine, %rsp at {run.at('END')}")
    test.check("several", len(several["criterion"]["wants"]), 3)
    grid = run.slice("--thin", f"grid at {run.at('LOCAL')}")["criterion"]["wants"]
    test.check("all of an array of variable size", [w["bytes"] for w in grid], [3 * 3 * 4])


def wrong(test):
    run = Run(test, "expressions", "-O0")
    for text, status, says in WRONG:
        test.expect(status, r"\A\Z", says, "slice", run.dir, f"{text} at {run.at('END')}")


def cxx(test):
    run = Run(test, "classes", "-O0", compiler="g++", suffix=".cc")
    for text, where, want in (("stock", "TAKEN", {"STOCK", "STOCK 0"}), ("price", "TAKEN", {"PRICE"}),
                              ("this->price + 1", "TAKEN", {"PRICE"}), ("count", "TAKEN", {"COUNT"}),
                              ("shop::visitors", "END", {"VISITORS"}), ("visitors", "TAKEN", {"VISITORS"}),
                              ("shop::item::count", "END", {"COUNT"}), ("items[0].count", "END", {"COUNT"}),
                              ("items[0].other->id", "END", {"ID"}), ("main::items[1].id", "END", {"ID"}),
                              ("it.other->id", "ADDED", {"ID"}), ("*pointer", "ADDED", {"POINTER"}),
                              ("((shop::item *) &it)->price", "ADDED", {"PRICE"})):
        have = run.marks(run.slice("--thin", f"{text} at {run.at(where)}"))
        test.check(text, have - {"END", "TAKEN", "ADDED"}, want)
    have = run.marks(run.slice("--thin", f"sum at {run.at('ADDED')}"))
    test.check("a reference", have >= {"SUM", "STOCK"}, True)


def tls(test):
    """Thread-local variables of the program and of a library, in two threads."""
    with open("library.c", "w") as f:
        f.write("__thread long before; __thread int theirs = 3;\nint bump(int n)\n{\n    return theirs += n; /* BUMP */\n}\n")
    with open("tls.c", "w") as f:
        f.write("#include <pthread.h>\nextern __thread int theirs;\nint bump(int);\n__thread int own;\n"
                "static void *work(void *n)\n{\n    own = bump((int)(long)n);\n    bump(5);\n    return n;\n}\n"
                "int main(void)\n{\n    pthread_t t;\n    work((void *)1);\n    pthread_create(&t, 0, work, (void *)2);\n"
                "    return pthread_join(t, 0);\n}\n")
    subprocess.run(["gcc", "-g", "-fPIC", "-shared", "-o", "library.so", "library.c"], check=True)
    subprocess.run(["gcc", "-g", "-o", "tls", "tls.c", "./library.so", "-pthread"], check=True)
    shutil.rmtree("tls.pinball", ignore_errors=True)
    subprocess.run([test.drdebug, "record", "-q", "-o", "tls.pinball", "--", "./tls"], check=True, timeout=60)
    for thread in ("1", "2"):
        for variable, lines in (("own", {"tls.c:7"}), ("theirs", {"library.c:4"})):
            done = test.expect(0, "", r"\A\Z", "slice", "tls.pinball", "--thin", "--json", "--thread", thread,
                               f"{variable} at tls.c:9")
            have = {f"{os.path.basename(row['file'])}:{row['line']}" for row in json.loads(done.stdout)["lines"]
                    if row["instances"] and row["thread"] == int(thread) and row["file"]}
            test.check(f"{variable} of thread {thread}", have >= lines, True)


# ---- frames ----

LOCALS = {"TWICE", "LEAF LOCAL", "OUTER LOCAL", "HANDLER LOCAL", "INTERRUPTED LOCAL", "WORK LOCAL", "MAIN T", "SHADE",
          "LEAF SHADE"}
# What, in which frame of the first and of the last call of here(), and the marked lines of its thin slice.
FRAMES = [
    ("twice", "1 frame 1", {"TWICE", "LEAF LOCAL"}),
    ("local", "1 frame 1", {"LEAF LOCAL"}),
    ("local", "1 frame 2", {"LEAF LOCAL"}),
    ("local", "1 frame 3", {"OUTER LOCAL"}),
    ("shade", "1 frame 1", {"SHADE"}),
    ("shade", "1 frame 2", {"LEAF SHADE"}),
    ("shade", "1 frame 3", {"SHADE"}),
    ("n", "1 frame 3", set()),
    ("t->key", "1 frame 3", {"MAIN T"}),
    ("t.key", "1 frame 4", {"MAIN T"}),
    ("local", "1 thread 2 frame 1", {"WORK LOCAL"}),
    ("local", "2 frame 1", {"HANDLER LOCAL"}),
    ("local", "2 frame 3", {"INTERRUPTED LOCAL"}),
    ("t.key", "2 frame 4", {"TWICE", "LEAF LOCAL", "MAIN T"}),
]


def here(test, run, instance):
    """Where the line is done, as a position: others see a thread there from outside."""
    return run.slice("--instance", instance, f"seen at {run.at('HERE')}")["criterion"]["position"]


def frames(test):
    for level in cli_test.LEVELS:
        run = Run(test, "frames", level)
        place = {instance: here(test, run, instance) for instance in "12"}
        for text, where, want in FRAMES:
            instance, _, view = where.partition(" ")
            have = run.marks(run.slice("--thin", f"{text} at {place[instance]} {view}"))
            test.check(f"{level}: {text} at {where}", have & LOCALS, want)
        line = run.slice("--thin", "--instance", "1", f"local at {run.at('HERE')} frame 3")
        test.check(f"{level}: at a line", run.marks(line) & LOCALS, {"OUTER LOCAL"})
        test.check(f"{level}: the criterion's line", line["criterion"]["line"],
                   run.line("OUTER LOCAL") + 1)
        saved = run.slice(f"local at {place['2']} frame 3")["criterion"]["wants"]
        test.check(f"{level}: what the signal's frame has is memory", ["address" in want for want in saved], [True])
        call = run.slice(f"%edi, seen at {place['1']} frame 3")["criterion"]["wants"]
        test.check(f"{level}: registers are those before the call, memory is that of now",
                   call[0]["instruction"] < call[1]["instruction"], True)
        test.expect(1, "", "frame 2 is where a signal came: it has no variables", "slice", run.dir,
                    f"local at {place['2']} frame 2")
        test.expect(1, "", "there is no frame 99", "slice", run.dir, f"local at {place['1']} frame 99")
        test.expect(1, "", "there is no thread 9 in the trace", "slice", run.dir, f"local at {place['1']} thread 9")
        test.expect(1, "", "twice: no such variable", "slice", run.dir, f"twice at {place['1']} frame 2")
        if level == "-O0":  # else its value is used from other registers, too
            pruned = run.slice("--thin", f"t.key at {place['2']} frame 4", "--prune", f"local at {place['1']} frame 2")
            test.check("pruned", "LEAF LOCAL" in run.marks(pruned), False)
        whole = run.slice("--thin", f"t.key at {place['2']} frame 4", "--prune", f"t->key at {place['1']} frame 2")
        test.check(f"{level}: an expression is pruned", run.marks(whole) & LOCALS, {"TWICE", "LEAF LOCAL"})


# ---- GDB's answers ----

ASK = """
import json
answers = {}
for text in json.loads(%r):
    try:
        answers[text] = Reads(text).criterion()
    except (gdb.error, gdb.GdbError) as error:
        answers[text] = None
print("ANSWERS", json.dumps([gdb.parse_and_eval("$pin_position()").string(), answers]))
"""

COMPARED = {
    ("expressions", ".c", "LOCAL"): ["grid[n - 1][i]", "grid[1]", "grid", "p->next->key", "i", "local", "p", "*p", "n + i"],
    ("expressions", ".c", "END"): ["list->key", "list->next->number", "*list", "nodes", "nodes[which].flags.middle",
                                   "matrix[which][which]", "matrix[1]", "mine", "ours.weight", "count::total",
                                   "'expressions.c'::total", "list->flags.high", "*(int *) $rsp", "$rbx + 1",
                                   "(*list->next).letters[which]", "-nodes[3].key * which", "&list->key",
                                   "((struct node *) list)[1].weight", "{0}.key".format("nodes[2]"), "list->next == list",
                                   "(unsigned char) list->key << 2", "nodes[(which + 1) % 4].color"],
    ("classes", ".cc", "TAKEN"): ["stock", "price", "this->other", "n", "count", "id", "other->id", "*this", "visitors"],
    ("classes", ".cc", "ADDED"): ["sum", "it.stock", "it.other->price", "pointer", "*pointer", "it"],
}


def ask_gdb(test, run, stops, ask=ASK):
    """For each stop, the first time there, what is asked: (position, {expression: criterion})."""
    commands = []
    for number, (marker, texts) in enumerate(stops):
        with open(f"ask{number}.py", "w") as f:
            f.write(ask % json.dumps(texts))
        commands += ["-ex", f"tbreak {run.at(marker)}", "-ex", "continue", "-ex", f"source ask{number}.py"]
    script = os.path.join(os.path.dirname(test.drdebug), "gdb", "drdebug.py")
    oracle = os.path.join(cli_test.HERE, "gdb_reads.py")
    shown = subprocess.run(["gdb", "-nx", "-batch", "-ex", "set sysroot /", "-ex", f"source {script}", "-ex", f"source {oracle}", "-ex",
                            f"file {run.dir[:-len('.pinball')]}", "-ex",
                            f"target extended-remote | {test.drdebug} serve {run.dir}", *commands],
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, text=True)
    answers = re.findall("^ANSWERS (.*)$", shown.stdout, re.MULTILINE)
    assert len(answers) == len(stops), shown.stdout + shown.stderr
    return [json.loads(answer) for answer in answers]


def wants(test, run, criterion):
    done = test.call("slice", "--json", "--data", "--", run.dir, criterion)
    if done.returncode:
        return done.stderr
    return {tuple(sorted(want.items())) for want in json.loads(done.stdout)["criterion"]["wants"]}


def compare(test, run, position, answers):
    """Returns how many were there."""
    there = {text: criterion for text, criterion in answers.items() if criterion}
    for text in answers.keys() - there.keys():
        ours = wants(test, run, f"{text} at {position}")
        test.check(f"{run.dir}: {text}: GDB says that it is not there; here: {ours}", isinstance(ours, str), True)
    for some in (list(there)[i:i + 8] for i in range(0, len(there), 8)):
        ours = wants(test, run, f"{', '.join(some)} at {position}")
        theirs = wants(test, run, f"{', '.join(there[text] for text in some)} at {position}")
        test.check(f"{run.dir}: {some}", ours, theirs)
        test.check(f"{run.dir}: {some}: {theirs}", isinstance(theirs, set), True)
    return len(there)


def agree(test, level, compilers=("gcc", "g++")):
    compared = 0
    for name, suffix, compiler in (("expressions", ".c", compilers[0]), ("classes", ".cc", compilers[1])):
        run = Run(test, name, level, compiler=compiler, suffix=suffix)
        stops = [(marker, texts) for (subject, _, marker), texts in COMPARED.items() if subject == name]
        for position, answers in ask_gdb(test, run, stops):
            compared += compare(test, run, position, answers)
    test.check(f"{level}: enough was there to compare ({compared})", compared > 20, True)


def gdb_o0(test):
    agree(test, "-O0")


def gdb_og(test):
    agree(test, "-Og")


def gdb_o2(test):
    agree(test, "-O2")


def gdb_clang(test):
    agree(test, "-O1", ("clang", "clang++"))


# ---- names in inlined functions ----

ASK_NAMES = """
import json
function, names = json.loads(%r)
frame = gdb.newest_frame()
while frame.name() != function:
    frame = frame.older()
frame.select()
answers = {}
for name in names:
    try:
        value = gdb.parse_and_eval(name)
        answers[name] = "gone" if value.is_optimized_out else int(value.address) if value.address is not None else "value"
    except gdb.error as error:
        answers[name] = "none" if "No symbol" in str(error) else str(error)
print("ANSWERS", json.dumps(answers))
gdb.execute("reverse-continue")  # to the beginning: several lines may begin at one address
"""

NAMES = ["depth", "level", "shade", "mine", "calls", "gone", "p"]
# Lines, and the function that each is of. GDB may show the one that begins there instead.
INLINED = [("CALL", "outer"), ("FROM INNER", "inner"), ("STATIC", "touch"), ("TOUCH", "touch"), ("SHADE", "touch"),
           ("INNER", "inner"), ("IN BLOCK", "inner"), ("END OF BLOCK", "inner"), ("BEHIND BLOCK", "inner"),
           ("OUTER", "outer")]
NO_MEMORY = {"none": "no such variable", "gone": "optimized out", "value": "is a constant"}


def kinds(test, run, names, marker):
    return places(test, run.dir, names, run.at(marker), "--instance", "1")


def places(test, pinball, names, where, *options):
    """What names are at a line or position: addresses of memory, or none, gone, value."""
    done = test.call("slice", "--json", "--data", *options, "--", pinball, f"{', '.join(names)} at {where}")
    if done.returncode:
        return [next((kind for kind, says in NO_MEMORY.items() if says in done.stderr), done.stderr)]
    return [int(str(want["address"]), 0) if "address" in want else "value"
            for want in json.loads(done.stdout)["criterion"]["wants"]]


def names_agree(test, level, compiler, lines=INLINED):
    run = Run(test, "inlined", level, compiler=compiler)
    theirs = dict(zip(lines, ask_gdb(test, run, [(marker, (function, NAMES)) for marker, function in lines], ASK_NAMES)))
    for (marker, function), answers in theirs.items():
        if function == "inner" and answers["depth"] == "gone":  # GDB takes a block's variable for one of the function
            answers["depth"] = theirs["TOUCH", "touch"]["depth"]
        memory = {name: their for name, their in answers.items() if isinstance(their, int)}
        test.check(f"{run.dir}: {', '.join(memory)} at {marker}", kinds(test, run, memory, marker), list(memory.values()))
        for name, their in answers.items() - memory.items():
            ours = kinds(test, run, [name], marker)[0]
            if their in ("gone", "value") and ours in ("gone", "value"):
                ours = their  # behind the line it may be the other
            test.check(f"{run.dir}: {name} at {marker}", ours, their)


def gdb_inlined(test):
    names_agree(test, "-O2", "gcc")


def gdb_clang_inlined(test):
    names_agree(test, "-O2", "clang", [line for line in INLINED if line[0] != "FROM INNER"])  # a line without code


# ---- names in several modules ----

MODULES = ("program", "one.so", "two.so")
GLOBALS = [*(f"name{n}" for n in range(12)), "copied_one", "copied_two"]
ASK_GLOBALS = """
import json
answers = {}
for name in json.loads(%r):
    try:
        value = gdb.parse_and_eval(name)
        answers[name] = int(value.address) if value.address is not None else "value"
    except gdb.error as error:
        answers[name] = "none" if "No symbol" in str(error) else str(error)
print("ANSWERS", json.dumps([gdb.parse_and_eval("$pin_position()").string(), answers]))
"""


def make_modules(seed):
    """A program and two libraries of two units each. A name is in some of them: static, global, a constant, or not there; the
    program has copies of two globals of the libraries. Each unit's function calls the next one's; the last one fails."""
    chosen, functions = random.Random(seed), [f"in_{module[:3]}_{unit}" for module in MODULES for unit in "ab"]
    for module in reversed(MODULES):
        taken = set()  # a module has one static and one global of a name: which of several GDB takes depends on what it read first
        for unit in "ab":
            own = functions.index(f"in_{module[:3]}_{unit}")
            text, used = "", []
            for name in GLOBALS[:-2]:
                kind = chosen.choice(("", "", "static volatile ", "static volatile ", "volatile ", "static const "))
                if not kind or (kind[:6], name) in taken:
                    continue
                taken.add((kind[:6], name))
                text += f"{kind}int {name} = {own + 1};\n"
                used.append(name)
            if module == "program" and unit == "a":
                text += "extern volatile int copied_one, copied_two;\n"
                used += ["copied_one", "copied_two"]
            elif module != "program" and unit == "b":
                text += f"volatile int copied_{module[:3]} = {own + 1};\n"
            then = f"{functions[own + 1]}()" if own + 1 < len(functions) else "*(volatile int *)0"
            text += f"int {functions[own + 1]}(void);\n" if own + 1 < len(functions) else ""
            text += f"int {functions[own]}(void)\n{{\n    return {' + '.join(['1', *used])} + {then}; /* UNIT */\n}}\n"
            if own == 0:
                text += f"void _start(void)\n{{\n    {functions[0]}();\n}}\n"  # without libc there is less to read
            with open(f"{module[:3]}_{unit}.c", "w") as f:
                f.write(text)
        shared = ["-shared", "-fPIC"] if module.endswith(".so") else []
        later = [f"./{other}" for other in MODULES[MODULES.index(module) + 1:]]
        subprocess.run(["gcc", "-g", "-O1", "-nostdlib", *shared, "-o", module, f"{module[:3]}_a.c", f"{module[:3]}_b.c", *later], check=True)
    return functions


def gdb_modules(test):
    """A plain name means the same as for GDB, whichever module is executed."""
    script = os.path.join(os.path.dirname(test.drdebug), "gdb", "drdebug.py")
    with open("ask.py", "w") as f:
        f.write(ASK_GLOBALS % json.dumps(GLOBALS))
    for seed in range(20 if os.environ.get("DRDEBUG_SOAK") else 2):
        functions = make_modules(seed)
        shutil.rmtree("program.pinball", ignore_errors=True)
        subprocess.run([test.drdebug, "record", "-q", "-o", "program.pinball", "--", "./program"], timeout=60, check=False)
        stops = [word for function in functions for word in ("-ex", f"break *{function}", "-ex", "continue", "-ex", "source ask.py")]
        shown = subprocess.run(["gdb", "-nx", "-batch", "-ex", "set sysroot /", "-ex", "set breakpoint pending on", "-ex", f"source {script}",
                                "-ex", "file program", "-ex", f"target extended-remote | {test.drdebug} serve program.pinball", *stops,
                                "-ex", "continue", "-ex", "source ask.py"],
                               stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, text=True)
        answers = [json.loads(answer) for answer in re.findall("^ANSWERS (.*)$", shown.stdout, re.MULTILINE)]
        test.check(f"seed {seed}: stops in {shown.stdout} {shown.stderr}", len(answers), len(functions) + 1)
        for position, theirs in answers:
            memory = {name: their for name, their in theirs.items() if isinstance(their, int)}
            test.check(f"seed {seed}, {position}: {theirs}", len(memory) > 2, True)
            test.check(f"seed {seed}: {', '.join(memory)} at {position}", places(test, "program.pinball", memory, position),
                       list(memory.values()))
            for name, their in theirs.items() - memory.items():
                test.check(f"seed {seed}: {name} at {position}", places(test, "program.pinball", [name], position)[0], their)


def tail_calls(test):
    """Behind a line that ends with a jump to another function, names are still those of the line's own."""
    run = Run(test, "tail", "-O2")
    code = subprocess.run(["objdump", "-d", "--disassemble=first", run.dir[:-len(".pinball")]], check=True,
                          capture_output=True, text=True).stdout
    test.check("there is a tail call", bool(re.search(r"jmp .*<last>", code)), True)
    for name, want in (("local", {"CALLER"}), ("other", {"OTHER"})):
        test.check(name, run.marks(run.slice("--thin", f"{name} at {run.at('TAIL')}")), want)


# ---- values ----

VALUES = {"COUNT": ("count", "-10"), "SMALL": ("small", "200 '\\310'"), "LETTER": ("letter", "97 'a'"),
          "FLAG": ("flag", "true"), "SINGLE": ("single", "1"), "TWICE": ("twice", "2.5"), "MOST": ("most", "6"),
          "ENUM": ("color", "GREEN"), "MANY": ("many", "4294967294"), "COPY": ("copy.part[1]", "2")}


def values(test):
    run = Run(test, "values", "-O0")
    result = run.slice("--data", "--values", f"sum at {run.at('END')}")
    edges = {result["lines"][e["on"]]["line"]: e for e in result["edges"] if "value" in e}
    for marker, expected in VALUES.items():
        e = edges.get(run.line(marker), {})
        test.check(marker, (e.get("what"), e.get("value")), expected)
    address = edges.get(run.line("POINTER"), {})
    test.check("POINTER", (address.get("what"), bool(re.fullmatch("0x[0-9a-f]+", address.get("value", "")))),
               ("pointer", True))
    last = [e["value"] for e in result["edges"] if e["line"] == 0 and "value" in e]
    test.check("what the criterion itself is", last, [str(-10 + 200 + 97 + 1 + 1 + 2 + 6 + 7 - 10 + 4294967294 + 2)])
    test.check("none without asking", [e for e in run.slice("--data", f"sum at {run.at('END')}")["edges"]
                                       if "value" in e], [])
    test.expect(0, r"COUNT \*/ +data +count = -10\n(.*\n)*.*color = GREEN\n", r"\A\Z", "slice", run.dir, "--data",
                "--values", "--full", f"sum at {run.at('END')}")
    test.expect(0, "", r"\A\Z", "slice", run.dir, "--data", "--values", "--html", "values.html",
                f"sum at {run.at('END')}")
    with open("values.html") as f:
        test.check("the page", "<i>data</i> letter = 97 'a'" in f.read(), True)
    wrong = cli_test.Run(test, "wrong", "-O0")
    odd = [x["instances"] for x in wrong.slice("--at", "failure", "--instances")["story"] if x["what"] == "table[0]"
           or x["what"].startswith("table")]
    test.check("instances", odd, [{"count": 8, "first": "0", "last": "49", "smallest": "0", "largest": "49",
                                   "values": ["0", "1", "4", "9", "16", "25", "37", "49"]}])
    test.expect(0, r"8 values: first 0, last 49, smallest 0, largest 49; all: 0, 1, 4, 9, 16, 25, 37, 49\n", r"\A\Z",
                "slice", wrong.dir, "--at", "failure", "--instances")
    third = run.slice("--data", "--values", f"i at {run.at('COUNT')}", "--instance", "3")
    test.check("an instance in the middle", {e["value"] for e in third["edges"] if e["what"] == "i"}, {"2"})
    for other in (cli_test.Run(test, "atomic", "-Og"), cli_test.Run(test, "wrong", "-O0")):
        result = other.slice("--at", "failure", "--values")
        brought = {row["edge"] for row in result["lines"] if "edge" in row and row["own"]}
        missing = [e for n, e in enumerate(result["edges"]) if n in brought and e["kinds"][0] != "control"
                   and "value" not in e and e["what"] != "flags"]
        test.check(f"{other.name}: all have one", missing, [])
    table = {e["what"]: e["value"] for e in result["edges"] if "value" in e and e["what"].startswith("sum")}
    small = cli_test.Run(test, "registers", "-O1").slice("--at", "failure", "--thin", "--values")
    test.check("variables in larger registers", {e["value"] for e in small["edges"] if e["what"] == "single"}, {"2.5"})
    floats = Run(test, "floats", "-O0")
    result = floats.slice("--at", "failure", "--thin", "--values")
    test.check("floats", {(e["what"], e["value"]) for e in result["edges"] if e["what"] in ("half", "quad")},
               {("half", "-1.5"), ("quad", "5")})
    for condition in ("half > -1.51 && half < -1.49", "quad > 4.9 && quad < 5.1"):
        result = floats.slice(f"{condition} ? yes : no at {floats.at('SUM')}")
        test.check(condition, result["criterion"]["wants"][-1],
                   floats.slice(f"yes at {floats.at('SUM')}")["criterion"]["wants"][0])
    test.check("wrong: the sum", table.get("sum") is not None and table["sum"] != "140", True)


# ---- deadlocks ----


def deadlock(test):
    run = Run(test, "abba", "-O0", argument="both")
    result = run.slice("--at", "failure")
    lines = {m: run.line(m) for m in ("TAKES FIRST", "TAKES SECOND", "WAITS FOR FIRST", "WAITS FOR SECOND")}
    what = result["criterion"]["what"]
    forth = (re.findall(r"(T\d) waits for account", what) or ["?"])[0]
    back = (re.findall(r"(T\d) waits for first", what) or ["?"])[0]
    test.check("who waits for whom", sorted(what.removeprefix("deadlock: ").split("; ")), sorted([  # whoever waits first
        f"{forth} waits for account[2].lock at abba.c:{lines['WAITS FOR SECOND']}, held by {back} since "
        f"abba.c:{lines['TAKES SECOND']}",
        f"{back} waits for first at abba.c:{lines['WAITS FOR FIRST']}, held by {forth} since "
        f"abba.c:{lines['TAKES FIRST']}"]))
    test.check("how it ended", (result["criterion"]["note"], len(result["criterion"]["wants"])), ("SIGALRM", 4))
    thin = run.slice("--at", "failure", "--thin")
    near = {row["line"] for row in thin["lines"] if row.get("distance", 9) <= 1}
    test.check("takers are near", near >= {lines["TAKES FIRST"], lines["TAKES SECOND"]}, True)
    run.check_lines("deadlock", result, there=["TAKES FIRST", "TAKES SECOND"], not_there=["UNRELATED"])
    run = Run(test, "abba", "-O2", argument="self")
    test.expect(0, rf"criterion  T2 abba.c:{run.line('TAKES AGAIN')}  deadlock: T2 waits for first at "
                   rf"abba.c:{run.line('TAKES AGAIN')}, held by itself since abba.c:{run.line('TAKES')}, SIGALRM\n",
                r"\A\Z", "slice", run.dir, "--at", "failure")
    run = Run(test, "abba", "-O0", argument="none")
    test.expect(0, r"the branch that led here, SIGALRM", r"\A\Z", "slice", run.dir, "--at", "failure")


# ---- functions that never return ----


def noreturn(test):
    """The branch around such a call decides about what follows, even if the call was never made."""
    for run in (Run(test, "noreturn", "-O0"), cli_test.Run(test, "noreturn", "-Og")):
        for name, marker in (("a", "EXIT"), ("b", "OWN"), ("c", "JUMP"), ("d", "PRINT")):
            result = run.slice(f"{name} at {run.name}.c:{run.line('END')}")
            run.check_lines(name, result, there=[marker] if marker != "PRINT" else [],
                            not_there=["PRINT"] if marker == "PRINT" else [])


CASES = {f.__name__: f for f in (c, wrong, cxx, tls, gdb_o0, gdb_og, gdb_o2, gdb_clang, frames, values, deadlock,
                                 noreturn, gdb_inlined, gdb_clang_inlined, gdb_modules, tail_calls)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    options.drdebug = os.path.abspath(options.drdebug)
    for tool in ("gdb", "clang"):
        if tool in options.case and not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            return SKIP
    work = os.path.join(options.work, "expression-" + options.case)
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    os.environ["XDG_STATE_HOME"] = os.path.abspath("state")  # for the recorder's key: there may be no HOME
    test = cli_test.Test(options)
    CASES[options.case](test)
    for failure in test.failures:
        print(failure)
    print(f"{test.checks} checks, {len(test.failures)} failures")
    return 1 if test.failures or not test.checks else 0


if __name__ == "__main__":
    sys.exit(main())
