#!/usr/bin/env python3
"""window_test.py GUI DRDEBUG SUBJECT CASE... - the window on a recording of a race, used as a person would.

SPDX-License-Identifier: MIT

SUBJECT is the program of ./dev demo: threads lose updates, and an assertion fails. Each case looks at the widgets and asks GDB
itself, at its prompt, whether they tell the truth. Cases follow each other in one window, but for those that open another.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import person
from person import POSITION, check, wait


class Session(person.Session):
    """One window, and what the cases know about the recording."""

    def __init__(self, gui, drdebug, recording):
        super().__init__(gui, drdebug)
        self.recording = recording

    def open(self, *arguments):
        if self.window is None:
            self.window = person.Window(self.gui, *(arguments or (self.recording,)))
        return self.window


def opens_at_main(s):
    w = s.open()
    w.await_status(r"^T1 in main \(\) at racy_counter\.c:\d+")
    check("race.pinball" in " ".join(w.names("label")), "the title does not name the recording")
    s.check_position()


def steps_in_both_directions(s):
    w = s.window
    begin, status = s.check_position(), w.status()
    line = re.search(r":(\d+)", status)[1]
    w.key("F10")
    w.await_status(rf"main \(\) at racy_counter\.c:(?!{line}\b)")
    check(s.check_position() != begin, "a step went nowhere")
    w.key("ctrl+shift+F10")
    w.await_status(rf"main \(\) at racy_counter\.c:{line}\b")
    check(s.check_position() == begin, "a step and the step back do not lead to the same place")


def chooses_from_the_menu_of_a_variable(s):
    """Its row goes with the next step; the menu must not."""
    w = s.window

    def menu():
        w.click(w.find("table row", re.compile(r"^threads \d+ int")), 3)
        w.find("menu item", "Watch")

    menu()
    w.key(*["Down"] * 4, "Return")
    w.find("table row", re.compile(r"^threads \d+$"))
    menu()
    w.key("Escape")
    wait("the menu goes", lambda: not list(w.all("menu item", "Watch")))
    def dismissed():
        """The words go by themselves, too."""
        w.key("ctrl+t")  # not about that row any more
        w.find("label", "Put the cursor on a variable first", patience=5)
        button = next(w.all("push button", "Dismiss"), None)
        return button and person.Atspi.Action.do_action(button, 0)

    wait("words that can be dismissed", dismissed)
    wait("the words go", lambda: not list(w.all("label", "Put the cursor on a variable first")))


def asks_of_the_row_that_has_the_focus(s):
    """By a key, as of a name in the source."""
    w = s.window
    s.check_position()  # whatever came before is over
    w.click(w.find("table row", re.compile(r"^threads \d+ int")))
    w.key("ctrl+shift+l")
    w.find("table row", re.compile(r"^T1:\d+:[0-9a-f]+ racy_counter\.c:\d+ 4"))


def go_to_line(w, line):
    w.key("ctrl+g")
    entry = w.find("text", "Go to Line or Function")
    w.click(entry)
    w.type(f"{line}")
    w.key("Return")
    wait("the question goes", lambda: not list(w.all("text", "Go to Line or Function")))


def root_cause(s):
    return next(n for n, text in enumerate(open(s.source, encoding="utf-8"), 1) if "ROOT CAUSE" in text)


def runs_to_a_line(s):
    """By a breakpoint that is gone then: GDB has none, and none is shown."""
    w, line = s.window, root_cause(s)
    go_to_line(w, line)
    w.key("F7")
    w.await_status(rf"^T\d+ in door \(\) at racy_counter\.c:{line}\b")
    w.gdb("info breakpoints", "No breakpoints")
    wait("the breakpoint goes", lambda: not list(w.all("table row", re.compile(r"^\d+ on door"))))
    w.key("ctrl+F5")
    w.await_status(r"^T1 in main \(\)")


def stops_at_a_breakpoint(s):
    w, line = s.window, root_cause(s)
    go_to_line(w, line)
    w.key("F9")
    w.find("table row", re.compile(rf"on door \(\) at racy_counter\.c:{line}"))
    w.key("F5")
    w.await_status(rf"^T\d+ in door \(\) at racy_counter\.c:{line}, breakpoint.*line {line}: breakpoint, executed next")
    s.check_position()
    w.find("table row", re.compile(r"^seen \d+ long"))
    w.key("ctrl+shift+F5")
    wait("the begin", lambda: "main" not in w.status() and w.position() != "")
    w.key("ctrl+F5")
    w.await_status(r"^T1 in main \(\)")
    w.key("F5")
    w.await_status(r"in door \(\)")
    w.gdb("delete")
    wait("the breakpoint goes", lambda: not list(w.all("table row", re.compile(r"on door"))))


def goes_to_the_failure_and_says_why(s):
    w = s.window
    w.key("ctrl+End")
    w.await_status(r"^T1 in main \(\) at racy_counter\.c:\d+, SIGABRT")  # the frame with source is looked at
    s.check_position()
    w.key("ctrl+shift+w")
    why = w.find("table row", re.compile(r"^\d+ T\d+ racy_counter\.c:\d+ total = seen \+ 1"))
    check(why is not None, "the story does not have the line that computed total")
    check(any("lost update" in name for name in w.names("label")), "the finding is not told")


def activates_a_dependence_in_another_thread(s):
    w = s.window
    counted = re.search(r"= (\d+)", w.gdb("print total", r"= \d+"))[1]
    w.key("ctrl+plus")  # of the line with the cursor: the assertion
    button = w.find("push button", re.compile(rf"^Activate T[2-9] racy_counter\.c:\d+, total = {counted}\b"))
    thread = re.search(r"T(\d+)", button.get_name())[1]
    w.click(button)
    w.await_status(rf"^T{thread} in door \(\)")
    check(s.check_position().startswith(f"T{thread}:"), "GDB is in another thread")


def shows_executions_of_a_function(s):
    w = s.window
    w.key("ctrl+alt+x")  # of the one that is looked at
    row = w.find("table row", re.compile(r"^T[2-9]:\d+:[0-9a-f]+ door arg="))
    moment = POSITION.search(row.get_name())[0]
    w.click(row)
    wait(f"the moment {moment} (it is {w.position()})", lambda: w.position() == moment)
    w.await_status(r"in door \(\)")
    s.check_position()


def walks_through_the_slice(s):
    w = s.window
    places = [w.position()]
    for key in ("ctrl+shift+F4", "ctrl+shift+F4", "F4"):
        w.key(key)
        wait(f"a statement of the slice by {key}", lambda: w.position() not in ("", places[-1]))
        places.append(s.check_position())
    check(places[3] == places[1], f"back and forth lead to different places: {places}")


def moves_with_the_timeline(s):
    w = s.window
    scale = w.scale()
    before = w.position()
    box = scale.get_extents(person.Atspi.CoordType.WINDOW)
    value, most = scale.get_current_value(), scale.get_maximum_value()
    knob = box.x + 6 + (box.width - 12) * value / most
    w.point(int(knob) + 5, box.y + box.height // 2 + 3)
    subprocess.run(["xdotool", "mousedown", "1"], check=True)
    for part in (0.8, 0.6, 0.5, 0.4):
        subprocess.run(["xdotool", "mousemove", str(int(box.x + box.width * part)), str(box.y + box.height // 2 + 3)], check=True)
        time.sleep(0.05)
    subprocess.run(["xdotool", "mouseup", "1"], check=True)
    wait("another place", lambda: w.position() not in ("", before))
    s.check_position()
    ticks = int(re.search(r"all threads: ([\d,]+) ticks", w.gdb("pin when", "all threads: .* ticks"))[1].replace(",", ""))
    check(abs(ticks - scale.get_current_value()) < most / 1000, f"the cursor is at {scale.get_current_value()}, GDB at {ticks}")
    check(0.2 < ticks / most < 0.6, f"dragged to the middle, but it is at {ticks} of {most}")


def output_leads_to_its_moment(s):
    w = s.window
    w.show_pane("Output")
    row = w.find("table row", re.compile(r"^counted \d+ of"))
    moment = POSITION.search(row.get_name())[0]
    w.click(row)
    wait(f"the moment {moment} (it is {w.position()})", lambda: w.position() == moment)
    check(s.check_position() == moment, "GDB is elsewhere")


def survives_the_death_of_gdb(s):
    w = s.window
    before = s.check_position()
    gdb = next(pid for pid, name in w.children() if name.strip() == "gdb")
    person.kill(gdb)
    w.await_status("GDB has ended")
    w.click(w.find("push button", "Start Again"))
    w.await_status(r"^T\d+ in ")
    wait("the same place", lambda: w.position() == before)
    check(s.check_position() == before, "it is elsewhere")


def leaves_no_process(s):
    w = s.window
    below = [pid for pid, _ in w.children()]
    check(below, "there was no GDB")
    w.close()
    s.window = None
    wait("the end of all processes", lambda: not any(person.is_alive(pid) for pid in below))


def refuses_a_damaged_recording(s):
    with tempfile.TemporaryDirectory() as room:
        bad = os.path.join(room, "bad.pinball")
        os.mkdir(bad)
        with open(os.path.join(bad, "head"), "wb") as file:
            file.write(b"\x00<b>nonsense\x1b[31m")
        w = s.open(bad)
        w.find(None, re.compile(r"bad\.pinball"))
        w.press("OK")
        w.find("push button", "Open a Recording …")
        w.close()
        s.window = None


KEYS = ["F5", "F6", "F7", "F8", "F10", "shift+F8", "shift+F10", "ctrl+shift+F5", "ctrl+shift+F6", "ctrl+shift+F7",
        "ctrl+shift+F8", "ctrl+shift+F10", "F9", "shift+F9", "ctrl+F9", "ctrl+F5", "ctrl+End", "F4", "ctrl+shift+F4", "ctrl+w",
        "ctrl+e", "ctrl+l", "ctrl+t", "ctrl+plus", "ctrl+f", "Escape", "Tab", "Return", "Down", "Up", "Page_Down", "alt+Left",
        "alt+Right", "ctrl+equal", "ctrl+minus", "ctrl+alt+d", "Pause"]


def check_what_is_shown(s):
    """Dialogs and popovers are closed, what runs is interrupted; then the window says what GDB says."""
    w = s.window
    w.close_dialogs()
    for _ in range(3):
        w.key("Escape")
    for _ in range(20):
        if re.search(r"^(T\d+ in|0x|GDB has ended)", w.status()) and w.position():
            break
        w.key("Pause")
        time.sleep(0.5)
    said = s.check_position()
    frame = w.gdb("pin when", POSITION)
    shown = re.search(r"^(T\d+) in (\S+)", w.status())
    check(shown is None or said.startswith(shown[1] + ":") or "#" in frame, f"the status bar says {w.status()!r}, GDB {said}")
    listed = w.gdb("python gdb.execute('info breakpoints'); print('all told')", "all told\n")  # it comes line by line
    numbers = set(re.findall(r"^(\d+) ", listed, re.M))
    w.show_pane("Breakpoints")

    def rows():
        return {m[1] for m in (re.search(r"^(\d+) (on|off)\b", name) for name in w.names("table row")) if m}

    try:
        wait("all of them", lambda: rows() <= numbers and (rows() == numbers or len(numbers) > 4))
    except person.Failure as error:
        raise person.Failure(f"the breakpoints are {sorted(numbers)}, shown are {sorted(rows())}") from error


def random_clicks_and_keys(s):
    seed = int(os.environ.get("DRDEBUG_SEED", random.SystemRandom().randrange(1 << 32)))
    rounds = 20000 if os.environ.get("DRDEBUG_SOAK") else 200
    print(f"seed {seed}", flush=True)
    choose = random.Random(seed)
    w = s.open()
    w.await_status(r"in main")
    for event in range(1, rounds + 1):
        w.check_alive()
        if choose.random() < 0.6:
            w.key(choose.choice(KEYS))
        else:
            x, y = choose.randrange(10, 1270), choose.randrange(90, 790)  # not the window's own buttons
            subprocess.run(["xdotool", "mousemove", str(x), str(y), "click", choose.choice("111113")], check=True)
        time.sleep(0.02)
        if event % 100 == 0:
            check_what_is_shown(s)
    below = [pid for pid, _ in w.children()]
    s.close()
    wait("the end of all processes", lambda: not any(person.is_alive(pid) for pid in below))


CASES = [opens_at_main, steps_in_both_directions, chooses_from_the_menu_of_a_variable, asks_of_the_row_that_has_the_focus, runs_to_a_line,
         stops_at_a_breakpoint, goes_to_the_failure_and_says_why, activates_a_dependence_in_another_thread,
         shows_executions_of_a_function, walks_through_the_slice, moves_with_the_timeline, output_leads_to_its_moment, survives_the_death_of_gdb,
         leaves_no_process, refuses_a_damaged_recording]


def record(drdebug, subject, room):
    path = os.path.join(room, "race.pinball")
    done = subprocess.run([drdebug, "record", "-q", "--chaos", "--keep", "failed", "--retry", "120s", "-o", path, "--", subject],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    check(os.path.isdir(path), f"no failure was recorded: {done.stderr}")
    return path


def main():
    gui, drdebug, subject, source, *wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        session = Session(gui, drdebug, record(drdebug, subject, room))
        session.source = source
        sys.exit(person.play([random_clicks_and_keys] if wanted == ["random"] else CASES, session))


main()
