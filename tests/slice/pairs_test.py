#!/usr/bin/env python3
"""pairs_test.py DRDEBUG PAIRS PROGRAM [ARGUMENT...] - saved registers that call frame information names.

SPDX-License-Identifier: MIT

At least 99 in 100 must be found by looking at the first MaxSave instructions of a frame, too, both of the places
and of the pairs that were confirmed; and there must be some. Whoever finds a pair, it is confirmed."""

import json
import os
import subprocess
import sys
import tempfile

LEAST, SOME = 0.99, 100


def main(drdebug, pairs, *program):
    with tempfile.TemporaryDirectory() as room:
        pinball = os.path.join(room, "p.pinball")
        subprocess.run([drdebug, "record", "-o", pinball, "--", *program], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=60)
        text = subprocess.run([pairs, pinball, os.path.join(room, "trace")], check=True, stdout=subprocess.PIPE,
                              timeout=60).stdout
    print(text.decode(), end="")
    have = json.loads(text)
    wrong = []
    for part, of in (("found", "named"), ("pairs_both", "pairs_named")):
        if have[of] < SOME:
            wrong.append(f"{of}: only {have[of]}")
        elif have[part] < LEAST * have[of]:
            wrong.append(f"{part}: {have[part]} of {have[of]} is {100 * have[part] / have[of]:.2f} %")
    if have["pairs"] != have["pairs_early"] + have["pairs_named"] - have["pairs_both"]:
        wrong.append("some pairs are found only, or no more, by both ways together")
    for line in wrong:
        print("FAILED:", line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
