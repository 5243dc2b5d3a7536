#!/usr/bin/env python3
"""diff_inputs_test.py DRDEBUG CC SOURCE - `ask diff`: what matters comes first; recordings that cannot be compared.

SPDX-License-Identifier: MIT
"""
import os
import shutil
import sys

from questions import Test

DRDEBUG, CC, SOURCE = sys.argv[1:]
TEXT = [line.strip() for line in open(SOURCE, encoding="utf-8")]


def line_of(text):
    return next(i for i, line in enumerate(TEXT) if text in line) + 1


def check_order(test, good, bad):
    """The discount is what the failure depends on; the noise is not."""
    rows = test.ask(bad, "diff", good)
    marked = [r["slice"] for r in rows]
    test.equal(marked, sorted(marked, reverse=True), "rows of the slice come first")
    first = rows[0]
    test.equal((first["kind"], first["what"], first["here"], first["other"]), ("value", "discount", "1000", "1"),
               "the first row")
    ways = {r["place"]["line"]: (r["slice"], r["here"], r["other"]) for r in rows if r["kind"] == "way"}
    test.equal(ways.get(line_of("if (noise % 2)")),
               (False, f"to line {line_of('puts(')}", f"to line {line_of('int sum = total')}"), "the noise")
    test.equal(ways.get(line_of("if (sum < 0)")),
               (True, f"to line {line_of('fprintf(')}, to its end", f"to line {line_of('return 0')}, to its end"),
               "the failure")
    test.equal({r["what"] for r in rows if r["kind"] == "value"}, {"discount", "noise", "sum"}, "values that differ")
    test.equal([r["at"] for r in test.ask(bad, "diff", good, "--limit", "1")], [first["at"]], "--limit 1")


def say(test, wanted, *words, status=1):
    done = test.run(DRDEBUG, "ask", *words, status=status)
    test.check(wanted in done.stderr and not done.stdout, f"{words}: {done.stdout}{done.stderr}, not {wanted}")


def check_refused(test, good, bad, program):
    other = os.path.join(test.work, "other")
    test.run(CC, "-g", "-O1", "-DOTHER", "-o", other, SOURCE)
    say(test, "not of one program", "diff", good, test.record("other.pinball", other))
    say(test, "not of one program", "diff", good, test.record("true.pinball", "true"))
    say(test, "nosuch", "diff", good, os.path.join(test.work, "nosuch"))
    say(test, "nosuch", "diff", os.path.join(test.work, "nosuch"), good)
    say(test, "usage", "diff", good, bad, bad, status=2)
    say(test, "--window", "diff", good, bad, "--window", "..T1:10:1", status=2)
    # The same program from another place is the same.
    copy = os.path.join(test.work, "copy")
    shutil.copy(program, copy)
    test.equal(test.ask(good, "diff", test.record("copy.pinball", copy, "2", "1")), [], "a copy of the program")


def check_damaged(test, good, bad):
    """One that is damaged is refused; so is a part of one."""
    cut = os.path.join(test.work, "cut.pinball")
    shutil.copytree(bad, cut, ignore=shutil.ignore_patterns("trace*"))
    log = os.path.join(cut, "events")
    with open(log, "r+b") as f:
        f.truncate(os.path.getsize(log) // 2)
    done = test.run(DRDEBUG, "ask", "diff", good, cut, status=1)
    test.check(done.stderr.startswith("drdebug: ") and not done.stdout, f"damaged: {done.stdout}{done.stderr}")
    part = os.path.join(test.work, "part.pinball")
    test.run(DRDEBUG, "cut", "--from", test.ask(bad, "calls", "total")[0]["at"], "-o", part, bad)
    say(test, "only whole ones are compared", "diff", good, part)
    say(test, "only whole ones are compared", "diff", part, good)


def check_stranger(test, good, bad):
    """A stranger's recordings are compared in a confined process, with the same result."""
    want = [(r["at"], r["other_at"], r["kind"], r["here"], r["other"]) for r in test.ask(bad, "diff", good)]
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        os.environ[name] = os.path.join(test.work, "elsewhere")
    got = [(r["at"], r["other_at"], r["kind"], r["here"], r["other"]) for r in test.ask(bad, "diff", good)]
    test.equal(got, want, "a stranger's")


def main():
    test = Test(DRDEBUG)
    program = os.path.join(test.work, "differs")
    test.run(CC, "-g", "-O0", "-o", program, SOURCE)
    good = test.record("good.pinball", program, "2", "1")
    bad = os.path.join(test.work, "bad.pinball")
    test.run(DRDEBUG, "record", "-q", "-o", bad, "--", program, "3", "1000", status=134)
    check_order(test, good, bad)
    check_refused(test, good, bad, program)
    check_damaged(test, good, bad)
    check_stranger(test, good, bad)
    test.end()


main()
