#!/usr/bin/env python3
"""calls_test.py DRDEBUG PROGRAM LEVEL - `ask calls` against GDB's breakpoints on the same recording: every execution.

SPDX-License-Identifier: MIT

PROGRAM is one of subjects/, not position-independent. LEVEL is O0 or O2.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

from questions import NO_LIBRARIES, SKIP, Test

HERE = os.path.dirname(os.path.abspath(__file__))
FUNCTIONS = {
    "calls": ["fib", "is_even", "is_odd", "last_of", "tail", "compare", "squares", "deep", "jumps", "on_signal",
              "raise_some", "work", "threads", "main"],
    "throws": ["descend", "attempt", "shapes::box::box", "shapes::box::area", "twice<int>", "twice<double>",
               "guard::~guard", "main"],
}


def addresses(program):
    """{name: addresses}, names without parameters and types of results."""
    shown = subprocess.run(["nm", "-C", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = collections.defaultdict(set)
    for line in shown.splitlines():
        row = line.split(None, 2)
        if len(row) == 3 and row[1] in "tTwW":
            name = re.sub(r"\(.*", "", row[2]).split(" ")[-1]
            if "[clone" not in row[2]:  # a part of another one
                found[name].add(int(row[0], 16))
    return found


def gdb_stops(test, pinball, places):
    """[(address, position, frames of the same function below)]"""
    names = {word: os.path.join(test.work, word) for word in ("places", "out")}
    with open(names["places"], "w", encoding="ascii") as out:
        out.writelines(f"{place:#x}\n" for place in places)
    env = dict(os.environ, ASK_PLACES=names["places"], ASK_OUT=names["out"], LC_ALL="C.UTF-8")
    done = subprocess.run([test.drdebug, "debug", pinball, "--", "-nx", "-batch", *NO_LIBRARIES, "-x",
                           os.path.join(HERE, "calls_gdb.py")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=600, env=env)
    try:
        with open(names["out"], encoding="utf-8") as out:
            rows = [line.split() for line in out]
    except OSError:
        rows = []
    if not test.check(rows and rows[-1] == ["end"], f"GDB ended early:\n{done.stdout[-2000:]}"):
        test.end()
    return [(int(row[0], 16), row[1], int(row[2])) for row in rows[:-1]]


def against_gdb(test, pinball, program, level):
    where = addresses(program)
    names = FUNCTIONS[os.path.basename(program).split("_")[0]]
    stops = gdb_stops(test, pinball, sorted({place for name in names for place in where[name]}))
    for name in names:
        want = [stop for stop in stops if stop[0] in where[name]]
        rows = [row for row in test.ask(pinball, "calls", name) if row["how"] != "inlined"]
        test.check(want, f"{name}: GDB never stopped there")
        test.equal([row["at"] for row in rows], [stop[1] for stop in want], f"{name}: executions")
        if level == "O0":
            test.equal([row["again"] or 0 for row in rows], [stop[2] for stop in want], f"{name}: recursion")


def sums(test, rows, what):
    """Of a function that calls nobody but itself: what is inside is its own and that of the next level."""
    inside = {}
    for row in reversed(rows):
        key = row["at"].split(":")[0], row["again"] or 0
        below = inside.pop((key[0], key[1] + 1), 0)
        test.equal(row["insns"], row["self"] + below, f"{what} at {row['at']}: instructions")
        inside[key] = inside.get(key, 0) + row["insns"]


def column(rows, name):
    return [row[name] for row in rows]


def known_calls(test, pinball, level):
    """What the program is known to do."""
    rows = test.ask(pinball, "calls", "fib")
    test.equal(set(column(rows, "ended")), {None}, "fib: ended")
    test.equal(len({row["at"].split(":")[0] for row in rows}), 4, "fib: threads")
    sums(test, rows, "fib")
    if level == "O0":  # else a part of the recursion is a loop
        test.equal(len(rows), 67 + 3 * 5 + 15 + 25 + 41, "fib: executions")
    rows = test.ask(pinball, "calls", "deep")
    test.equal(column(rows, "ended"), ["unwound"] * 10, "deep: ended")
    test.equal([row["again"] or 0 for row in rows], [0, 0, 1, 0, 1, 2, 0, 1, 2, 3], "deep: recursion")
    rows = test.ask(pinball, "calls", "on_signal")
    test.equal(column(rows, "how"), ["signal"] * 3, "on_signal: how")
    jumped = level == "O2"
    test.equal(column(rows, "ended"), ["tail" if jumped else None] * 3, "on_signal: ended")
    rows = test.ask(pinball, "calls", f"calls_{level}!is_*")
    test.equal(len(rows), 5 + 11, "is_*: executions")
    rows = rows[5:]
    test.equal(column(rows, "function")[:4], ["is_even", "is_odd"] * 2, "is_*: functions")
    test.equal([row["how"] for row in rows[1:11]], ["tail" if jumped else None] * 10, "is_*: how")
    test.equal([row["ended"] for row in rows[:11]], ["tail" if jumped else None] * 10 + [None], "is_*: ended")
    if jumped:
        test.check(all(row["depth"] == rows[0]["depth"] for row in rows[:11]), "is_*: tail calls are as deep")
        test.check(all(a["insns"] > b["insns"] for a, b in zip(rows, rows[1:11])), "is_*: they return together")
    rows = test.ask(pinball, "calls", "square")
    test.equal(column(rows, "how"), ["inlined"] * 12, "square: how")
    test.check(all(row["caller"]["line"] for row in rows), "square: callers")
    rows = test.ask(pinball, "calls", "work")
    test.equal(len(rows), 3, "work: executions")
    test.equal({row["at"].split(":")[0] for row in rows}, {"T2", "T3", "T4"}, "work: threads")


def known_libraries(test, pinball, program):
    own = os.path.basename(program)
    test.equal(test.ask(pinball, "calls", f"{own}!fib"), test.ask(pinball, "calls", "fib"), "module: own")
    done = test.run(test.drdebug, "ask", pinball, "calls", "libc.so.6!fib", status=1)
    test.check("no such function" in done.stderr, f"module: another one's: {done.stderr}")
    rows = test.ask(pinball, "calls", "libc.so.6!qsort")
    test.equal(len(rows), 1, "qsort: executions")
    test.equal(rows[0]["caller"]["function"] if rows else "", "main", "qsort: caller")
    for name in ("strlen", "memset"):
        rows = [row for row in test.ask(pinball, "calls", f"libc.so.6!{name}")
                if row["caller"] and row["caller"].get("function") == "main"]
        test.equal(len(rows), 1, f"{name}: executions from main")
    done = test.run(test.drdebug, "ask", pinball, "calls", "fibb", status=1)
    test.check("no such function" in done.stderr and "fib" in done.stderr.split("nearest")[-1],
               f"a name that is nearly right: {done.stderr}")


def known_throws(test, pinball, _level):
    rows = test.ask(pinball, "calls", "descend")
    test.equal(column(rows, "ended"), ["unwound"] * 9, "descend: ended")
    rows = test.ask(pinball, "calls", "attempt")
    test.equal(column(rows, "ended"), [None] * 3, "attempt: ended")
    test.equal(len(test.ask(pinball, "calls", "twice")), 8, "twice: without template arguments")
    test.equal(len(test.ask(pinball, "calls", "box::area")), 4, "box::area: without its namespace")


def kept(test, pinball, name):
    """With what is kept beside the trace, without it, and where that is damaged: the same."""
    path = os.path.join(pinball, "trace.calls")
    test.check(os.path.exists(path), "odd steps are kept")
    rows = test.ask(pinball, "calls", name)
    os.truncate(path, os.path.getsize(path) - 3)
    test.equal(test.ask(pinball, "calls", name), rows, f"{name}: what is kept is damaged")
    os.remove(path)
    test.equal(test.ask(pinball, "calls", name), rows, f"{name}: nothing is kept")


def main():
    drdebug, program, level = sys.argv[1:]
    if not shutil.which("gdb"):
        print("skipped: there is no gdb")
        sys.exit(SKIP)
    test = Test(drdebug)
    name = os.path.basename(program).split("_")[0]
    pinball = test.record("calls.pinball", program)
    against_gdb(test, pinball, program, level)
    kept(test, pinball, "deep" if name == "calls" else "descend")
    if name == "calls":
        known_calls(test, pinball, level)
        known_libraries(test, pinball, program)
    else:
        known_throws(test, pinball, level)
    test.end()


if __name__ == "__main__":
    main()
