#!/usr/bin/env python3
"""hostile_text.py DRDEBUG CC PLAIN_DEF - names that would drive a terminal, against every verb and `pin` command.

SPDX-License-Identifier: MIT

A program with such names everywhere is recorded: its path, directory, arguments, threads, source file, source
lines, functions, variables, output. Whatever drdebug then prints about it is UTF-8 without anything that
base/plain.def lists, but for newlines; JSON is JSON. The program's own output in `replay` is its own.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# What is put into names: an escape sequence, C1 in UTF-8 and as a byte, a turn of direction, no UTF-8.
EVIL = b"\x1b[31m\xc2\x9b\x9b\xe2\x80\xae\xff"
BARE = b"QQQQ"  # stands in a name in the program; four bytes that are replaced there ...
STAB = b"Q\x1b[m"  # ... by these

SOURCE = rb"""#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <assert.h>
int totalQQQQ;
static void *workQQQQ(void *arg)
{
    prctl(PR_SET_NAME, "t" EVIL);
    totalQQQQ = 3; /* EVIL */
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t t;
    write(1, "out EVIL\n", strlen("out EVIL\n"));
    write(2, "err EVIL\n", strlen("err EVIL\n"));
    pthread_create(&t, 0, workQQQQ, argv);
    pthread_join(t, 0);
    assert(totalQQQQ != 3); /* EVIL */
    return argc;
}
"""


def hidden(path):
    ranges = re.findall(r"^HIDDEN\((0x\w+), (0x\w+)\)", pathlib.Path(path).read_text(encoding="ascii"), re.MULTILINE)
    assert len(ranges) > 10
    return re.compile("[%s]" % "".join(f"{chr(int(a, 16))}-{chr(int(b, 16))}" for a, b in ranges))


class Test:
    def __init__(self, drdebug, compiler, table):
        self.drdebug, self.compiler, self.hidden = os.path.realpath(drdebug), compiler, hidden(table)
        self.failures, self.checks = 0, 0

    def fail(self, what):
        self.failures += 1
        print(f"FAILED: {what}")

    def check(self, name, text):
        self.checks += 1
        try:
            shown = text.decode().replace("\n", "")
            found = self.hidden.search(shown)
        except UnicodeDecodeError as error:
            self.fail(f"{name}: {text[max(error.start - 80, 0):error.end + 80]!r}")
            return
        if found:
            self.fail(f"{name}: {shown[max(found.start() - 80, 0):found.end() + 80]!r}")

    def run(self, *words, want=None):
        done = subprocess.run([self.drdebug, *words], capture_output=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL)
        name = " ".join(os.fsdecode(w) for w in words[:3]).encode(errors="backslashreplace").decode()
        self.check(f"{name}: stdout", done.stdout)
        self.check(f"{name}: stderr", done.stderr)
        if want is not None and done.returncode != want:
            self.fail(f"{name}: status {done.returncode}: {done.stderr!r}")
        return done.stdout

    def build(self, top):
        """The program, in a directory with such a name."""
        directory = os.path.join(top, b"dir" + EVIL)
        os.mkdir(directory)
        source = os.path.join(directory, b"s" + EVIL + b".c")
        program = os.path.join(directory, b"p" + EVIL)
        octal = "".join(f"\\{byte:03o}" for byte in EVIL).encode()
        # A string needs escapes, a comment does not.
        text = re.sub(rb'(?<=")([^"\n]*)EVIL', lambda m: m[1] + octal, SOURCE.replace(b'"t" EVIL', b'"tEVIL"'))
        pathlib.Path(os.fsdecode(source)).write_bytes(text.replace(b"EVIL", EVIL))
        subprocess.run([self.compiler, "-g", "-gdwarf-4", "-gno-as-loc-support", "-O0", "-pthread", "-static", "-w", source, "-o",
                        program], check=True)
        data = pathlib.Path(os.fsdecode(program)).read_bytes()
        assert data.count(BARE) >= 2 and len(BARE) == len(STAB)
        pathlib.Path(os.fsdecode(program)).write_bytes(data.replace(BARE, STAB))
        return directory, program

    def record(self, top):
        directory, program = self.build(top)
        pinball = os.path.join(top, b"r" + EVIL + b".pinball")
        done = subprocess.run([self.drdebug, "record", "-o", pinball, "--", program, b"arg" + EVIL, b"\nhint: x"],
                              cwd=directory, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
        if not os.path.exists(pinball):
            sys.exit(f"no recording: {done.stderr!r}")
        if b"out " + EVIL not in done.stdout:
            self.fail(f"record changed the program's output: {done.stdout!r}")
        self.check("record", done.stderr.rpartition(b"failed.\n")[2].replace(b"Aborted", b""))
        return pinball

    def verbs(self, top, pinball):
        for words in (["info"], ["verify"], ["replay", "-q"], ["trace"], ["pack", "--sources", "-o", os.path.join(top, EVIL)],
                      ["slice", "--list"], ["replay", "-q", "--until", "T9:1:1"], ["info", "--nosuch"]):
            self.run(*words, pinball)
        json.loads(self.run("info", "--json", pinball, want=0))
        packed = os.path.join(top, EVIL)
        for where in (pinball, packed):
            for options in (["--values"], ["--json", "--steps", "--all"]) if where == packed else (["--all"], ["--json"]):
                said = self.run("slice", where, "--at", "failure", *options, want=0)
                if "--json" in options:
                    json.loads(said)
        shown = self.run("slice", pinball, "--at", "failure", want=0)
        if b"\\x1b[31m" not in shown or b"\\u202e" not in shown:
            self.fail(f"slice does not show the names: {shown!r}")
        for criterion in (b"nosuch at nosuch", b"nosuch at s:3", b"x" + EVIL + b" at main", b"totalQ\x1b[m at end",
                          b"nosuch at workQ\x1b[m", b"totalQ\x1b[m at s" + EVIL + b".c:20"):
            self.run("slice", pinball, criterion)
        self.run("slice", pinball, "totalQ\x1b[m at end", "--prune", b"a" + EVIL)
        self.run("slice", pinball, "--at", "failure", "-o", "kept", want=0)
        self.run("slice", pinball, "--list", want=0)
        self.run("slice", pinball, "--at", "failure", "--only-file", b"*" + EVIL + b"*")
        self.run("nosuch" + os.fsdecode(EVIL))

    def files(self, top, pinball):
        for option in ("--html", "--dot", "--sum", "--dep"):
            path = os.path.join(os.fsdecode(top), "file" + option)
            self.run("slice", pinball, "--at", "failure", option, path, want=0)
            self.check(option, pathlib.Path(path).read_bytes().replace(b"\t", b" "))
        page = pathlib.Path(os.fsdecode(top), "file--html").read_text(encoding="utf-8", errors="replace")
        if "\\x1b[31m" not in page:
            self.fail("the page does not show the names")

    def replay(self, pinball):
        """The program's own output is its own, byte for byte."""
        done = subprocess.run([self.drdebug, "replay", pinball], capture_output=True, timeout=120, check=False)
        if done.stdout != b"out " + EVIL + b"\n" or b"err " + EVIL not in done.stderr:
            self.fail(f"replay: {done.stdout!r}")

    def gdb(self, top, pinball):
        """What the commands write, and their errors; not what GDB itself does."""
        out = os.path.join(os.fsdecode(top), "pin")
        script = os.path.join(os.fsdecode(top), "pin.py")
        pathlib.Path(script).write_text(PIN.replace("OUT", repr(out)), encoding="utf-8")
        done = subprocess.run([self.drdebug, "debug", "--end", pinball, "--", "-batch", "-x", script],
                              capture_output=True, timeout=200, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
        if not os.path.exists(out):
            self.fail(f"debug: {done.stdout!r} {done.stderr!r}")
            return
        text = pathlib.Path(out).read_bytes()
        self.check("pin", text)
        for piece in (b"\\x1b[", b"\\u202e", b"out ", b"== pin slice"):
            if piece not in text:
                self.fail(f"pin: {piece!r} is not shown: {text[-4000:]!r}")


PIN = r"""
import gdb
file = open(OUT, "w", encoding="utf-8", errors="surrogateescape")
write = gdb.write
gdb.write = lambda text, *rest: file.write(text)
evil = "\x1b[31m\u202e"
for command in ["when", "checkpoint note" + evil, "checkpoints", "history", "events", "events call", "output",
                "goto begin", "goto end", "goto " + evil, "last totalQ\x1b[m", "last *(int*)&'totalQ\x1b[m'",
                "why", "slice failure", "slice argc", "slice argv[0]", "chop argc to failure", "forward-slice argc",
                "list", "list 1", "list " + evil, "prune " + evil, "only files " + evil, "only", "trace", "back", "forward",
                "delete " + evil, "rollback 9", "nosuch" + evil, "slice-back", "slice-step"]:
    file.write("== pin " + command.replace("\x1b", "").replace("\u202e", "") + "\n")
    try:
        gdb.execute("pin " + command, to_string=True)
    except gdb.error as error:
        file.write(str(error) + "\n")
    for level in ("up", "up"):  # to frames with names of the program
        try:
            gdb.execute(level, to_string=True)
        except gdb.error:
            pass
file.write("== pin slice\n")
file.close()
gdb.write = write
"""


def main(*args):
    test = Test(*args)
    with tempfile.TemporaryDirectory() as room:
        top = os.fsencode(room)
        pinball = test.record(top)
        test.verbs(top, pinball)
        test.files(top, pinball)
        test.replay(pinball)
        test.gdb(top, pinball)
    print(f"{test.checks} texts, {test.failures} failures")
    sys.exit(test.failures > 0 or test.checks < 60)


if __name__ == "__main__":
    main(*sys.argv[1:])
