#!/usr/bin/env python3
"""profile_test.py DRDEBUG PROGRAM - `ask profile`: each instruction is counted once, in every form of the answer.

SPDX-License-Identifier: MIT
"""
import collections
import os
import re
import shutil
import sys

from questions import Test

# The system call that ends a thread begins, which is counted, and is never completed, so that it is not in the trace.
THREADS = 3


def callgrind(text):
    """Sum of own costs, and (function, called): [calls, cost]."""
    total, function, called, skip = 0, None, None, False
    calls = collections.defaultdict(lambda: [0, 0])
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "fn":
            function = value
        elif key == "cfn":
            called = value
        elif key == "calls":
            calls[function, called][0] += int(value.split()[0])
            skip = True
        elif re.fullmatch(r"\d+ \d+", line):
            cost = int(line.split()[1])
            if skip:
                calls[function, called][1] += cost
            else:
                total += cost
            skip = False
    return total, calls


def main():
    drdebug, program = sys.argv[1:]
    test = Test(drdebug)
    pinball = test.record("profile.pinball", program)
    counted = int(re.search(r"(\d+) instructions", test.run(drdebug, "verify", "--count", pinball).stdout)[1])
    counted -= THREADS
    functions = test.ask(pinball, "profile")
    test.equal(sum(row["self"] for row in functions), counted, "functions: sum of self")
    test.equal([row["self"] for row in functions], sorted((row["self"] for row in functions), reverse=True), "order")
    test.check(all(row["inclusive"] >= row["self"] for row in functions), "inclusive is never less than self")
    lines = test.ask(pinball, "profile", "lines")
    test.equal(sum(row["self"] for row in lines), counted, "lines: sum of self")
    threads = [row["thread"] for row in test.ask(pinball, "threads")]
    alone = {n: test.ask(pinball, "profile", "--thread", str(n)) for n in threads}
    test.check(len(threads) > 2, f"threads: {threads}")
    test.equal(sum(row["self"] for n in threads for row in alone[n]), counted, "by threads: sum of self")
    work = [row["insns"] for row in test.ask(pinball, "calls", "work", "--thread", "2")]
    test.equal([row["inclusive"] for row in alone[2] if row["function"] == "work"], work, "work in thread 2")
    executed = {n: {row["place"]["line"]: row["count"] for row in test.ask(pinball, "coverage", "--thread", str(n))} for n in threads}
    for row in test.ask(pinball, "coverage"):
        line = row["place"]["line"]
        test.equal(sum(executed[n][line] for n in threads), row["count"], f"coverage by threads: line {line}")
    by_name = {row["function"]: row for row in functions}
    calls = test.ask(pinball, "calls", "fib")
    test.equal(by_name["fib"]["calls"], len(calls), "fib: calls")
    test.equal(by_name["fib"]["self"], sum(row["self"] for row in calls), "fib: self")
    test.equal(by_name["fib"]["inclusive"], sum(row["insns"] for row in calls if not row["again"]), "fib: inclusive")
    out = test.run(drdebug, "ask", pinball, "profile", "--format", "callgrind").stdout
    total, edges = callgrind(out)
    test.equal(total, counted, "callgrind: sum of own costs")
    test.equal(edges["main", "squares"][0], 1, "callgrind: main calls squares once")
    squares = test.ask(pinball, "calls", "squares")
    test.equal(edges["main", "squares"][1], squares[0]["insns"], "callgrind: cost of that call")
    test.equal(edges["fib", "fib"][0] + edges["main", "fib"][0] + edges["on_signal", "fib"][0] + edges["work", "fib"][0],
               len(calls), "callgrind: calls of fib")
    path = os.path.join(test.work, "callgrind.out")
    with open(path, "w", encoding="utf-8") as file:
        file.write(out)
    if shutil.which("callgrind_annotate"):
        shown = test.run("callgrind_annotate", path).stdout
        said = re.search(r"([\d,]+)(?: \(100.0%\))?\s+PROGRAM TOTALS", shown)
        test.equal(said and int(said[1].replace(",", "")), counted, f"callgrind_annotate: {shown[:800]}")
        test.check("fib" in shown, "callgrind_annotate names functions")
    else:
        print("there is no callgrind_annotate: it is not asked")
    out = test.run(drdebug, "ask", pinball, "profile", "--format", "folded").stdout
    stacks = dict(line.rsplit(" ", 1) for line in out.splitlines())
    test.equal(sum(map(int, stacks.values())), counted, "folded: sum")
    test.check(any(";main;threads" in stack for stack in stacks), "folded: main;threads")
    test.check(not any(";fib;fib" in stack for stack in stacks), "folded: recursion is there once")
    done = test.run(drdebug, "ask", pinball, "profile", "--format", "lcov", status=2)
    test.check("callgrind" in done.stderr, f"another format: {done.stderr}")
    test.end()


if __name__ == "__main__":
    main()
