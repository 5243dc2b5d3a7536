#!/usr/bin/env python3
"""programs_test.py GUI DRDEBUG SUBJECT SOURCE - programs that are started in the window, used as a person would.

SPDX-License-Identifier: MIT

SUBJECT is the program of ./dev demo. Each case looks at the widgets and asks GDB itself, at its prompt, or drdebug.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import person
from person import check, wait


def info(s, recording):
    done = subprocess.run([s.drdebug, "info", "--json", "--", recording], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"drdebug info {recording}: {done.stderr}")
    return json.loads(done.stdout)


def value(w, expression):
    return re.search(r"= (.*)", w.gdb(f"print {expression}", r"\$\d+ = "))[1]


def fill(w, *texts):
    """The entries of a dialog, by the keys alone: the first has the focus."""
    for text in texts:
        time.sleep(0.2)
        w.key("ctrl+a")
        w.type(text)
        w.key("Tab")


def choose_next(w, steps=1):
    """Of a list that has the focus; the focus goes on."""
    for keys in (["space"], ["Down"] * steps, ["Return"], ["Tab"]):
        w.key(*keys)
        time.sleep(0.3)


def starts_a_program_at_main(s):
    s.window = w = person.Window(s.gui, "--", s.subject)
    w.await_status(r"^T1 in main \(\) at racy_counter\.c:\d+")
    s.check_position()
    check("alive" in w.gdb("pin when", "alive"), "GDB does not say that the program is there")


def changes_a_value_goes_back_and_on(s):
    w = s.window
    w.key("F10", "F10")
    w.await_status(r"main \(\) at racy_counter\.c:4[2-9]")
    w.gdb("print visitors", r"= 5000")
    w.gdb("tbreak 48", "breakpoint")
    w.key("F5")
    w.await_status(r"main \(\) at racy_counter\.c:48")
    w.click(w.find("page tab", "Locals"))
    w.click(w.find("table row", re.compile("^threads 4")))
    w.key("F2")
    entry = w.find("text", re.compile("New Value of threads"))
    wait("the value that it has", lambda: w.text_of(entry) == "4")
    w.key("ctrl+a")
    w.type("2")
    w.key("Return")
    w.find("table row", re.compile("^threads 2"))
    check(value(w, "threads") == "2", "GDB has another value")
    w.key("ctrl+shift+F10")
    w.await_status("in the past")
    check(value(w, "threads") == "4", "the past has the new value")
    w.key("F5")
    wait("the present", lambda: "in the past" not in w.status() and w.position())
    check(value(w, "threads") == "2", "the present has the old value")


def records_a_region(s):
    """What was recorded until now is a recording with a window of its own; the program is there, and is recorded again."""
    w = s.window
    if "none" in w.gdb("python print('there' if gdb.execute('complete pin rec', to_string=True) else 'none')", "there|none"):
        print("skipped: this drdebug has no `pin record`", flush=True)
        return
    first = next(glob.iglob("racy_counter*.pinball"))
    w.press("Record")
    w.find("push button", "Record from Here")
    wait("a recording that is whole", lambda: subprocess.run([s.drdebug, "replay", "-q", first], capture_output=True,
                                                             check=False).returncode == 0)
    other = wait("its window", lambda: next((pid for pid, name in w.children() if name.strip() == "drdebug-gui"), None))
    person.kill(other)
    w.press("Record from Here")
    w.find("push button", "Stop and Open")
    w.key("F10")
    wait("another place", lambda: w.position())
    check(value(w, "threads") == "2", "the program has gone")


def opens_the_recording_when_the_program_ends(s):
    w = s.window
    w.gdb("delete")
    for _ in range(3):  # perhaps it stops at a signal; it stops at its end; then it is gone
        w.key("F5")
        end = wait("a stop", lambda: re.search(r"SIGABRT|the end of the recording|^T1 in main .*:39\b", w.status()))[0]
        if end.startswith("T1"):
            break
        before = w.position()
        w.key("F5")
        wait("another stop", lambda: w.position() != before or w.status() != end)
        time.sleep(1)
    wait("the recording", lambda: any(re.search("racy_counter — (?!live)", name) for name in w.names("label")))
    w.await_status(r"^T1 in main \(\)")
    s.check_position()
    below = [pid for pid, _ in w.children()]
    s.close()
    wait("the end of all processes", lambda: not any(person.is_alive(pid) for pid in below))
    recording = max(glob.glob("racy_counter*.pinball"), key=os.path.getmtime)
    check(info(s, recording)["threads"] == 3, "the changed value did not make two threads")


ASKER = r"""#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char *argv[])
{
    char place[200], word[40];
    printf("at %s of %s with %s\n", getcwd(place, sizeof place), getenv("MOOD"), argv[argc - 1]);
    if (scanf("%39s", word) == 1)
        printf("read %s\n", word);
    return 0;
}
"""


def has_folder_environment_and_terminal(s):
    """What is typed into the pane Terminal is the program's input."""
    os.mkdir("a room")
    with open("a room/asker.c", "w", encoding="utf-8") as file:
        file.write(ASKER)
    subprocess.run(["gcc", "-g", "a room/asker.c", "-o", "a room/asker"], check=True)
    s.window = w = person.Window(s.gui)
    w.press("Open a Program …")
    w.find("text", "Environment")
    fill(w, "./asker 'two words'", os.path.abspath("a room"), "MOOD='very good'")
    w.press("Debug It Live")
    w.await_status(r"^T1 in main \(\) at asker\.c")
    x, y = w.centre(w.find("page tab", "Terminal"))
    for below in (0, 90):  # the tab, then the terminal
        w.point(x, y + below)
        subprocess.run(["xdotool", "click", "1"], check=True)
    w.key("F5")
    w.await_status("Running")
    w.type("42\n")
    w.await_status("the end of the recording")
    w.key("F5")
    wait("the recording", lambda: any(re.search("asker — (?!live)", name) for name in w.names("label")))
    said = subprocess.run([s.drdebug, "ask", "a room/asker.pinball", "output", "--json"], capture_output=True, text=True,
                          check=False).stdout
    for words in (f"at {os.path.abspath('a room')} of very good with two words", "read 42"):
        check(words in said, f"the program did not write {words!r}, but {said}")
    s.close()


