#!/usr/bin/env python3
"""spinning.py - threads that only wait give their turn away, threads that work keep it.

SPDX-License-Identifier: MIT

    spinning.py DRDEBUG BIN

Judged by the engine's own counts of --stats: `loops` were found to wait, `given` turns were given away
for that. The way of waiting is a row, and so is the work.
"""
import engine_test as e

# What these wait for can change without another thread's doing: they do not rest.
NEVER_REST = ["tsc", "clock", "shared_memory"]
MAY_REST = ["trylock"]  # if libc's function loads little
# In `yield` and `sleep` the call gives the turn away; `shared_count` changes memory that others see.
WAITS = ["plain", "pause", "backoff", "tsc", "clock", "call", "count", "count_on_stack", "xchg", "cmpxchg",
         "trylock", "words", "lock", "shared_memory"]
CALLS = ["yield", "sleep", "shared_count"]
WORKS = ["strlen", "libc_strlen", "memchr", "probe", "dot", "list", "copy", "series"]


def shown(test, argv, what, *options):
    run = test.run(argv, "stats=1", *options)
    test.equal((run.status, run.out), (0, what.encode() + b"\n"), " ".join(argv[-1:] + list(options)))
    return tuple(run.number("stats", name) for name in ("loops", "given", "rests"))


def check(test):
    for way in WAITS:
        loops, given, rests = shown(test, [test.program("spin_ways"), way], "waited")
        test.check(loops > 0 and given > 0, f"{way}: {loops} loops, {given} turns given away")
        if way in NEVER_REST:
            test.equal(rests, 0, f"{way}: rests")
        elif way not in MAY_REST:
            test.check(rests > 0, f"{way}: {rests} rests")
    for way in CALLS:
        _, given, _ = shown(test, [test.program("spin_ways"), way], "waited")
        test.equal(given, 0, f"{way}: turns given away")
    for kind in WORKS:
        found = shown(test, [test.program("works"), kind], f"{kind} same")
        test.equal(found, (0, 0, 0), f"{kind}: loops, turns given away, rests")
    for option in ("link=0", "hot=0", "hot=2", "exact=1"):
        _, given, _ = shown(test, [test.program("spin_ways"), "plain"], "waited", option)
        test.check(given > 0, f"{option}: {given} turns given away")
    for option in ("chaos=7", "spin=0"):
        found = shown(test, [test.program("spin_ways"), "plain"], "waited", option)
        test.equal(found, (0, 0, 0), f"{option}: loops, turns given away, rests")


e.main(check)
