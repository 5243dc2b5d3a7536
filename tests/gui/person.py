"""person.py - a person at the window: sees by AT-SPI, acts by keys and the mouse.

SPDX-License-Identifier: MIT

Runs on a screen of its own (display.sh). Nothing here knows the window's code: what is asked is what a program that reads the
screen aloud can ask, and what GDB itself answers at its prompt.
"""
import os
import re
import signal
import subprocess
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

PATIENCE_S = 60  # a machine may be busy; no test asserts a time
BLOCKED_MS = 1000  # of the main loop's own doing: a bench measures, this is to find a loop that waits for something
FEW = ("4", "2000")  # threads and visitors of the demo's program: enough to fail, and a slice of it takes a third of the time
POSITION = re.compile(r"T\d+:\d+:[0-9a-f]+")


def check(condition, words):
    if not condition:
        raise Failure(words)


class Failure(Exception):
    """What was expected did not come."""


def wait(what, condition, patience=PATIENCE_S):
    """The condition's first true result."""
    end = time.monotonic() + patience
    while True:
        begin = time.monotonic()
        try:
            found = condition()
        except GLib.Error:  # a widget that has just gone
            found = None
        if found:
            return found
        if time.monotonic() > end:
            raise Failure(f"{what}: did not come")
        # A look asks the window for each widget: most of the time is the window's own.
        time.sleep(min(max(0.03, 2 * (time.monotonic() - begin)), 0.5))


def walk(node, depth=0):
    """All widgets below one; what is not shown is left out."""
    yield node
    if depth > 40:
        return
    try:
        count = min(node.get_child_count(), 400)
    except GLib.Error:
        return
    for i in range(count):
        try:
            child = node.get_child_at_index(i)
            if child is not None and (depth < 2 or child.get_state_set().contains(Atspi.StateType.VISIBLE)):
                yield from walk(child, depth + 1)
        except GLib.Error:
            continue


