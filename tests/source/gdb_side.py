"""gdb_side.py - what GDB says, for source_test.py; runs inside GDB.

SPDX-License-Identifier: MIT

The task is a JSON file named by DRDEBUG_TASK; the answer is printed as one line of JSON behind a mark.
"""
import json
import os
import re

import gdb

MARK = "ANSWER "


def breaks(specs):
    """The addresses of each breakpoint, or None."""
    answer = {}
    for spec in specs:
        try:
            point = gdb.Breakpoint(spec)
            answer[spec] = None if point.pending else sorted({place.address for place in point.locations})
            point.delete()
        except gdb.error:
            answer[spec] = None
    return answer


def breaks_of(programs):
    """The same of several programs: [program, breakpoints] each."""
    answers = []
    for program, specs in programs:
        gdb.execute(f'file "{program}"', to_string=True)
        answers.append(breaks(specs))
    return answers


def lines(pcs):
    answer = []
    for pc in pcs:
        sal = gdb.find_pc_line(pc)
        answer.append([sal.symtab.fullname(), sal.line] if sal.symtab and sal.line else None)
    return answer


def scopes(pcs):
    return [gdb.execute(f"info scope *{pc}", to_string=True) for pc in pcs]


def leaves(name, value, found, depth=0):
    """Adds (name, address, size) of all parts of a value that have names of their own."""
    kind = value.type.strip_typedefs()
    if value.address is None or len(found) > 400 or depth > 6:
        return
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        for i in range(low, high + 1):
            leaves(f"{name}[{i}]", value[i], found, depth + 1)
    elif kind.code == gdb.TYPE_CODE_STRUCT:
        for field in kind.fields():
            if field.bitsize:
                continue
            inner = f"{name}.{field.name}" if field.name else name
            leaves(inner, value[field], found, depth + 1)
    else:
        found.append([name, int(value.address), kind.sizeof])


def frame_variables():
    """The variables of the frame that have addresses, innermost first."""
    frame = gdb.selected_frame()
    block, seen, found = frame.block(), set(), []
    while block:
        for symbol in block:
            if not (symbol.is_variable or symbol.is_argument) or symbol.name in seen:
                continue
            seen.add(symbol.name)
            value = symbol.value(frame)
            if not value.is_optimized_out:
                leaves(symbol.name, value, found)
        if block.function and not block.function.is_argument and block.function.symtab and \
                block.superblock and block.superblock.is_static:
            break
        block = block.superblock
    return found


def address(name):
    """Where the variable is that GDB takes the name for; None: it is not visible, being around an inlined call."""
    try:
        return int(gdb.parse_and_eval(f"(long)&{name}"))
    except gdb.error as error:
        return None if "No symbol" in str(error) else str(error)


def variables(task):
    """Runs the program; at each stop, all variables of the frame and the given globals; and what names mean there."""
    stops = []
    gdb.execute("set disable-randomization on")
    for spec in task["breaks"]:
        gdb.Breakpoint(spec)
    gdb.execute("run > /dev/null", to_string=True)
    while gdb.selected_inferior().pid and len(stops) < 40:
        frame = gdb.selected_frame()
        found = frame_variables()
        for name in task["globals"]:
            leaves(name, gdb.parse_and_eval(name), found)
        cfa = re.search(r"frame at (0x[0-9a-f]+)", gdb.execute("info frame", to_string=True)).group(1)
        main = int(gdb.parse_and_eval("(long)&main"))
        stops.append({"pc": frame.pc(), "cfa": int(cfa, 16), "fs": int(gdb.parse_and_eval("(long)$fs_base")),
                      "main": main, "found": found, "named": {name: address(name) for name, _, _ in found if name.isidentifier()}})
        gdb.execute("continue", to_string=True)
    return stops


TASKS = {"breaks_of": breaks_of, "lines": lines, "scopes": scopes, "variables": variables}

gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set width 0")
gdb.execute("set debuginfod enabled off")
with open(os.environ["DRDEBUG_TASK"]) as file:
    what, argument = json.load(file)
print(MARK + json.dumps(TASKS[what](argument)))
