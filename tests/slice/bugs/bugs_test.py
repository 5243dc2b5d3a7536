#!/usr/bin/env python3
"""bugs_test.py --drdebug DRDEBUG --work DIR CASE - programs with the bugs that people report, and slices of their failures.

SPDX-License-Identifier: MIT

A subject marks its lines: /* ROOT CAUSE */ (or what else is there that says it), /* UNRELATED */. The root cause must be in the
slice of the failure, or of the variable `result` at /* CRITERION */, at every level of optimization, and the slice may not
have more of the program's own lines than it had.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CLI = os.path.join(os.path.dirname(HERE), "cli")

# What a slice has: own lines at most, at -O0, -Og and -O2. Less is better, and may be written here. (None: the compiler
# leaves nothing of the bug.)
CASES = {
    "freed_mutex": (HERE, (10, 11, 10)),
    "raced_counter": (HERE, (7, 7, 5)),
    "destroyed_table": (HERE, (14, 13, 14)),
    "wrong_count": (HERE, (11, 11, 10)),
    "overflow": (CLI, (7, 6, 5)),
    "twice": (CLI, (4, 4, None)),
    "null": (CLI, (15, 14, 11)),
    "wrong": (CLI, (10, 9, None)),
    "divide": (CLI, (11, 7, None)),
    "atomic": (CLI, (8, 8, 7)),
    "jumps": (CLI, (7, 5, 5)),
    "saved": (CLI, (4, 3, 3)),
    "lazy": (HERE, (4, 3, 3)),
    "hidden": (HERE, (6, 5, 3)),
}
CAUSES = {"jumps": "SWITCH", "saved": "SOURCE"}
RESULT = {"jumps", "saved", "lazy"}
# What needs the loader at every level. Elsewhere -O0 is static: libraries are most of the work, and the same at each level.
LOADED = {"lazy", "hidden"}
# Lines that the slice of a level need not keep out, and why.
EXCUSED = {("twice", "UNRELATED")}  # the allocator's lists: both blocks are in them


def lines_with(source, marker):
    with open(source) as f:
        return [n for n, text in enumerate(f, 1) if f"/* {marker} */" in text]


def check(drdebug, name, level, most):
    folder = CASES[name][0]
    source, stem = os.path.join(folder, name + ".c"), name + level
    link = "-static" if level == "-O0" and name not in LOADED else "-Wl,-z,lazy"
    subprocess.run(["gcc", "-g", "-w", "-pthread", "-fno-builtin-fma", link, level, "-o", stem, source, "-lm"], check=True)
    with open("input", "w") as f:
        f.write("t")
    shutil.rmtree(stem + ".pinball", ignore_errors=True)
    subprocess.run([drdebug, "record", "-q", "-o", stem + ".pinball", "--", "./" + stem, "input"], timeout=60, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    what = ["--at", "failure"]
    if name in RESULT:
        what = ["result", "at", f"{name}.c:{lines_with(source, 'CRITERION')[0]}"]
    done = subprocess.run([drdebug, "slice", stem + ".pinball", "--json", *what], timeout=60, check=False,
                          capture_output=True, text=True)
    if done.returncode:
        return [done.stderr]
    result = json.loads(done.stdout)
    own = {row["line"] for row in result["lines"] if row["file"] and row["file"].endswith(name + ".c")}
    print(f"{stem}: {len(own)} lines of its own, {len(result['lines'])} in all, {result['instructions']} instructions of "
          f"{result['total']}")
    failures = []
    if not set(lines_with(source, CAUSES.get(name, "ROOT CAUSE"))) & own:
        failures.append("the root cause is not in the slice")
    if set(lines_with(source, "UNRELATED")) & own and (name, "UNRELATED") not in EXCUSED:
        failures.append("an unrelated line is in the slice")
    if any(row["what"] == "%rsp" for row in result.get("story", [])):
        failures.append("the stack pointer is a cause")
    if len(own) > most:
        failures.append(f"{len(own)} lines, at most {most} before: {sorted(own)}")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("case", choices=sorted(CASES))
    args = parser.parse_args()
    args.drdebug = os.path.abspath(args.drdebug)
    room = os.path.join(args.work, args.case)
    os.makedirs(room, exist_ok=True)
    os.chdir(room)
    os.environ["XDG_STATE_HOME"] = os.path.abspath("state")  # for the recorder's key: there may be no HOME
    bad = 0
    for level, most in zip(("-O0", "-Og", "-O2"), CASES[args.case][1]):
        for failure in check(args.drdebug, args.case, level, most) if most is not None else []:
            print(f"FAILED: {args.case}{level}: {failure}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
