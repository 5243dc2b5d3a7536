"""live.py - recordings that the tests watch and disturb while they run: over a pipe, or on a terminal.

SPDX-License-Identifier: MIT
"""
import fcntl
import os
import re
import select
import signal
import subprocess
import termios
import threading
import time

import replay_test
from replay_test import LIMIT, Done, Recording, compare, wait_for


def none_left():
    """Have all our children ended? Orphans are ours, too."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    except ChildProcessError:
        return True


class Live:
    """A recording under way; its program says `process N` or `ready N` first."""

    def __init__(self, test, argv, options=(), before=None, path=None):
        self.path = path or test.fresh("pinball")
        self.cwd, self.seen, self.err = test.folder("cwd"), b"", open(test.fresh("err"), "w+b")
        compare.append_only(self.err)

        self.child = subprocess.Popen([test.drdebug, "record", "-o", self.path, *options, "--", *argv], cwd=self.cwd,
                                      env=replay_test.environment(self.cwd), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=self.err, start_new_session=True, preexec_fn=before)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            data = os.read(self.child.stdout.fileno(), 65536)
            if not data:
                return
            self.seen += data

    def pid(self):
        """The program's own, or None until it has said it."""
        found = re.search(rb"(?:process|ready) (\d+)\n", self.seen)
        return int(found[1]) if found else None

    def started(self, seconds=LIMIT):
        return wait_for(lambda: self.pid() or self.child.poll() is not None, seconds) and self.pid() is not None

    def kill(self, whom, sig=signal.SIGKILL):
        """whom: program, recorder or both."""
        pids = {"program": [self.pid()], "recorder": [self.child.pid], "both": [self.pid(), self.child.pid]}[whom]
        for pid in pids:
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                pass

    def finish(self, limit=LIMIT, linger=0.0):
        """Waits for the recorder, and `linger` seconds for what it left: the program, or a writer of the log."""
        try:
            status = self.child.wait(limit)
        except subprocess.TimeoutExpired:
            replay_test.stop_group(self.child)
            self.child.wait()
            status = None
        if linger:
            wait_for(none_left, linger)
        compare.end_leftovers()
        self.reader.join(5)
        self.child.stdout.close()
        self.err.seek(0)
        recording = Recording(self.path, Done(status, self.seen, self.err.read()))
        self.err.close()
        return recording


class Terminal:
    """A program on a terminal of its own, with echo off. text: what it showed, with plain line ends."""

    def __init__(self, argv, cwd, env):
        self.master, slave = os.openpty()
        modes = termios.tcgetattr(slave)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        self.raw = b""

        def prepare():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen(argv, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave,
                                      start_new_session=True, preexec_fn=prepare)
        os.close(slave)

    @property
    def text(self):
        return self.raw.replace(b"\r\n", b"\n")

    def read(self, seconds):
        """Reads for so long, or until nobody has the terminal open any more: False."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    return False
                if not data:
                    return False
                self.raw += data
                return True
        return True

    def expect(self, pattern, seconds=LIMIT):
        """The match in what was shown, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.text)
            if found:
                return found
            if not self.read(0.1):
                return re.search(pattern, self.text)
        return None

    def type(self, data):
        os.write(self.master, data)

    def finish(self, limit=LIMIT):
        end = time.monotonic() + limit
        while self.child.poll() is None and time.monotonic() < end:
            self.read(0.05)
        status = self.child.poll()
        if status is None:
            replay_test.stop_group(self.child)
            self.child.wait()
        while self.read(0.2):
            if not select.select([self.master], [], [], 0.1)[0]:
                break
        os.close(self.master)
        compare.end_leftovers()
        return status
