#!/usr/bin/env python3
"""script_test.py SCRIPT SUBJECT - gdb/drdebug.py in GDB, on script_stub.py in place of `drdebug serve`.

SPDX-License-Identifier: MIT

A test is a list of GDB commands, each with what must be in its output, or None; what begins with `~` must
not be. Lines of the subject are named by their markers: {WRITE}.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = sys.executable  # itself: what is found may be a script that looks for it
STUB = os.path.join(HERE, "script_stub.py")
SKIP = 77
# The stand-in makes its recording before it answers: where the machine is busy, GDB's own 2 seconds are too short for that.
GDB_WAITS_S = 50
NOT_CONNECTED = "Not connected to a recording: `drdebug debug DIR' does that."

WITHOUT_CONNECTION = [
    (f"pin {command}", NOT_CONNECTED)
    for command in ("when", "goto end", "checkpoint", "checkpoints", "rollback 1", "history", "back", "forward",
                    "events", "output", "history back", "slice x", "why", "list", "delete 1", "trace", "slice-step",
                    "slice-back")
] + [
    ("pin last 3", "3: not in memory"),
    ("print $pin_position()", NOT_CONNECTED),
    ("interpreter-exec mi -pin-when", '^error,msg="Not connected to a recording'),
    ("pin", "pin goto -- Go to another place"),
    ("pin frobnicate", 'Undefined pin command: "frobnicate".  Try "help pin".'),
    ("pin goto", "Usage: pin goto POSITION|begin|end|+N|-N"),
    ("pin goto a b", "Usage: pin goto"),
    ("pin last", "Usage: pin last EXPRESSION"),
    ("pin rollback", "Usage: pin rollback N"),
    ("pin slice", "Usage: pin slice [INSTANCE] [THREAD] WHAT [at WHERE]"),
    ("pin when now", "Usage: pin when"),
    ("pin history up", "Usage: pin history [back|forward]"),
    ("help pin last", "Usage: pin last EXPRESSION"),
    ("help pin goto", "Usage: pin goto POSITION"),
    ("help function", "The position in the recording, a string."),
    ("complete pin ch", "pin checkpoint\npin checkpoints"),
    ("complete pin goto ", "pin goto begin\npin goto end"),
    ("complete pin events open", "pin events openat"),
    ("complete pin events sig", "pin events signal"),
    ("complete pin history b", "pin history back"),
]

WALK = [
    ("show remotetimeout", "is 100000."),
    ("pin when", "T1:0:"),
    ("pin when", "The recording begins here."),
    ("python start('main')", "Temporary breakpoint 1, main ()"),
    ("break work", None),
    ("continue", "Breakpoint 2, work (n=0)"),
    ("pin goto end", "_start ()"),  # from a breakpoint: GDB steps first
    ("pin when", "The recording ends here."),
    ("pin goto end", "Already there."),
    ("pin goto -1", "Program stopped."),
    ("pin goto +1", "Program stopped."),
    ("pin goto begin", "_start ()"),
    ("pin goto -1", "not in this recording"),
    ("pin goto T1", "T1: not a position"),
    ("pin goto T1:7:0", "main ()"),
    ("print $pin_position()", '= "T1:7:'),
    ("interpreter-exec mi -pin-when", 'position="T1:7:'),
    ("interpreter-exec mi -pin-when", 'at_end="false"'),
    ('interpreter-exec mi "-pin-when now"', '^error,msg="Usage: -pin-when"'),
    ("set exec-direction reverse", None),
    ("pin goto +3", "Program stopped."),
    ("pin goto -3", "main ()"),
    ("set exec-direction forward", None),
    ("continue", "Breakpoint 2, work (n=0)"),
    ("reverse-continue", "No more reverse-execution history."),
]

LAST = [
    ("pin last counter", "counter: not written between the recording's begin and here."),
    ("pin goto end", None),
    ("pin last counter", "work (n=4)"),
    ("pin back", None),
    ("pin last counter", "work () at {subject}:{WRITE}\n  old value  6\n  new value  10"),
    ("pin last counter", "  old value  3\n  new value  6"),
    ("pin last *(&counter)", "  old value  1\n  new value  3"),
    ("pin goto end", None),
    ("pin last text[0]", "main () at {subject}:{TEXT}"),
    ("pin last text[0]", "text[0]: not written"),
    ("pin goto end", None),
    ("pin last text", "main () at {subject}:{TEXT}"),
    ("pin last text[1]", "text[1]: not written"),
    ("pin goto end", None),
    ("pin last item.key", "new value  -3  (the same)"),  # a neighbour in the same byte
    ("pin last item.key", "main () at {subject}:{KEY}\n  old value  0\n  new value  -3"),
    ("pin goto end", None),
    ("pin last (&item)->other", "main () at {subject}:{OTHER}\n  old value  0\n  new value  5"),
    ("pin goto end", None),
    ("pin last item.weight", "  old value  1\n  new value  2"),
    ("pin last $rax", "$rax: not in memory"),
    ("pin last nosuch", 'No symbol "nosuch" in current context.'),
    ("pin last counter +", "A syntax error in expression"),
    ("pin last counter", "~Python"),
    ("pin goto T1:7:0", None),
    ("break work", None),
    ("continue", None),
    ("next", None),
    ("pin last local", "local: not in memory; in a register, or calculated."),
]

PLACES = [
    ("pin history", "=>  T1:0:"),
    ("pin back", "No place was visited before this one."),
    ("pin forward", "No place was visited after this one."),
    ("pin goto T1:7:0", None),
    ("pin goto end", None),
    ("pin back", "main ()"),
    ("pin history", "\n=>  T1:7:"),
    ("pin history back", "_start ()"),
    ("pin history", "=>  T1:0:"),
    ("pin forward", "main ()"),
    ("pin history forward", "_start ()"),
    ("pin history back", None),
    ("pin goto +1", None),
    ("pin forward", "No place was visited after this one."),
    ("pin history", "T1:7:"),
    ("stepi", None),
    ("pin back", None),
    ("pin when", "T1:8:"),
    ("pin checkpoints", "No checkpoints."),
    ("pin checkpoint", "Checkpoint 1 at T1:8:"),
    ("pin goto end", None),
    ("pin checkpoint $5 #1 {*} \u00e9", "Checkpoint 2 at"),
    ("pin checkpoints", "main () at {subject}:"),
    ("pin checkpoints", "  $5 #1 {{*}} \u00e9"),
    ("pin rollback 1", "main ()"),
    ("pin when", "T1:8:"),
    ("pin rollback 3", "No checkpoint number 3."),
    ("pin rollback 0", "No checkpoint number 0."),
    ("pin rollback one", "Usage: pin rollback N"),
    ("complete pin goto T1:8", "pin goto T1:8:"),
]

LISTS = [
    ("pin events", re.compile(r"=>      0  T1:\d+:[0-9a-f]+ +write\(1, \.\.\.\) = 6\n        1 .* write\(1, \.\.\.\) = 4\n")),
    ("pin events", "SIGSEGV"),
    ("pin goto end", None),
    ("pin events", re.compile(r"^        0 .*\n        1 .*\n=>      2 .*SIGSEGV {si_signo=SIGSEGV}\n", re.MULTILINE)),
    ("pin events write", "write(1, ...) = 4"),
    ("pin events write", "~openat"),
    ("pin events openat", ") = -1 ENOENT"),
    ("pin events 257", ") = -1 ENOENT"),
    ("pin events signal", "=>      2"),
    ("pin events frobnicate", "frobnicate: not a kind of event"),
    ("pin output", re.compile(r"^T1:\d+:[0-9a-f]+ +\| begin$", re.MULTILINE)),
    ("pin output", "! bell\\x07 \\x1b[1m \u00e9"),
]

PLAIN = [
    ("pin when", "The remote target is not `drdebug serve'."),
    ("pin goto end", "The remote target is not `drdebug serve'."),
    ("stepi", "~drdebug"),
    ("show remotetimeout", f"is {GDB_WAITS_S}."),  # as it was
]

GARBAGE = [
    ("pin when", "Bad answer to `when'"),
    ("pin events", "Bad answer to `when'"),
    ("stepi", "~drdebug"),
]


class Test:
    def __init__(self, script, subject, work):
        self.script, self.subject, self.work = script, subject, work
        self.failures = self.checks = 0
        with open(os.path.join(HERE, "script_subject.c"), encoding="utf-8") as source:
            lines = source.read().splitlines()
        self.words = {marker: str(number) for number, line in enumerate(lines, 1)
                      for marker in re.findall(r"/\* ([A-Z]+) \*/", line)}
        self.words["subject"] = self.file_name()

    def file_name(self):
        """As the debug information has it."""
        shown = self.gdb(["info line main"], self.subject).stdout
        return re.search(r'of "([^"]*)"', shown)[1]

    def gdb(self, commands, *args):
        words = ["gdb", "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", f"set remotetimeout {GDB_WAITS_S}"]
        for command in commands:
            words += ["-ex", command]
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        return subprocess.run(words + list(args), text=True, encoding="utf-8", env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              stdin=subprocess.DEVNULL, check=False, cwd=self.work)

    def fail(self, text):
        self.failures += 1
        print("FAILED:", text)

    def run(self, name, rows, *behaviour, connected=True):
        target = f"target extended-remote | {PYTHON} -B {STUB} {self.subject} {' '.join(behaviour)}"
        commands = [f"source {self.script}"] + ([target] if connected else [])
        for number, (command, _) in enumerate(rows):
            commands += [f"echo \\n@@{number}@@\\n", command]
        output = self.gdb(commands).stdout
        parts = re.split(r"\n@@\d+@@\n", output)
        if len(parts) != len(rows) + 1:
            self.fail(f"{name}: GDB ended early:\n{output}")
            return
        if "Python Exception" in output or "Traceback" in output:
            self.fail(f"{name}: an exception:\n{output}")
        for (command, expected), said in zip(rows, parts[1:]):
            self.check(f"{name}: {command}", expected, said)

    def check(self, name, expected, said):
        self.checks += 1
        if isinstance(expected, re.Pattern):
            good = expected.search(said)
        elif expected is None:
            good = True
        else:
            wanted = expected.format(**self.words)
            good = wanted[1:] not in said if wanted.startswith("~") else wanted in said
        if not good:
            self.fail(f"{name}\n  expected {expected!r}\n  but got {said!r}")

    def connects_to_any_path(self):
        """connect() gets paths of any bytes through GDB and a shell."""
        for name in (b"plain", b"it's a \"path\" $HOME `x` #1 \\n", b"line\nbreak \xff \xc3\xa9"):
            path = os.path.join(os.fsencode(self.work), name)
            os.mkdir(path)
            stub = os.path.join(path, b"stub.py")
            shutil.copy(STUB, stub)
            words = [os.fsencode(PYTHON), b"-B", stub, os.fsencode(self.subject)]
            shown = self.gdb([f"source {self.script}", f"python connect({words!r}, 'end')", "pin when"])
            self.check(f"connect {name!r}", "The recording ends here.", shown.stdout)

    def quits_if_it_cannot_connect(self):
        shown = self.gdb([f"source {self.script}", "python connect([b'false'])", "echo still there\\n"])
        self.check("connect to nothing", "drdebug: ", shown.stdout)
        self.check("connect to nothing", "~still there", shown.stdout)
        if shown.returncode != 1:
            self.fail(f"connect to nothing: status {shown.returncode}")

    def says_that_there_is_no_main(self):
        stripped = os.path.join(self.work, "stripped")
        subprocess.run(["strip", "-o", stripped, self.subject], check=True)
        words = [os.fsencode(PYTHON), b"-B", os.fsencode(STUB), os.fsencode(stripped)]
        shown = self.gdb([f"source {self.script}", f"python connect({words!r})", "pin when"]).stdout
        self.check("no main", "There is no function main", shown)
        self.check("no main", "T1:0:", shown)

    def is_a_stop_like_any_other_to_front_ends(self):
        words = [os.fsencode(PYTHON), b"-B", os.fsencode(STUB), os.fsencode(self.subject)]
        shown = self.gdb([f"source {self.script}", f"python connect({words!r}, 'end')"], "-i=mi3").stdout
        self.check("MI", "*running", shown)
        self.check("MI", re.compile(r'\*stopped,.*frame=\{.*func="_start"'), shown)


def main(script, subject):
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as work:
        test = Test(script, subject, work)
        test.run("without a connection", WITHOUT_CONNECTION, connected=False)
        test.run("walk", WALK)
        test.run("last", LAST)
        test.run("places", PLACES)
        test.run("lists", LISTS)
        test.run("another stub", PLAIN, "plain")
        test.run("garbage", GARBAGE, "garbage")
        test.connects_to_any_path()
        test.quits_if_it_cannot_connect()
        test.says_that_there_is_no_main()
        test.is_a_stop_like_any_other_to_front_ends()
        print(f"{test.checks} checks, {test.failures} failures")
        return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
