#!/usr/bin/env python3
"""counter_links.py - the counter is a function of the program alone, not of how its code is cached.

SPDX-License-Identifier: MIT

    counter_links.py DRDEBUG BIN

Each program runs plainly and then with links off, with all flags kept, leaving the cache at every
tick, and with a cache so small that blocks are evicted. The totals and a thousand samples (count, pc)
must agree. Registers hold values that differ from run to run (the stack canary, a process id), except
in programs without libc: there they must agree too.
"""
import os

import engine_test as e

SAMPLES = 1000
TINY = "cache=65536"
WAYS = [("link=0",), ("ticks=1",), ("exact=1",), (TINY,), ("hot=0",), ("hot=2",), ("hot=5", "exact=1", TINY)]
if e.SOAK:
    WAYS += [(), ("link=0", TINY), ("exact=1", "ticks=1"), ("exact=1", TINY), ("ticks=1", TINY)]

BASH = "f() { local n=$1; if ((n < 2)); then r=$n; else f $((n - 1)); local a=$r; f $((n - 2)); " \
       "((r += a)); fi; }; for ((i = 0; i < 8; i++)); do f $i; echo $i $r ${BASH_VERSION%%.*}; done"
SCRIPT = "d = {str(i): [i] * (i % 5) for i in range(300)}\n" \
         "print(sum(map(len, d.values())), sorted(d)[::40], 3 ** 200 % 1007)\n" \
         "try: {}['x']\n" \
         "except KeyError as e: print(repr(e))\n"
QUERY = "create table t(a integer primary key, b text);" \
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)" \
        " insert into t select i, 'row ' || i * 7 % 31 from n;" \
        "create index x on t(b); select b, count(*), sum(a) from t group by b order by 2, 1 limit 5;"

# name, command, standard input, whether registers are the same in every run
SUBJECTS = [
    ("walk", ["walk"], b"", True),
    ("walk_pie", ["walk_pie"], b"", True),
    ("compute", ["compute"], b"", False),
    ("compute_static", ["compute_static"], b"", False),
    ("rewrite", ["rewrite"], b"", False),
    ("bash", ["/bin/bash", "--norc", "-c", BASH], b"", False),
    ("python3", [e.PYTHON, "-S", "-c", SCRIPT], b"", False),
    ("gzip", ["/bin/gzip", "-9nc"], b"".join(b"%d squared is %d\n" % (i, i * i) for i in range(6000)), False),
    ("sqlite3", ["/usr/bin/sqlite3", "-batch", ":memory:", QUERY], b"", False),
]


def samples(run, with_registers):
    keys = ("thread", "count", "pc", "regs")[: 4 if with_registers else 3]
    return [tuple(s[key] for key in keys) for s in run.topic("sample")]


def check_subject(test, name, argv, stdin, with_registers):
    native = test.native(argv, stdin)
    total = test.run(argv, "stats=1", stdin=stdin).number("stats", "ticks")
    step = max(total // (SAMPLES + SAMPLES // 10), 1)
    options = ("stats=1", f"sample={step}")
    plain = test.run(argv, *options, stdin=stdin)
    want = samples(plain, with_registers)
    print(f"{name}: {total} ticks, {len(want)} samples")
    test.equal(len(want), total // step, f"{name}: a sample every {step} ticks")
    test.check(len(want) >= SAMPLES, f"{name}: only {len(want)} samples")
    for way in WAYS:
        run = test.run(argv, *options, *way, stdin=stdin)
        label = f"{name} {' '.join(way)}"
        test.equal(run.shown(), native.shown(), f"{label}: the program's output")
        test.equal(run.number("stats", "ticks"), total, f"{label}: ticks")
        got = samples(run, with_registers)
        first = next((pair for pair in zip(got, want) if pair[0] != pair[1]), (len(got), len(want)))
        test.equal(*first, f"{label}: first sample that differs")
        if TINY in way and name not in ("walk", "walk_pie"):
            test.check(run.number("stats", "evicted") > 0, f"{label}: nothing was evicted")


def check(test):
    for name, argv, stdin, with_registers in SUBJECTS:
        program = argv[0] if os.path.isabs(argv[0]) else test.program(argv[0])
        check_subject(test, name, [program, *argv[1:]], stdin, with_registers)


e.main(check)
