"""engine_test.py - what the tests of this folder share: running drdebug, reading what it says.

SPDX-License-Identifier: MIT

Every run gets no address space randomisation, an empty working directory of the same name and the
environment below, so that two runs of a deterministic program are equal in every address.
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile

SOAK = bool(os.environ.get("DRDEBUG_SOAK"))
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONHASHSEED": "0", "HOME": "/nowhere"}
PYTHON = "/usr/bin/python3"
LIMIT = 60

REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()

# oracle.c's tags.
AFTER_CALL, FAULTS, HANDLER, RETURNED, REP, COUNTED, NO_CODE = (1 << i for i in range(7))


class Run:
    """What a run showed. `said`: the lines of the engine, (topic, {key: value}); `err`: the rest."""

    def __init__(self, done):
        self.status, self.out = done.returncode, done.stdout
        lines = done.stderr.decode(errors="replace").splitlines()
        mine = [m for m in (re.match(r"drdebug: (\w+): (\w+=.*)", line) for line in lines) if m]
        self.said = [(m[1], dict(re.findall(r"(\w+)=(\w+)", m[2]))) for m in mine]
        self.err = [line for line in lines if not re.match(r"drdebug: \w+: \w+=", line)]

    def topic(self, name):
        return [values for topic, values in self.said if topic == name]

    def number(self, topic, key):
        """The sum over all processes."""
        values = self.topic(topic)
        if not values:
            raise AssertionError(f"no line `{topic}`; standard error: {self.err}")
        return sum(int(v[key]) for v in values)

    def shown(self):
        return self.status, self.out, self.err


class Entry:
    """One instruction of the oracle's log."""

    def __init__(self, fields):
        self.count, self.pc, self.regs = fields[0], fields[1], fields[2:18]
        self.rflags, self.tags = fields[18], fields[19]

    def __str__(self):
        return f"{self.count}:0x{self.pc:x}"


class Test:
    """Collects failures; main() makes one and gives it to the test's function."""

    def __init__(self, options):
        self.options, self.drdebug, self.bin = options, options.drdebug, options.bin
        self.work = tempfile.mkdtemp(prefix="engine_test.")
        self.cwd = os.path.join(self.work, "cwd")
        os.mkdir(self.cwd)
        self.failures = 0

    def program(self, name):
        return os.path.join(self.bin, name)

    def execute(self, argv, stdin=b""):
        """The input is a file: what a read from a pipe gives depends on time."""
        with tempfile.TemporaryFile(dir=self.work) as f:
            f.write(stdin)
            f.seek(0)
            return Run(subprocess.run(["setarch", "-R", *argv], stdin=f, capture_output=True, check=False,
                                      env=ENVIRONMENT, cwd=self.cwd, timeout=LIMIT))

    def native(self, argv, stdin=b""):
        return self.execute(argv, stdin)

    def run(self, argv, *options, stdin=b""):
        """Under the engine, with options such as "link=0"."""
        flags = [word for option in options for word in ("--engine", option)]
        return self.execute([self.drdebug, "run", *flags, "--", *argv], stdin)

    def oracle(self, argv):
        """(summary, entries) of a native run, stepped instruction by instruction."""
        log = os.path.join(self.work, "log")
        run = self.execute([self.program("oracle"), log, *argv])
        self.check(run.status == 0, f"{argv[0]}: the oracle ended with {run.status}: {run.err}")
        with open(log, "rb") as f:
            data = f.read()
        keys = ("ticks", "instructions", "fell_through", "syscalls")
        summary = dict(zip(keys, struct.unpack_from("4Q", data)))
        return summary, [Entry(fields) for fields in struct.iter_unpack("20Q", data[32:])]

    def check(self, good, text):
        if not good:
            self.failures += 1
            print(f"FAIL: {text}\n", end="")
        return good

    def equal(self, got, want, text):
        return self.check(got == want, f"{text}: got {short(got)}, expected {short(want)}")


def short(value):
    text = str(value)
    return text if len(text) < 400 else text[:400] + "..."


def main(function, *more):
    parser = argparse.ArgumentParser()
    parser.add_argument("drdebug", type=os.path.abspath)
    parser.add_argument("bin", type=os.path.abspath, help="where the programs of this folder are")
    for name in more:
        parser.add_argument(name)
    test = Test(parser.parse_args())
    sys.stdout.reconfigure(line_buffering=True)
    try:
        function(test)
    finally:
        subprocess.run(["rm", "-rf", test.work], check=False)
    print(f"{test.failures} failures" if test.failures else "ok")
    sys.exit(test.failures > 0)
