#!/usr/bin/env python3
"""namespace.py - bridges, TUN devices and packet filters, in a network namespace that needs no privileges.

SPDX-License-Identifier: MIT
"""
import sys

import replay_test
from replay_test import SKIP, Skipped

PARTS = ("bridges", "tun", "filters", "bridge_filters")


def main_test(test):
    why = []
    for part in PARTS:
        recording = test.record([test.program("net_namespace"), part])
        if recording.status == SKIP:
            why.append(f"{part}: {recording.out.decode().strip()}")
            continue
        if test.recorded(recording, part):
            test.equal(recording.status, 0, f"{part}: its status ({recording.text()})")
            test.check(b": FAIL" not in recording.out, f"{part}: {recording.out.decode()}")
            test.check(not recording.said, f"{part}: something is not described: {recording.said}")
            test.all_replays(recording, 2, part)
            test.verify(recording.path, part)
    print(*why, sep="\n")
    if len(why) == len(PARTS):
        raise Skipped("; ".join(why))


if __name__ == "__main__":
    sys.exit(replay_test.main(main_test, replay_test.parser_of(__doc__)))
