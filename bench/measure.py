"""measure.py - run one command and say what it cost and what it wrote.

A child's standard output goes to a file and is hashed after the clock has stopped. User and system
time are those of the child and of all descendants it waited for.

SPDX-License-Identifier: MIT"""

import hashlib
import math
import os
import signal
import statistics
import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    wall_s: float
    cpu_s: float  # user + system
    peak_kb: int
    status: int  # exit status, 128+N for signal N
    timed_out: bool
    digest: str  # of standard output
    stderr: str  # its last 64 KiB

    def same_result(self, other):
        return self.status == other.status and self.digest == other.digest


class Runner:
    """Runs commands one after the other. Only children it started are ever killed, before they are
    reaped, so their process group cannot be anybody else's."""

    def __init__(self, scratch_dir, timeout_s):
        self.stdout_path = os.path.join(scratch_dir, "stdout")
        self.stderr_path = os.path.join(scratch_dir, "stderr")
        self.timeout_s = timeout_s
        self.env = child_environment()

    def run(self, argv):
        expired = threading.Event()
        start = time.perf_counter()
        pid = self._spawn(argv)

        def expire():
            expired.set()
            os.killpg(pid, signal.SIGKILL)

        timer = threading.Timer(self.timeout_s, expire)
        timer.daemon = True
        timer.start()
        try:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            wall_s = time.perf_counter() - start
        finally:
            os.killpg(pid, signal.SIGKILL)  # also what it may have left running
            timer.cancel()
            timer.join()
            _, wait_status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(wait_status)
        return Run(
            wall_s=wall_s,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_kb=usage.ru_maxrss,
            status=code if code >= 0 else 128 - code,
            timed_out=expired.is_set(),
            digest=file_digest(self.stdout_path),
            stderr=file_tail(self.stderr_path),
        )

    def _spawn(self, argv):
        write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, self.stdout_path, write, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, self.stderr_path, write, 0o600),
        ]
        return os.posix_spawn(argv[0], argv, self.env, file_actions=files, setpgroup=0)


def child_environment():
    """The same for every child; only drdebug's own switches pass through."""
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONHASHSEED": "0"}
    env.update((key, value) for key, value in os.environ.items() if key.startswith("DRDEBUG_"))
    return env


def file_digest(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 16):
            digest.update(chunk)
    return digest.hexdigest()


def file_tail(path, limit=1 << 16):
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
        return file.read().decode(errors="replace")


def median(values):
    return statistics.median(values) if values else None


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def spread(values):
    """How far apart the runs lie, as a share of their median."""
    return (max(values) - min(values)) / median(values) if values else None


def table(header, rows):
    """Aligned text: first column left, the others right. None prints as '-'."""
    cells = [[("-" if cell is None else str(cell)) for cell in row] for row in [header] + rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = []
    for row in cells:
        rest = "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
        lines.append((row[0].ljust(widths[0]) + rest).rstrip())
    return "\n".join(lines)
