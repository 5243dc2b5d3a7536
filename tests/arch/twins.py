#!/usr/bin/env python3
"""twins.py - nothing is written twice: no two places outside of tests/ share more than 12 lines.

SPDX-License-Identifier: MIT

Lines are equal if they differ in nothing but spaces. Comments, blank lines and includes do not count, so the next
line of code follows them directly.
"""
import pathlib
import re

import tree

MOST = 12
LANGUAGES = {suffix: re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL) for suffix in tree.SOURCES}
LANGUAGES |= {suffix: re.compile(r"^\s*#[^\n]*", re.MULTILINE) for suffix in (".py", ".sh", ".bash", ".txt")}
INCLUDE = re.compile(r"#\s*include\b|import\s|from\s")


def lines_of(path, text):
    """Pairs (number, line) of what counts."""
    comment = LANGUAGES[pathlib.PurePosixPath(path).suffix]
    code = comment.sub(lambda m: m.group() if m.group()[0] == '"' else "\n" * m.group().count("\n"), text)
    lines = ((n, "".join(line.split())) for n, line in enumerate(code.split("\n"), 1))
    return [(n, line) for (n, line), whole in zip(lines, code.split("\n")) if line and not INCLUDE.match(whole)]


def check(project):
    first, complaints = {}, []
    for path, text in sorted(project.files.items()):
        if path.startswith("tests/") or pathlib.PurePosixPath(path).suffix not in LANGUAGES:
            continue
        lines = lines_of(path, text)
        told = -1  # places that overlap are one
        for i in range(len(lines) - MOST):
            numbers, run = zip(*lines[i:i + MOST + 1])
            other, start, end = first.setdefault(run, (path, numbers[0], numbers[-1]))
            if (other, start) == (path, numbers[0]) or i <= told:
                continue
            complaints.append(f"{path}:{numbers[0]}-{numbers[-1]}: more than {MOST} lines as in {other}:{start}-{end}; "
                              "make them one function")
            told = i + MOST
    return complaints


def body(count, between=""):
    return "".join(f"    step({n});\n{between}" for n in range(count))


FIXTURES = [
    ("12 lines", {"a/a.c": body(12), "b/b.c": body(12)}, None),
    ("13 lines", {"a/a.c": body(13), "b/b.c": "int x;\n" + body(13)}, "b/b.c:2-14: more than 12 lines as in a/a.c:1-13"),
    ("13 lines in one file", {"a/a.c": body(13) + "int x;\n" + body(13)}, "a/a.c:15-27"),
    ("spaces", {"a/a.c": body(13), "b/b.c": body(13).replace(" ", "\t").replace("(", " (")}, "b/b.c:1-13"),
    ("comments between", {"a/a.c": body(13), "b/b.c": body(13, "/* why\n * so */\n\n")}, "b/b.c:1-49"),
    ("strings", {"a/a.c": body(13, 'say("/*");\n'), "b/b.c": body(13, 'say("/*");\n')}, "b/b.c:1-13"),
    ("comments alone", {"a/a.c": "/*\n" + body(20) + "*/\n", "b/b.c": "/*\n" + body(20) + "*/\n"}, None),
    ("includes", {"a/a.c": '#include "x.h"\n' * 14, "b/b.c": '#include "x.h"\n' * 14}, None),
    ("one line differs", {"a/a.c": body(20), "b/b.c": body(20).replace("step(9)", "other(9)")}, None),
    ("scripts", {"a/a.py": body(13), "gdb/b.py": body(13, "# why\n")}, "gdb/b.py:1-25"),
    ("tests", {"a/a.c": body(13), "tests/b.c": body(13)}, None),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
