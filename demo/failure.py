"""failure.py - runs inside GDB, at the end of a recording of racy_counter: who lost the visitors?

SPDX-License-Identifier: MIT

The slice of the failed assertion names the guilty line. Then, from the assertion back to the last time that a thread
was about to write a total that is not the one it has seen, plus one."""

import os
import re

import gdb


def run(command):
    return gdb.execute(command, to_string=True)


def value(expression):
    return int(gdb.parse_and_eval(expression))


def show(command, answer):
    print(f"  (gdb) {command:<52} {answer}")


def to_main():
    """The frame of main: what the assertion is made of is above it."""
    frame = gdb.newest_frame()
    while frame and frame.name() != "main":
        frame = frame.older()
    if not frame:
        raise gdb.GdbError("not in main")
    frame.select()


def check_cause():
    """The guilty line is among the nearest causes."""
    why = run("pin why")
    cause = re.search(rf"^ \d  (T\d+):\S+ +racy_counter.c:{guilty} .*  computed  (.*)$", why, re.MULTILINE)
    if not cause:
        raise gdb.GdbError(f"the guilty line is not among the causes:\n{why}")
    show("pin why", f"{cause[1]} racy_counter.c:{guilty}: {cause[2]}")


guilty = os.environ["DEMO_LINE"]
check_cause()
to_main()
show("print total", value("total"))
run(f"break racy_counter.c:{guilty} if total != seen")
run("reverse-continue")
seen, total = value("seen"), value("total")
line = gdb.selected_frame().find_sal().line
show(f"break racy_counter.c:{guilty} if total != seen", "")
show("reverse-continue", f"T{gdb.selected_thread().ptid[1]} stops in door, racy_counter.c:{line}")
show("print seen", seen)
show("print total", total)
show("pin when", run("pin when").split()[0])
run("delete")
run("next")
show("next", "")
show("print total", value("total"))
print(f"DEMO {line} {seen} {total} {value('total')}")
