#!/usr/bin/env python3
"""tsan_test.py --drdebug DRDEBUG --program PROGRAM --tsan PROGRAM --source SOURCE [--runs N] [CASE...] - ThreadSanitizer agrees.

SPDX-License-Identifier: MIT

Each pair of lines that ThreadSanitizer reports in some native runs is told of as many recordings made in chaos mode, and the reverse; a
`race?` may be an atomic variable, which ThreadSanitizer knows. A difference that is known is named with its reason in EXPLAINED. Prints
a table.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from races_list import ask, cases, pair, record

# (source, case): why the two differ
READ_AGAIN = "ThreadSanitizer keeps no second read of a thread that has not synchronised since the first one"
EXPLAINED = {
    ("racing.c", "checked"): READ_AGAIN,
    ("racing.c", "fetched"): READ_AGAIN,
    ("races.c", "contended"): "ThreadSanitizer has told of the word before: the read behind the unlock is one more race",
    ("races.c", "in_place"): "ThreadSanitizer does not see assembly",
    ("locks.c", "by_signal"): "a signal orders its sender and its handler, which ThreadSanitizer does not know",
}


def tsan_pairs(program, case, source):
    """Pairs of lines of the source that reports name: the innermost of each stack."""
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=0 exitcode=0 history_size=7 report_thread_leaks=0 suppress_equal_stacks=0 "
                       "suppress_equal_addresses=0")
    done = subprocess.run([program, case], capture_output=True, text=True, timeout=120, check=False, env=environment)
    name, found = os.path.basename(source), set()
    for report in done.stderr.split("WARNING: ThreadSanitizer: data race")[1:]:
        stacks = re.split(r"\n\s*\n", report)
        ends = []
        for stack in stacks[:2]:
            lines = re.findall(rf"#\d+ .*?{re.escape(name)}:(\d+)", stack)
            if lines:
                ends.append(int(lines[0]))
        if len(ends) == 2:
            found.add(tuple(sorted(ends, key=str)))
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("drdebug", "program", "tsan", "source"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    drdebug, program, tsan, source = (os.path.abspath(p) for p in (args.drdebug, args.program, args.tsan, args.source))
    checks = failures = 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
        for case in args.case or cases(source):
            theirs, ours, certain = set(), set(), set()
            for i in range(args.runs):
                theirs |= tsan_pairs(tsan, case, source)
                record(drdebug, "a.pinball", [program, case], "--chaos")
                rows = ask(drdebug, "a.pinball", "races")
                ours |= {pair(row, source) for row in rows}
                certain |= {pair(row, source) for row in rows if row["race"] == "race"}
                shutil.rmtree("a.pinball")
            why = EXPLAINED.get((os.path.basename(source), case), "")
            checks += 1
            failures += bool(theirs - ours or certain - theirs) and not why
            print(f"{case:18} both {sorted(theirs & ours, key=str)} ThreadSanitizer alone {sorted(theirs - ours, key=str)} "
                  f"ask alone {sorted(certain - theirs, key=str)}, perhaps {sorted(ours - certain - theirs, key=str)} {why}", flush=True)
        os.chdir("/")
    print(f"{checks} checks, {failures} failures")
    sys.exit(1 if failures or not checks else 0)


main()
