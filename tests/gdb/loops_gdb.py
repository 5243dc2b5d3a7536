"""loops_gdb.py - inside GDB, on a recording of subjects/loops.c: lines that are loops, in both directions.

SPDX-License-Identifier: MIT

Backwards, reverse-next and reverse-step leave out turns of loops; `next` and `step` with exec-direction reverse
are GDB's own and do not: both must come to the same places. Forwards, `next` must come to where the line after it
begins. LINES and WHAT are set by loops_test.py: the lines by their markers, and which of the walks to make.
"""
import gdb

NEAR = 3  # steps by lines, from each place


def when():
    text = gdb.execute("pin when", to_string=True)
    return text.split()[0]


def run(command):
    """Where the command leads to, and what GDB says of it but for threads."""
    gdb.execute(command, to_string=True)
    return when()


def own(command):
    gdb.execute("set exec-direction reverse")
    try:
        return run(command)
    finally:
        gdb.execute("set exec-direction forward")


def compare(what, got, want):
    if got != want:
        print(f"FAILED: {what}: {got}, not {want}")


def walk(start, step, watched):
    """NEAR steps from the place, and back to it. GDB compares a watched value with the one it saw last."""
    if watched:
        gdb.execute(f"watch {watched}", to_string=True)
    seen = [step() for _ in range(NEAR)]
    if watched:
        gdb.execute("delete", to_string=True)
    gdb.execute(f"pin goto {start}", to_string=True)
    return seen


def backwards(place, start, watched=None):
    for command in ("next", "step") if "step" in WHAT else ("next",):
        seen = walk(start, lambda: run(f"reverse-{command}"), watched)
        compare(f"{place}: reverse-{command}", seen, walk(start, lambda: own(command), watched))


def counted(place, start):
    three = [own("next") for _ in range(3)]
    gdb.execute(f"pin goto {start}", to_string=True)
    compare(f"{place}: reverse-next 3", run("reverse-next 3"), three[-1])
    gdb.execute(f"pin goto {start}", to_string=True)
    many = [run("reverse-stepi") for _ in range(150)]
    gdb.execute(f"pin goto {start}", to_string=True)
    compare(f"{place}: reverse-stepi 150", run("reverse-stepi 150"), many[-1])
    gdb.execute(f"pin goto {start}", to_string=True)


def forwards(places):
    """To each line that is not a loop in turn: `next` from it comes to a loop, another one to the line behind."""
    for marker in sorted(places)[:-1]:
        gdb.execute("pin goto begin", to_string=True)
        gdb.execute(f"tbreak {places[marker]}", to_string=True)
        gdb.execute("continue", to_string=True)
        start = when()
        gdb.execute("next", to_string=True)
        got = run("next")
        while gdb.selected_frame().find_sal().line == places[marker] + 1:
            got = run("next")  # GDB's line table has a loop twice
        gdb.execute(f"pin goto {start}", to_string=True)
        gdb.execute(f"tbreak {places[marker + 1]}", to_string=True)
        compare(f"next over line {places[marker] + 1}", got, run("continue"))
        gdb.execute("delete", to_string=True)


def all_backwards(places):
    for marker in sorted(places)[1:]:
        gdb.execute(f"tbreak {places[marker]}", to_string=True)
        start = run("continue")
        backwards(marker, start)
        if "counted" in WHAT:
            counted(marker, start)


gdb.execute("handle SIGSEGV nostop noprint pass", to_string=True)
if "forwards" in WHAT:
    forwards(LINES)
if "backwards" in WHAT:
    all_backwards(LINES)
if "breaks" in WHAT:  # of another thread, in the middle of loops
    gdb.execute(f"break {LINES['TICKS']}", to_string=True)
    all_backwards({marker: LINES[marker] for marker in (7, 8)})
if "watch" in WHAT:  # written right before and behind loops
    gdb.execute("pin goto begin", to_string=True)
    for place in 2, 3:
        gdb.execute(f"tbreak {LINES[place]}", to_string=True)
        backwards(f"watched {place}", run("continue"), watched="sink")
if "conditions" in WHAT:  # a breakpoint in the middle of a loop
    gdb.execute("pin goto begin", to_string=True)
    gdb.execute(f"tbreak {LINES[0] + 1}", to_string=True)
    gdb.execute("continue", to_string=True)
    gdb.execute("stepi 7", to_string=True)
    inside = gdb.selected_frame().pc()
    gdb.execute(f"tbreak {LINES[1]}", to_string=True)
    behind = run("continue")
    for condition in "i == -1", "i == 3", "i % 2 == 0":
        gdb.execute(f"break *{inside:#x} if {condition}", to_string=True)
        backwards(f"if {condition}", behind)
        gdb.execute("delete", to_string=True)
print("DONE")
