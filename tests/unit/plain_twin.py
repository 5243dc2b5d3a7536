#!/usr/bin/env python3
"""plain_twin.py UNIT_PLAIN DRDEBUG_PY - plain() of drdebug.py says what base/plain.c says, of every character.

SPDX-License-Identifier: MIT
"""
import ast
import os
import re
import subprocess
import sys

NAMES = {"HIDDEN", "HIDDEN_PATTERN", "hidden_pattern", "escape_one", "plain"}


def load(path):
    """drdebug.py needs GDB; these few parts of it do not."""
    with open(path, encoding="ascii") as file:
        tree = ast.parse(file.read())
    tree.body = [node for node in tree.body if getattr(node, "name", None) in NAMES or
                 isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) in NAMES]
    found = {"re": re}
    exec(compile(tree, path, "exec"), found)  # pylint: disable=exec-used
    return found["plain"]


def cases():
    for first in range(0, 0x110000, 64):
        codes = range(first or 1, first + 64)
        if not 0xd800 <= first < 0xe000:
            yield "".join(map(chr, codes)).encode()
    yield from (b"\x9b", b"\xff\xfe", b"\xc0\x9b", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"a\xe2\x80\xaeb\nc\\",
                b"\xe2\x80\xe2\x80\xae")


def main(unit, script):
    plain, texts = load(script), list(cases())
    said = subprocess.run([unit, "filter"], input=b"".join(text + b"\0" for text in texts),
                          stdout=subprocess.PIPE, check=True).stdout.split(b"\0")[:-1]
    assert len(said) == len(texts), (len(said), len(texts))
    wrong = [(text, c, plain(os.fsdecode(text))) for text, c in zip(texts, said)
             if plain(os.fsdecode(text)) != c.decode()]
    hidden = sum(text != c for text, c in zip(texts, said))
    print(f"{len(texts)} texts, {hidden} of them shown by escapes, {len(wrong)} differ")
    for text, c, python in wrong[:20]:
        print(f"  {text!r}: C {c!r}, Python {python!r}")
    sys.exit(bool(wrong) or hidden < 60)


if __name__ == "__main__":
    main(*sys.argv[1:])