def stops_a_search(s):
    """By one strategy; it ends with all its processes."""
    s.window = w = person.Window(s.gui)
    w.key("ctrl+b")
    w.find("text", "Runs at most")
    fill(w, "/bin/true")
    choose_next(w)
    fill(w, "1000000")
    w.press("Search")
    w.find("push button", "Stop")
    search = wait("the search", lambda: next((pid for pid, name in w.children() if name.strip() == "drdebug"), None))
    with open(f"/proc/{search}/cmdline", encoding="utf-8") as file:
        words = file.read().split("\0")
    check("--strategy" in words and words[words.index("--runs") + 1] == "1000000", f"the search is {words}")
    below = [pid for pid, _ in w.children()]
    w.press("Stop")
    w.find("label", "The search was stopped.")
    wait("the end of the search", lambda: not any(person.is_alive(pid) for pid in below))
    w.key("Escape")
    w.await_keyboard()
    s.close()


def brightness():
    shown = subprocess.run(["import", "-window", "root", "-resize", "1x1!", "-colorspace", "gray", "txt:-"], capture_output=True,
                           text=True, check=True).stdout
    return float(re.search(r"gray\((\d+(?:\.\d+)?)", shown)[1])


def settings_take_effect(s):
    s.window = w = person.Window(s.gui)
    light = brightness()
    w.key("ctrl+comma")
    w.find("text", "Sources")
    fill(w, "", "/no/where=/some/where", "")
    choose_next(w, 2)
    fill(w, "next=F11")
    w.press("Apply")
    wait("a dark window", lambda: brightness() < light / 2)
    s.close()
    s.window = w = person.Window(s.gui, "--", s.subject)
    w.await_status(r"^T1 in main \(\) at racy_counter\.c:\d+")
    check(brightness() < light / 2, "the next window is not dark")
    w.gdb("show substitute-path", "`/no/where' -> `/some/where'")
    before = w.position()
    w.key("F11")
    wait("a step by F11", lambda: w.position() not in ("", before))
    w.await_status(r"^T1 in main")
    s.close()


