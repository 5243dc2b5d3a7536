#!/usr/bin/env python3
"""spinning.py - threads that only wait give their turn away, threads that work keep it.

SPDX-License-Identifier: MIT

    spinning.py DRDEBUG BIN

Judged by the engine's own counts of --stats: `loops` were found to wait, `given` turns were given away
for that. The way of waiting is a row, and so is the work.
"""
import engine_test as e

# In `yield` and `sleep` the call gives the turn away; `shared_count` changes memory that others see.
WAITS = ["plain", "pause", "backoff", "tsc", "clock", "call", "count", "count_on_stack", "xchg", "cmpxchg",
         "trylock", "words", "lock"]
CALLS = ["yield", "sleep", "shared_count"]
WORKS = ["strlen", "libc_strlen", "memchr", "probe", "dot", "list", "copy", "series"]


def shown(test, argv, what, *options):
    run = test.run(argv, "stats=1", *options)
    test.equal((run.status, run.out), (0, what.encode() + b"\n"), " ".join(argv[-1:] + list(options)))
    return run.number("stats", "loops"), run.number("stats", "given")


def check(test):
    for way in WAITS:
        loops, given = shown(test, [test.program("spin_ways"), way], "waited")
        test.check(loops > 0 and given > 0, f"{way}: {loops} loops, {given} turns given away")
    for way in CALLS:
        _, given = shown(test, [test.program("spin_ways"), way], "waited")
        test.equal(given, 0, f"{way}: turns given away")
    for kind in WORKS:
        found = shown(test, [test.program("works"), kind], f"{kind} same")
        test.equal(found, (0, 0), f"{kind}: loops, turns given away")
    for option in ("link=0", "hot=0", "hot=2", "exact=1"):
        _, given = shown(test, [test.program("spin_ways"), "plain"], "waited", option)
        test.check(given > 0, f"{option}: {given} turns given away")
    for option in ("chaos=7", "spin=0"):
        found = shown(test, [test.program("spin_ways"), "plain"], "waited", option)
        test.equal(found, (0, 0), f"{option}: loops, turns given away")


e.main(check)
