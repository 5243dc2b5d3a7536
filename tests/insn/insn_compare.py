#!/usr/bin/env python3
"""insn_compare.py - compare random instruction sequences run natively and translated.

Runs insndiff twice for each seed, once as it is and once under --under COMMAND, and compares the lines.
For the first few sequences that differ it prints the differing fields and the smallest part of the
sequence that still differs. Exit status: 0 all agree, 1 something differs, 2 usage, 77 skipped.

    insn_compare.py --insndiff build/.../insndiff --under 'build/drdebug run --' --seeds 1,2,clock
"""
# SPDX-License-Identifier: MIT
import argparse
import os
import re
import shlex
import subprocess
import sys
import time

SKIP = 77


class Side:
    """One way of running insndiff."""

    def __init__(self, name, command, timeout):
        self.name = name
        self.command = command
        self.timeout = timeout

    def run(self, *args):
        """Return (lines, how it ended); what was printed before a timeout is kept."""
        process = subprocess.Popen(self.command + [str(a) for a in args], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, errors="replace")
        try:
            out, err = process.communicate(timeout=self.timeout)
            status = process.returncode
            end = "exit 0" if status == 0 else f"status {status}"
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            end = f"no end after {self.timeout} s"
        if err.strip():
            end += "; " + " / ".join(err.strip().splitlines()[-4:])
        return out.splitlines(), end


def results(lines):
    """Sequence number -> line."""
    return {int(line.split(" ", 1)[0]): line for line in lines if re.match(r"\d+ ", line)}