def records_with_the_button(s):
    s.window = w = person.Window(s.gui)
    w.press("Open a Program …")
    w.find("text", "Environment")
    fill(w, " ".join([s.subject, *person.FEW]), os.getcwd(), "VISITOR='of the museum'")
    box = w.find("check box", re.compile("until a run fails"))
    w.key("space")
    wait("a cross in the box", lambda: box.get_state_set().contains(person.Atspi.StateType.CHECKED))
    w.press("Record It")
    w.await_status(r"^T1 in main \(\) at racy_counter\.c")
    w.find("push button", "Go to Failure")
    s.check_position()
    made = max(glob.glob("racy_counter*.pinball"), key=os.path.getmtime)
    check(info(s, made)["reason"] in ("signal", "fatal"), "the recording is not of a failure")


def makes_and_opens_a_recording_of_the_slice(s):
    w = s.window
    w.press("Go to Failure")
    w.await_status("SIGABRT")
    w.key("ctrl+shift+w")
    w.find("table row", re.compile(r"total = seen \+ 1"))
    w.key("ctrl+alt+e")
    w.find("label", re.compile(r"\.slice\.pinball"))
    w.await_status(r"^T1 in main \(\) at racy_counter\.c")
    begin = s.check_position()
    w.key("F10")
    wait("the next statement", lambda: w.position() not in ("", begin))
    s.check_position()
    s.close()


def finds_a_bug_and_opens_it(s):
    s.window = w = person.Window(s.gui)
    w.key("ctrl+b")
    w.find("text", "Runs at most")
    fill(w, f"{s.subject} 2 40")
    w.press("Search")
    w.await_status(r"^T1 in main \(\) at racy_counter\.c")
    s.check_position()
    made = glob.glob("racy_counter.maple*.pinball")
    check(len(made) == 1, f"made: {made}")
    check(info(s, made[0])["reason"] in ("signal", "fatal"), "what was found is not a failure")
    s.close()


def guides_through_the_sample(s):
    s.window = w = person.Window(s.gui)
    w.press("Try the Sample Bug")
    for step, button in ((1, "Go to Failure"), (2, "Why Did It Fail?"), (3, "Show Me")):
        w.find("label", re.compile(f"^Step {step} of 3"))
        w.await_status(r"^T1 in main \(\)")
        w.press(button)
    w.find("label", re.compile("^That is the bug"))
    w.await_status(r"^T[2-9] in door \(\) at racy_counter\.c:3[0-2]\b.*executed [\d,]+ times")
    s.check_position()
    w.key("plus")
    w.find(None, "Instructions of the line")
    rows = wait("the instructions", lambda: [n for n in w.names("label") if re.match(r"(add|mov)\s", n)])
    address = int(person.POSITION.search(w.when())[0].rpartition(":")[2], 16)
    check(any(f"▶ {address:#x}" in name for name in w.names("label")), f"{address:#x} is not marked among {rows}")
    s.close()


CASES = [starts_a_program_at_main, changes_a_value_goes_back_and_on, records_a_region,
         opens_the_recording_when_the_program_ends, has_folder_environment_and_terminal, stops_a_search,
         records_with_the_button, makes_and_opens_a_recording_of_the_slice,
         finds_a_bug_and_opens_it, guides_through_the_sample, settings_take_effect]  # what they set stays: they come last


def main():
    gui, drdebug, subject, source = map(os.path.abspath, sys.argv[1:5])
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        session = person.Session(gui, drdebug)
        session.subject, session.source = subject, source
        wanted = [case for case in CASES if not sys.argv[5:] or case.__name__ in sys.argv[5:]]
        sys.exit(person.play(wanted, session))


main()
