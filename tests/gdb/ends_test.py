#!/usr/bin/env python3
"""ends_test.py --drdebug PROG --bin DIR TABLE... - GDB's commands (commands.py): begins and ends of recordings, and of programs in them.

SPDX-License-Identifier: MIT
"""
import os
import shutil
import subprocess
import sys

from commands import HISTORY, main, pattern

TABLES = {
    "restart": ("calls", (), (), [
        ("tbreak add", None),
        ("continue", "add ("),
        ("tbreak factorial", None),
        ("run", ["factorial (n=5)", "~disappeared", "~_start"]),
        ("start", ["main (argc=1", "~disappeared"]),
        ("info breakpoints", "No breakpoints or watchpoints."),
        ("break add", None),
        ("run", pattern(r"add \(a=\d+, b=0\)")),
        ("continue", pattern(r"add \(a=\d+, b=1\)")),
        ("info breakpoints", "already hit 2 times"),
        ("run other words", "A recording has its own arguments"),
        ("frame", pattern(r"add \(a=\d+, b=1\)")),  # nothing has moved, or ended
        ("continue", pattern(r"add \(a=\d+, b=2\)")),
        ('run "', "No closing quotation"),
        ("start x", "A recording has its own arguments"),
        ("set args x", None),
        ("run", "A recording has its own arguments"),
        ("set args", None),
        ("set exec-direction reverse", None),
        ("run", pattern(r"add \(a=\d+, b=0\)")),
        ("info breakpoints", "already hit 1 time"),
        ("starti", "_start ()"),
        ("continue", pattern(r"add \(a=\d+, b=0\)")),
        ("kill", "killed"),
        ("run other words", "A recording has its own arguments"),
        ("run", [pattern(r"add \(a=\d+, b=0\)"), "~disappeared"]),
        ("disable", None),
        ("continue", HISTORY),
        ("print $_exitcode", "= 3"),
        ("enable", None),
        ("run", pattern(r"add \(a=\d+, b=0\)")),
        ("print $_exitcode", "= void"),
        ("run </dev/null >/dev/null 2>&1", pattern(r"add \(a=\d+, b=0\)")),
    ]),
    "run_arguments": ("calls", ("one", "two words"), (), [
        ("break add", None),
        ('run one "two words"', pattern(r"add \(a=\d+, b=0\)")),
        ("run one", "A recording has its own arguments"),
        ("run one two words", "A recording has its own arguments"),
        ("frame", "add ("),
        ("run", pattern(r"add \(a=\d+, b=0\)")),
    ]),
    "ends": ("calls", (), (), [
        ("record", "This is a recording already"),
        ("info record", "~record-full"),
        ("catch syscall 123456789", None),
        ("tbreak add", None),
        ("continue", ["there is no system call 123456789", "add ("]),
        ("delete", None),
        ("break *0", None),
        ("continue", ["Cannot insert breakpoint", "Cannot access memory at address 0x0"]),
        ("delete", None),
        ("print $_exitcode", "= void"),
        ("continue", [HISTORY, "the program exited with status 3"]),
        ("print $_exitcode", "= 3"),
        ("break factorial", None),
        ("print factorial(2)", ["factorial (n=2)", "~exited"]),  # that is not the end
        ("stepi", "~exited"),
        ("delete", None),
        ("reverse-stepi", "~exited"),
        ("stepi", None),
    ]),
    "ends_by_signal": ("crash", (), (), [
        ("continue", "SIGSEGV"),
        ("continue", [HISTORY, "the program was killed by SIGSEGV"]),
        ("print $_exitsignal", "= 11"),
        ("print $_exitcode", "= void"),
    ]),
    "exec": ("execs", ("{calls}",), (), [
        ("break prepare", None),
        ("continue", "prepare ()"),
        ("print before_exec", "= 1"),
        ("delete", None),
        ("catch exec", "Catchpoint"),
        ("continue", pattern("exec'd .*calls")),
        ("delete", None),
        ("tbreak factorial", None),
        ("continue", "factorial (n=5)"),
        ("info inferiors", "calls"),
        ("print counter", "= 5"),
        ("watch counter", None),
        ("continue", ["Old value = 5", "New value = 6"]),
        ("reverse-continue", None),
        ("delete", None),
        ("pin goto begin", "_start"),
        ("info inferiors", "execs"),
        ("tbreak prepare", None),
        ("continue", "prepare ()"),
        ("pin goto end", "_exit"),
        ("info inferiors", "calls"),
        ("print counter", "= 25"),
        ("reverse-continue", None),
        ("reverse-continue", None),
        ("reverse-continue", HISTORY),
        ("pin when", "The recording begins here."),
        ("info inferiors", "execs"),
        ("catch exec", "Catchpoint"),
        ("pin goto end", "_exit"),
        ("reverse-continue", "~The recording ends"),
        ("pin goto end", "_exit"),
        ("run", pattern("exec'd .*calls")),
        ("pin goto end", "_exit"),
        ("start", "execs.c:{MAIN}"),
    ]),
}


def output_once(test):
    """What the program wrote appears at its first execution only; -q is for none at all."""
    pinball = test.recordings.get("calls")
    again = []
    for command in ("pin goto end", "pin goto begin", "continue", "reverse-continue", "tbreak add", "continue",
                    "pin goto -50", "run", "pin goto end"):
        again += ["-ex", command]
    shown = test.debug(pinball, (), "-ex", "set confirm off", *again).stdout
    for line in ("begin 1\n", "total 260\n", "end 456 second\n"):
        test.checks += 1
        if shown.count(line) != 1:
            test.fail(f"output: {line!r} appears {shown.count(line)} times:\n{shown}")
    before = test.debug(pinball, (), "-ex", "next 2").stdout
    test.check("output", "~total 260", before, {})


def odd_path(test):
    """A program whose path is no text."""
    folder = os.path.join(os.fsencode(test.work), b"caf\xe9")
    os.mkdir(folder)
    program, pinball = os.path.join(folder, b"call\xe9"), os.path.join(test.work, "odd.pinball")
    shutil.copy(test.recordings.program("calls"), program)
    subprocess.run([test.recordings.drdebug, "record", "-q", "-o", pinball, "--", program], check=False, timeout=60,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    test.run_rows("odd_path", pinball, (), [
        ("frame", "main (argc=1"),
        ("pin goto end", "_exit"),
        ("pin when", "The recording ends here."),
        ("info sharedlibrary", "libc.so.6"),
        ("tbreak add", None),
        ("reverse-continue", "add ("),
        ("run", None),
    ], test.words)


def start_places(test):
    pinball = test.recordings.get("calls")
    for options, wanted in (((), "main (argc=1"), (("--start",), "_start ()"), (("--end",), "_exit")):
        test.check(f"debug {options}", wanted, test.debug(pinball, options, "-ex", "frame").stdout, {})


def part_end(test):
    """Where a part ends the program went on."""
    pinball = os.path.join(test.work, "part.pinball")
    subprocess.run([test.recordings.drdebug, "record", "-q", "-o", pinball, "--to", "call:write:1", "--",
                    test.recordings.program("calls")], check=False, timeout=60, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    test.run_rows("part_end", pinball, (), [
        ("continue", [HISTORY, "went on; only this part of it is recorded"]),
        ("print $_exitcode", "= void"),
    ], test.words)


SPECIAL = {"output_once": output_once, "odd_path": odd_path, "start_places": start_places, "part_end": part_end}

if __name__ == "__main__":
    sys.exit(main(TABLES, SPECIAL))
