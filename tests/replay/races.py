#!/usr/bin/env python3
"""races.py NAME - whatever a racy program did when it was recorded is what every replay shows.

SPDX-License-Identifier: MIT

Recorded with each scheduling strategy, and with block linking off; 10 replays of each, 100 in a soak. A program
that hangs gets the SIGINT that a user would send it. NAME `chaos`: --chaos must make a difference, and find
the lost update in a few runs.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

import replay_test
from replay_test import LIMIT, SOAK, Done, Recording, compare

REPLAYS = 100 if SOAK else 10
ROUNDS = 5 if SOAK else 1
HANGS_AFTER = 2


def record_interruptible(test, argv, options):
    """As Test.record, but a run that hangs is interrupted: the program alone, then all of it."""
    path, cwd = test.fresh("pinball"), test.folder("cwd")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([test.drdebug, "record", "-o", path, *options, "--", *argv], cwd=cwd,
                                 env=replay_test.environment(cwd), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 start_new_session=True)
        status = None
        for wait in (HANGS_AFTER, HANGS_AFTER, LIMIT):
            try:
                status = child.wait(wait)
                break
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGINT)  # as a terminal does
        if status is None:
            replay_test.stop_group(child)
            child.wait()
        compare.end_leftovers()
        for f in (out, err):
            f.seek(0)
        return Recording(path, Done(status, out.read(), err.read()))


def one_outcome(test, name, argv, options):
    text = " ".join([name, *options])
    recording = record_interruptible(test, [test.program(f"race_{name}"), *argv], options)
    if test.recorded(recording, text):
        print(f"{text}: {recording.ended}; {replay_test.tail(recording.out, 80)}")
        test.all_replays(recording, REPLAYS, text)
        test.verify(recording.path, text)
        test.info_end(recording.path, recording, text)
    return recording


def strategies():
    """Those that an option of `record` chooses."""
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "engine", "sched", "schedules.def")
    with open(table, encoding="utf-8") as f:
        names = re.findall(r"^SCHEDULE_OPTION\((\w+),", f.read(), re.MULTILINE)
    assert "chaos" in names, names
    return names


def race(test, name):
    ways = [(), *((f"--{one}",) for one in strategies()), ("--engine", "link=0")]
    for _ in range(ROUNDS):
        for options in ways:
            one_outcome(test, name, (), options)
    if name == "abba_deadlock":  # with a handler that tells how far it came
        one_outcome(test, name, ("handler",), ("--chaos",))


def chaos(test):
    """--chaos is for finding what the plain schedule hides."""
    totals, orders = set(), set()
    for _ in range(20):
        lost = test.record([test.program("race_lost_update")], ("--chaos",))
        totals.add(lost.out)
        orders.add(test.record([test.program("race_atomicity")], ("--chaos",)).out)
        if len(totals) > 1 and len(orders) > 3:
            break
    values = sorted(int(n) for t in totals for n in re.findall(rb"total (\d+)", t))
    test.check(values and values[0] != 800000, f"20 runs with --chaos found no lost update: {values}")
    test.check(len(orders) > 1, "20 runs with --chaos took one and the same order of threads")


def main_test(test):
    if test.options.name == "chaos":
        chaos(test)
    else:
        race(test, test.options.name)


if __name__ == "__main__":
    options_of = replay_test.parser_of(__doc__)
    options_of.add_argument("name")
    sys.exit(replay_test.main(main_test, options_of))
