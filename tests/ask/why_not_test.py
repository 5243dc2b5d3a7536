#!/usr/bin/env python3
"""why_not_test.py DRDEBUG PROGRAM SOURCE - `ask why-not` on a program whose branches are known.

Lines are named by their text, so that the source may change. SPDX-License-Identifier: MIT
"""
import json
import os
import subprocess
import sys
import tempfile

DRDEBUG, PROGRAM, SOURCE = sys.argv[1:]
TEXT = [line.strip() for line in open(SOURCE, encoding="utf-8")]


def line_of(text):
    assert TEXT.count(text) == 1, text
    return TEXT.index(text) + 1


def rows(pinball, text):
    where = f"{os.path.basename(SOURCE)}:{line_of(text)}"
    done = subprocess.run([DRDEBUG, "ask", pinball, "why-not", where, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [(r["what"], r["times"], r["of"], r["because"], r["at"], r["needed"])
            for r in map(json.loads, done.stdout.splitlines()[1:-1])]


def expect(pinball, text, *wanted):
    got = rows(pinball, text)
    assert len(got) == len(wanted), f"{text}: {got}"
    for row, want in zip(got, wanted):
        assert row[:3] == want[:3], f"{text}: {row}, not {want}"
        if len(want) > 3:
            assert want[3] in (row[3] or ""), f"{text}: {row}, not {want}"
        # A branch that went elsewhere has a moment, and what it was decided by.
        if row[2] and row[1] < row[2]:
            assert row[4].startswith("T1:") and row[3].startswith("why_not.c:"), f"{text}: {row}"
    return got


def main():
    with tempfile.TemporaryDirectory(prefix="why_not.") as work:
        pinball = os.path.join(work, "w.pinball")
        subprocess.run([DRDEBUG, "record", "-q", "-o", pinball, "--", PROGRAM], check=True, stdout=subprocess.DEVNULL)
        loop = ("for (int i = 0; i < n; i++) {", 20, 21)
        expect(pinball, "bad = 1;", ("bad = 1;", 0, None, "itself"), ("if (v % 7 == 8)", 0, 16), ("if (v > limit) {", 16, 20),
               loop)
        expect(pinball, "bad += 2;", ("bad += 2;", 16, None), ("if (v % 7 == 8)", 16, 16), ("if (v > limit) {", 16, 20), loop)
        got = expect(pinball, "rare(x);", ("rare(x);", 0, None), ("if (x > 1000)", 0, 1, f"why_not.c:{line_of('deep(r);')}"))
        assert got[1][5] == f"to line {line_of('rare(x);')}", got
        # Functions that were never called: their call sites, in turn.
        expect(pinball, 'printf("rare %d\\n", x);', ("rare()", 0, None, "never called"), ("rare(x);", 0, None, "call"),
               ("if (x > 1000)", 0, 1))
        expect(pinball, "deep(x * 10000);", ("never()", 0, None, "never called"), ("never(3);", 0, None, "call"),
               ("if (argc > 5)", 0, 1))
        expect(pinball, "return bad;", ("return bad;", 1, None, "nothing decides"))
        bad = subprocess.run([DRDEBUG, "ask", pinball, "why-not", "nosuch.c:1"], capture_output=True, text=True)
        assert bad.returncode == 1 and "nosuch.c" in bad.stderr, bad


main()