class Window:
    """A running drdebug-gui."""

    made = []

    def __init__(self, program, *arguments, log="gui.log"):
        self.log, self.known, self.watch = log, {}, os.path.abspath(f"watch.{len(Window.made)}")
        Window.made.append(self)
        self.begun = time.monotonic()
        with open(log, "ab") as out:
            # A complaint of GTK ends the program: it is a defect.
            self.process = subprocess.Popen([program, *arguments], stdout=out, stderr=out,
                                            env=os.environ | {"G_DEBUG": "fatal-criticals", "DRDEBUG_GUI_WATCH": self.watch})
        self.root = wait("the window", self.find_root)
        number = wait("the window's number", lambda: subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)], capture_output=True, text=True,
            check=False).stdout.split())[-1]
        subprocess.run(["xdotool", "windowactivate", "--sync", number, "windowmove", number, "0", "0", "windowsize", number,
                        "1280", "800"], check=False, stderr=subprocess.DEVNULL)
        self.number = number
        self.there = time.monotonic()

    def watched(self, what, since):
        """What it wrote down of itself (gui/view/watchdog.h): (ms, when it began) for each."""
        if not os.path.exists(self.watch):
            return []
        with open(self.watch, encoding="ascii") as file:
            lines = [line.split() for line in file if line.endswith("\n")]
        return [(float(ms), float(at) / 1000) for kind, ms, at in lines if kind == what and float(at) >= 1000 * since]

    def blocks(self):
        """How long the main loop was busy without a break, in ms, once the window was there."""
        return [ms for ms, _ in self.watched("busy", self.there)]

    def find_root(self):
        self.check_alive()
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            app = desktop.get_child_at_index(i)
            if app and app.get_process_id() == self.process.pid and app.get_child_count():
                return app
        return None

    def check_alive(self):
        if self.process.poll() is not None:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                raise Failure(f"the window has ended, status {self.process.returncode}:\n{log.read()[-2000:]}")

    def close(self):
        """As a person does; whatever it started must end, too."""
        subprocess.run(["xdotool", "windowactivate", "--sync", self.number], check=False, stderr=subprocess.DEVNULL)
        self.key("alt+F4")
        wait("the window's end", lambda: self.process.poll() is not None)

    # -- seeing --

    def kept(self, key, find):
        """A widget that is there as long as the window: looking for one takes a question to each widget."""
        if key not in self.known:
            self.known[key] = wait(key, find)
        return self.known[key]

    def all(self, role=None, name=None, below=None):
        """Widgets by role, and by name: a text or a pattern."""
        self.check_alive()
        for node in walk(below or self.root):
            try:
                if role and node.get_role_name() != role:
                    continue
                own = node.get_name()
                if name is None or (name.search(own) if isinstance(name, re.Pattern) else own == name):
                    yield node
            except GLib.Error:
                continue

    def find(self, role=None, name=None, below=None, patience=PATIENCE_S):
        return wait(f"{role} {name}", lambda: next(self.all(role, name, below), None), patience)

    def names(self, role=None, below=None):
        return [node.get_name() for node in self.all(role, None, below)]

    def status(self):
        """What the status bar says."""
        self.check_alive()
        return self.kept("status", lambda: next(self.all("status bar"), None)).get_name()

    def await_status(self, pattern):
        return wait(f"status {pattern} (it is {self.status()!r})", lambda: re.search(pattern, self.status()))

    def position(self):
        """The one that the status bar shows."""
        self.check_alive()
        return self.kept("position", lambda: next(self.all("push button", POSITION), None)).get_name()

    def text_of(self, node):
        return Atspi.Text.get_text(node, 0, Atspi.Text.get_character_count(node))

    def scale(self):
        return self.find("slider", "Time in ticks")

    # -- acting --

    def key(self, *keys):
        self.check_alive()
        subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)

    def close_dialogs(self):
        """Those with a title, wherever the keyboard is."""
        for _ in range(5):
            titled = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid), "--name", "."],
                                    capture_output=True, text=True, check=False).stdout.split()
            others = [number for number in titled if number != self.number]
            for number in others:
                subprocess.run(["xdotool", "windowactivate", number, "sleep", "0.2", "key", "--clearmodifiers", "Escape"],
                               check=False, stderr=subprocess.DEVNULL)
            if not others:
                return
            time.sleep(0.2)

    def await_keyboard(self, dialog=False):
        """Where it is follows what is on the screen a moment later."""
        def where():
            return subprocess.run(["xdotool", "getwindowfocus"], capture_output=True, text=True, check=False).stdout.strip()
        wait("the keyboard in " + ("a dialog" if dialog else "the window"), lambda: where() and (where() != self.number) == dialog)

    def type(self, text):
        subprocess.run(["xdotool", "type", "--delay", "4", text], check=True)

    def centre(self, node):
        """Once it has its place: what was just shown has none yet."""
        def box():
            found = node.get_extents(Atspi.CoordType.WINDOW)
            return found.x, found.y, found.width, found.height

        def settled():
            first = box()
            time.sleep(0.1)
            return first if first == box() and min(first) >= 0 and min(first[2:]) > 0 else None

        x, y, width, height = wait(f"the place of {node.get_name()}", settled)
        return x + width // 2, y + height // 2

    def click(self, node, button=1):
        x, y = self.centre(node)
        self.point(x, y)
        subprocess.run(["xdotool", "click", str(button)], check=True)
        time.sleep(0.05)

    def point(self, x, y):
        """GTK learns of a click where the pointer is only if it has seen the pointer come."""
        subprocess.run(["xdotool", "mousemove", "--sync", str(x - 2), str(y), "mousemove", "--sync", str(x), str(y)], check=False)
        time.sleep(0.1)

    def press(self, name, role="push button"):
        """A button, by its action."""
        node = self.find(role, name)
        Atspi.Action.do_action(node, 0)

    def show_pane(self, title):
        tab = self.find("page tab", title)
        self.click(tab)
        return wait(f"pane {title}", lambda: next(
            (n for n in self.all(None, title) if n.get_role_name() not in ("page tab", "label")), None))

    # -- GDB itself --

    def gdb(self, command, pattern=""):
        """What GDB answers at its own prompt, as soon as that has the pattern."""
        entry = self.kept("entry", lambda: next(self.all("text", "GDB command"), None))
        said = self.kept("said", lambda: next(self.all("text", "What GDB says"), None))
        self.click(self.kept("tab", lambda: next(self.all("page tab", "GDB"), None)))
        self.click(entry)
        self.type(command)
        marker = f"(gdb) {command}\n"
        before = self.text_of(said).count(marker)
        self.key("Return")

        def answer():
            text = self.text_of(said)
            said_now = text.rpartition(marker)[2]
            return [said_now] if text.count(marker) > before and re.search(pattern, said_now) else None

        return wait(f"GDB's answer to {command}", answer)[0]

    def when(self):
        """GDB's own position."""
        return POSITION.search(self.gdb("pin when", POSITION))[0]

    def children(self):
        """Processes below the window, as the kernel lists them: (pid, name)."""
        found, todo = [], [self.process.pid]
        while todo:
            pid = todo.pop()
            listed = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(pid)], capture_output=True, text=True,
                                    check=False).stdout
            for line in listed.splitlines():
                number, name = line.split(None, 1)
                found.append((int(number), name))
                todo.append(int(number))
        return found


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Session:
    """One window that several cases use."""

    def __init__(self, gui, drdebug):
        self.gui, self.drdebug = gui, drdebug
        self.window = None

    def check_position(self):
        """What the status bar says is what GDB says."""
        said = self.window.when()
        wait(f"the position {said} in the status bar (it is {self.window.position()})", lambda: self.window.position() == said, 10)
        return said

    def close(self):
        self.window.close()
        self.window = None


