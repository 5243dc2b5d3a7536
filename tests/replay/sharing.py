#!/usr/bin/env python3
"""sharing.py - `record` warns of shared memory when another process that lives may write it, and only then.

SPDX-License-Identifier: MIT
"""
import mmap
import os
import sys
import threading

import replay_test

def warned(test, argv, want, text):
    recording = test.record(argv)
    if test.recorded(recording, text):
        got = any("shared memory" in line for line in recording.said)
        test.check(got == want, f"{text}: {'a' if got else 'no'} warning: {recording.text()}")
        test.all_replays(recording, 1, text)


def stranger(path, asked, answers, writes):
    """A process that the program has not made: this one. It changes the memory each time it is asked to."""
    with open(path, "r+b" if writes else "rb") as f:
        memory = mmap.mmap(f.fileno(), 0) if writes == "maps" else None  # before the program can go on: it waits for the pipes
        with open(asked, "rb", buffering=0) as ask, open(answers, "wb", buffering=0) as answer:
            while ask.read(1):
                if memory:
                    memory[:] = os.urandom(len(memory))
                elif writes:
                    os.pwrite(f.fileno(), os.urandom(8192), 0)
                answer.write(b"x")


def with_stranger(test, folder, how, writes):
    """Not its child, but it has the same file: `writes` is how it does, `maps` or `calls`; or it does not."""
    path, asked, answers = (os.path.join(folder, f"drdebug_test.{os.getpid()}.{name}") for name in ("data", "asked", "answers"))
    with open(path, "wb") as f:
        f.write(os.urandom(8192))
    os.mkfifo(asked)
    os.mkfifo(answers)
    other = threading.Thread(target=stranger, args=(path, asked, answers, writes))
    other.start()
    try:
        warned(test, [test.program("shares_file"), path, asked, answers, how], bool(writes),
               f"a file in {folder}, mapped {how}, that a stranger {writes or 'only reads'}")
    finally:
        for fifo, flags in ((asked, os.O_RDWR), (answers, os.O_RDWR)):  # it may still wait for the program
            os.close(os.open(fifo, flags | os.O_NONBLOCK))
        other.join()
        for name in (path, asked, answers):
            os.unlink(name)


def main_test(test):
    for folder in (test.work, "/dev/shm"):
        if not os.access(folder, os.W_OK):
            print(f"{folder} cannot be written: not tried")
            continue
        for how, writes in (("w", "maps"), ("w", None), ("r", "calls"), ("p", "calls")):
            with_stranger(test, folder, how, writes)
    with_stranger(test, "/dev/shm" if os.access("/dev/shm", os.W_OK) else test.work, "r", None)
    for shell in ("sh", "bash"):
        warned(test, [shell, "-c", "cat /etc/passwd | sort | head -1 > /dev/null"], False, f"a pipeline of {shell}")
    for before, parent, child, want in (("r", "-", "-", False), ("-", "w", "-", False), ("-", "r", "r", False),
                                        ("-", "w", "w", True), ("-", "r", "w", True), ("r", "-", "w", True),
                                        ("w", "-", "-", True)):
        warned(test, [test.program("maps_shared"), before, parent, child], want,
               f"mapped before the fork {before}, after it by the parent {parent}, by the child {child}")


if __name__ == "__main__":
    sys.exit(replay_test.main(main_test, replay_test.parser_of(__doc__)))
