#!/usr/bin/env python3
"""embed.py SCRIPT PART... SYSCALLS_DEF PLAIN_DEF ENDS_DEF OUT - puts three tables and the other parts into drdebug.py.

SPDX-License-Identifier: MIT

GDB loads a single file; engine/os/syscalls.def is the only list of system calls there is, base/plain.def
the only one of characters that are not to be printed, and pinball/ends.def the only one of ways to end.
"""
import re
import sys

TABLES = 3
PARTS_PLACE = "PARTS = ()  # the build puts gdb/places.py, slices.py and chops.py here (gdb/embed.py)\n"


def read(path, encoding="ascii"):
    with open(path, encoding=encoding) as file:
        return file.read()


def syscalls(text):
    rows = re.findall(r"^SYSCALL\((\d+), (\w+),", text, re.MULTILINE)
    return len(rows) >= 300, "{\n" + "".join(f'    {number}: "{name}",\n' for number, name in rows) + "}"


def hidden(text):
    ranges = re.findall(r"^HIDDEN\((0x\w+), (0x\w+)\)", text, re.MULTILINE)
    return len(ranges) >= 10, f"({', '.join(f'({a}, {b})' for a, b in ranges)})"


def ends(text):
    """Those that GDB tells of."""
    rows = re.findall(r'^END\(\w+, (\d+), "\w+", (\w+), \w+,[^"]*"[^"]*",\s*(?:NULL|"[^"]*"),\s*"([^"]*)"\)', text,
                      re.MULTILINE)
    return len(rows) >= 2, "{\n" + "".join(f'    {number}: ("{kind}", "{did}"),\n' for number, kind, did in rows) + "}"


PLACES = (("SYSCALLS = {}\n", syscalls), ("HIDDEN = ()\n", hidden), ("ENDS = {}\n", ends))


def main(script, *others):
    parts, tables, out = others[:-TABLES - 1], others[-TABLES - 1:-1], others[-1]
    text = read(script)
    for (place, make), path in zip(PLACES, tables):
        good, table = make(read(path, "utf-8"))
        if not good or text.count(place) != 1:
            sys.exit(f"embed.py: {script}: no place for {place.split()[0]}, or {path}: no table")
        text = text.replace(place, f"{place.split()[0]} = {table}\n")
    if text.count(PARTS_PLACE) != 1:
        sys.exit(f"embed.py: {script}: no place for the other parts")
    text = text.replace(PARTS_PLACE, "".join(read(path) + "\n\n" for path in parts))
    with open(out, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