# GTK 4.8 says this of a scrollbar of its own, when a list grows while it is being drawn, and of a text that is measured on while
# it is; the next frame is right.
OWN = re.compile(r"Gtk-WARNING .*: Trying to snapshot (GtkGizmo|GtkSourceView) 0x[0-9a-f]+ without a current allocation$")


def complaints():
    """What GTK has complained of, in all windows."""
    if not os.path.exists("gui.log"):
        return []
    with open("gui.log", encoding="utf-8", errors="replace") as log:
        return [line.rstrip() for line in log if ("WARNING" in line or "CRITICAL" in line) and not OWN.search(line.rstrip())]


def play(cases, session):
    """Plays the cases; the first that fails is the last. The status to end with."""
    failed = False
    for case in cases:
        begin = time.monotonic()
        try:
            try:
                case(session)
            except GLib.Error:  # a widget that was asked has gone, with the window or alone
                if session.window:
                    session.window.check_alive()
                raise
            print(f"ok {case.__name__} {time.monotonic() - begin:.1f} s", flush=True)
        except (Failure, GLib.Error) as error:
            print(f"FAILED {case.__name__}: {error}", flush=True)
            if os.environ.get("DRDEBUG_SCREENSHOT"):
                subprocess.run(["import", "-window", "root", os.environ["DRDEBUG_SCREENSHOT"]], check=False)
            failed = True
            break
    if session.window:
        session.window.process.kill()
        session.window.process.wait()
    for line in complaints():
        print(f"FAILED: GTK complains: {line}")
        failed = True
    blocked = max((ms for window in Window.made for ms in window.blocks()), default=0)
    print(f"the main loop was busy for {blocked:.0f} ms at most", flush=True)
    if blocked > BLOCKED_MS:
        print(f"FAILED: the main loop was blocked for {blocked:.0f} ms")
        failed = True
    return int(failed)
