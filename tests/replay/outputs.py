#!/usr/bin/env python3
"""outputs.py - what a program writes to its terminal or standard outputs appears again, by whatever name it opened them.

SPDX-License-Identifier: MIT
"""
import sys

import replay_test
from live import Terminal

NAMES = ("/dev/stdout", "/proc/self/fd/1", "/dev/fd/1")


def on_terminal(test, names, redirect, text):
    """On a terminal; with redirect standard output is a file, and what went to the terminal is standard error."""
    path, cwd = test.fresh("pinball"), test.folder("cwd")
    argv = [test.drdebug, "record", "-q", "-o", path, "--", test.program("opens_output"), *names]
    if redirect:
        argv = ["sh", "-c", 'exec "$@" >> out', "sh", *argv]
    terminal = Terminal(argv, cwd, replay_test.environment(cwd))
    status = terminal.finish()
    shown = b""
    if redirect:
        with open(cwd + "/out", "rb") as f:
            shown = f.read()
    replay = test.replay(path)
    test.equal((status, replay.status), (0, 0), f"{text}: statuses ({terminal.text} {replay.text()})")
    want = (shown, terminal.text) if redirect else (terminal.text, b"")
    test.equal((replay.out, replay.err), want, f"{text}: what is shown")
    test.check(want[0].count(b"\n") + want[1].count(b"\n") == len(names) + 2, f"{text}: the test proves nothing: {want}")


def other_numbers(test):
    """Descriptors that lead to the outputs under other numbers: inherited, copied, received; over an execve, too."""
    path, cwd = test.fresh("pinball"), test.folder("cwd")
    program = test.program("other_numbers")
    record = [test.drdebug, "record", "-q", "-o", path, "--"]
    for argv, lines, text in (
            ([program, "3", "4"], 5, "inherited"),
            (["sh", "-c", 'exec 5>&4 6>&3 7>&1 4>&-; exec "$0" 5 7 6', program], 6, "after execve")):
        done = replay_test.execute(["sh", "-c", 'exec "$@" 3>&1 4>&2', "sh", *record, *argv], cwd, replay_test.environment(cwd))
        replay = test.replay(path)
        test.equal((done.status, replay.status), (0, 0), f"{text}: statuses ({done.text()} {replay.text()})")
        test.equal((replay.out, replay.err), (done.out, done.err), f"{text}: what is shown")
        test.equal(done.out.count(b"\n") + done.err.count(b"\n"), lines, f"{text}: lines that there are")
        path = test.fresh("pinball")
        record[4] = path


def main_test(test):
    other_numbers(test)
    recording = test.record([test.program("opens_output"), *NAMES, "/dev/stderr", "/dev/null"])
    if test.recorded(recording, "files"):
        test.all_replays(recording, 1, "files")
    on_terminal(test, ("/dev/tty", "-", *NAMES), False, "a terminal")
    on_terminal(test, ("/dev/tty", "/dev/stderr"), True, "a terminal, and output in a file")
    done = test.record(["sh", "-c", 'exec "$@" > /dev/null', "sh", test.program("opens_output"), "/dev/null"])
    test.check(b"not to be seen" not in test.replay(done.path).out, "what was written to /dev/null is shown")


if __name__ == "__main__":
    sys.exit(replay_test.main(main_test, replay_test.parser_of(__doc__)))
