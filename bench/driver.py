"""driver.py - what the benches share: options, rows of runs, progress, the machine.

SPDX-License-Identifier: MIT"""

import argparse
import os
import platform
import re
import sys
from dataclasses import dataclass, field

import measure
import workloads

NATIVE = "native"
START_FACTOR = 5  # a start-up takes milliseconds: more runs in each round


class Failure(Exception):
    """The bench cannot go on; the message is for the user."""


@dataclass
class Row:
    """One program's runs, by runner, and what was wrong with them."""

    workload: workloads.Workload
    runs: dict = field(default_factory=dict)
    wrong: dict = field(default_factory=dict)  # runner -> cause of the first bad run
    stats: dict = field(default_factory=dict)

    def median(self, runner, figure):
        if runner in self.wrong:
            return None
        return measure.median([getattr(run, figure) for run in self.runs.get(runner, [])])

    def least(self, runner, figure):
        return min(getattr(run, figure) for run in self.runs[runner])

    def ratio(self, runner, figure="wall_s", base=NATIVE):
        under, value = self.median(base, figure), self.median(runner, figure)
        return value / under if under and value is not None else None

    def noise(self):
        return measure.spread([run.wall_s for run in self.runs[NATIVE]])


@dataclass(frozen=True)
class Target:
    """A figure must not be above the limit."""

    text: str
    figure: float
    limit: float
    unit: str

    def line(self):
        if self.figure is None:
            return "%-52s -" % self.text
        return "%-52s %7.2f %-4s  at most %.2f  %s" % (
            self.text, self.figure, self.unit, self.limit,
            "ok" if self.figure <= self.limit else "MISSED")


CALL_LINE = re.compile(r"^ns_per_call=([\d.]+)", re.MULTILINE)


def ns_per_call(row, runner):
    """What a program of calls says of itself."""
    if runner in row.wrong:
        return None
    found = [CALL_LINE.search(run.stderr) for run in row.runs.get(runner, [])]
    return measure.median([float(match.group(1)) for match in found if match])


def added(row, runner, figure="wall_s", scale=1e3):
    """By how much it is more than natively: ms, or with 1 / 1024 and peak_kb, MB."""
    native, ours = row.median(NATIVE, figure), row.median(runner, figure)
    return None if ours is None or native is None else scale * (ours - native)


def program_targets(rows, runner):
    """Targets of single programs under this runner, as far as they were measured."""
    by_name = {row.workload.name: row for row in rows}
    found = []
    for name, limit in (("hello", 25), ("python3-pass", 80)):
        if name in by_name:
            found.append(Target("%s: %s, more than natively" % (name, runner),
                                added(by_name[name], runner), limit, "ms"))
    for name, limit in (("gcc", 1.8), ("getppid", 1.5), ("pipepairs", 1.5), ("pbzip2", 3.0),
                        ("pigz", 2.5), ("xz-T2", 2.5)):
        if name in by_name:
            found.append(Target("%s: %s, to native" % (name, runner), by_name[name].ratio(runner),
                                limit, "x"))
    if "clockgettime" in by_name:
        found.append(Target("clock_gettime: %s" % runner, ns_per_call(by_name["clockgettime"], runner),
                            150, "ns"))
    if "mutex4" in by_name and "mutex64" in by_name:
        few, many = (by_name[name].median(runner, "wall_s") for name in ("mutex4", "mutex64"))
        found.append(Target("a mutex: %s, 64 threads to 4" % runner,
                            many / few if few and many else None, 2.0, "x"))
    return found


class Progress:
    """One line that is rewritten on a terminal; silent elsewhere."""

    def __init__(self):
        self.shown = sys.stderr.isatty()

    def say(self, text):
        if self.shown:
            sys.stderr.write("\r\033[K" + text)
            sys.stderr.flush()


def parser_for(name, description, known):
    """The options that every bench has."""
    repo = os.path.dirname(workloads.HERE)
    parser = argparse.ArgumentParser(prog="bench " + name, description=description)
    option = parser.add_argument
    option("-n", "--rounds", type=int, default=5, metavar="N", help="rounds (default 5)")
    option("--only", metavar="NAME,...", help="only these of: " + " ".join(known))
    option("--json", metavar="FILE", help="write the raw numbers to FILE")
    option("--build", metavar="DIR", default=os.path.join(repo, "build"), help="build directory")
    option("--timeout", type=float, default=300, metavar="S", help="limit of one run (300)")
    return parser


def parse_args(parser, known):
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.load = os.getloadavg()[0]
    args.drdebug = os.path.abspath(os.environ.get("DRDEBUG") or os.path.join(args.build, "drdebug"))
    if args.rounds < 1:
        parser.error("-n wants at least 1")
    args.only = args.only.split(",") if args.only else known
    for name in args.only:
        if name not in known:
            parser.error("--only: %s: no such program" % name)
    return args


def check_installed(args, chosen):
    for path in [args.drdebug] + [workload.argv[0] for workload in chosen]:
        if not os.access(path, os.X_OK):
            raise Failure("%s: not there or not executable (./dev bench makes what is ours)" % path)


def rounds_of(workload, rounds):
    return rounds * START_FACTOR if workload.kind == workloads.START else rounds


def note_run(row, name, run):
    """Adds a run of this runner. The first native one says what is right."""
    row.runs.setdefault(name, []).append(run)
    reference = row.runs[NATIVE][0]
    cause = bad_run(run, reference)
    if cause:
        row.wrong[name] = cause
    if reference.status != 0 or NATIVE in row.wrong:
        raise Failure("%s: native run failed or changed: %s"
                      % (row.workload.name, row.runs[NATIVE][-1].stderr.strip()))


def bad_run(run, reference):
    """Why this run's result is not the native one, or None."""
    if run.timed_out:
        return "no end within the time limit"
    if run.same_result(reference):
        return None
    if run.status == reference.status:
        return "output differs"
    last = run.stderr.strip().splitlines()[-1:] or ["nothing on standard error"]
    return "status %d, natively %d: %s" % (run.status, reference.status, last[0])


def fixed(value, digits=2, unit=""):
    return None if value is None else "%.*f%s" % (digits, value, unit)


def cpu_model():
    return cpu_field("model name") or platform.machine()


def cpu_field(name):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        match = re.search(r"^%s\s*: (.*)$" % name, file.read(), re.MULTILINE)
    return match.group(1) if match else None


def machine_words(args):
    return "%s, %d cores, load %.1f before" % (cpu_model(), os.cpu_count(), args.load)


def raw_numbers(rows, args, more):
    """For --json; more(row) adds a bench's own."""
    keep = ("wall_s", "cpu_s", "peak_kb", "status", "digest")
    programs = {}
    for row in rows:
        programs[row.workload.name] = {
            "kind": row.workload.kind,
            "runs": {name: [{key: getattr(run, key) for key in keep} for run in runs]
                     for name, runs in row.runs.items()},
            "wrong": row.wrong,
            **more(row),
        }
    return {"rounds": args.rounds, "cpu": cpu_model(), "cores": os.cpu_count(), "load": args.load,
            "programs": programs}
