#!/usr/bin/env python3
"""loops_test.py --drdebug PROG --bin DIR - lines that are loops, forwards and backwards (loops_gdb.py).

SPDX-License-Identifier: MIT
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from stub_client import NO_LIBRARIES, SKIP, SOAK

HERE = os.path.dirname(os.path.abspath(__file__))

MANY = 1000000 if SOAK else 250000
# (build, turns, record options, walks). The longest loops: only forwards and back once, nobody could step them.
ROWS = [
    ("loops-O0", 6, [], ["backwards", "watch", "conditions"]),
    ("loops-O2", 12, [], ["backwards"]),
    ("loops-O0", MANY, [], ["forwards"]),
]
SOAK_ROWS = [
    ("loops-O0", 60, [], ["backwards", "step", "counted", "watch", "conditions"]),
    ("loops-O0", 300, ["--chaos"], ["forwards", "breaks"]),
    ("loops-Og", 60, [], ["backwards", "step"]),
    ("loops-O2", 90, [], ["backwards", "step", "counted"]),
]


def lines():
    found = {}
    with open(os.path.join(HERE, "subjects", "loops.c"), encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            mark = re.search(r"/\* (\d+|TICKS) \*/", line)
            if mark:
                found[int(mark[1]) if mark[1].isdigit() else mark[1]] = number
    return found


def walk(drdebug, top, row):
    build, turns, options, what = row
    pinball = os.path.join(top, f"{os.path.basename(build)}.{turns}")
    shutil.rmtree(pinball, ignore_errors=True)
    subprocess.run([drdebug, "record", *options, "-o", pinball, "--", build, str(turns)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    places = {key: line for key, line in lines().items() if key != "TICKS" or "breaks" in what}
    setting = f"python LINES, WHAT = {places!r}, {what!r}"
    told = subprocess.run([drdebug, "debug", pinball, "--", "-nx", "-batch", *NO_LIBRARIES, "-ex", setting, "-x",
                           os.path.join(HERE, "loops_gdb.py")], check=False, timeout=3600, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).stdout
    good = "\nDONE" in told and "FAILED" not in told
    if not good:
        print(f"FAILED: {os.path.basename(build)} {turns} {what}:\n{told}")
    return good


def back_over_millions(drdebug, top):
    """reverse-next from behind loops of many turns: comes to their begins, and to a condition inside."""
    pinball, places = os.path.join(top, f"loops-O0.{MANY}"), lines()
    commands = ["handle SIGSEGV nostop noprint pass", f"tbreak {places[2]}", "continue", "reverse-next", "reverse-next",
                "reverse-next", "print i", "print x", "stepi 7", "set $inside = $pc", f"tbreak {places[1]}", "continue",
                f"break *$inside if i == {MANY // 2}", "reverse-next", "print i", "reverse-next", "print i"]
    words = [word for command in commands for word in ("-ex", command)]
    told = subprocess.run([drdebug, "debug", pinball, "--", "-nx", "-batch", *NO_LIBRARIES, *words], check=False, timeout=3600,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).stdout
    good = all(f"{shown}\n" in told for shown in ("$1 = 0", "$2 = 1", f"$3 = {MANY // 2}", "$4 = 0"))
    if not good:
        print(f"FAILED: back over millions:\n{told}")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    if not shutil.which("gdb"):
        print("there is no gdb: skipped")
        return SKIP
    with tempfile.TemporaryDirectory() as top:
        good = [walk(options.drdebug, top, (os.path.join(options.bin, row[0]), *row[1:])) for row in ROWS + (SOAK_ROWS if SOAK else [])]
        good.append(back_over_millions(options.drdebug, top))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
