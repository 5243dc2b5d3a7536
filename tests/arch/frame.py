#!/usr/bin/env python3
"""frame.py - the top CMakeLists.txt stays short, and README.md speaks of folders that there are.

SPDX-License-Identifier: MIT

A folder in README.md is anything in backticks that ends in a slash.
"""
import re

import tree

MAX_LINES = 100


def check(project):
    complaints = []
    lines = len(project.files.get("CMakeLists.txt", "").splitlines())
    if not 0 < lines < MAX_LINES:
        complaints.append(f"CMakeLists.txt: {lines} lines; there must be some, and fewer than {MAX_LINES}")
    folders = re.findall(r"`([^`\s]+)/`", project.files.get("README.md", ""))
    if not folders:
        complaints.append("README.md: names no folder")
    complaints += [f"README.md: {f}/ does not exist" for f in folders if f not in project.folders]
    return complaints


GOOD = {"CMakeLists.txt": "x\n" * 99, "README.md": "see `base/`", "base/err.c": ""}

FIXTURES = [
    ("a good frame", GOOD, None),
    ("a long CMakeLists.txt", GOOD | {"CMakeLists.txt": "x\n" * 100}, "100 lines"),
    ("no CMakeLists.txt", GOOD | {"CMakeLists.txt": ""}, "0 lines"),
    ("a folder that is gone", GOOD | {"README.md": "`base/` and `util/`"}, "util/ does not exist"),
    ("no folders", GOOD | {"README.md": "hello"}, "names no folder"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