class Case:
    """A sequence that differs: everything needed to run it alone again."""

    def __init__(self, sides, seed, first, number, extra):
        self.sides = sides
        self.seed = seed
        self.first = first
        self.number = number
        self.extra = extra
        self.start = number

    def dump(self, side, masked):
        args = ["--seed", self.seed, "--dump", self.number, "--start", self.start] + self.extra
        if masked:
            args += ["--mask", ",".join(str(u) for u in sorted(masked))]
        lines, end = side.run(*args)
        others = [l for l in lines if re.match(r"\d+ ", l) and int(l.split(" ", 1)[0]) != self.number]
        return [l for l in lines if l not in others] + [f"ended {end}"]

    def dumps(self, masked=()):
        return [self.dump(side, masked) for side in self.sides]

    def differs(self, masked=()):
        left, right = self.dumps(masked)
        return fields(left) != fields(right)

    def isolate(self):
        """Find how many predecessors it takes to see the difference; False: not reproducible."""
        for before in (0, 1, 8, 64, self.number - self.first):
            self.start = max(self.first, self.number - before)
            if self.differs():
                return True
        return False

    def minimise(self):
        """Leave out units, big parts first, as long as the difference stays."""
        left = self.dump(self.sides[0], ())
        units = [u for u in unit_numbers(left)]
        masked = set()
        size = max(1, len(units) // 2)
        while size:
            rest = [u for u in units if u not in masked]
            for i in range(0, len(rest), size):
                attempt = masked | set(rest[i:i + size])
                if self.differs(attempt):
                    masked = attempt
            size //= 2
        return masked


def unit_numbers(lines):
    seen = dict.fromkeys(int(m[1]) for m in (re.match(r"code u(\d+)", l) for l in lines) if m)
    return list(seen)


def fields(lines):
    """What must agree: everything but the code listing and the start state."""
    return [l for l in lines if not l.startswith(("code ", "round ", "start", "#"))]


def differing(left, right):
    """(field, left value, right value) for the fields that differ, in order of appearance."""
    def table(lines):
        return dict((l.split(" ", 1) + [""])[:2] for l in fields(lines))
    a, b = table(left), table(right)
    return [(k, a.get(k, "-"), b.get(k, "-")) for k in list(a) + [k for k in b if k not in a]
            if a.get(k) != b.get(k)]


def show(case, masked, limit=24):
    left, right = case.dumps(masked)
    kept = [l for l in left if l.startswith("round")
            or ((m := re.match(r"code u(\d+)", l)) and (int(m[1]) not in masked or l.endswith("stays")))]
    print("\n".join("  " + l for l in kept))
    diffs = differing(left, right)
    for field, a, b in diffs[:limit]:
        print(f"  {field}\n    {case.sides[0].name:10} {a}\n    {case.sides[1].name:10} {b}")
    if len(diffs) > limit:
        print(f"  and {len(diffs) - limit} more fields")
    return left


def explain(case, full):
    print(f"sequence {case.number} of seed {case.seed}")
    if not case.isolate():
        print(f"  agrees when run again from sequence {case.first} on")
        return
    masked = case.minimise()
    left = show(case, masked)
    mask = " --mask " + ",".join(map(str, sorted(masked))) if masked else ""
    start = f" --start {case.start}" if case.start != case.number else ""
    print(f"  again: --seed {case.seed} --dump {case.number}{start}{mask} {' '.join(case.extra)}")
    if full:
        print("\n".join("  " + l for l in left if l.startswith("start")))
    sys.stdout.flush()


def compare(sides, seed, args):
    """Return (sequences that differ, sequences compared)."""
    options = ["--seed", seed, "--start", args.start, "--count", args.count] + args.extra
    began = time.monotonic()
    (left, left_end), (right, right_end) = (side.run(*options) for side in sides)
    took = time.monotonic() - began
    a, b = results(left), results(right)
    bad = [n for n in range(args.start, args.start + args.count) if a.get(n) != b.get(n)]
    if left and right and left[0] != right[0]:
        print(f"seed {seed}: the CPU looks different, nothing to compare\n  {left[0]}\n  {right[0]}")
        if "cpu=" in os.environ.get("DRDEBUG_ENGINE", ""):
            sys.exit(SKIP)  # translated code was shown an older CPU, which native code cannot be
        return args.count
    print(f"seed {seed}: {args.count} sequences, {len(bad)} differ, {took:.1f} s")
    for side, end in zip(sides, (left_end, right_end)):
        if end != "exit 0":
            print(f"  {side.name}: {end}")
    missing = [n for n in bad if n not in b]
    if missing:
        print(f"  {sides[1].name} stopped before sequence {missing[0]}")
        bad = [n for n in bad if n <= missing[0]]
    sys.stdout.flush()
    if not bad and (left_end, right_end) != ("exit 0", "exit 0"):
        bad = [args.start + args.count - 1]
    for number in bad[:args.explain]:
        explain(Case(sides, seed, args.start, number, args.extra), args.full)
    return len(bad)


def parse_args():
    p = argparse.ArgumentParser(description="Compare random instruction sequences, native and translated.")
    p.add_argument("--insndiff", required=True)
    p.add_argument("--under", default="", help="command in front of insndiff on the second side")
    p.add_argument("--seeds", default="1,2,3,4")
    p.add_argument("--start", type=int, default=0)
    p.add_argument("--count", type=int, default=1000, help="sequences per seed")
    p.add_argument("--soak-count", type=int, help="the same when DRDEBUG_SOAK is set")
    p.add_argument("--soak-seeds", help="and these: 'clock' is a seed of its own each time")
    p.add_argument("--explain", type=int, default=3, help="explain the first N that differ")
    p.add_argument("--full", action="store_true", help="print the start state too")
    p.add_argument("--timeout", type=float, default=300, help="seconds per run of insndiff")
    p.add_argument("--without", help="features to leave out, see insndiff --help")
    p.add_argument("--loops", action="store_true", help="run each sequence often, through its faults")
    p.add_argument("--sabotage", help="break a mnemonic on the second side, to test this program")
    args = p.parse_args()
    if os.environ.get("DRDEBUG_SOAK"):
        args.count = args.soak_count or args.count
        args.seeds = args.soak_seeds or args.seeds
        args.timeout *= 20
    args.extra = ["--without", args.without] if args.without else []
    args.extra += ["--loops"] if args.loops else []
    return args


def main():
    args = parse_args()
    second = shlex.split(args.under) + [args.insndiff]
    if args.sabotage:
        second += ["--sabotage", args.sabotage]
    sides = [Side("native", [args.insndiff], args.timeout),
             Side("translated" if args.under else "second", second, args.timeout)]
    seeds = [int(time.time()) if s == "clock" else int(s, 0) for s in args.seeds.split(",")]
    print("seeds " + ",".join(map(str, seeds)), flush=True)
    bad = sum(compare(sides, seed, args) for seed in seeds)
    print("all agree" if not bad else f"{bad} sequences differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
