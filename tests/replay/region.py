#!/usr/bin/env python3
"""region.py DRDEBUG PROGRAM CASE - recordings of parts of a run: they verify, replay, and all verbs work on them.

SPDX-License-Identifier: MIT

The program prints a line per round and in the end sums of all its memory, so that what a replay prints tells whether the part began
with the right state. `alone` it is the same in every run: positions in a part must be those of a recording of the whole.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

DRDEBUG, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:3])
CASE = sys.argv[3]
STATUS = 3  # the program's own
ROUNDS = 40


def run(*command, status=0):
    """Standard output and error."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def record(pinball, *options, program=(PROGRAM,), status=STATUS):
    """What the program wrote, as lines."""
    return run(DRDEBUG, "record", "-q", "-o", pinball, *options, "--", *program, status=status)[0].splitlines()


def replayed(pinball):
    """The part's output, after it was verified."""
    out, _ = run(DRDEBUG, "verify", pinball)
    assert "good" in out, out
    return run(DRDEBUG, "replay", pinball)[0].splitlines()


def info(pinball):
    """As an object."""
    return json.loads(run(DRDEBUG, "info", "--json", pinball)[0])


def marks(pinball):
    """Their positions."""
    rows = [json.loads(line) for line in run(DRDEBUG, "ask", "--json", pinball, "events", "mark")[0].splitlines()]
    return [row["at"] for row in rows if "row" in row]


def rounds(lines):
    """Numbers of the rounds in an output."""
    return [int(line.split()[1]) for line in lines if line.startswith("round")]


def triggers(tmp):
    """Each kind of trigger, with what must be in the part."""
    cases = [
        (["--from", "region:rounds", "--to", "region:rounds"], list(range(ROUNDS)), False),
        (["--from", "mark:round:21"], list(range(20, ROUNDS)), True),
        (["--from", "mark:round:25", "--to", "mark:round:30"], list(range(24, 29)), False),
        (["--from", "call:kill:11", "--to", "call:kill:13"], [10, 11], False),
        (["--from", "signal:SIGUSR1:5", "--to", "signal:USR1:6"], [4], False),
        (["--to", "mark:round:4"], [0, 1, 2], False),
        (["--from", "ticks:400000"], None, True),
        (["--from", "ticks:300000", "--to", "ticks:600000"], None, False),
        (["--from", "time:0.001"], None, True),
        (["--from", "mark:round:38", "--length", "30000"], None, False),
    ]
    for i, (options, expected, to_end) in enumerate(cases):
        pinball = f"{tmp}/{i}.pinball"
        said = record(pinball, *options)
        part = replayed(pinball)
        assert expected is None or rounds(part) == expected, (options, part)
        if to_end:
            assert part == said[len(said) - len(part):] and part[-1] == said[-1], (options, part)
        else:
            assert info(pinball)["reason"] == "region", options
    assert info(f"{tmp}/7.pinball")["ticks"] == 600000


def same_as_whole(tmp):
    """Counts go on: tokens of a part are those of the whole."""
    whole, part, cut = f"{tmp}/whole.pinball", f"{tmp}/part.pinball", f"{tmp}/cut.pinball"
    alone = ("setarch", "-R", PROGRAM, "alone")
    record(whole, program=alone)
    all_marks = marks(whole)
    assert len(all_marks) == ROUNDS + 2, all_marks
    for option, first in (("mark:round:12", 12), ("mark:round:33", 33)):
        record(part, "--from", option, program=alone)
        assert marks(part) == all_marks[first:], (option, marks(part), all_marks)
        assert info(part)["begin"] == all_marks[first], option
        run("rm", "-rf", part)
    record(part, "--from", "icount:1000000", "--length", "50000", program=alone)
    assert replayed(part) is not None
    # A part of a part, and one of the whole that begins where the part does: the same registers.
    run(DRDEBUG, "cut", "--from", info(part)["begin"], "-o", cut, part)
    registers = [run(DRDEBUG, "debug", p, "--", "-batch", "-ex", f"pin goto {info(part)['begin']}", "-ex", "info registers rip rsp rbp")[0]
                 for p in (whole, part, cut)]
    lines = [re.findall(r"^r[isb]p .*$", text, re.M)[-3:] for text in registers]
    assert len(lines[0]) == 3 and lines[0] == lines[1] == lines[2], lines


