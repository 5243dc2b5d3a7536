"""races_list.py - what the tests of `drdebug ask races` share. SPDX-License-Identifier: MIT"""
import json
import os
import re
import subprocess

MARK = re.compile(r"/\* ([A-Z][0-9]?) \*/")
LISTED = re.compile(r'\{"(\w+)", \w+\}')


def cases(source):
    with open(source) as f:
        return LISTED.findall(f.read())


def marks(source):
    """{line: letter}"""
    with open(source) as f:
        return {i: m[1] for i, text in enumerate(f, 1) if (m := MARK.search(text))}


def record(drdebug, pinball, command, *options):
    done = subprocess.run([drdebug, "record", "-q", "-o", pinball, *options, "--", *command], capture_output=True, text=True,
                          timeout=120, check=False)
    assert os.path.isdir(pinball), done.stderr


def ask(drdebug, *words):
    """The rows of an answer."""
    done = subprocess.run([drdebug, "ask", *words, "--json"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert "columns" in rows[0] and rows[-1]["complete"], done.stdout
    return rows[1:-1]


def pair(row, source):
    """The lines of a row, sorted; of another file: its name, too."""
    name = os.path.basename(source)
    ends = []
    for place in (row["first_place"], row["then_place"]):
        file = os.path.basename(place["file"] or "?")
        ends.append(place["line"] if file == name else f"{file}:{place['line']}")
    return tuple(sorted(ends, key=str))
