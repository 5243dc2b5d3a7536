#!/usr/bin/env python3
"""redis_long.py - redis-server, recorded under load for ten minutes: neither engine nor recorder grows.

SPDX-License-Identifier: MIT

The engine's memory is what the process has beyond the allocator's pages, the recorder's is its own. Both are taken
when a tenth of the time is over, and at the end. $DRDEBUG_LONG_MINUTES: another time.
"""
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "replay"))
import replay_test  # noqa: E402  pylint: disable=wrong-import-position
import servers  # noqa: E402  pylint: disable=wrong-import-position
from replay_test import compare  # noqa: E402  pylint: disable=wrong-import-position

SECONDS = 60 * float(os.environ.get("DRDEBUG_LONG_MINUTES", "10"))
MOST_GROWTH = 32 << 20
EACH = 10000
KINDS = ("set,get,incr,lpush,rpop,sadd,hset", "zadd,zpopmin,lrange_100,mset", "ping,spop,lpop")


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return 1024 * int(re.search(r"VmRSS:\s*(\d+)", f.read())[1])


def memory(port, recorder):
    """(the engine's, the recorder's), in bytes."""
    info = servers.client("redis-cli", "-p", str(port), "INFO", "memory").out.decode()
    own = int(re.search(r"allocator_resident:(\d+)", info)[1])
    program = compare.children_of(recorder)[0]
    return resident(program) - own, resident(recorder)


def load(port, seconds):
    """Clients of all kinds in turn; the number of requests they made."""
    requests, end, turn = 0, time.monotonic() + seconds, 0
    while time.monotonic() < end:
        done = servers.client("redis-benchmark", "-p", str(port), "-n", str(EACH), "-c", "20", "-r", "10000", "-q", "-t",
                              KINDS[turn % len(KINDS)])
        if done.status != 0:
            return requests, done.text()
        turn, requests = turn + 1, requests + EACH * (KINDS[turn % len(KINDS)].count(",") + 1)
    return requests, ""


def check(test):
    servers.need("redis-server", "redis-benchmark", "redis-cli")
    port = servers.free_port()
    server = servers.Server(test, ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"], port)
    if not server.up:
        return
    some, wrong = load(port, SECONDS / 10)
    first = memory(port, server.child.pid)
    more, wrong_later = load(port, SECONDS * 9 / 10)
    last = memory(port, server.child.pid)
    test.check(not wrong and not wrong_later, f"redis-benchmark: {wrong or wrong_later}")
    for what, before, after in zip(("engine", "recorder"), first, last):
        print(f"{what}: {before >> 20} MiB, then {after >> 20} MiB")
        test.check(after - before < MOST_GROWTH, f"the {what} grew from {before >> 20} to {after >> 20} MiB")
    print(f"{some + more} requests")
    servers.client("redis-cli", "-p", str(port), "SHUTDOWN", "NOSAVE")
    recording = server.finish()
    if test.recorded(recording, "redis-server"):
        test.same(recording, test.replay(recording.path, limit=4 * SECONDS + 60), "redis-server")
        test.verify(recording.path, "redis-server", limit=4 * SECONDS + 60)


if __name__ == "__main__":
    sys.exit(replay_test.main(check, replay_test.parser_of(__doc__)))