def verbs(tmp):
    """What a recording is good for."""
    part, cut = f"{tmp}/part.pinball", f"{tmp}/cut.pinball"
    record(part, "--from", "mark:round:30", "--to", "region:rounds", program=(PROGRAM, "apart"))
    where = marks(part)
    assert len(where) == 11, where
    run(DRDEBUG, "cut", "--from", where[4], "--to", where[6], "-o", cut, part)
    assert rounds(replayed(cut)) == [33, 34]
    assert "named" in run(DRDEBUG, "slice", part, "named[3800] at region.c:" + line_of("unsigned char *heap = malloc"))[0]
    # What was made before the part is named; on the way there the handler has added to it.
    text = run(DRDEBUG, "slice", part, "signals at region.c:" + line_of("unsigned char *heap = malloc"))[0]
    assert re.search("^before +.*signals.*: set before the recorded part begins$", text, re.M), text
    assert "T4" in run(DRDEBUG, "ask", part, "threads")[0]
    gdb, _ = run(DRDEBUG, "debug", "--end", part, "--", "-batch", "-ex", "break on_signal", "-ex", "reverse-continue", "-ex", "print signals",
                 "-ex", "pin goto begin", "-ex", "print signals", "-ex", "info threads")
    assert "$1 = 390" in gdb and "$2 = 290" in gdb and gdb.count("Thread ") >= 4, gdb
    _, err = run(DRDEBUG, "ask", part, "diff", part, status=1)
    assert "only whole ones are compared" in err, err
    words, _ = run(DRDEBUG, "info", part)
    assert "from       mark:round:30" in words and "to         region:rounds" in words and f"begins     {where[0]}" in words, words


def execs(tmp):
    """A part goes on over execve, and what is counted goes on, too."""
    shell = ("sh", "-c", 'kill -0 $$; kill -0 $$; echo shell; exec "$0" alone', PROGRAM)
    for i, (options, expected) in enumerate([
            (["--from", "call:kill:2", "--to", "mark:round:4"], ["shell", 0, 1, 2]),
            (["--from", "call:kill:2"], ["shell", *range(ROUNDS)]),
            (["--from", "call:kill:2", "--length", "1000000"], None),
            (["--from", "call:kill:4", "--to", "call:kill:7"], [1, 2, 3]),
            (["--from", "call:execve", "--to", "call:execve:2"], list(range(ROUNDS))),
            (["--from", "ticks:200000", "--to", "ticks:500000"], None)]):
        pinball = f"{tmp}/{i}.pinball"
        record(pinball, *options, program=shell)
        said = [line if line == "shell" else int(line.split()[1]) for line in replayed(pinball) if line[0] in "rs"]
        assert expected is None or said == expected, (options, said)
    assert info(f"{tmp}/2.pinball")["reason"] == "region"
    assert info(f"{tmp}/5.pinball")["ticks"] == 500000, info(f"{tmp}/5.pinball")
    assert "after 200 k ticks" in run(DRDEBUG, "info", f"{tmp}/5.pinball")[0]  # those of the shell, too


