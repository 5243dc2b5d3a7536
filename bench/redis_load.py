#!/usr/bin/python3
"""redis_load.py PREFIX... - a redis server under PREFIX, with two threads that spin, and its load.

Says how many requests a second were answered, as requests_per_s=N, on standard error.

SPDX-License-Identifier: MIT"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time

SERVER, LOAD, CLIENT = "/usr/bin/redis-server", "/usr/bin/redis-benchmark", "/usr/bin/redis-cli"
REQUESTS, CLIENTS, START_S = 20000, 50, 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def wait_for(port, server):
    for _ in range(START_S * 20):
        if server.poll() is not None:
            sys.exit("redis_load: the server ended with status %d" % server.returncode)
        answer = subprocess.run([CLIENT, "-p", port, "ping"], capture_output=True, check=False)
        if b"PONG" in answer.stdout:
            return
        time.sleep(0.05)
    server.kill()
    sys.exit("redis_load: no answer from the server")


def main():
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="redis-") as scratch:
        argv = sys.argv[1:] + [SERVER, "--port", port, "--save", "", "--appendonly", "no",
                               "--io-threads", "2", "--dir", scratch]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as server:
            wait_for(port, server)
            load = subprocess.run([LOAD, "-p", port, "-t", "get", "-n", str(REQUESTS), "-c",
                                   str(CLIENTS), "--csv"], capture_output=True, check=False)
            subprocess.run([CLIENT, "-p", port, "shutdown", "nosave"], check=False)
            status = server.wait()
    rate = re.search(rb'^"GET","([\d.]+)"', load.stdout, re.MULTILINE)
    if not rate:
        sys.exit("redis_load: redis-benchmark ended with status %d" % load.returncode)
    print("requests_per_s=%s" % rate[1].decode(), file=sys.stderr)
    return status


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    sys.exit(main())
