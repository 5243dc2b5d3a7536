#!/usr/bin/env python3
"""calls_values_test.py DRDEBUG PROGRAM - values of `ask calls`: arguments against GDB's, results by what is known.

SPDX-License-Identifier: MIT

PROGRAM is of subjects/calls.c.
"""
import json
import os
import shutil
import subprocess
import sys

from questions import NO_LIBRARIES, SKIP, Test

HERE = os.path.dirname(os.path.abspath(__file__))
FUNCTIONS = ["fib", "is_even", "is_odd", "last_of", "tail", "compare", "squares", "deep", "jumps", "on_signal", "work"]


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def moment(position):
    """Thread and count: a breakpoint is some instructions behind a function's first."""
    return tuple(position.split(":")[:2])


def by_gdb(test, pinball):
    path = os.path.join(test.work, "out")
    env = dict(os.environ, ASK_FUNCTIONS=",".join(FUNCTIONS), ASK_OUT=path, LC_ALL="C.UTF-8")
    done = subprocess.run([test.drdebug, "debug", pinball, "--", "-nx", "-batch", *NO_LIBRARIES, "-x",
                           os.path.join(HERE, "calls_values_gdb.py")], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          timeout=600, env=env)
    with open(path, encoding="utf-8") as out:
        rows = [json.loads(line) for line in out]
    if not test.check(rows and rows[-1] is None, f"GDB ended early:\n{done.stdout[-2000:]}"):
        test.end()
    return rows[:-1]


def main():
    drdebug, program = sys.argv[1:]
    if not shutil.which("gdb"):
        print("skipped: there is no gdb")
        sys.exit(SKIP)
    test = Test(drdebug)
    pinball = test.record("values.pinball", program)
    stops = by_gdb(test, pinball)
    own = os.path.basename(program)
    for name in FUNCTIONS:
        want = {moment(stop["at"]): stop["arguments"] for stop in stops if stop["function"] == name}
        rows = test.ask(pinball, "calls", f"{own}!{name}")
        test.check(want, f"{name}: GDB never stopped there")
        test.equal({moment(row["at"]): row["arguments"] for row in rows}, want, f"{name}: arguments")
    rows = test.ask(pinball, "calls", "fib")
    for row in rows:
        test.equal(row["result"], str(fib(int(row["arguments"][2:]))), f"fib({row['arguments']}): result")
    results = [row["result"] for row in test.ask(pinball, "calls", f"{own}!is_*")]
    test.equal(results, ["0"] * 5 + ["1"] * 11, "is_*: tail calls return what their caller does")
    fives = [row for row in rows if row["arguments"] == "n=5"]
    some = test.ask(pinball, "calls", "fib", "--where", "n == 5", "--print", "n * 2,room")
    test.equal([row["at"] for row in some], [row["at"] for row in fives], "--where")
    test.equal({(row["n * 2"], row["room"]) for row in some}, {("10", "63")}, "--print")
    test.equal({row["result"] for row in test.ask(pinball, "calls", "deep")}, {None}, "deep: it never returned")
    done = test.run(drdebug, "ask", pinball, "calls", "fib", "--where", "n ===", status=2)
    test.check("n ===" in done.stderr, f"a condition that is not understood: {done.stderr}")
    test.end()


if __name__ == "__main__":
    main()
