#!/usr/bin/env python3
"""session_test.py - real GDB on living programs: session_test.py --drdebug DRDEBUG --bin FOLDER [NAME...]

SPDX-License-Identifier: MIT

Each session is commands and what they must print, in this order. Its recording must verify afterwards. Keys need a terminal: those sessions
have one of their own. Some sessions kill a part with signal 9: what was written must open.
"""
import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 120


class Failed(Exception):
    pass


class Session:
    """A GDB on a living program, in a terminal of its own."""

    def __init__(self, drdebug, room, program, *options):
        self.pinball = os.path.join(room, "live.pinball")
        self.drdebug, self.said = drdebug, ""
        words = [drdebug, "live", "-o", self.pinball, "--gdb-arg", "-nx", *options]
        for setting in ("pagination off", "style enabled off", "confirm off", "width 0", "enable-bracketed-paste off"):
            words += ["--gdb-arg", "-iex", "--gdb-arg", f"set {setting}"]
        environment = {**os.environ, "TERM": "dumb", "HOME": room, "XDG_STATE_HOME": room}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], [*words, "--", *program], environment)
        self.wait_for(r"\(gdb\) ")

    def read(self):
        ready, _, _ = select.select([self.terminal], [], [], 1)
        if not ready:
            return True
        try:
            more = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.said += more.decode(errors="replace").replace("\r", "")
        return bool(more)

    def wait_for(self, pattern):
        """Up to there; what was said is forgotten, and returned."""
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.said)):
            if not self.read() or time.monotonic() > end:
                raise Failed(f"no {pattern!r} in: {self.said[-2000:]}")
        before, self.said = self.said[:found.end()], self.said[found.end():]
        return before

    def do(self, command, *wanted):
        """The command, and patterns that its answer has, in this order."""
        os.write(self.terminal, f"{command}\n".encode())
        answer = self.wait_for(r"\n?\(gdb\) ")
        at = 0
        for pattern in wanted:
            found = re.search(pattern, answer[at:])
            if not found:
                raise Failed(f"{command}: no {pattern!r} in: {answer}")
            at += found.end()
        return answer

    def press(self, key, *wanted):
        """While a command runs. A key that comes while GDB reads symbols, between two stops that it does not show,
        is GDB's own, and nothing stops: it is pressed again."""
        for _ in range(PATIENCE_S // 5):
            os.write(self.terminal, key)
            end = time.monotonic() + 5
            while "\n(gdb) " not in self.said and time.monotonic() < end:
                self.read()
            if "\n(gdb) " in self.said:
                break
        answer = self.wait_for(r"\n\(gdb\) ")
        for pattern in wanted:
            if not re.search(pattern, answer):
                raise Failed(f"after a key, no {pattern!r} in: {answer}")

    def start(self, command):
        os.write(self.terminal, f"{command}\n".encode())
        self.wait_for("Continuing")

    def children(self, pid):
        listed = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout
        return [int(line) for line in listed.split()]

    def quit(self):
        os.write(self.terminal, b"quit\n")
        while self.read():
            pass
        os.waitpid(self.pid, 0)

    def kill(self):
        for name in (self.pid,):
            try:
                os.kill(name, signal.SIGKILL)
                os.waitpid(name, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        os.close(self.terminal)

    def verify(self):
        """The recordings of all parts."""
        found = [self.pinball, *sorted(map(str, pathlib.Path(self.pinball).parent.glob("live.*.pinball")))]
        for path in found:
            self.verify_one(path)

    def verify_one(self, path):
        end = time.monotonic() + PATIENCE_S
        while True:
            done = subprocess.run([self.drdebug, "verify", path], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode == 0 and "good" in done.stdout:
                return
            if "being recorded" not in done.stdout or time.monotonic() > end:
                raise Failed(f"verify: {done.stdout}")
            time.sleep(0.1)


def both_directions(s):
    """Breakpoints, steps, back, forwards to the living end, on."""
    s.do("break twice", "Breakpoint 2")
    s.do("continue", "Breakpoint 2, ", "twice")
    s.do("continue", "Breakpoint 2, ")
    here = s.do("pin when", "alive").split("\n")[1]
    s.do("reverse-continue", "Breakpoint 2, ")
    answer = s.do("pin when")
    if "alive" in answer:
        raise Failed(f"alive in the past: {answer}")
    s.do("set var knob = 5", "cannot be changed|cannot be accessed|Cannot access")
    s.do("disable 2", "")
    s.do("print twice(4)", r"\$1 = 9")  # in a copy
    s.do("enable 2", "")
    s.do("reverse-continue", "No more reverse-execution history|history")
    s.do("pin goto end", "")
    if here.split()[0] not in s.do("pin when", "alive"):
        raise Failed("the living end is elsewhere now")
    s.do("delete", "")
    s.do("finish", "Run till exit")
    s.do("reverse-stepi", "")
    s.do("continue", "No more reverse-execution history")
    s.do("continue", r"\n\d+ \d+ \d+ \d+\n", "No more reverse-execution history", "exited with status 0")
    s.do("reverse-stepi", "")
    s.do("continue", "No more reverse-execution history")
    s.do("continue", "exited normally")


def changes(s):
    """What is changed alive is changed for good, also in the recording."""
    s.do("break twice if x > 2", "Breakpoint 2")
    s.do("continue", "Breakpoint 2, ")
    s.do("disable 2", "")
    s.do("print twice(20)", r"= 41")
    s.do("set var knob = 3", "")
    s.do("print twice(20)", r"= 43")
    s.do("set $cs = 7", "cannot have that value")
    s.do("set $gs_base = 1", "cannot have that value")
    s.do("print $gs_base", "= 0")
    s.do("set $mxcsr = 0xffffffff", "cannot have that value")
    s.do("set $mxcsr = 0x1f80", "")
    s.do("set $xmm7.uint128 = 5", "")
    s.do("print $xmm7.uint128", "= 5")
    s.do("watch knob", "atchpoint 3: knob")
    s.do("delete 2", "")
    s.do("delete", "")
    s.do("pin last knob", "")
    s.do("pin goto end", "")
    s.do("continue", r"\n\d+ \d+ \d+ \d+\n", "exited with status 0")
    s.do("continue", "exited normally")


def keys(s):
    """Ctrl-C while threads compute; all threads are shown; one alone steps."""
    s.start("continue")
    time.sleep(0.3)
    s.press(b"\x03", "SIGINT")
    s.do("info threads", r"Thread \d+\.1 ", r"Thread \d+\.\d")
    s.do("stepi", "")
    s.do("reverse-stepi", "")
    s.do("pin goto end", "")
    s.do("set scheduler-locking on", "")
    s.do("stepi", "")
    s.do("set scheduler-locking off", "")
    s.do("kill", "killed")


def asleep(s):
    """All threads sleep in the kernel, and their calls do not hear of it."""
    s.start("continue")
    time.sleep(2)  # on a busy machine it takes that long to get there
    s.press(b"\x03", "SIGINT", "nanosleep")
    s.do("reverse-stepi", "")
    s.do("continue", "No more reverse-execution history")
    s.start("continue")
    time.sleep(0.2)
    s.press(b"\x03", "SIGINT", "nanosleep")
    s.do("kill", "killed")


def typed(s):
    """The program waits for the terminal while somebody types for GDB: each sees what is meant for it, and a signal that is passed on
    interrupts the wait as it does natively."""
    def stop():
        s.press(b"\x03", "SIGINT")
        s.do("print 6 * 7", r"\$\d+ = 42")
        s.do("reverse-stepi", "")
        s.do("continue", "No more reverse-execution history")

    s.start("continue")
    for how in ("read", "select", "poll"):
        s.wait_for(f"{how}\n")
        time.sleep(0.5)
        stop()
        s.start("continue")
        os.write(s.terminal, f"for {how}\n".encode())
        s.wait_for(f"got for {how}\n")
        s.wait_for("again\n")
        time.sleep(0.5)
        s.press(b"\x03", "SIGINT")
        s.start("signal SIGINT")
        s.wait_for("Interrupted system call\n")
    s.wait_for("exited with status 0")
    s.wait_for(r"\(gdb\) ")
    s.do("continue", "exited normally")


def sends(s):
    """A debugger's own signals, those that the program sends itself, and keys that it passes on: each comes as it does natively."""
    for name in ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGUSR1"):
        s.do(f"handle {name} nostop noprint pass", name)
    s.do("break here", "Breakpoint 2")
    said = s.do("continue", "Breakpoint 2, ")
    s.do("break handles", "Breakpoint 3")
    s.do("signal SIGUSR1", r"Breakpoint 3, handles \(sig=10\)")
    s.do("finish", "signal handler called")
    s.do("stepi", "")
    s.do("reverse-stepi", "")
    s.do("continue", "No more reverse-execution history")
    s.do("signal SIGINT", r"Breakpoint 3, handles \(sig=2\)")
    s.do("backtrace", "signal handler called", "signal handler called", "main")
    s.do("delete", "")
    s.do("continue", "SIGSEGV")
    said += s.do("print twice(4)", r"\$1 = 8")
    s.start("continue")
    said += s.wait_for("waits\n")
    time.sleep(0.3)
    os.write(s.terminal, b"\x03")
    s.wait_for("taken 2\n")
    said += s.wait_for(r"\(gdb\) ")
    if "WRONG" in said or "cannot be changed" in said or "status 0" not in said:
        raise Failed(said)
    s.do("continue", "exited normally")


def shell(s):
    """A program that puts its own process group into the foreground finds it there when it goes on."""
    s.start("continue")
    os.write(s.terminal, b"sleep 1000 &\n")
    s.wait_for(r"\n\[1\] \d+\n")
    s.press(b"\x03", "SIGINT")
    s.do("reverse-stepi", "")
    s.do("continue", "No more reverse-execution history")
    s.start("continue")
    os.write(s.terminal, b"kill %1; wait; echo six $((2 * 3))\n")
    s.wait_for("\nsix 6\n")
    os.write(s.terminal, b"exit 5\n")
    s.wait_for("exited with status 5")
    s.wait_for(r"\(gdb\) ")
    s.do("continue", "exited with code 05")


def parts(s):
    """The recording ends and begins where the program stands; what was recorded can be gone into."""
    s.do("pin record", "is recorded: .*live.pinball")
    s.do("pin record on", "recorded already")
    s.do("pin replay", "goes back from here")
    s.do("break twice if x == 100", "Breakpoint 2")
    s.do("continue", "Breakpoint 2, ")
    s.do("pin record off", r"live\.pinball: recording ends here")
    s.do("pin record off", "not being recorded")
    s.do("pin when", "alive, and not recorded")
    s.do("reverse-stepi", "not recorded here: `pin replay'")
    s.do("pin replay", "x=100")
    s.do("pin record on", "this is the past")
    s.do("reverse-stepi", "")
    s.do("continue", "No more reverse-execution history")
    s.do("pin when", "alive, and not recorded")
    s.do("set var knob = 2", "")
    s.do("condition 2 x == 140", "")
    s.do("continue", "Breakpoint 2, .*x=140")
    s.do("print twice(20)", "= 42")
    s.do("pin record on", r"live\.2\.pinball: recording begins here")
    here = s.do("pin when", "recording begins here").split("\n")[1].split()[0]
    s.do("condition 2 x > 141 && x % 7 == 1", "")
    s.do("continue", "Breakpoint 2, ")
    s.do("print twice(20)", "= 42")
    s.do("delete", "")
    s.do("reverse-continue", "No more reverse-execution history")
    if here not in s.do("pin when"):
        raise Failed(f"the part does not begin at {here}")
    s.do("print twice(20)", "= 42")  # in a copy
    s.do("pin goto end", "")
    s.do("continue", r"\n\d+ \d+ \d+ \d+\n", "exited with status 0")
    s.do("pin record off", "has ended")
    s.do("continue", "exited normally")


def parts_asleep(s):
    """Without a recording at first. All threads sleep: a part begins when one wakes up, and ends at once."""
    s.do("pin record", "is not recorded")
    s.do("reverse-stepi", "not recorded here: `pin record on'")
    s.start("continue")
    time.sleep(2)  # on a busy machine it takes that long to fall asleep
    s.press(b"\x03", "SIGINT")
    s.do("pin record on", "as soon as the program goes on")
    s.start("continue")
    time.sleep(0.5)
    s.press(b"\x03", "SIGINT")
    s.do("pin record", "is recorded: .*live.pinball")
    s.do("reverse-continue", "No more reverse-execution history")
    s.do("pin goto end", "")
    s.do("pin record off", "recording ends here")
    s.do("pin replay", "")
    s.do("reverse-stepi", "")
    s.do("kill", "killed")


def parts_exec(s):
    """Another program is executed while nothing is recorded, and the next part begins in it."""
    s.do("pin record off", "recording ends here")
    s.do("catch exec", "")
    s.do("continue", "exec'd .*echo")
    s.do("pin when", "alive, and not recorded")
    s.do("pin record on", r"live\.2\.pinball: recording begins here")
    s.do("continue", "from echo", "exited with status 0")
    s.do("reverse-continue", "No more reverse-execution history")
    s.do("pin goto end", "")
    s.do("continue", "exited normally")


def crash(s):
    """A part that begins where the bug is near ends with the crash."""
    s.do("tbreak fails", "")
    s.do("continue", "fails")
    s.do("pin record on", "recording begins here")
    s.do("continue", "SIGSEGV")
    s.do("reverse-next", "")
    s.do("pin goto end", "")
    s.do("pin slice at", "criterion")
    s.do("continue", "killed by SIGSEGV")
    s.do("continue", "terminated with signal SIGSEGV")


def abandoned(s):
    """A called function that a signal stops in is left, after a call that could not be made."""
    s.do("break twice if x == 20", "")
    s.do("continue", "Breakpoint 2, ")
    s.do("delete", "")
    s.do("handle SIGALRM stop", "")
    s.do("call (int)raise(14)", "SIGALRM")
    s.do("thread 3", "")
    s.do("print twice(1)", "inside a system call keeps its registers")
    s.do("thread 1", "")
    s.do("continue", "")
    s.do("return", "")
    s.do("kill", "killed")


def calls(s):
    """Back from a stop at a system call is the stop before it."""
    s.do("catch syscall write", "")
    s.do("continue", "call to syscall write")
    s.do("continue", "returned from syscall write")
    s.do("reverse-continue", "call to syscall write")
    s.do("continue", "returned from syscall write")
    s.do("continue", "No more reverse-execution history")
    s.do("continue", "call to syscall write")
    s.do("reverse-continue", "returned from syscall write")
    s.do("kill", "killed")


def loses_stub(s):
    """The stub is killed: so is the program, and what was written opens."""
    s.do("break twice", "")
    s.do("continue", "Breakpoint 2, ")
    s.do("reverse-stepi", "")
    for stub in s.children(s.pid):
        os.kill(stub, signal.SIGKILL)
    s.do("stepi", "")


def loses_gdb(s):
    """GDB is killed: the program ends with it."""
    s.do("break twice", "")
    s.do("continue", "Breakpoint 2, ")
    os.kill(s.pid, signal.SIGKILL)


def loses_program(s):
    """The program is killed by somebody else."""
    s.do("break twice", "")
    s.do("continue", "Breakpoint 2, ")
    pid = int(re.search(r"process (\d+)", s.do("info inferiors", "process")).group(1))
    s.do("delete", "")
    os.kill(pid, signal.SIGKILL)
    s.do("continue", "SIGKILL")


SUBJECT = ("subject", "200")
SESSIONS = {
    "both_directions": (both_directions, SUBJECT),
    "changes": (changes, SUBJECT),
    "keys": (keys, ("subject", "100000")),
    "asleep": (asleep, ("sleep", "1000")),
    "typed": (typed, ("subject", "typed")),
    "sends": (sends, ("signals",)),
    "shell": (shell, ("bash", "--norc")),
    "parts": (parts, SUBJECT),
    "parts_asleep": (parts_asleep, ("subject", "naps")),
    "parts_exec": (parts_exec, ("subject", "exec", "/bin/echo", "from echo")),
    "crash": (crash, ("subject", "crash")),
    "abandoned": (abandoned, SUBJECT),
    "calls": (calls, SUBJECT),
    "loses_stub": (loses_stub, SUBJECT),
    "loses_gdb": (loses_gdb, SUBJECT),
    "loses_program": (loses_program, SUBJECT),
}

UNRECORDED = ("parts_asleep", "crash")


def run(name, drdebug, folder):
    act, (program, *arguments) = SESSIONS[name]
    path = os.path.join(folder, program)
    room = tempfile.mkdtemp(prefix="live.")
    try:
        options = ["--no-record"] if name in UNRECORDED else []
        session = Session(drdebug, room, [path if os.path.exists(path) else program, *arguments], *options)
        try:
            act(session)
            if not name.startswith("loses"):
                session.quit()
        finally:
            session.kill()
        session.verify()
    finally:
        shutil.rmtree(room, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if not shutil.which("gdb"):
        sys.exit(77)
    for name in options.names or SESSIONS:
        try:
            run(name, options.drdebug, options.bin)
        except Failed as failed:
            sys.exit(f"{name}: {failed}")
        print(f"{name}: good")


main()
