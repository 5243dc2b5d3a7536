"""calls_values_gdb.py - in GDB on a recording: the arguments of functions, where a breakpoint stops for them.

SPDX-License-Identifier: MIT

ASK_FUNCTIONS names them, with commas; ASK_OUT a file for the answer: a line of JSON for each stop.
"""
import json
import os

import gdb

stops = []


def on_stop(event):
    stops.append(isinstance(event, gdb.BreakpointEvent))


def arguments(frame):
    block = frame.block()
    while not block.function:  # a block in the function
        block = block.superblock
    names = [symbol.name for symbol in block if symbol.is_argument]
    return ", ".join(f"{name}={gdb.execute('print ' + name, to_string=True).split(' = ', 1)[1].strip()}"
                     for name in names)


for command in ("set pagination off", "set confirm off", "set width 0", "handle all nostop noprint pass", "pin goto begin"):
    gdb.execute(command, to_string=True)
for name in os.environ["ASK_FUNCTIONS"].split(","):
    gdb.Breakpoint(name, internal=True)
gdb.events.stop.connect(on_stop)
with open(os.environ["ASK_OUT"], "w", encoding="utf-8") as out:
    while True:
        gdb.execute("continue", to_string=True)
        if not stops or not stops[-1]:
            break
        frame = gdb.selected_frame()
        json.dump({"at": gdb.parse_and_eval("$pin_position()").string(), "function": frame.name(),
                   "arguments": arguments(frame)}, out)
        out.write("\n")
    out.write("null\n")
