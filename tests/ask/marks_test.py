#!/usr/bin/env python3
"""marks_test.py DRDEBUG PROGRAM - marks of include/drdebug.h in `info`, `ask events`, `pin events`, in a part, and for GDB.

SPDX-License-Identifier: MIT

The program says each of its marks itself, in the words that `info` has for it: that is the list to compare with.
"""
import json
import subprocess
import sys
import tempfile

DRDEBUG, PROGRAM = sys.argv[1:]


def run(*command):
    """What it writes; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def compare(what, found, expected):
    """Both are lists."""
    assert found == expected, f"{what}: {found}, expected {expected}"


def in_words(text):
    """As `info` has it, from the words of events."""
    kind, _, name = text.partition(' "')
    return kind + ": " + json.loads('"' + name)


def events(pinball):
    """Positions and words of the marks."""
    rows = [json.loads(line) for line in run(DRDEBUG, "ask", "--json", pinball, "events", "mark").splitlines()]
    rows = [row for row in rows if "row" in row]
    return [row["at"] for row in rows], [in_words(row["event"]) for row in rows]


def main():
    """All places that list marks."""
    with tempfile.TemporaryDirectory() as tmp:
        whole, part = f"{tmp}/whole.pinball", f"{tmp}/part.pinball"
        said = run(PROGRAM).splitlines()
        assert len(said) == 10, said
        run(DRDEBUG, "record", "-o", whole, "--", PROGRAM)
        listed = [line.partition(" ") for line in json.loads(run(DRDEBUG, "info", "--json", whole))["marks"]]
        compare("info", [words for _, _, words in listed], said)
        at, words = events(whole)
        compare("ask events", words, said)
        compare("positions", at, [position for position, _, _ in listed])
        run(DRDEBUG, "verify", whole)
        # A part begins in the middle: before the fourth mark's nop.
        run(DRDEBUG, "cut", "--from", at[3], "-o", part, whole)
        compare("a part", events(part), (at[3:], said[3:]))
        gdb = run(DRDEBUG, "debug", whole, "--", "-batch", "-ex", "pin goto end", "-ex", "pin events mark",
                  "-ex", f"pin goto {at[5]}", "-ex", "x/i $pc", "-ex", "info probes stap drdebug").splitlines()
        shown = [line.split(None, 2) for line in gdb if ' mark "' in line or ' region ' in line and '"' in line]
        compare("pin events", [in_words(about) for _, _, about in shown], said)
        assert any("nop" in line and "=>" in line for line in gdb), gdb
        for provider in ("drdebug_mark", "drdebug_begin", "drdebug_end"):
            assert any(provider in line and line.startswith("stap") for line in gdb), gdb


main()
