#!/usr/bin/env python3
"""embed.py SCRIPT SYSCALLS_DEF OUT - puts the table of system calls into drdebug.py.

SPDX-License-Identifier: MIT

GDB loads a single file, and engine/os/syscalls.def is the only list of system calls there is.
"""
import re
import sys

PLACE = "SYSCALLS = {}\n"


def main(script, table, out):
    with open(script, encoding="ascii") as file:
        text = file.read()
    with open(table, encoding="utf-8") as file:
        rows = re.findall(r"^SYSCALL\((\d+), (\w+),", file.read(), re.MULTILINE)
    if text.count(PLACE) != 1 or len(rows) < 300:
        sys.exit(f"embed.py: {script}: no place for a table, or {table}: no table")
    lines = "".join(f'    {number}: "{name}",\n' for number, name in rows)
    with open(out, "w", encoding="ascii") as file:
        file.write(text.replace(PLACE, f"SYSCALLS = {{\n{lines}}}\n"))


if __name__ == "__main__":
    main(*sys.argv[1:])
