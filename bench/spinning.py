"""spinning.py - rows of the benches of engine and recorder for threads that spin, and for their peers.

A row is measured in turns with what it is compared with, and has a target:
  barrierN, ticketN  us for a round of N threads
  spinlock           to the same work natively, with all threads on one processor
  strlen, ...        four threads that only read, to themselves with the detector off (spin=0)
  redis              requests answered a second natively, to those here
  waiting            recording only: the log while all threads spin but one, which sleeps; yielding: by sched_yield

SPDX-License-Identifier: MIT"""

import os
import re
import sys
from dataclasses import dataclass

import measure
from driver import Failure, Target

HERE = os.path.dirname(os.path.abspath(__file__))
OURS, BASE = "ours", "compared with"
US_PER_THREAD = 40
NUMBER = re.compile(r"^(?:us_per_round|requests_per_s)=([\d.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Spin:
    name: str
    argv: tuple  # without the directory; redis: none, it has a driver of its own
    base: tuple  # words before it in the runs that it is compared with; None: there are none
    figure: str  # "said": what the program reports; or a field of measure.Run
    limit: float
    unit: str
    needs: tuple = ()

    def value(self, run):
        if self.figure != "said":
            return getattr(run, self.figure)
        found = NUMBER.search(run.stderr)
        return float(found.group(1)) if found else None


def rows():
    found = [Spin("%s%d" % (how, n), ("spin", how, str(n), str(6000 // n)), None, "said",
                  US_PER_THREAD * n, "us")
             for how in ("barrier", "ticket") for n in (2, 4, 16)]
    found.append(Spin("spinlock", ("spin", "lock", "4", "1000000"), ("/usr/bin/taskset", "-c", "0"),
                      "said", 1.5, "x", ("/usr/bin/taskset",)))
    found += [Spin(kind, ("works", kind, "4", times), (OURS, "spin=0"), "cpu_s", 1.03, "x")
              for kind, times in (("strlen", "4"), ("memchr", "6"), ("probe", "4"), ("dot", "4"))]
    found.append(Spin("redis", (), (), "said", 2.5, "x",
                      ("/usr/bin/redis-server", "/usr/bin/redis-benchmark", "/usr/bin/redis-cli")))
    return found


WAITING = Spin("waiting", ("spin", "wait", "4", "2000"), None, "cpu_s", 2.0, "MB/s")
YIELDING = Spin("yielding", ("spin", "yield", "4", "2000"), None, "cpu_s", WAITING.limit, WAITING.unit)
NAMES = [row.name for row in rows()] + [WAITING.name]


class Spinning:
    """`prefix(options)` gives the words that run a program as the bench does; `log_bytes` is the size
    of the log of the last run, if the bench makes one."""

    def __init__(self, args, runner, prefix, log_bytes=None):
        self.args, self.runner, self.prefix, self.log_bytes = args, runner, prefix, log_bytes
        self.wrong, self.targets = [], []

    def command(self, row, words):
        if not row.argv:
            return (sys.executable, "-B", os.path.join(HERE, "redis_load.py")) + words
        return words + (os.path.join(self.args.build, "bench", row.argv[0]),) + row.argv[1:]

    def words(self, row, who):
        """Those before the program, of a run that is just about to be made."""
        if who == OURS or row.base[:1] == (OURS,):
            return self.prefix(() if who == OURS else row.base[1:])
        return row.base

    def median(self, row, who, runs):
        values = [row.value(run) for run in runs]
        bad = [run for run, value in zip(runs, values)
               if run.status or run.timed_out or value is None or run.digest != runs[0].digest]
        if bad:
            self.wrong.append("%s, %s: status %d: %s" % (row.name, who, bad[0].status,
                                                         bad[0].stderr.strip()[-200:]))
            return None
        return measure.median(values)

    def measure(self, row, say):
        missing = [path for path in row.needs if not os.access(path, os.X_OK)]
        if missing:
            raise Failure("%s: not there" % missing[0])
        runs = {who: [] for who in ((OURS,) if row.base is None else (BASE, OURS))}
        for number in range(self.args.rounds):
            for who in runs:
                say("%s, round %d of %d, %s" % (row.name, number + 1, self.args.rounds, who))
                runs[who].append(self.runner.run(self.command(row, self.words(row, who))))
        self.judge(row, *(self.median(row, who, runs[who]) if who in runs else None
                          for who in (OURS, BASE)))

    def judge(self, row, value, base):
        if row.base is None:
            self.targets.append(Target("%s: a round" % row.name, value, row.limit, row.unit))
            return
        ratio = None
        if value and base:
            ratio = base / value if not row.argv else value / base
        against = {(): "requests natively, to ours", (OURS, "spin=0"): "to itself with spin=0"}
        self.targets.append(Target("%s: %s" % (row.name, against.get(row.base, "to one processor")),
                                   ratio, row.limit, row.unit))

    def measure_log(self, say):
        """MB of log for each second of processor time, while threads spin: in vain, and as they work."""
        for row in [WAITING, YIELDING] + [r for r in rows() if r.name in ("barrier2", "barrier16", "redis")]:
            say("%s, its log" % row.name)
            run = self.runner.run(self.command(row, self.prefix(())))
            rate = self.log_bytes() / 1e6 / run.cpu_s if not run.status and run.cpu_s else None
            self.targets.append(Target("%s: log" % row.name, rate, WAITING.limit, WAITING.unit))


def run(args, runner, prefix, progress, log_bytes=None):
    """All rows that were asked for."""
    bench = Spinning(args, runner, prefix, log_bytes)
    for row in rows():
        if row.name in args.only:
            bench.measure(row, progress.say)
    if log_bytes and WAITING.name in args.only:
        bench.measure_log(progress.say)
    progress.say("")
    return bench


def report(bench):
    if bench.targets:
        print("\nthreads that spin")
    for target in bench.targets:
        print(target.line())
    for cause in bench.wrong:
        print("WRONG: %s" % cause)
