#!/usr/bin/env python3
"""beneath.py - files in a pinball are opened through pinball/beneath.h only.

SPDX-License-Identifier: MIT

A pinball is a stranger's: a plain open() in it follows links and waits for FIFOs. So in the folders that
read and write pinballs nobody calls what opens, renames or removes files by name, but those below, whose
names are the user's own, or who stand on a folder that beneath.h opened (the *at functions that follow no
link).
"""
import re

import tree

FOLDERS = ("pinball/", "source/", "trace/", "study/", "facts/", "slicer/", "cli/")
CALLS = "open|openat|open64|openat2|creat|fopen|freopen|opendir|scandir|nftw|ftw|tmpfile|mkstemp|mkostemp|mkdtemp|" \
        "rename|unlink|remove|link|symlink|truncate|chmod|access|stat"
CALL = re.compile(rf"(?<![\w.>])({CALLS})\s*\(")
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)

# Whose names they are.
ALLOWED = {
    "pinball/beneath.c": {"open", "openat", "mkostemp", "unlink"},
    "pinball/memory.c": {"open"},  # /proc of a process of ours
    "pinball/store.c": {"open"},  # the pinball itself, as the user names it
    "pinball/seal.c": {"open", "openat", "mkostemp", "unlink"},  # the user's key
    "study/cache.c": {"open", "openat", "opendir", "access", "stat"},  # the user's cache
    "cli/ctl.c": {"stat"},  # /proc of the recorder
    "cli/newest.c": {"opendir", "stat"},  # the working directory
    "cli/pack.c": {"access"},  # a name for the file that is made
    "cli/program.c": {"open", "stat"},  # a program to record
    "cli/gdb_start.c": {"access"},  # GDB
    "cli/live_program.c": {"open"},  # the program's terminal
    "cli/gui.c": {"access", "fopen", "mkdtemp", "unlink"},  # programs; the settings that KDbg gets
    "cli/relog.c": {"fopen", "unlink"},  # regions, in files that the user names
    "cli/debug_confined.c": {"access", "mkdtemp", "open", "openat"},  # bubblewrap, rules, the room
    "study/broker.c": {"open"},  # files that the user asks for by name: /dev/stdout, too
}


def check(project):
    complaints = []
    for path, text in project.sources():
        if not path.startswith(FOLDERS):
            continue
        code = NOT_CODE.sub(lambda m: "\n" * m.group().count("\n") or " ", text)
        called = {}
        for found in CALL.finditer(code):
            called.setdefault(found.group(1), code.count("\n", 0, found.start()) + 1)
        allowed = ALLOWED.get(path, set())
        complaints += [f"{path}:{line}: {name}() opens files past pinball/beneath.h"
                       for name, line in sorted(called.items()) if name not in allowed]
        complaints += [f"{path}: calls no {name}(): take it off the list in beneath.py"
                       for name in sorted(allowed - set(called))]
    return complaints


FIXTURES = [
    ("through beneath.h", {"pinball/a.c": "int fd = beneath_open(dir, name, 0); store_open(p);"}, None),
    ("a call in words", {"slicer/a.c": '/* open(x) */ say("open(x)"); // open(x)\nq->open(1);'}, None),
    ("elsewhere", {"engine/a.c": "open(path, 0);"}, None),
    ("a plain open", {"slicer/a.c": "int a;\nint fd = open(path, O_RDONLY);"}, "slicer/a.c:2: open()"),
    ("a stream", {"cli/a.c": "FILE *f = fopen (path, mode);"}, "cli/a.c:1: fopen()"),
    ("openat", {"pinball/a.c": "fd = openat(dir, name, O_RDONLY);"}, "openat()"),
    ("removing by path", {"slicer/a.c": "unlink(path);"}, "unlink()"),
    ("a rule too many", {"cli/newest.c": "opendir(path);"}, "calls no stat()"),
]

if __name__ == "__main__":
    tree.main(check, FIXTURES)
