#!/usr/bin/env python3
"""gdb_test.py - GDB on a recording that leaves code out: gdb_test.py DRDEBUG SUMMING SUMMING_C THREADS.

SPDX-License-Identifier: MIT"""
import os
import re
import subprocess
import sys
import tempfile

DRDEBUG, PROGRAM, SOURCE, THREADS = sys.argv[1:]
failures = 0


def fail(text):
    global failures
    failures += 1
    print(f"FAILED: {text}")


def line_with(mark):
    with open(SOURCE, encoding="ascii") as file:
        return next(n for n, text in enumerate(file, 1) if mark in text)


def drdebug(*arguments):
    return subprocess.run([DRDEBUG, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False).stdout.decode(errors="replace")


def session(pinball, commands, *options):
    """What GDB says to each command, as KDbg asks: by text, with a prompt of its own."""
    text = "set prompt (kdbg)\nset width 0\nset height 0\nset confirm off\n" + "".join(
        f"{command}\necho \\n==={number}===\\n\n" for number, command in enumerate(commands)) + "quit\n"
    said = subprocess.run([DRDEBUG, "debug", pinball, "--", "--fullname", "--nx", "-q", "-iex",
                           "set debug-file-directory /nowhere", *options], input=text.encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False).stdout.decode(errors="replace")
    parts = re.split(r"===\d+===\n", said)
    if len(parts) < len(commands) + 1:
        fail(f"GDB ended early: {said[-2000:]}")
    return parts


def lines_of(part):
    """The places that a front end is told of."""
    return [int(line) for line in re.findall(r"\x1a\x1a[^:\n]*summing\.c:(\d+):", part)]


def own_lines(parts):
    return [found[-1] if (found := lines_of(part)) else None for part in parts]


def steps(pinball):
    """Forwards from statement to statement, to the end, and back the same way."""
    forward = own_lines(session(pinball, ["step"] * 40))[:40]
    reads, root, last, out = (line_with(mark) for mark in ("READS", "ROOT CAUSE", "LAST", "LEFT OUT"))
    for line in (reads, root, last):
        if line not in forward:
            fail(f"step does not come to line {line}: {forward}")
    if out in forward:
        fail(f"step comes to line {out}, which is left out: {forward}")
    parts = session(pinball, ["step"] * 12 + ["reverse-step"] * 11)
    there, back = own_lines(parts)[:12], own_lines(parts)[12:23]
    if back != there[-2::-1]:
        fail(f"back is another way: {there}, {back}")


def values(pinball):
    """Every variable has the value that it had."""
    reads = line_with("READS")
    parts = session(pinball, [f"advance summing.c:{reads}"] + ["print s", "print table[5]", f"advance summing.c:{reads}"] * 7)
    sums = [int(found) for part in parts[1:] for found in re.findall(r"\$\d+ = (\d+)", part)]
    want = [n for i in range(7) for n in ([0, 0, 1, 3, 6, 10, 17][i], 7)]
    if sums != want:
        fail(f"values: {sums}, and not {want}")


def others(pinball):
    reads, last, out = line_with("READS"), line_with("LAST"), line_with("LEFT OUT")
    parts = session(pinball, [f"break {out}", f"break {reads}", "continue", "disable", "finish", "next", "next", "continue",
                              "enable", "reverse-continue", "info breakpoints", "stepi", "stepi", "bt", "run", "next &"])
    if "left out of the recording" not in parts[0]:
        fail(f"a breakpoint that is never hit: {parts[0]}")
    if "left out" in parts[1]:
        fail(f"one that is: {parts[1]}")
    found = own_lines(parts)
    if found[2] != reads:
        fail(f"continue comes to {found[2]}, and not to {reads}")
    if found[4] is None or found[4] == reads:
        fail(f"finish stays in the function: {parts[4]}")
    if last not in (found[5], found[6]):
        fail(f"next does not come to {last}: {found[5:7]}")
    if "SIGABRT" not in parts[7]:
        fail(f"continue does not end in the failure: {parts[7]}")
    if found[9] != reads:
        fail(f"reverse-continue comes to {found[9]}")
    if found[14] != reads:
        fail(f"run comes to {found[14]}")


def stops_on_the_way(pinball):
    """next and finish stop at breakpoints, step where something watched was written; what they come to then is theirs."""
    reads, root, call = (line_with(mark) for mark in ("READS", "ROOT CAUSE", "total = sum(n)"))
    parts = session(pinball, [f"advance summing.c:{call}", f"break {reads}", "next", "next", "finish", "delete", "finish", f"break {root}",
                              "reverse-next", "delete", "print 1", f"break {reads} if s == 17", "next", "print i",
                              "reverse-finish", "delete", "watch table[3]", "reverse-continue", "step"])
    found = own_lines(parts)
    for number, line in ((2, reads), (4, reads), (6, call), (12, reads), (14, call), (17, root)):
        if found[number] != line:
            fail(f"stops on the way: {number} comes to {found[number]}, and not to {line}: {parts[number]}")
    if "Breakpoint 2, " not in parts[2] or "Breakpoint" in parts[3] or found[3] is None:
        fail(f"next to a breakpoint, and from it: {parts[2:4]}")
    if "= 6" not in parts[13]:
        fail(f"a condition: {parts[12:14]}")
    if "New value = 3" not in parts[18]:
        fail(f"step over a write: {parts[18]}")


def threads(room):
    """From statement to statement through all threads, and back the same way."""
    whole = os.path.join(room, "threads")
    drdebug("record", "--chaos", "--keep", "failed", "--retry", "120s", "-o", whole, "--", THREADS)
    for gap in ("0", "20000"):
        pinball = f"{whole}.{gap}"
        drdebug("relog", whole, "--at", "failure", "--gap", gap, "-o", pinball)
        first = session(pinball, ["pin when", "step"])[0]
        if "left out" not in first or "SIGABRT" in first:
            fail(f"threads: a recording without the begin of main does not begin at its own: {first}")
        parts = session(pinball, ["pin goto end"] + ["reverse-step", "pin when"] * 16 + ["step", "pin when"] * 15)
        places = [found.group() if (found := re.search(r"T\d+:\d+:[0-9a-f]+", part)) else None for part in parts[2:64:2]]
        back, forth = places[:16], places[16:]
        if None in places or forth != back[-2::-1]:
            fail(f"threads: back {back}, and forth {forth}")
        if len({place[:2] for place in back if place}) < 2:
            fail(f"threads: steps are of one thread: {back}")


def commands(whole, room):
    """`pin relog' makes one of a slice; there `pin list' shows its statements."""
    made = os.path.join(room, "made")
    said = session(whole, ["pin goto end", "pin why", f"pin relog {made}"])
    if "instructions kept" not in said[2]:
        fail(f"pin relog: {said[2]}")
        return
    told = session(made, ["pin why"])[0]
    if "ROOT CAUSE" not in told:
        fail(f"pin why: {told}")
    listed = session(made, ["step", "pin list"])[1]
    if not re.search(r"^=> +T1:\d+:[0-9a-f]+ +\w+ \(\) at .*summing\.c:\d+  \S", listed, re.MULTILINE):
        fail(f"pin list: {listed}")


def bare(pinball):
    """A GDB without drdebug.py steps behind gaps, stops at breakpoints, and does not hang."""
    reads = line_with("READS")
    said = subprocess.run(["gdb", "-nx", "-batch", "-q", PROGRAM, "-ex", "set sysroot target:", "-ex", "set remotetimeout 60", "-ex",
                           f"target remote | {DRDEBUG} serve {pinball}", "-ex", f"break {reads}", "-ex", "continue", "-ex", "next", "-ex",
                           "next", "-ex", "stepi", "-ex", "delete", "-ex", "next", "-ex", "next", "-ex", "next", "-ex", "next", "-ex", "continue"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                          check=False).stdout.decode(errors="replace")
    if f"summing.c:{reads}" not in said or "SIGABRT" not in said:
        fail(f"a bare remote: {said}")


def main():
    with tempfile.TemporaryDirectory() as room:
        os.environ["XDG_CACHE_HOME"] = os.path.join(room, "cache")
        whole = os.path.join(room, "whole")
        drdebug("record", "-o", whole, "--", PROGRAM)
        for gap in ("0", "20000"):
            pinball = os.path.join(room, f"slice{gap}")
            said = drdebug("relog", whole, "--at", "failure", "--gap", gap, "-o", pinball)
            if "instructions kept" not in said:
                fail(said)
                continue
            steps(pinball)
            values(pinball)
            others(pinball)
            bare(pinball)
            stops_on_the_way(pinball)
        threads(room)
        commands(whole, room)
    print("good" if not failures else f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
