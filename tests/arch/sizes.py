#!/usr/bin/env python3
"""sizes.py - no file grows into a monster: sources up to 1,200 lines, headers up to 200.

SPDX-License-Identifier: MIT

A table that several modules read (.def) may be as long as it must.
"""
import pathlib

import tree

LIMITS = {".h": 200, ".hpp": 200, ".c": 1200, ".cc": 1200, ".cpp": 1200, ".S": 1200, ".inc": 1200}


def check(project):
    complaints = []
    for path, text in project.sources():
        lines = len(text.splitlines())
        limit = LIMITS.get(pathlib.PurePosixPath(path).suffix)
        if limit and lines > limit:
            complaints.append(f"{path}: {lines} lines; {limit} is the limit, split it")
    return complaints


FIXTURES = [
    ("small files", {"a/a.c": "x\n" * 1200, "a/a.h": "x\n" * 200, "a/calls.def": "x\n" * 5000}, None),
    ("a long source", {"a/a.c": "x\n" * 1201}, "a/a.c: 1201 lines"),
    ("a long source in assembly", {"a/a.S": "x\n" * 1201}, "a/a.S: 1201 lines"),
    ("a long header", {"a/a.h": "x\n" * 201}, "a/a.h: 201 lines"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
