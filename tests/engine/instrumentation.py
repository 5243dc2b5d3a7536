#!/usr/bin/env python3
"""instrumentation.py - the built-in tools see what happens, and change nothing.

SPDX-License-Identifier: MIT

    instrumentation.py DRDEBUG BIN

icount must equal oracle.c: an instruction counts when it begins, again when it begins again after a
fault, and a REP instruction once however often it goes round; `after` when it falls through to the one
behind it; a transfer that happens to lead there does not. memory must equal what accesses.py says.
"""
import os

import accesses
import engine_test as e

WAYS = [(), ("link=0",), ("cache=65536",), ("ticks=1",)]
TOOLS = ["icount", "blocks", "memory", "toggle"]
THREADS = 8  # of crowd.c
BASH = "x=0; for i in {1..20}; do x=$((x + i * i % 7)); done; echo $x; (exit 3);" \
       " echo $? $(echo sub | tr s S)"
SCRIPT = "print('the quick brown fox'.split(), sum(i * i for i in range(99)))"
SLOW = [("python3", "memory"), ("python3", "toggle")]  # 10 seconds each


def check_counts(test, name, summary):
    argv = [test.program(name)]
    want = (summary["instructions"], summary["fell_through"])
    for way in WAYS:
        run = test.run(argv, "tool=icount", *way)
        label = f"{name}: icount {' '.join(way)}"
        test.equal(run.number("icount", "instructions"), want[0], f"{label}: instructions")
        test.equal(run.number("icount", "after"), want[1], f"{label}: after")
        calls = test.run(argv, "tool=blocks", *way).number("blocks", "syscalls")
        test.equal(calls, summary["syscalls"], f"{name}: system calls {' '.join(way)}")


def check_threads(test):
    run = test.run([test.program("crowd"), "3"], "tool=blocks")
    started, ended = run.number("blocks", "started"), run.number("blocks", "ended")
    test.equal((started, ended), (THREADS + 1, THREADS), "crowd: threads started, ended")


def memory_agrees(test, cases):
    path = os.path.join(test.work, "accesses")
    symbols = accesses.build(cases, path)
    run = test.run([path], "tool=memory")
    want = accesses.expected(cases, symbols)
    return run.status == 0 and run.topic("memory") == [want], run, want


def check_memory(test):
    """All cases at once; when they disagree, one by one to find those that do."""
    cases = accesses.cases()
    print(f"memory: {len(cases)} of {len(accesses.CASES)} instructions")
    if memory_agrees(test, cases)[0]:
        return
    for case in cases:
        good, run, want = memory_agrees(test, [case])
        test.check(good, f"memory: {case.asm}: got {run.topic('memory')}, expected {want}; {run.status}")
    test.check(test.failures, "memory: instructions agree alone, but not one after the other")


def check_transparent(test):
    programs = {
        "bash": ["/bin/bash", "--norc", "-c", BASH],
        "python3": [e.PYTHON, "-S", "-c", SCRIPT],
        "compute": [test.program("compute")],
        "rewrite": [test.program("rewrite")],
        "crowd": [test.program("crowd"), "3"],
    }
    for name, argv in programs.items():
        native = test.native(argv)
        for tool in TOOLS:
            if (name, tool) in SLOW and not e.SOAK:
                continue
            run = test.run(argv, f"tool={tool}")
            test.equal(run.shown(), native.shown(), f"{name} with tool={tool}")
            test.check(run.topic(tool), f"{name}: tool={tool} says nothing")
            if tool == "toggle" and run.topic(tool):
                test.check(run.number("toggle", "toggles") > 9, f"{name}: the tool hardly toggled")


def check_several(test):
    """Tools that are on together say what each says alone."""
    argv = [test.program("walk")]
    alone = {tool: test.run(argv, f"tool={tool}").topic(tool) for tool in ("icount", "blocks", "memory")}
    for names in ("icount+blocks", "blocks+memory", "memory+blocks+icount"):
        run = test.run(argv, f"tool={names}")
        for tool in names.split("+"):
            test.equal(run.topic(tool), alone[tool], f"tool={names}: {tool}")
    run = test.run(argv, "tool=icount+icounts")
    test.check("engine tool icounts: unknown" in str(run.err), f"an unknown second tool: {run.err}")
    run = test.run(argv, "tool=icount+blocks+icount+blocks+icount")
    test.check("too many tools" in str(run.err), f"five tools: {run.err}")


def check(test):
    summary, _ = test.oracle([test.program("walk")])
    for name in ("walk", "walk_pie"):  # the same instructions at other addresses
        check_counts(test, name, summary)
    check_threads(test)
    check_several(test)
    check_memory(test)
    check_transparent(test)


e.main(check)
