#!/usr/bin/env python3
"""coverage_test.py DRDEBUG PROGRAM SOURCE GCOV_PROGRAM - `ask coverage` against gcov: the same count for each line.

SPDX-License-Identifier: MIT

GCOV_PROGRAM is the same program built with --coverage; PROGRAM is not: both without optimization.
"""
import glob
import json
import os
import re
import shutil
import sys

from questions import SKIP, Test


def by_gcov(test, program, source):
    """{line: count}"""
    folder = os.path.join(test.work, "gcov")
    os.mkdir(folder)
    here = os.path.dirname(program)
    name = os.path.basename(program)
    for note in glob.glob(os.path.join(here, name + "*.gcno")):
        shutil.copy(note, folder)
    env = dict(os.environ, GCOV_PREFIX=folder, GCOV_PREFIX_STRIP=str(here.count("/")))
    # The program's own data file goes to where its object file was built.
    done = os.spawnve(os.P_WAIT, program, [program], env)
    test.equal(done, 0, f"{program}: status")
    note = os.path.basename(glob.glob(os.path.join(folder, "*.gcno"))[0])
    said = test.run("gcov", "--json-format", "--stdout", note, cwd=folder).stdout
    counts = {}
    for file in json.loads(said)["files"]:
        if os.path.basename(file["file"]) != os.path.basename(source):
            continue
        for line in file["lines"]:
            counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
    return counts


def lcov(text, source):
    counts, functions, now = {}, {}, None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == "SF":
            now = os.path.basename(value)
        if now != os.path.basename(source):
            continue
        if key == "DA":
            number, count = value.split(",")
            counts[int(number)] = int(count)
        if key == "FNDA":
            count, name = value.split(",", 1)
            functions[name] = int(count)
    return counts, functions


def explained(text, want, got, line):
    """What gcov says, but for what the two of them mean differently."""
    here = text[line - 1].strip()
    if line not in got and text[line:line + 1] == ["{"]:
        return None  # it begins a function where its name is; the code begins with the bracket
    if line not in want and here == "{":
        return want.get(line - 1)
    if line not in want and here == "}":
        return got[line]  # it has code
    if line not in got and re.match(r"(case .*|default):$", here):
        return None  # it has none
    more = re.search(r"/[*] AGAIN ([0-9]+) ", here)  # setjmp returns, or a statement's end is on the line, too
    return want.get(line) + int(more[1]) if more else want.get(line)


def main():
    drdebug, program, source, gcov_program = sys.argv[1:]
    if not shutil.which("gcov"):
        print("skipped: there is no gcov")
        sys.exit(SKIP)
    test = Test(drdebug)
    want = by_gcov(test, gcov_program, source)
    pinball = test.record("coverage.pinball", program)
    out = test.run(drdebug, "ask", pinball, "coverage", os.path.basename(source), "--format", "lcov").stdout
    got, functions = lcov(out, source)
    with open(source, encoding="utf-8") as file:
        text = file.read().splitlines()
    for line in sorted(set(want) | set(got)):
        expected = explained(text, want, got, line)
        test.equal(got.get(line), expected, f"{line}: {text[line - 1]}")
    test.equal(functions.get("main"), 1, "main: calls")
    rows = test.ask(pinball, "coverage", os.path.basename(source))
    test.equal({row["place"]["line"]: row["count"] for row in rows}, got, "rows and lcov")
    done = test.run(drdebug, "ask", pinball, "coverage", "nowhere.c", status=1)
    test.check("no such source file" in done.stderr, f"another file: {done.stderr}")
    test.end()


if __name__ == "__main__":
    main()
