#!/usr/bin/env python3
"""race_test.py --drdebug DRDEBUG --program PROGRAM --source SOURCE [--bare] [--output] - marks of races in slices.

SPDX-License-Identifier: MIT

Records every case of a program (cases.h) and slices its result. The cases say what marks are expected.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

CASE = re.compile(r"^static int\s+(\w+)\((?:void)?\) /\* MARKS (.*?)(?: BARE (.*?))? \*/", re.MULTILINE)
CRITERION = ("last", "write", "of", "case_result")


def expected_marks(source, bare):
    """{case: {what flows: mark}}"""
    with open(source) as f:
        text = f.read()
    found = CASE.findall(text)
    listed = set(re.findall(r'\{"(\w+)", \w+\}', text))
    assert listed == {name for name, *_ in found}, (listed, found)
    return {name: dict(re.findall(r"(\w+): ([\w?]+)", bare_marks if bare and bare_marks else marks))
            for name, marks, bare_marks in found}


def name_of(what):
    what = re.sub(r"^_ZL\d+", "", what)  # a static of C++
    return "memory" if re.match(r"\d+ bytes? at 0x|.*->|\*|\(", what) else re.match(r"[\w: ]*", what)[0]


class Test:
    def __init__(self, args):
        self.args, self.checks, self.failures = args, 0, []

    def check(self, what, ok):
        self.checks += 1
        if not ok:
            self.failures.append(what)

    def drdebug(self, *words):
        done = subprocess.run([self.args.drdebug, *words], capture_output=True, text=True, timeout=60, check=False)
        self.check(f"{words}: {done.stderr}", done.returncode == 0)
        return done.stdout

    def record(self, case):
        pinball = case + ".pinball"
        self.drdebug("record", "-q", "-o", pinball, "--", self.args.program, case)
        return pinball

    def case(self, case, expected):
        result = json.loads(self.drdebug("slice", self.record(case), "--json", *CRITERION))
        across = [(name_of(e["what"]), e["race"], e["what"]) for e in result["edges"]
                  if e["across_threads"] and "address" in e]
        for name, race, what in across:
            self.check(f"{case}: {what} is marked {race}", (race or "none") in (expected.get(name, "none"), "none"))
        for name, mark in expected.items():
            self.check(f"{case}: {name} crosses threads: {mark}; there are {sorted(set(across), key=str)}",
                       any(have == name and (race or "none") == mark for have, race, _ in across))

    def output(self, case, mark):
        """The mark is wherever a dependence is shown."""
        pinball, mark = self.record(case), re.escape(mark)
        text = self.drdebug("slice", pinball, "--dep", "a.dep", "--dot", "a.dot", "--html", "a.html", "-o", "kept", "--full", *CRITERION)
        self.check(f"text: {text}", re.search(rf"data +total, read by T\d, {mark}$", text, re.MULTILINE))
        self.check("a slice that was kept", self.drdebug("slice", pinball, "--show", "kept", "--full") == text)
        with open("a.dep") as f:
            self.check("dependences", re.search(rf" 0x[0-9a-f]+ 4 {mark}$", f.read(), re.MULTILINE))
        with open("a.dot") as f:
            self.check("a graph", re.search(rf'label="total, {mark}", color=(red|orange), penwidth=2', f.read()))
        with open("a.html") as f:
            self.check("a page", re.search(rf'<i>data</i> total <em>{mark}</em>', f.read()))


def main():
    parser = argparse.ArgumentParser()
    for name in ("drdebug", "program", "source"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--output", metavar="CASE")
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    args.drdebug, args.program = os.path.abspath(args.drdebug), os.path.abspath(args.program)
    expected = expected_marks(os.path.abspath(args.source), args.bare)
    test = Test(args)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ["XDG_STATE_HOME"] = os.path.abspath("state")  # for the recorder's key: there may be no HOME
        if args.output:
            test.output(args.output, expected[args.output]["total"])
        else:
            for case, marks in expected.items():
                if not args.case or case in args.case:
                    test.case(case, marks)
        os.chdir("/")
    for failed in test.failures:
        print("FAILED:", failed)
    print(f"{test.checks} checks, {len(test.failures)} failures")
    sys.exit(1 if test.failures or not test.checks else 0)


main()
