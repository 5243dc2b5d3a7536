#!/usr/bin/env python3
"""values_test.py DRDEBUG PROGRAM SOURCE - `ask values` writes each type as `--follow` does, which GDB's watch has shown, and says
the same of what did not change.

SPDX-License-Identifier: MIT
"""
import json
import os
import subprocess
import sys
import tempfile

DRDEBUG, PROGRAM, SOURCE = sys.argv[1:]
EXPRESSIONS = ["point", "parts.b", "parts.c", "large", "colour", "text", "list", "*made", "made->text", "bits->c", "*real"]


def ask(pinball, *words):
    return subprocess.run([DRDEBUG, "ask", pinball, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def rows(pinball, *words):
    done = ask(pinball, *words, "--json")
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()][1:-1]


def main():
    with tempfile.TemporaryDirectory(prefix="values.") as work:
        os.environ["XDG_STATE_HOME"] = os.path.join(work, "state")
        pinball = os.path.join(work, "pinball")
        subprocess.run([DRDEBUG, "record", "-q", "-o", pinball, "--", PROGRAM], check=True, stdout=subprocess.DEVNULL, timeout=120)
        last = next(i for i, line in enumerate(open(SOURCE, encoding="utf-8"), 1) if "LAST" in line)
        where = ["at", f"{os.path.basename(SOURCE)}:{last}"]
        count = 0
        for expression in EXPRESSIONS:
            got = {r["at"]: (r["value"], bool(r["same"])) for r in rows(pinball, "values", expression, *where)}
            want = {r["at"]: (r["value"], bool(r["same"])) for r in rows(pinball, "values", expression, *where, "--follow")
                    if r["changed"] not in ("made", "bits", "real") and r["at"] in got}
            assert len(want) >= 2, f"{expression}: {want}"
            got = {at: got[at] for at in want}
            assert got == want, f"{expression}: {got}, followed {want}"
            count += len(want)
        names = {r["what"] for r in rows(pinball, "accesses", "parts.b", *where)}
        assert names == {"parts.b"}, f"a bit-field beside another one in its byte: {names}"
        done = ask(pinball, "values", "point.x + parts.a", *where)
        assert done.returncode == 2 and "computed" in done.stderr, done
        results = [r["result"] for r in rows(pinball, "calls", "make")]
        assert [r.split(", text = ")[0] for r in results] == [f'{{x = {i}, y = {2 * i}, name = "ab\\000"' for i in (3, 4)], results
        assert [r["result"] for r in rows(pinball, "calls", "is_odd")] == ["YES"], "an enum without a name"
        bare = os.path.join(work, "bare")
        subprocess.run(["strip", "-o", bare, PROGRAM], check=True)
        subprocess.run([DRDEBUG, "record", "-q", "-o", bare + ".pinball", "--", bare], check=True, stdout=subprocess.DEVNULL, timeout=120)
        done = ask(bare + ".pinball", "values", "point.x")
        assert done.returncode == 1 and "bare has no debug information" in done.stderr, done
        print(f"{count} values of {len(EXPRESSIONS)} places")


main()
