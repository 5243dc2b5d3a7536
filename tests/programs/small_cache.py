#!/usr/bin/env python3
"""small_cache.py - with a code cache that is far too small, programs do the same, and nobody has to wait for it.

SPDX-License-Identifier: MIT

Old translations go all the time, in run, record and replay. A server under the smallest cache answers each of a row of
short requests soon: making room is never one long stop.
"""
import os
import re
import shutil
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "replay"))
import replay_test  # noqa: E402  pylint: disable=wrong-import-position
import servers  # noqa: E402  pylint: disable=wrong-import-position
from replay_test import SOAK  # noqa: E402  pylint: disable=wrong-import-position

SIZES = (65536, 262144, 1 << 20) if SOAK else (131072,)
FILLED = 262144  # by each of the programs
SLOWEST_S = 0.5  # of the server's own CPU time, whatever else the machine does: a stop that would be noticed
SCRIPT = "import json, re, threading\n" \
         "r = []\nts = [threading.Thread(target=lambda i=i: r.append(json.dumps(list(range(i * 50))))) for i in range(4)]\n" \
         "[t.start() for t in ts]; [t.join() for t in ts]\n" \
         "print(sorted(map(len, r)), len(re.findall(r'(\\w)\\1', 'aabbcd' * 3000)), 2 ** 333)\n"
PROGRAMS = {
    "python3": ["/usr/bin/python3", "-B", "-S", "-c", SCRIPT],
    "perl": ["perl", "-e", "my %h; $h{$_ % 97} .= chr(65 + $_ % 26) for 1..20000; print length(join '', values %h), qq(\\n)"],
    "lua": ["lua5.4", "-e", "local t = {} for i = 1, 30000 do t[i % 1000] = i * 2 end print(#t)"],
    "node": ["node", "-e", "let s = 0; for (let i = 0; i < 3e5; i++) s = (s * 31 + i) | 0; console.log(s)"],
}


def one_program(test, name, argv, size):
    cwd, options = test.folder("cwd"), ("--engine", f"cache={size}")
    label, env = f"{name}, cache={size}", replay_test.environment(cwd)
    native = replay_test.execute(argv, cwd, env)
    run = replay_test.execute([test.drdebug, "run", "--stats", *options, "--", *argv], cwd, env)
    test.equal((run.status, run.out), (native.status, native.out), f"{label}: run")
    evicted = sum(map(int, re.findall(rb"\bevicted=(\d+)", run.err)))
    test.check(evicted > 0 or size > FILLED, f"{label}: the cache was never full")
    recording = test.record(argv, options, cwd=cwd)
    shutil.rmtree(cwd)
    if test.recorded(recording, label):
        test.equal((recording.status, recording.out), (native.status, native.out), f"{label}: record")
        test.same(recording, test.replay(recording.path, options), f"{label}, with the small cache")
        test.same(recording, test.replay(recording.path), f"{label}, with the usual cache")
    print(f"{label}: {evicted} evicted")


def cpu_time(pid):
    """Seconds that a process has run."""
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        user, system = f.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def ask(port, pid, request):
    """CPU seconds until the answer's first bytes."""
    with socket.create_connection(("127.0.0.1", port), replay_test.LIMIT) as s:
        start = cpu_time(pid)
        s.sendall(request)
        if not s.recv(65536):
            raise OSError("no answer")
        return cpu_time(pid) - start


def slowest_answer(port):
    requests = [b"PING\r\n", b"SET a 1\r\n", b"LPUSH l 1 2 3\r\n", b"SORT l\r\n", b"INFO\r\n", b"ZADD z 1 a 2 b\r\n",
                b"EVAL \"return 1\" 0\r\n", b"CONFIG GET *\r\n", b"COMMAND\r\n"]
    said = servers.client("redis-cli", "-p", str(port), "INFO", "server").out
    pid = int(re.search(rb"process_id:(\d+)", said)[1])
    return max(ask(port, pid, requests[i % len(requests)]) for i in range(2000 if SOAK else 300))


def server(test):
    servers.need("redis-server", "redis-cli")
    port = servers.free_port()
    redis = servers.Server(test, ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"], port,
                           ("--engine", f"cache={SIZES[0]}"))
    slowest = slowest_answer(port) if redis.up else 0
    servers.client("redis-cli", "-p", str(port), "SHUTDOWN", "NOSAVE")
    test.check(slowest < SLOWEST_S, f"redis-server: one answer took {slowest:.3f} s")
    print(f"redis-server: slowest answer {1000 * slowest:.1f} ms")
    servers.judge(test, redis.finish(), "redis-server")


def check(test):
    for name, argv in PROGRAMS.items():
        if not shutil.which(argv[0], path=replay_test.PATH):
            print(f"{argv[0]} is not installed: left out")
            continue
        if name == "node" and not SOAK:
            continue  # ten seconds
        for size in SIZES:
            one_program(test, name, argv, size)
    server(test)


if __name__ == "__main__":
    sys.exit(replay_test.main(check, replay_test.parser_of(__doc__)))
