#!/usr/bin/env python3
"""races_test.py --drdebug DRDEBUG --program PROGRAM --source SOURCE [--values] [CASE...] - what `ask races` tells of each case.

SPDX-License-Identifier: MIT

The cases say which pairs of marked lines are races; a case that says nothing has none. The values that the sentences of patterns name are
those that `ask accesses` has of the variable.
"""
import argparse
import os
import re
import sys
import tempfile

from races_list import ask, cases, marks, pair, record

ACCESS = re.compile(r"T(\d+) (read|wrote) (\S+|0x\w+ \S+) (?:from|to) ([\w.]+) at racing[.]c:(\d+)")
EXPECTED = re.compile(r"static int\s+(\w+)\(void\) /\* RACES (.*?) \*/", re.DOTALL)


def expected_pairs(source):
    """{case: ({pair: (mark, pattern)}, {pairs that may be})}"""
    with open(source) as f:
        found = EXPECTED.findall(f.read())
    result = {}
    for name, text in found:
        must, _, may = text.partition(" MAY ")
        result[name] = ({m[0]: (m[1], m[2].strip()) for m in re.findall(r"(\w+-\w+)(\??): ([a-z ]+)", must)},
                        set(re.findall(r"\w+-\w+", may)))
    return result


def wrong_values(drdebug, pinball, row):
    """Accesses of a row's sentence without a value, or with one that the variable's accesses do not have."""
    wrong, variable = [], None
    for thread, did, value, name, line in ACCESS.findall(row["story"]):
        variable = variable if name == "it" else name
        have = [a["value"] for a in ask(drdebug, pinball, "accesses", variable) if a["at"].startswith(f"T{thread}:") and
                a["access"] in ({"read": "read", "wrote": "write"}[did], "both") and a["place"]["line"] == int(line)]
        if value not in have:
            wrong.append(f"{row['story']}: {value} is none of {have}")
    if row["story"].count(" at racing.c:") != len(ACCESS.findall(row["story"])):
        wrong.append(f"{row['story']}: without values")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    for name in ("drdebug", "program", "source"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--values", action="store_true", help="look at those of the sentences, too")
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
            told = [row for row in rows if row["pattern"] and args.values]
            checks += len(told)
            failures += [f"{case}: {text}" for row in told for text in wrong_values(drdebug, case + ".pinball", row)]
            for name, row in found.items():
                if name not in must and name not in may:
                    failures.append(f"{case}: {name} was not expected: {row}")
        os.chdir("/")
    for failed in failures:
        print("FAILED:", failed)
    print(f"{checks} checks, {len(failures)} failures")
    sys.exit(1 if failures or not checks else 0)


main()
