"""commands.py - GDB's commands on recordings, by `drdebug debug`: what the tests that have tables of them share.

SPDX-License-Identifier: MIT

A table is a subject and a list of GDB commands, each with what must be in its output: a text, a pattern, or a
list of them; None for anything. What begins with `~` must not be there. {LINE MARKER} is a line's number.

    TABLES = {name: (subject, arguments, options of debug, rows)}
"""
import argparse
import os
import re
import shutil
import subprocess
import tempfile

from stub_client import NO_LIBRARIES, SKIP, Failed, Recordings, markers

HISTORY = "No more reverse-execution history."


def pattern(text):
    return re.compile(text, re.MULTILINE)


# These are about code of libraries, too. The other sessions do not read their debug files, which would be half of their time.
ABOUT_LIBRARIES = ("reverse_steps", "pin_goto", "called_signals", "goto_from_thread", "restart", "exec", "start_places")


class Test:
    libraries = False

    def __init__(self, recordings, tables):
        self.recordings, self.work, self.tables = recordings, recordings.work, tables
        self.failures = self.checks = 0
        self.words = {"lib": recordings.program("libplugin.so"), "calls": recordings.program("calls"),
                      "work": recordings.work}

    def fail(self, text):
        self.failures += 1
        print("FAILED:", text)

    def debug(self, pinball, options, *gdb_arguments, seconds=240):
        own = () if self.libraries else NO_LIBRARIES
        words = [self.recordings.drdebug, "debug", *options, pinball, "--", "-nx", "-batch", *own, *gdb_arguments]
        return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds, check=False, text=True, errors="replace", cwd=self.work,
                              env=dict(os.environ, LC_ALL="C.UTF-8"))

    def run(self, name):
        subject, args, options, rows = self.tables[name]
        pinball = self.recordings.get(subject, *[arg.format(**self.words) for arg in args])
        self.run_rows(name, pinball, options, rows, dict(self.words, **markers(subject)))

    def run_rows(self, name, pinball, options, rows, words):
        """GDB's commands on a recording, each with what must be in its output."""
        arguments = ["-ex", "set width 0", "-ex", "set height 0", "-ex", "set confirm off"]
        for number, (command, _) in enumerate(rows):
            arguments += ["-ex", f"echo \\n@@{number}@@\\n", "-ex", command.format(**words)]
        try:
            output = self.debug(pinball, options, *arguments).stdout
        except subprocess.TimeoutExpired as late:
            self.fail(f"{name}: does not end:\n{(late.stdout or b'').decode(errors='replace')[-3000:]}")
            return
        parts = re.split(r"\n@@\d+@@\n", output)
        if len(parts) != len(rows) + 1:
            self.fail(f"{name}: GDB ended early:\n{output[-3000:]}")
            return
        for bad in ("Python Exception", "Traceback", "internal-error", "Remote communication error",
                    "Ignoring packet error", "Remote connection closed", "Packet too long"):
            if bad in output:
                self.fail(f"{name}: {bad}:\n{output[max(0, output.index(bad) - 800):][:1600]}")
        for number, ((command, expected), said) in enumerate(zip(rows, parts[1:])):
            for one in expected if isinstance(expected, list) else [expected]:
                self.check(f"{name}: {number}: {command.format(**words)}", one, said, words)

    def check(self, name, expected, said, words):
        self.checks += 1
        if expected is None:
            return
        if isinstance(expected, re.Pattern):
            good, expected = expected.search(said), expected.pattern
        else:
            expected = expected.format(**words)
            good = expected[1:] not in said if expected.startswith("~") else expected in said
        if not good:
            self.fail(f"{name}\n  expected {expected!r}\n  but got {said[-1500:]!r}")


def main(tables, special=None):
    """Runs the tables that the command line names. special: tests that are more than a table, {name: function}."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("table", nargs="+")
    options = parser.parse_args()
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as work:
        test = Test(Recordings(options.drdebug, options.bin, work), tables)
        for name in options.table:
            try:
                test.libraries = name in ABOUT_LIBRARIES
                if name in (special or {}):
                    special[name](test)
                else:
                    test.run(name)
            except Failed as failed:
                test.fail(f"{name}: {failed}")
        print(f"{test.checks} checks, {test.failures} failures")
        return 1 if test.failures else 0
