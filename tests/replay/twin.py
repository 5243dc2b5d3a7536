#!/usr/bin/env python3
"""twin.py DRDEBUG PROGRAM - the copy of the program that a part's memory is read from is invisible to the program, and complete.

SPDX-License-Identifier: MIT

What the program prints is the same natively and while a part is recorded, and the replay prints it again.
"""
import os
import subprocess
import sys
import tempfile

DRDEBUG, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:3])


def run(*command):
    """Standard output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


with tempfile.TemporaryDirectory() as tmp:
    for size in ("small", "large"):
        native, _ = run(PROGRAM, size)
        assert native.startswith("closed 1 wait -1 1 children 0 attached 1 used 0 0\nchild 5 signals 1\n"), native
        pinball = f"{tmp}/{size}.pinball"
        said, err = run(DRDEBUG, "record", "-o", pinball, "--from", "mark:go", "--", PROGRAM, size)
        assert said == native, (said, native)
        assert "stood still" not in err, err
        run(DRDEBUG, "verify", pinball)
        assert run(DRDEBUG, "replay", pinball)[0] == native
