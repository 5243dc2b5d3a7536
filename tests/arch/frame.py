#!/usr/bin/env python3
"""frame.py - the top CMakeLists.txt stays short, and the first pages speak of folders and files that there are.

SPDX-License-Identifier: MIT

A folder is anything in backticks that ends in a slash, a file anything there that has a slash and ends like one.
"""
import re

import tree

MAX_LINES = 100
PAGES = ("README.md", "CONTRIBUTING.md", "docs/architecture.md")
FILE = re.compile(r"`([\w.-]+/[\w./-]*\.(?:c|h|S|def|py|sh|md|bash|1))`")


def check(project):
    complaints = []
    lines = len(project.files.get("CMakeLists.txt", "").splitlines())
    if not 0 < lines < MAX_LINES:
        complaints.append(f"CMakeLists.txt: {lines} lines; there must be some, and fewer than {MAX_LINES}")
    folders = re.findall(r"`([^`\s]+)/`", project.files.get("README.md", ""))
    if not folders:
        complaints.append("README.md: names no folder")
    for page in PAGES:
        text = project.files.get(page, "")
        complaints += [f"{page}: {f}/ does not exist" for f in re.findall(r"`([^`\s]+)/`", text)
                       if f not in project.folders]
        complaints += [f"{page}: {f} does not exist" for f in FILE.findall(text) if f not in project.files]
    return complaints


GOOD = {"CMakeLists.txt": "x\n" * 99, "README.md": "see `base/`", "base/err.c": ""}

FIXTURES = [
    ("a good frame", GOOD, None),
    ("a long CMakeLists.txt", GOOD | {"CMakeLists.txt": "x\n" * 100}, "100 lines"),
    ("no CMakeLists.txt", GOOD | {"CMakeLists.txt": ""}, "0 lines"),
    ("a folder that is gone", GOOD | {"README.md": "`base/` and `util/`"}, "util/ does not exist"),
    ("a file that is gone", GOOD | {"CONTRIBUTING.md": "`base/err.c` and `base/log.c`"}, "base/log.c does not exist"),
    ("no folders", GOOD | {"README.md": "hello"}, "names no folder"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
