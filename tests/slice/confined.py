#!/usr/bin/env python3
"""confined.py DRDEBUG BUG_LIBRARY CC HERE - a stranger's recording is looked into where it can do no harm.

SPDX-License-Identifier: MIT

The same recordings are looked at as one's own and, with another user's key, as a stranger's: slices are the
same. A bug in libdw, or in what puts events into words, gets out of neither files, network nor process in the second case.
"""
import os
import re
import subprocess
import sys
import tempfile

# What the bug tries; without confinement each is done, but for the two that depend on the machine.
TRIES = ["open", "create", "mkdir", "link", "socket", "unix socket", "exec", "fork", "kill", "ptrace", "new code",
         "descriptor", "memfd"]
MAY_FAIL = {"ptrace", "socket"}


class Test:
    def __init__(self, drdebug, bug, compiler, here, room):
        self.drdebug, self.bug, self.compiler = drdebug, bug, compiler
        self.here, self.room, self.failures = here, room, 0
        self.own = {**os.environ, "XDG_STATE_HOME": f"{room}/own", "XDG_CACHE_HOME": f"{room}/cache"}
        self.stranger = {**self.own, "XDG_STATE_HOME": f"{room}/stranger"}

    def check(self, what, good, more=""):
        if not good:
            self.failures += 1
            print(f"FAILED: {what}: {more}")

    def run(self, env, *words, **more):
        return subprocess.run([self.drdebug, *words], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=200, check=False, **more)

    def record(self, name):
        source = os.path.join(self.here, "cli", f"{name}.c")
        program, pinball = f"{self.room}/{name}", f"{self.room}/{name}.pinball"
        subprocess.run([self.compiler, "-g", "-pthread", "-w", source, "-o", program], check=True)
        self.run(self.own, "record", "-o", pinball, "--", program)
        return pinball

    def compare(self, pinball, *words):
        """The stranger's sources are where the user says."""
        own = self.run(self.own, "slice", pinball, *words)
        stranger = self.run(self.stranger, "slice", "--source-dir", f"{self.here}/cli", pinball, *words)
        what = " ".join(words)
        self.check(what, own.returncode == stranger.returncode, f"status {stranger.returncode}: {stranger.stderr!r}")
        out = [re.sub(rb"^again .*\n", b"", told.stdout, flags=re.MULTILINE) for told in (own, stranger)]  # has --source-dir
        self.check(what, out[0] == out[1], f"{own.stdout!r} and {stranger.stdout!r}")
        self.check(what, own.stderr == stranger.stderr, f"{own.stderr!r} and {stranger.stderr!r}")
        return stranger

    def slices(self, pinball):
        for words in (["--at", "failure"], ["--at", "failure", "--values"], ["--at", "failure", "--json", "--values"],
                      ["--at", "failure", "--all"], ["nosuch at main"], ["argc at main"], ["*argv at main", "--values"]):
            self.compare(pinball, *words)

    def files(self, pinball):
        made = [f"{self.room}/made{option}" for option in ("--sum", "--dep", "--dot", "--html")]
        told = self.run(self.stranger, "slice", pinball, "--at", "failure",
                        *[word for path in made for word in ("--" + path.rpartition("--")[2], path)])
        self.check("files", told.returncode == 0 and all(map(os.path.getsize, made)), told.stderr)
        told = self.run(self.stranger, "slice", pinball, "--at", "failure", "--html", f"{self.room}/no/such/folder")
        self.check("no folder", told.returncode == 1 and b"/no/such/folder: No such file" in told.stderr, told.stderr)

    def kept(self, pinball):
        for words, status in ((["--at", "failure", "-o", "a"], 0), (["--at", "failure", "-o", "a"], 1),
                              (["nosuch at main", "-o", "b"], 1), (["--show", "a"], 0)):
            told = self.run(self.stranger, "slice", pinball, *words)
            self.check(" ".join(words), told.returncode == status, told.stderr)
        names = os.listdir(f"{pinball}/slices")
        self.check("slices that are kept", names == ["a"], names)

    def get_out(self, *words):
        for env, inside in ((self.own, False), (self.stranger, True)):
            canary = f"{self.room}/{words[0]}_canary{inside}"
            read, write = os.pipe()
            os.write(write, b"secret")
            os.dup2(read, 199)  # that drdebug is started with; later ones get lower numbers
            told = self.run({**env, "LD_PRELOAD": self.bug, "CANARY": canary}, *words, pass_fds=[199])
            said = dict(re.findall(r"^bug: (.*): (.*)$", told.stderr.decode(), re.MULTILINE))
            self.check("the bug was there", sorted(said) == sorted(TRIES), told.stderr)
            done = [what for what in said if said[what] == "done"]
            if inside:
                self.check("confined", not done and told.returncode == 0, f"{done} {told.stderr!r}")
                self.check("confined: no file", not [name for name in os.listdir(self.room) if "canaryTrue" in name])
            else:
                self.check("not confined", set(TRIES) - set(done) <= MAY_FAIL, told.stderr)


def main(drdebug, bug, compiler, here):
    with tempfile.TemporaryDirectory() as room:
        test = Test(drdebug, bug, compiler, here, room)
        wrong, divide = test.record("wrong"), test.record("divide")
        info = test.run(test.stranger, "info", wrong).stdout
        test.check("a stranger's", b"by a stranger" in info, info)
        test.slices(wrong)
        test.compare(divide, "--at", "failure", "--values")
        packed = f"{room}/packed"
        test.run(test.own, "pack", "-o", packed, wrong)
        test.compare(packed, "--at", "failure", "--values")
        test.files(wrong)
        test.kept(wrong)
        test.get_out("slice", wrong, "--at", "failure")
        test.get_out("ask", wrong, "events", "failed")
        print(f"{test.failures} failures")
        sys.exit(test.failures > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
