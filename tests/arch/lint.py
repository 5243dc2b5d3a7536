#!/usr/bin/env python3
"""lint.py - clang-tidy on the program's sources, as .clang-tidy says.

SPDX-License-Identifier: MIT

    lint.py TOP BUILD [FILE...]

BUILD/compile_commands.json says how they are compiled. A source that several targets compile is read once, as its own
library compiles it. FILEs may be sources of tests, too. Status: 0 clean, 1 not.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

# gcc compiles: clang need not know all of its warnings.
TIDY = ["clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument"]

# gcc's precompiled headers, which clang cannot read; a source includes what is in them, too.
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S*cmake_pch\.h\b")

NOT_THE_PROGRAM = ("tests", "bench", "demo")


def one_command_each(top, build):
    """Commands by source: the first that is without a sanitizer, or the first."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    chosen = {}
    for entry in commands:
        path = os.path.realpath(entry["file"])
        entry["command"] = PRECOMPILED.sub("", entry["command"])
        if not path.endswith(".c") or not path.startswith(top + os.sep) or path.startswith(build + os.sep):
            continue
        if path not in chosen or "-fsanitize" in chosen[path]["command"] and "-fsanitize" not in entry["command"]:
            chosen[path] = entry
    return chosen


def of_the_program(top, path):
    return os.path.relpath(path, top).split(os.sep)[0] not in NOT_THE_PROGRAM


def tidy(folder, path):
    done = subprocess.run([*TIDY, "-p", folder, path], capture_output=True, text=True, check=False)
    return path, done.returncode, done.stdout, done.stderr


def main():
    top, build = (os.path.realpath(name) for name in sys.argv[1:3])
    chosen = one_command_each(top, build)
    wanted = [os.path.realpath(name) for name in sys.argv[3:]] or [path for path in sorted(chosen) if of_the_program(top, path)]
    unknown = [path for path in wanted if path not in chosen]
    if unknown:
        print(f"lint: nothing says how to compile {unknown[0]}")
        return 1
    folder = os.path.join(build, "lint")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump(list(chosen.values()), f)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, status, out, err in pool.map(lambda path: tidy(folder, path), wanted):
            if status or out.strip():
                bad += 1
                print(out, err if status else "", f"lint: {os.path.relpath(path, top)}", sep="\n", flush=True)
    print(f"lint: {len(wanted)} sources, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
