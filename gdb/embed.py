#!/usr/bin/env python3
"""embed.py SCRIPT SLICES... SYSCALLS_DEF PLAIN_DEF OUT - puts two tables, slices.py and chops.py into drdebug.py.

SPDX-License-Identifier: MIT

GDB loads a single file; engine/os/syscalls.def is the only list of system calls there is, and base/plain.def
the only one of characters that are not to be printed.
"""
import re
import sys

PLACE = "SYSCALLS = {}\n"
HIDDEN_PLACE = "HIDDEN = ()\n"
SLICES_PLACE = "SLICE_COMMANDS = ()  # the build puts gdb/slices.py here (gdb/embed.py)\n"


def main(script, *slices, table, hidden, out):
    with open(script, encoding="ascii") as file:
        text = file.read()
    text_of_slices = ""
    for path in slices:
        with open(path, encoding="ascii") as file:
            text_of_slices += file.read() + "\n\n"
    with open(table, encoding="utf-8") as file:
        rows = re.findall(r"^SYSCALL\((\d+), (\w+),", file.read(), re.MULTILINE)
    with open(hidden, encoding="utf-8") as file:
        ranges = re.findall(r"^HIDDEN\((0x\w+), (0x\w+)\)", file.read(), re.MULTILINE)
    if text.count(HIDDEN_PLACE) != 1 or len(ranges) < 10:
        sys.exit(f"embed.py: {script}: no place for hidden characters, or {hidden}: no table")
    text = text.replace(HIDDEN_PLACE, f"HIDDEN = ({', '.join(f'({a}, {b})' for a, b in ranges)})\n")
    if text.count(PLACE) != 1 or text.count(SLICES_PLACE) != 1 or len(rows) < 300:
        sys.exit(f"embed.py: {script}: no place for a table or for slices.py, or {table}: no table")
    lines = "".join(f'    {number}: "{name}",\n' for number, name in rows)
    with open(out, "w", encoding="ascii") as file:
        file.write(text.replace(PLACE, f"SYSCALLS = {{\n{lines}}}\n").replace(SLICES_PLACE, text_of_slices))


if __name__ == "__main__":
    main(*sys.argv[1:-3], table=sys.argv[-3], hidden=sys.argv[-2], out=sys.argv[-1])
