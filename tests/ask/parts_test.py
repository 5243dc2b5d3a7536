#!/usr/bin/env python3
"""parts_test.py DRDEBUG PROGRAM - questions to a recording of two programs, one after the other, and of a part of a run.

SPDX-License-Identifier: MIT
"""
import json
import os
import sys

from questions import Test

NOTE = "replaced itself"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parts.c")


def notes(test, pinball, *words):
    lines = test.run(test.drdebug, "ask", pinball, *words, "--json").stdout.splitlines()
    return json.loads(lines[-1])["notes"]


def two_programs(test, program):
    pinball = test.record("exec.pinball", program, "again")
    threads = test.ask(pinball, "threads")
    ends = ["exit(0)"] * 3
    test.equal([row["how"] for row in threads], ["exec", *ends, "the recording ends", *ends], "threads of both")
    test.equal([row["thread"] for row in threads], list(range(1, 9)), "their numbers")
    test.equal([row["thread"] for row in threads if not row["begin"]], [5], "where the second program's first thread began")
    test.equal([row["text"] for row in test.ask(pinball, "output")], ["30", "15"], "output of both")
    values = test.ask(pinball, "values", "total")
    test.equal([row["value"] for row in values][-1], "15", "values of the second")
    test.check(all(int(row["at"][1:].split(":")[0]) > 4 for row in values), f"values are of the second: {values}")
    test.check(any(NOTE in note for note in notes(test, pinball, "values", "total")), "it is said that the first is missing")
    test.check(not notes(test, pinball, "threads"), "threads are of both")
    with open(SOURCE, encoding="ascii") as f:
        line = next(i for i, text in enumerate(f, 1) if "execl(" in text)
    for words in (("slice", pinball, f"total at parts.c:{line}"), ("slice", pinball, f"total at {threads[0]['end']}"),
                  ("ask", pinball, "values", "total", "at", threads[0]["end"])):
        done = test.run(test.drdebug, *words, status=1)
        test.check(NOTE in done.stderr, f"{words}: only before that: {done.stderr}")


def part(test, program):
    whole = test.record("whole.pinball", program)
    test.check(not any(NOTE in note for note in notes(test, whole, "values", "total")), "one program")
    leaks = test.ask(whole, "leaks")
    test.equal([(row["blocks"], row["bytes"], row["leak"]) for row in leaks], [(1, 33, "direct")],
               "leaks: none of the loader's, which are of threads that ended")
    path = os.path.join(test.work, "part.pinball")
    test.run(test.drdebug, "record", "-q", "-o", path, "--from", "func:run", "--", program)
    turns = test.ask(path, "schedule")
    test.check(turns[0]["from"] > 1000, f"the first turn begins where the part does: {turns[0]}")
    test.check(all(a["to"] == b["from"] for a, b in zip(turns, turns[1:])), "turns follow one another")
    used = sum(row["ticks"] for row in test.ask(path, "schedule", "--buckets", "7"))
    test.equal(used, turns[-1]["to"] - turns[0]["from"], "ticks in buckets")


def main():
    drdebug, program = sys.argv[1:]
    test = Test(drdebug)
    two_programs(test, program)
    part(test, program)
    test.end()


if __name__ == "__main__":
    main()
