#!/usr/bin/env python3
"""servers.py redis|memcached - a server with threads, recorded while clients press on it.

SPDX-License-Identifier: MIT

The clients run natively, beside. The server is asked to end as its users do it: SHUTDOWN, or SIGTERM.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading

import replay_test
from replay_test import LIMIT, SOAK, Done, Recording, Skipped, compare, wait_for

REPLAYS = 20 if SOAK else 3
SCALE = 20 if SOAK else 1


def need(*programs):
    for program in programs:
        if not shutil.which(program, path=replay_test.PATH):
            raise Skipped(f"{program} is not installed")


def client(*argv):
    return replay_test.execute(argv, env={"PATH": replay_test.PATH}, tidy=False)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


class Server:
    """A recorded server; finish() waits for its end and gives the Recording."""

    def __init__(self, test, argv, port, options=()):
        self.test, self.path, self.cwd = test, test.fresh("pinball"), test.folder("cwd")
        self.out, self.err = (open(test.fresh(name), "w+b") for name in ("out", "err"))
        self.child = subprocess.Popen([test.drdebug, "record", "-o", self.path, *options, "--", *argv], cwd=self.cwd,
                                      env=replay_test.environment(self.cwd), stdin=subprocess.DEVNULL, stdout=self.out,
                                      stderr=self.err, start_new_session=True)
        self.up = wait_for(lambda: self.child.poll() is not None or answers(port), LIMIT)
        test.check(self.up and self.child.poll() is None, f"{argv[0]} does not come up")

    def finish(self):
        try:
            status = self.child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            replay_test.stop_group(self.child)
            self.child.wait()
            status = None
        compare.end_leftovers()
        for f in (self.out, self.err):
            f.seek(0)
        recording = Recording(self.path, Done(status, self.out.read(), self.err.read()))
        shutil.rmtree(self.cwd)
        return recording


def judge(test, recording, name):
    if test.recorded(recording, name):
        print(f"{name}: {recording.ended}, {len(recording.out)} + {len(recording.err)} bytes of output")
        test.check(len(recording.out) + len(recording.err) > 100, f"{name}: it said nothing")
        test.all_replays(recording, REPLAYS, name, engine=False)
        test.verify(recording.path, name)
        test.info_end(recording.path, recording, name)


def redis(test):
    need("redis-server", "redis-benchmark", "redis-cli")
    port = free_port()
    server = Server(test, ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--io-threads", "2",
                           "--loglevel", "debug"], port)
    if server.up:
        bench = client("redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-n", str(1000 * SCALE), "-c", "10", "-q",
                       "-t", "set,get,incr,lpush,lrange_100")
        test.check(bench.status == 0 and b"SET" in bench.out, f"redis-benchmark: {bench.text()}")
    call = ["redis-cli", "-h", "127.0.0.1", "-p", str(port)]
    dbsize = client(*call, "DBSIZE") if server.up else None
    test.check(dbsize and dbsize.out.strip() not in (b"", b"0"), "redis-server kept nothing")
    client(*call, "SHUTDOWN", "NOSAVE")
    judge(test, server.finish(), "redis-server")


def memcached_client(port, name, wrong):
    with socket.create_connection(("127.0.0.1", port), LIMIT) as s, s.makefile("rwb") as f:
        for i in range(150 * SCALE):
            key, value = f"{name}:{i % 50}".encode(), os.urandom(10 + i % 90).hex().encode()
            f.write(b"set %s 0 0 %d\r\n%s\r\nget %s\r\n" % (key, len(value), value, key))
            f.flush()
            got = [f.readline() for _ in range(4)]
            if got[0] != b"STORED\r\n" or got[2] != value + b"\r\n":
                wrong.append(got)


def memcached(test):
    need("memcached")
    port, pid_file = free_port(), test.fresh("pid")
    server = Server(test, ["memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "4", "-vv", "-P", pid_file]
                    + (["-u", "root"] if os.getuid() == 0 else []), port)
    wrong = []
    if server.up:
        clients = [threading.Thread(target=memcached_client, args=(port, name, wrong)) for name in "abc"]
        for c in clients:
            c.start()
        for c in clients:
            c.join()
        test.check(not wrong, f"memcached answers wrongly: {wrong[:2]}")
        with open(pid_file) as f:
            os.kill(int(f.read()), signal.SIGTERM)
    judge(test, server.finish(), "memcached")


if __name__ == "__main__":
    options = replay_test.parser_of(__doc__)
    options.add_argument("name", choices=("redis", "memcached"))
    sys.exit(replay_test.main(lambda t: {"redis": redis, "memcached": memcached}[t.options.name](t), options))
