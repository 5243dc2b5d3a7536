#!/usr/bin/env python3
"""traces.py - programs that are hard on superblocks do what they do natively, whatever is made a superblock of.

SPDX-License-Identifier: MIT

    traces.py DRDEBUG BIN PROGRAM

In some programs everything is the same in every run, so that samples (count, pc, registers) can be
compared, too.
"""
import engine_test as e

WAYS = [("hot=2",), ("hot=3", "exact=1"), ("hot=7", "cache=65536"), ()]
if e.SOAK:
    WAYS += [("hot=0",), ("hot=5",), ("hot=64",), ("hot=2", "exact=1"), ("hot=2", "cache=1"), ("hot=2", "ticks=1"),
             ("link=0",)]
STEPS = [7, 137, 1009] if e.SOAK else [211]

EXACT = {"overrun"}  # no libc, no addresses that vary


def check_samples(test, name, argv):
    for step in STEPS:
        def shown(way):
            return test.run(argv, "stats=1", f"sample={step}", *way).said
        want = [line for line in shown(("hot=0",)) if line[0] == "sample"]
        test.check(len(want) > 20, f"{name}: {len(want)} samples")
        for way in WAYS:
            got = [line for line in shown(way) if line[0] == "sample"]
            first = next((pair for pair in zip(got, want) if pair[0] != pair[1]), (len(got), len(want)))
            test.equal(*first, f"{name} sample={step} {' '.join(way)}: first that differs")


def check(test):
    name = test.options.program
    argv = [test.program(name)]
    native = test.native(argv)
    test.equal(native.status, 0, f"{name} natively")
    for way in WAYS:
        run = test.run(argv, "stats=1", *way)
        test.equal(run.shown(), native.shown(), f"{name} {' '.join(way)}")
        if way and way[0] != "hot=0":
            test.check("link=0" in way or run.number("stats", "superblocks") > 0, f"{name} {' '.join(way)}: no superblock")
    if name in EXACT:
        check_samples(test, name, argv)


e.main(check, "program")
