#!/usr/bin/env python3
"""races_test.py --drdebug DRDEBUG --program PROGRAM --source SOURCE [CASE...] - what `ask races` tells of each case.

SPDX-License-Identifier: MIT

The cases say which pairs of marked lines are races; a case that says nothing has none.
"""
import argparse
import os
import re
import sys
import tempfile

from races_list import ask, cases, marks, pair, record

EXPECTED = re.compile(r"static int\s+(\w+)\(void\) /\* RACES (.*?) \*/", re.DOTALL)


def expected_pairs(source):
    """{case: ({pair: (mark, pattern)}, {pairs that may be})}"""
    with open(source) as f:
        found = EXPECTED.findall(f.read())
    result = {}
    for name, text in found:
        must, _, may = text.partition(" MAY ")
        result[name] = ({m[0]: (m[1], m[2].strip()) for m in re.findall(r"(\w-\w)(\??): ([a-z ]+)", must)},
                        set(re.findall(r"\w-\w", may)))
    return result


def main():
    parser = argparse.ArgumentParser()
    for name in ("drdebug", "program", "source"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    drdebug, program, source = (os.path.abspath(p) for p in (args.drdebug, args.program, args.source))
    letters, expected = marks(source), expected_pairs(source)
    checks, failures = 0, []
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
        for case in args.case or cases(source):
            record(drdebug, case + ".pinball", [program, case])
            rows = ask(drdebug, case + ".pinball", "races")
            must, may = expected.get(case, ({}, set()))
            found = {}
            for row in rows:
                lines = pair(row, source)
                found["-".join(sorted(str(letters.get(line, line)) for line in lines))] = row
            checks += 1 + len(must)
            for name, (mark, pattern) in must.items():
                have = found.get(name, {})
                if have.get("race") != "race" + mark or (have["pattern"] or "none") != pattern:
                    failures.append(f"{case}: {name} is to be {pattern}: {have}")
            for name, row in found.items():
                if name not in must and name not in may:
                    failures.append(f"{case}: {name} was not expected: {row}")
        os.chdir("/")
    for failed in failures:
        print("FAILED:", failed)
    print(f"{checks} checks, {len(failures)} failures")
    sys.exit(1 if failures or not checks else 0)


main()
