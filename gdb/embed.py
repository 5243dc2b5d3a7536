#!/usr/bin/env python3
"""embed.py SCRIPT PART... PIN_DEF SYSCALLS_DEF PLAIN_DEF ENDS_DEF OUT - puts the other parts and four tables into drdebug.py.

SPDX-License-Identifier: MIT

GDB loads a single file; gdb/pin.def is the only list of commands, engine/os/syscalls.def the only one of system calls,
base/plain.def the only one of characters that are not to be printed, and pinball/ends.def the only one of ways to end.
The files that pin.def names are in the folder pin/ beside it, and come behind the other parts.
"""
import os
import re
import sys

TABLES = 4
PARTS_PLACE = "PARTS = ()  # the build puts gdb/printers.py, gdb/slices.py, gdb/statements.py and the files of gdb/pin/ here (gdb/embed.py)\n"


def read(path, encoding="ascii"):
    with open(path, encoding=encoding) as file:
        return file.read()


def pin_rows(text):
    """[(command, class, file)]"""
    return re.findall(r'^PIN\("([a-z-]+)", (\w+), "([\w.]+)"\)$', text, re.MULTILINE)


def pins(text):
    rows = pin_rows(text)
    return len(rows) >= 20, "(\n" + "".join(f"    {name},\n" for _, name, _ in rows) + ")"


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


PLACES = (("COMMANDS = ()\n", pins), ("SYSCALLS = {}\n", syscalls), ("HIDDEN = ()\n", hidden), ("ENDS = {}\n", ends))


def command_files(table):
    """The texts of the files that the rows name, in that order. Rows and files must have the same commands."""
    rows, folder = pin_rows(read(table)), os.path.join(os.path.dirname(table), "pin")
    files = list(dict.fromkeys(file for _, _, file in rows))
    others = {name for name in os.listdir(folder) if name.endswith(".py")} ^ set(files)
    if others:
        sys.exit(f"embed.py: {table}: not the files of {folder}: {', '.join(sorted(others))}")
    texts = [read(os.path.join(folder, file)) for file in files]
    for file, text in zip(files, texts):
        there = re.findall(r'^class (\w+)\((?:(?!^class ).)*?^    name = "([a-z-]+)"$', text, re.MULTILINE | re.DOTALL)
        told = [(name, command) for command, name, its in rows if its == file]
        if told != there:
            sys.exit(f"embed.py: {table}: {file} has the commands {there}, and not {told}")
    return texts


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
    text = text.replace(PARTS_PLACE, "\n\n".join([*map(read, parts), *command_files(tables[0])]))
    with open(out, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
