"""calls_gdb.py - in GDB on a recording: all executions of some addresses, by breakpoints.

SPDX-License-Identifier: MIT

ASK_PLACES names a file with addresses, a line each; ASK_OUT one for the answer: a line with the address, the position and
how many frames of the same function are below, for each stop.
"""
import os

import gdb

stops = []


def on_stop(event):
    stops.append(isinstance(event, gdb.BreakpointEvent))


def frames_below():
    frame = gdb.selected_frame()
    name, count = frame.name(), 0
    while frame.older():
        frame = frame.older()
        count += frame.name() == name
    return count


for command in ("set pagination off", "set confirm off", "set width 0", "handle all nostop noprint pass", "pin goto begin"):
    gdb.execute(command, to_string=True)
with open(os.environ["ASK_PLACES"], encoding="ascii") as places:
    for place in places:
        gdb.Breakpoint("*" + place.strip(), internal=True)
gdb.events.stop.connect(on_stop)
with open(os.environ["ASK_OUT"], "w", encoding="utf-8") as out:
    while True:
        gdb.execute("continue", to_string=True)
        if not stops or not stops[-1]:
            break
        position = gdb.parse_and_eval("$pin_position()").string()
        out.write(f"{gdb.selected_frame().pc():#x} {position} {frames_below()}\n")
    out.write("end\n")
