#!/usr/bin/env python3
"""followed_test.py DRDEBUG PROGRAM - `ask values --follow` against GDB's `watch` on the same recording.

GDB's watch evaluates its expression anew, too, and stops behind the instruction that changed its value: each row that is
not `same` must be such a stop, at the same moment, with the same value, in the same order.

SPDX-License-Identifier: MIT
"""
import os
import re
import sys
import tempfile

from questions import Test

DRDEBUG, PROGRAM = sys.argv[1:]
GLOBAL = ["list->head->key", "table[at]", "*cursor", "list->length"]
LOCAL = ["here->next->key", "*step"]

SCRIPT = """
set pagination off
set confirm off
set print frame-arguments none
python
import gdb
def value(text):
    try:
        return gdb.execute("print " + text, to_string=True).split(" = ", 1)[1].strip()
    except gdb.error:
        return None
def watch(text, at):
    global over
    if at:
        gdb.execute("tbreak " + at)
        gdb.execute("continue")
    gdb.execute("watch " + text)
    begin = gdb.execute("pin when", to_string=True).split()[0]
    print("BEGIN", begin, value(text))
    over = False
    def stopped(event):
        global over
        over = not isinstance(event, gdb.BreakpointEvent)
    gdb.events.stop.connect(stopped)
    while True:
        over = True
        try:
            gdb.execute("continue", to_string=True)
        except gdb.error:
            break
        if over or not gdb.selected_inferior().pid or not gdb.breakpoints():
            break
        print("STOP", gdb.execute("pin when", to_string=True).split()[0], value(text))
watch(%r, %r)
end
"""


def watched(test, pinball, text, at):
    """The moment that GDB began at, the value there, and (moment, value) of every stop."""
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write(SCRIPT % (text, at))
        file.flush()
        said = test.run(DRDEBUG, "debug", pinball, "--", "-nx", "-iex", "set debug-file-directory", "-batch", "-x", file.name)
    begin = re.search(r"^BEGIN (\S+) (.*)$", said.stdout, re.M)
    test.check(begin, f"{text}: GDB did not begin: {said.stdout[-800:]}{said.stderr[-800:]}")
    return begin and begin.group(1), re.findall(r"^STOP (\S+) (.*)$", said.stdout, re.M)


def compare(test, pinball, text, at, words):
    begin, stops = watched(test, pinball, text, at)
    rows = test.ask(pinball, "values", text, *words, "--follow", "--after", begin)
    changes = [r for r in rows if not r["same"]]
    test.equal(len(changes), len(stops), f"{text}: changes, GDB's stops")
    for row, (moment, value) in zip(changes, stops):
        if not test.check((row["value"].startswith("<cannot") and value == "None") or row["value"] == value,
                          f"{text}: {row}: GDB has {value}"):
            break
        thread, count, pc = row["at"].split(":")
        t2, c2, pc2 = moment.split(":")
        after = int(pc2, 16) - int(pc, 16)
        # Behind the instruction; what the kernel wrote is seen where the call returns.
        test.check(t2 == thread and (count == c2 or row["by"]) and (0 < after < 16 or row["by"]), f"{text}: {row}: GDB stopped at {moment}")
        test.check(any(part in row["changed"] for part in re.findall(r"\w+", text)), f"{text}: {row}")
    return len(stops)


def by_hand(test, pinball):
    """What changed is named; a pointer that leads nowhere is said; a location that stays is as without --follow."""
    rows = test.ask(pinball, "values", "list->head->key", "--follow")
    test.equal({r["changed"] for r in rows}, {"list", "list->head", "list->head->key"}, "links")
    test.check(any("cannot access memory at 0x0" in r["value"] for r in rows), "no row tells of NULL")
    plain, followed = (test.ask(pinball, "values", "at", *more) for more in ((), ("--follow",)))
    for row in followed:
        test.equal(row.pop("changed"), "at", "changed")
    test.equal(followed, plain, "a variable that stays where it is")
    test.equal(test.ask(pinball, "values", "list->head->key", "--follow", "--limit", "4"), rows[:4], "--limit")
    mine = test.ask(pinball, "values", "mine->key", "at", "followed.c:61", "thread", "2", "--follow")
    test.equal(len([r for r in mine if r["at"].startswith("T2:") and r["place"]["function"] == "work"]), 13, "a thread's own")


def mistakes(test, pinball):
    for words, status, said in [(("values", "1+2"), 1, "constant"), (("values", "%rax"), 1, "register"), (("values", "list->"), 1, "name"),
                                (("values", "nosuch->x"), 1, "nosuch"), (("accesses", "list"), 2, "--follow"), (("values", "0x1000 8"), 1, "understood")]:
        done = test.run(DRDEBUG, "ask", pinball, *words, "--follow", status=status)
        test.check(said in done.stderr, f"{words}: {done.stderr}")


def pins(test, pinball):
    done = test.run(DRDEBUG, "debug", "--end", pinball, "--", "-nx", "-iex", "set debug-file-directory", "-batch", "-ex", "pin values *cursor --follow")
    for row in test.ask(pinball, "values", "*cursor", "--follow"):
        test.check(row["at"] in done.stdout, f"pin values --follow: {row}: {done.stdout}{done.stderr}")


def main():
    test = Test(DRDEBUG)
    pinball = os.path.join(test.work, "f.pinball")
    test.run(DRDEBUG, "record", "-q", "--chaos=7", "-o", pinball, "--", PROGRAM)
    stops = sum(compare(test, pinball, text, None, ()) for text in GLOBAL)
    stops += sum(compare(test, pinball, text, "walk", ("at", "walk")) for text in LOCAL)
    by_hand(test, pinball)
    mistakes(test, pinball)
    pins(test, pinball)
    print(f"{stops} changes are as GDB sees them")
    test.end()


main()
