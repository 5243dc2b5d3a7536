#!/usr/bin/env python3
"""losses_test.py - a part of a live session is killed at a random moment: losses_test.py DRDEBUG SUBJECT TIMES

SPDX-License-Identifier: MIT

GDB walks through a living program and switches its recording on and off. Somewhere in that GDB, the stub, the recorder or the program gets
signal 9. What was written must open and repeat, the program must end, or have gone on to its end, as --on-loss says, and no process may be
left. A part whose begin was not written has nothing to open, and says so. DRDEBUG_SOAK makes 200 of them.
"""
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 120
WALK = ("continue", "continue", "stepi 40", "reverse-stepi", "reverse-continue", "pin goto end", "set var knob = 3", "print twice(4)",
        "continue", "pin record off", "continue", "pin replay", "reverse-stepi", "pin goto end", "continue", "pin record on", "continue",
        "stepi 10", "reverse-continue", "pin goto end")
VICTIMS = ("gdb", "stub", "recorder", "program")
NOT_BEGUN = re.compile("before the (part of the run began|begin of the part was written)")


def children(pid):
    listed = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout
    return [int(line) for line in listed.split()]


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def runs(pid, name):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == name
    except OSError:
        return False


class Case:
    def __init__(self, drdebug, subject, draw):
        self.drdebug, self.draw, self.room = drdebug, draw, tempfile.mkdtemp(prefix="losses.")
        self.goes_on, self.victim = draw.random() < 0.5, draw.choice(VICTIMS)
        words = [drdebug, "live", "-o", f"{self.room}/live.pinball", "--on-loss", "go-on" if self.goes_on else "end"]
        words += ["--no-record"] if draw.random() < 0.2 else []
        for setting in ("pagination off", "confirm off", "style enabled off"):
            words += ["--gdb-arg", "-iex", "--gdb-arg", f"set {setting}"]
        self.said = b""
        self.leader, self.terminal = pty.fork()
        if self.leader == 0:
            self.lead([*words, "--gdb-arg", "-nx", "--", subject, "300"])

    def lead(self, words):
        """The terminal's own process, as a shell is: when that one ends, all in the foreground do."""
        os.environ.update(TERM="dumb", HOME=self.room, XDG_STATE_HOME=self.room)
        for name in (signal.SIGINT, signal.SIGTTOU):
            signal.signal(name, signal.SIG_IGN)
        gdb = os.fork()
        if gdb == 0:
            for name in (signal.SIGINT, signal.SIGTTOU):
                signal.signal(name, signal.SIG_DFL)
            os.execv(words[0], words)
        while True:
            try:
                os.waitpid(gdb, 0)
            except ChildProcessError:
                signal.pause()

    def read(self, until):
        while time.monotonic() < until:
            ready, _, _ = select.select([self.terminal], [], [], min(0.05, max(0, until - time.monotonic())))
            try:
                self.said += os.read(self.terminal, 65536) if ready else b""
            except OSError:
                return

    def type(self, text):
        try:
            os.write(self.terminal, text.encode())
        except OSError:
            pass  # GDB has ended

    def family(self):
        """Process ids of those who may be killed, as soon as all are there."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.read(time.monotonic() + 0.05)
            found = children(self.leader)
            for name in ("drdebug", "drdebug", "subject"):
                found += [pid for pid in children(found[-1]) if runs(pid, name)][:1] if found else []
            if len(found) == len(VICTIMS) and b"(gdb) " in self.said:
                return dict(zip(VICTIMS, found))
        sys.exit(f"the session does not begin: {self.said[-500:]}")

    def run(self):
        pids = self.family()
        self.type("break twice if x % 50 == 0\n")
        until = time.monotonic() + self.draw.random() * 1.5
        for command in WALK:
            self.type(command + "\n")
        self.read(until)
        os.kill(pids[self.victim], signal.SIGKILL)
        self.read(time.monotonic() + 0.3)
        if self.victim != "gdb":
            os.kill(pids["gdb"], signal.SIGKILL)
        self.wait_for_ends(pids)
        os.close(self.terminal)
        os.kill(self.leader, signal.SIGKILL)
        os.waitpid(self.leader, 0)
        names = sorted(name for name in os.listdir(self.room) if name.endswith(".pinball"))
        kept = [self.check(name) for name in names]
        if self.goes_on and self.victim in ("gdb", "stub"):
            self.check_end(names)
        return kept

    def check_end(self, names):
        """It went on: the last recording that began ends with the program's own end, unless it ended before."""
        ends = []
        for name in names:
            done = subprocess.run([self.drdebug, "info", os.path.join(self.room, name)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False)
            ends += [] if NOT_BEGUN.search(done.stdout) else [done.stdout.split("\n")[1]]
        if any("exit status 0" not in end and "the program went on" not in end for end in ends):
            self.fail(f"did not go on: {ends}")

    def wait_for_ends(self, pids):
        end = time.monotonic() + PATIENCE_S
        while left := [name for name, pid in pids.items() if is_there(pid)]:
            if time.monotonic() > end:
                for name in left:
                    os.kill(pids[name], signal.SIGKILL)
                self.fail(f"not ended: {', '.join(left)}")
            time.sleep(0.05)

    def fail(self, why):
        sys.exit(f"{self.victim} killed, {'go-on' if self.goes_on else 'end'}: {why}\n{self.said.decode(errors='replace')[-1500:]}")

    def check(self, name):
        done = subprocess.run([self.drdebug, "verify", os.path.join(self.room, name)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode == 0 and "good" in done.stdout:
            return "good"
        if not NOT_BEGUN.search(done.stdout):
            self.fail(f"{name}: {done.stdout}")
        return "not begun"


def main(drdebug, subject, times):
    times = 200 if os.environ.get("DRDEBUG_SOAK") else int(times)
    if not shutil.which("gdb"):
        print("there is no gdb here")
        sys.exit(77)
    for seed in range(times):
        case = Case(drdebug, subject, random.Random(seed))
        print(f"{seed}: {case.victim}, {'go-on' if case.goes_on else 'end'}:", end=" ", flush=True)
        try:
            print(", ".join(case.run()) or "no recording", flush=True)
        finally:
            shutil.rmtree(case.room, ignore_errors=True)


main(*sys.argv[1:])
