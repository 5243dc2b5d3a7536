"""questions.py - recordings and `drdebug ask`, for the tests of this folder.

SPDX-License-Identifier: MIT
"""
import json
import os
import subprocess
import sys
import tempfile

SKIP = 77
# GDB need not read the debug files of libraries, which takes half of a short session.
NO_LIBRARIES = ("-iex", "set debug-file-directory /nowhere")


class Test:
    """Counts what failed; a folder for recordings that goes with it."""

    def __init__(self, drdebug):
        self.drdebug = drdebug
        self.failures = self.checks = 0
        self.folder = tempfile.TemporaryDirectory(prefix="ask.")
        self.work = self.folder.name

    def check(self, good, text):
        self.checks += 1
        if not good:
            self.failures += 1
            print("FAILED:", text)
        return good

    def equal(self, got, want, text):
        return self.check(got == want, f"{text}: {got!r}, not {want!r}")

    def run(self, *words, status=0, **more):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace", check=False, timeout=600,
                              env=dict(os.environ, LC_ALL="C.UTF-8"), **more)
        if done.returncode != status:
            self.check(False, f"{' '.join(words)}: status {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done

    def record(self, name, *words):
        path = os.path.join(self.work, name)
        self.run(self.drdebug, "record", "-q", "-o", path, "--", *words)
        return path

    def ask(self, pinball, *words):
        """The rows of an answer."""
        done = self.run(self.drdebug, "ask", pinball, *words, "--json")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [line for line in lines if "row" in line]

    def end(self):
        self.folder.cleanup()
        print(f"{self.checks} checks, {self.failures} failed")
        sys.exit(1 if self.failures or not self.checks else 0)