def line_of(text, file="region.c"):
    """Of the program's source."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), file), encoding="utf-8") as source:
        return str(next(i for i, line in enumerate(source, 1) if text in line))


def key(tmp):
    """A key works while all threads sleep, and interrupts nothing. The part can be used before the program ends."""
    pinball, other = f"{tmp}/part.pinball", f"{tmp}/other"
    os.mkdir(other)
    with subprocess.Popen([DRDEBUG, "record", "-q", "--from", "key", "--to", "key", "-o", pinball, "--", "sh", "-c",
                           "echo one; read a; echo two $a; read a; echo three $a; exec cat"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        def give(text, answer):
            p.stdin.write(text + "\n")
            p.stdin.flush()
            assert p.stdout.readline() == answer + "\n"

        assert p.stdout.readline() == "one\n"
        assert "has not begun" in run(DRDEBUG, "ctl", pinball, "status")[0]
        os.kill(p.pid, signal.SIGUSR1)
        while "begins when" not in run(DRDEBUG, "ctl", pinball, "status")[0]:
            time.sleep(0.01)
        give("a", "two a")
        assert "is being recorded" in run(DRDEBUG, "ctl", pinball, "status")[0]
        assert "the part ends\n" in run(DRDEBUG, "ctl", pinball, "key")[0]  # it waits for input, and none comes
        assert replayed(pinball) == ["two a"]
        run(DRDEBUG, "ctl", pinball, "key", status=1)
        give("c", "three c")
        give("d", "d")  # its next program has no part to end
        p.communicate(timeout=60)
        assert p.returncode == 0, p.returncode
    _, err = run(DRDEBUG, "ctl", other, "key", status=1)
    assert "is not being recorded" in err, err
    run(DRDEBUG, "ctl", pinball, "press", status=2)


def bad_input(tmp):
    """A clear message and status; the program is not harmed."""
    pinball = f"{tmp}/bad.pinball"
    for options, text in [(["--from", "nothing:1"], "not one of ticks:"), (["--from", "call:nosuch"], "behind call stands a system call"),
                          (["--from", "ticks:x"], "a number of ticks"), (["--from", "ticks:9", "--to", "ticks:8"], "comes before --from"),
                          (["--from", "signal:SIGNONE"], "a signal"), (["--stop"], "needs --to or --length"),
                          (["--from", "key", "--from", "key"], "only the last part may be without"), (["--from", "key", "--to", "key", "--to", "key"], "more often"),
                          (["--from", "mark:a:3", "--to", "mark:a:2"], "comes before --from"), (["--from", "line:region.c"], "FILE:LINE"),
                          (["--from", "probe:x"], "PROVIDER:NAME"), (["--length", "0"], "not a number of instructions"),
                          (["--to", "key", "--length", "5"], "--to is given, too"), (["--from", "addr:12"], "an address"),
                          (["--from", "func:main:0"], "the first time is :1"), (["--from", "call:kill:-1"], "the first time is :1")]:
        _, err = run(DRDEBUG, "record", "-o", pinball, *options, "--", PROGRAM, status=2)
        assert text in err, (options, err)
    out, err = run(DRDEBUG, "record", "-o", pinball, "--from", "mark:never", "--", PROGRAM, status=STATUS)
    assert "ended before --from mark:never" in err and len(out.splitlines()) == ROUNDS + 1, err
    assert not os.path.exists(pinball)
    _, err = run(DRDEBUG, "record", "-o", pinball, "--from", "mark:round:3", "--to", "mark:never", "--", PROGRAM, status=STATUS)
    assert "ended before --to mark:never" in err, err
    run("rm", "-rf", pinball)
    # --stop ends the program: this one would not end by itself.
    run(DRDEBUG, "record", "-o", pinball, "--to", "call:wait4:2", "--stop", "--", "sh", "-c", "while :; do /bin/true; done")
    assert replayed(pinball) == []


def names(tmp):
    """Functions, lines and probes: in the program, inlined, in a library that is loaded later; the n-th over all threads."""
    program = os.path.join(os.path.dirname(PROGRAM), "places")
    library = program + ".so"

    def here(text, file="places.c"):
        return f"{file}:{line_of(text, file)}"

    for i, (options, expected) in enumerate([
            (["--from", "func:step:5", "--to", "func:step:8"], ["step 5", "step 6", "step 7"]),
            (["--from", "func:step:16", "--to", "func:main"], None),
            (["--from", "func:spliced:3", "--to", "func:spliced:5"], ["spliced 3", "spliced 4"]),
            (["--from", f"line:{here('SPLICED')}:7", "--to", "func:dlopen"], ["spliced 7", "spliced 8"]),
            (["--from", "func:strspn:7", "--to", "func:spliced:8"], []),
            (["--from", "func:late_step:2", "--to", "func:late_step:4"], ["late 2", "late 3"]),
            (["--from", "func:places.so!late_step:8"], ["late 8"]),
            (["--from", f"line:{here('LATE', 'places_late.c')}:6", "--to", f"line:{here('late(i)')}:8"], ["late 6", "late 7"]),
            (["--from", "probe:places:heard:3", "--to", "probe:places:heard:4"], ["late 4", "heard 4"]),
            (["--from", "func:spliced:8", "--to", "probe:places:heard:2"], ["spliced 8", "late 1", "heard 1", "late 2", "heard 2"])]):
        pinball = f"{tmp}/{i}.pinball"
        record(pinball, *options, program=(program, library), status=0)
        said = replayed(pinball)
        assert said == expected or expected is None, (options, said)
    # What a name means is said when it is not there, once the program has what it begins with.
    for option, text in [("func:spliecd", "nearest are spliced"), ("line:plcaes.c:3", "there are places.c"),
                         ("line:places.c:9999", "there is no code for this line"), ("probe:places:none", "no such probe")]:
        out, err = run(DRDEBUG, "record", "-o", f"{tmp}/bad.pinball", "--from", option, "--", program, library, status=1)
        assert text in err and "may load it later" in err and "ended before --from" in err, err
        assert out.endswith("late 8\n") and not os.path.exists(f"{tmp}/bad.pinball"), out


def parts(tmp):
    """Several parts of one run, one of which begins where the one before ends; counts go on from the start of the run."""
    out, err = run(DRDEBUG, "record", "-o", f"{tmp}/many.pinball", "--from", "mark:round:3", "--to", "mark:round:5", "--from", "mark:round:5",
                   "--to", "signal:USR1:7", "--from", "ticks:400000", "--to", "call:kill:30", "--from", "mark:round:36", "--", PROGRAM, status=STATUS)
    assert rounds(out.splitlines()) == list(range(ROUNDS)) and err.count(" ticks, ") == 4, err
    expected = ([2, 3], [4, 5], None, list(range(35, ROUNDS)))
    for i, want in enumerate(expected, 1):
        pinball = f"{tmp}/many.{i}.pinball"
        got = rounds(replayed(pinball))
        assert got == want or want is None and got == list(range(got[0], 29)), (i, got)
        assert f"part       {i} of 4" in run(DRDEBUG, "info", pinball)[0]
    for i, text in ((1, "--length"), (2, "--to")):  # a length for each; the second never begins
        options = ["--length", "20000"] if text == "--length" else ["--to", "mark:round:8"]
        _, err = run(DRDEBUG, "record", "-o", f"{tmp}/some{i}.pinball", "--from", "mark:round:7", *options, "--from", "mark:never", "--",
                     PROGRAM, status=STATUS)
        assert "ended before --from mark:never: nothing more" in err, err
        assert replayed(f"{tmp}/some{i}.1.pinball") is not None and not os.path.exists(f"{tmp}/some{i}.2.pinball")


CASES = {"names": names, "parts": parts, "triggers": triggers, "whole": same_as_whole, "verbs": verbs, "execs": execs, "key": key, "bad": bad_input}

with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)  # the program makes a file there
    CASES[CASE](directory)
