#!/usr/bin/env python3
"""hot.py NAME - what was recorded in superblocks is replayed without them, and the other way round.

SPDX-License-Identifier: MIT

Programs of hot/, recorded with as many superblocks as can be made and in the default mode; each replayed without
superblocks, with other ones and without links, and verified. NAME `stops`: exact stops inside a hot loop show the
registers that it has there (the seed is printed; $DRDEBUG_SEED sets it).
"""
import os
import random
import re
import subprocess
import sys

import replay_test
from replay_test import SOAK

EAGER, DEFAULT = ("--engine", "hot=2"), ()
WAYS = [("--engine", "hot=0"), ("--engine", "hot=3"), ("--engine", "link=0")]
if SOAK:
    WAYS += [(), ("--engine", "hot=5"), ("--engine", "hot=2", "--engine", "cache=65536"), ("--engine", "hot=2", "--engine", "exact=1")]
ROUNDS = 5 if SOAK else 1
STOPS = 200 if SOAK else 8

# name: arguments, ways of recording
PROGRAMS = {
    "two_ways": ([], [("--engine", "hot=2", "--engine", "check=77"), ("--engine", "hot=3", "--engine", "check=1000")]),
    "signals": (["2000" if SOAK else "150"], [EAGER, DEFAULT]),
    "faults": ([], [EAGER, DEFAULT]),
    "racy": (["20000" if SOAK else "3000"], [(*EAGER, "--chaos=3"), ("--chaos",), (*EAGER, "--engine", "cache=65536")]),
}


def record(test, name, args, options):
    text = " ".join([name, *options])
    recording = test.record([test.program(f"hot_{name}"), *args], options)
    good = test.recorded(recording, text)
    if good:
        print(f"{text}: {replay_test.tail(recording.out, 90)}")
        good = test.check(recording.status == 0, f"{text}: {recording.text()} {replay_test.tail(recording.out)}")
    return recording if good else None


def program(test, name):
    args, ways = PROGRAMS[name]
    for options in ways * ROUNDS:
        recording = record(test, name, args, options)
        if not recording:
            continue
        text = " ".join([name, *options])
        for way in WAYS:
            test.same(recording, test.replay(recording.path, way, 3 * replay_test.LIMIT), f"{text}, replayed {' '.join(way)}")
        test.verify(recording.path, text)


def positions(built):
    """All places at labels of two_ways.S: (count, pc, rbx, rdx there)."""
    symbols = subprocess.run(["nm", built], capture_output=True, text=True, check=True).stdout
    pc = {name: int(re.search(rf"([0-9a-f]+) . {name}\b", symbols)[1], 16) for name in ("head", "middle", "aside", "function")}
    count = rdx = 0
    for rbx in range(1, 60001):
        yield count, pc["head"], rbx - 1, rdx
        yield count, pc["head"] + 2, rbx, rdx
        yield count + 1, pc["function"], rbx, rdx
        count += 2
        yield count, pc["head"] + 7, rbx, rdx
        if rbx % 64 == 0:
            yield count, pc["aside"], rbx, rdx
            count, rdx = count + 1, (rdx + 5) & 0xffffffff
        yield count, pc["middle"], rbx, rdx
        count, rdx = count + 1, rdx + rbx + 3


def stops(test):
    seed = int(os.environ.get("DRDEBUG_SEED", 1))
    print(f"seed {seed}")
    built = test.program("hot_two_ways")
    chosen = random.Random(seed).sample(list(positions(built)), STOPS)
    recording = record(test, "two_ways", [], EAGER)
    for count, pc, rbx, rdx in chosen if recording else ():
        for way in (("--engine", "hot=0"), ("--engine", "hot=3"), ("--engine", "hot=2", "--engine", "exact=1"), ()):
            done = test.verb("replay", "-q", "--until", f"T1:{count}:{pc:x}", *way, recording.path)
            shown = dict(re.findall(r"\b(r[a-z0-9]+)[ =]+(?:0x)?([0-9a-f]+)", (done.out + done.err).decode("latin-1")))
            got = done.status, *(int(shown.get(name, "0"), 16) for name in ("rbx", "rdx"))
            test.equal(got, (0, rbx, rdx), f"T1:{count}:{pc:x} {' '.join(way)}: status, rbx, rdx")


def main_test(test):
    if test.options.name == "stops":
        stops(test)
    else:
        program(test, test.options.name)


if __name__ == "__main__":
    options_of = replay_test.parser_of(__doc__)
    options_of.add_argument("name", choices=[*PROGRAMS, "stops"])
    sys.exit(replay_test.main(main_test, options_of))
