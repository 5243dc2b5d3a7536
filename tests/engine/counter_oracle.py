#!/usr/bin/env python3
"""counter_oracle.py - the counter and exact stops against a native run under oracle.c.

SPDX-License-Identifier: MIT

    counter_oracle.py DRDEBUG BIN

The totals must agree, and stop=COUNT:PC must show the registers of the native run there: at random
positions (the seed is printed; $DRDEBUG_SEED sets it) and at some of each special kind.
"""
import concurrent.futures
import os
import random
import time

import engine_test as e

POSITIONS = 2000 if e.SOAK else 90
OF_EACH_KIND = 60 if e.SOAK else 3
NEVER = 30 if e.SOAK else 5
KINDS = [e.AFTER_CALL, e.FAULTS, e.HANDLER, e.RETURNED, e.REP, e.COUNTED, e.NO_CODE]

ARITHMETIC = 0x8D5
NOT_OURS = 0x10100  # RF is the CPU's; TF drives the oracle


def choose(entries, rng):
    chosen = [entries[0], entries[-1], *rng.sample(entries, POSITIONS)]
    for kind in KINDS:
        special = [entry for entry in entries if entry.tags & kind]
        assert special, f"walk.S shows no position of kind {kind}"
        chosen += rng.sample(special, min(OF_EACH_KIND, len(special)))
    return chosen


def stop(test, argv, count, pc, options):
    return test.run(argv, f"stop={count}:0x{pc:x}", "stats=1", *options)


def check_stop(test, argv, entry, options, native):
    """Stops there, shows the native registers, and goes on as if nothing had been."""
    run = stop(test, argv, entry.count, entry.pc, options)
    name = f"{os.path.basename(argv[0])} at {entry} ({' '.join(options) or 'plain'})"
    test.equal((run.status, run.out, run.number("stats", "ticks")), native, name)
    positions = run.topic("position")
    if not test.check(len(positions) == 1, f"{name}: shown {len(positions)} times"):
        return
    shown = {key: int(value, 16) for key, value in positions[0].items() if key in e.REGISTERS}
    want = dict(zip(e.REGISTERS, entry.regs))
    test.equal(hex_of({k: v for k, v in shown.items() if v != want[k]}),
               hex_of({k: want[k] for k in want if shown.get(k) != want[k]}), f"{name}: registers")
    test.equal((positions[0]["count"], positions[0]["pc"]), (str(entry.count), f"{entry.pc:x}"), name)
    mask = ~NOT_OURS if "exact=1" in options else ~(NOT_OURS | ARITHMETIC)
    test.equal(hex(int(positions[0]["rflags"], 16) & mask), hex(entry.rflags & mask), f"{name}: flags")


def hex_of(registers):
    return {key: hex(value) for key, value in registers.items()}


def check_never(test, argv, count, pc, native):
    run = stop(test, argv, count, pc, ())
    name = f"never reached: {count}:0x{pc:x}"
    test.equal((run.status, run.out, run.number("stats", "ticks")), native, name)
    test.equal(run.topic("position"), [], name)


def never_reached(entries, total, rng):
    """Positions of an instruction in a tick that does not execute it, and behind the end."""
    real = {(entry.count, entry.pc) for entry in entries}
    pcs = sorted({entry.pc for entry in entries})
    yield total + 1, entries[-1].pc
    yield 1 << 62, entries[0].pc
    yield 0, 0x10
    while True:
        count, pc = rng.randrange(total + 1), rng.choice(pcs) + rng.choice((0, 0, 1))
        if (count, pc) not in real:
            yield count, pc


def check_program(test, name, rng, pool):
    argv = [test.program(name)]
    summary, entries = test.oracle(argv)
    print(f"{name}: {summary}")
    real = {(entry.count, entry.pc) for entry in entries}
    test.equal(len(real), len(entries), f"{name}: every position is unique")
    plain = test.native(argv)
    native = (plain.status, plain.out, summary["ticks"])
    for options in ((), ("link=0",), ("exact=1",), ("ticks=1",), ("cache=65536",), ("hot=0",), ("hot=2",),
                    ("hot=3", "exact=1")):
        run = test.run(argv, "stats=1", *options)
        test.equal((run.status, run.out, run.number("stats", "ticks")), native, f"{name} {options}")
    jobs = []
    for i, entry in enumerate(choose(entries, rng)):
        options = (("exact=1",), (), ("exact=1", "hot=2"), ("exact=1", "link=0"), ("hot=3",), ("cache=65536",))[i % 6]
        jobs.append(pool.submit(check_stop, test, argv, entry, options, native))
    never = never_reached(entries, summary["ticks"], rng)
    for _ in range(NEVER):
        jobs.append(pool.submit(check_never, test, argv, *next(never), native))
    for job in jobs:
        job.result()


def check(test):
    seed = int(os.environ.get("DRDEBUG_SEED", time.time() if e.SOAK else 1))
    print(f"seed {seed}")
    rng = random.Random(seed)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in ("walk", "walk_pie"):
            check_program(test, name, rng, pool)


e.main(check)
