#!/usr/bin/env python3
"""kdbg_test.py --drdebug PROG --bin DIR FORM - what KDbg says, and reads out of the answers, on a recording and on a living program.

SPDX-License-Identifier: MIT

A row is a command, what reads the answer (kdbg.py), and what it must have read: a value, or a function of it. Rows that two forms share are
written once. In the forms `remote` GDB is the user's own, and drdebug the target alone.
"""
import argparse
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time

import kdbg
from stub_client import SKIP, Failed, Recordings, markers

LINE = {name.replace(" ", "_"): int(line) for name, line in markers("calls").items()}
ANY = None


def no(text):
    """An answer that is shown as an error if there is one."""
    return text.strip()


def stop(text):
    """Where it stands, by file and line; if the program has ended, how."""
    is_active, message = kdbg.active(text)
    if not is_active:
        return message
    place = kdbg.marker(text)
    return place[:2] if place else text


def at(name, more=0):
    return ("calls.c", LINE[name] + more)


def in_main(found):
    return found and found[0]["function"] == "main" and found[0]["file"] == "calls.c" and found[0]["line"] > 0


def whole(text):
    return text


SETTINGS = [
    ("set args ", no, ""), ("set env DRDEBUG_ROW some words", no, ""), ("unset env DRDEBUG_ROW", no, ""), ("cd {work}", ANY, ANY),
    ("set disassembly-flavor att", no, ""),
    ("info breakpoints", kdbg.breakpoints, lambda found: all(one["temporary"] for one in found.values())),
]
BREAKPOINTS = [
    ("break calls.c:{ADDS}", kdbg.new_breakpoint, lambda new: new[1] == LINE["ADDS"]),
    ("break factorial", kdbg.new_breakpoint, lambda new: new[1] > 0),
    ("tbreak calls.c:{LOOP_BODY}", kdbg.new_breakpoint, lambda new: new[1] == LINE["LOOP_BODY"]),
    ("condition {ADDS_ID} i == 7", ANY, ANY), ("disable {FACTORIAL_ID}", no, ""),
    ("info breakpoints", kdbg.breakpoints, lambda found: found[IDS["ADDS_ID"]]["condition"].startswith("i == 7") and not found[IDS["FACTORIAL_ID"]]["enabled"]),
    ("enable {FACTORIAL_ID}", no, ""), ("ignore {FACTORIAL_ID} 3", ANY, ANY),
    ("info breakpoints", kdbg.breakpoints, lambda found: found[IDS["FACTORIAL_ID"]]["ignore"] == 3 and found[IDS["FACTORIAL_ID"]]["enabled"]),
]
# After each stop it asks for all that its windows show.
WINDOWS = [
    ("info sharedlibrary", kdbg.libraries, lambda found: any("libc" in one for one in found)),
    ("bt", kdbg.frames, in_main),
    ("info threads", kdbg.threads, lambda found: [one["selected"] for one in found] == [True] and found[0]["function"] == "main"),
    ("kdbg__alllocals", kdbg.values, lambda found: {"total", "argc", "argv"} <= set(found)),
    ("info all-registers", kdbg.registers, lambda found: {"rip", "rsp", "eflags", "st0"} <= set(found) and any(name.endswith("mm0") for name in found)),
    ("x /64xw &table", kdbg.dump, lambda found: len(found) == 16),
    ("x /16i $pc", kdbg.dump, lambda found: len(found) == 16),
    ("print item", kdbg.value, lambda found: found["key"] == "7" and found["weight"] == "2.5" and found["name"].startswith('"seven')),
    ("print table", kdbg.value, lambda found: len(found) == 8 or "<repeats" in str(found)),
    ("print word", kdbg.value, lambda found: '"first"' in found),
    ("print *(&item)", kdbg.value, lambda found: found["key"] == "7"),
    ("whatis item", kdbg.kind, "struct item"),
    ("print nosuch", no, 'No symbol "nosuch" in current context.'),
]
STEPS = [
    ("info breakpoints", kdbg.breakpoints, lambda found: not any(one["where"].endswith(f"calls.c:{LINE['LOOP_BODY']}") for one in found.values())),
    ("next", stop, at("LOOP_BODY", 1)), ("step", stop, lambda place: place[0] == "calls.c"), ("stepi", stop, lambda place: place[0] == "calls.c"),
    ("nexti", stop, lambda place: place[0] == "calls.c"),
    ("until calls.c:{RECURSES}", stop, at("RECURSES")),
    ("cont", stop, lambda place: place[0] == "calls.c"),
    ("bt", kdbg.frames, lambda found: [one["function"] for one in found] == ["factorial"] * 4 + ["main"]),
    ("frame 4", stop, at("RECURSES")), ("kdbg__alllocals", kdbg.values, lambda found: "total" in found),
    ("frame 0", kdbg.marker, lambda place: place and place[0] == "calls.c"),
    ("kdbg__alllocals", kdbg.values, {"n": "2"}),
    ("finish", stop, lambda place: place[0] == "calls.c"), ("delete {FACTORIAL_ID}", no, ""),
    ("cont", stop, at("ADDS")), ("print i", kdbg.value, "7"),
    ("info line calls.c:{ADDS}", kdbg.from_to, lambda found: found[0] < found[1]),
    ("kdbg: disassemble", kdbg.code, lambda found: len(found) > 3),
    ("info line *$pc", kdbg.from_to, ANY), ("info target", whole, lambda text: "file type elf64-x86-64." in text),
    ("delete {ADDS_ID}", no, ""),
    ("watch written", kdbg.new_breakpoint, lambda new: new[1] == "written"),
    ("cont", stop, at("WRITE_1_AGAIN")), ("print written", kdbg.value, "1"),
    ("kdbg: delete last", no, ""),
]
RECORDED = [
    ("set variable written=9", no, lambda text: text != ""), ("set variable $pc=0x401000", no, lambda text: text != ""),
    ("print written", kdbg.value, "1"),
    ("reverse-next", stop, lambda place: place[0] == "calls.c"),
    ("cont", whole, lambda text: "No more reverse-execution history" in text and kdbg.active(text)[0]),
]
ALIVE = [
    ("set variable written=9", no, ""), ("print written", kdbg.value, "9"),
    ("set variable $pc=$pc", no, ""), ("print factorial(3)", kdbg.value, "6"),
    ("reverse-next", stop, lambda place: place[0] == "calls.c"),
    ("cont", whole, lambda text: "No more reverse-execution history" in text),
    ("cont", whole, lambda text: "No more reverse-execution history" in text and kdbg.active(text)[0]),
    ("cont", stop, lambda message: message.endswith("exited with code 03") and message.startswith("Inferior 1")),
]
IDS = {}


class Conversation:
    def __init__(self, side, words):
        self.side, self.words, self.news = side, words, []

    def command_of(self, text):
        """Some are made of what it has read before."""
        if text == "kdbg: disassemble":
            return self.side.disassemble.format(*(f"{address:#x}" for address in self.line))
        if text == "kdbg: delete last":
            return f"delete {self.news[-1]}"
        return text.format(**LINE, **IDS, **self.words)

    def say(self, text):
        if text == "kdbg: interrupt":
            self.side.write("cont\n")
            time.sleep(0.5)
            self.side.interrupt()
            return self.side.answer()
        return self.side.say(self.command_of(text))

    def row(self, row):
        text, read, wanted = row
        said = self.say(text)
        if read is ANY:
            return
        found = read(said)
        if not (wanted is ANY or (wanted(found) if callable(wanted) else wanted == found)):
            raise Failed(f"{text}: read {repr(found)[:500]} of {said[-700:]!r}")
        if read is kdbg.new_breakpoint:
            self.news.append(found[0])
            IDS.update(dict(zip(("ADDS_ID", "FACTORIAL_ID"), self.news)))
        if read is kdbg.from_to:
            self.line = found

    def talk(self, *tables):
        for table in tables:
            for row in table:
                self.row(row)


class Terminal:
    """The window in which KDbg shows what the program writes."""

    def __init__(self):
        self.own, other = pty.openpty()
        self.name = os.ttyname(other)
        self.other = other

    def said(self):
        os.set_blocking(self.own, False)
        end, text = time.monotonic() + 2, b""
        while time.monotonic() < end and b"end " not in text:
            try:
                text += os.read(self.own, 65536)
            except BlockingIOError:
                time.sleep(0.01)
        return text.decode()

    def close(self):
        os.close(self.own)
        os.close(self.other)


PROGRAM = [("tty {tty}", no, ""), ('file "{program}"', kdbg.good_file, True)]
SOURCE = [("kdbg_infolinemain", stop, lambda place: place[0] == "calls.c")]
REMOTE = [("target remote {address}", ANY, ANY), ("bt", kdbg.frames, lambda found: len(found) >= 1), ("info threads", kdbg.threads, lambda found: len(found) == 1),
          ("frame 0", ANY, ANY)]
RUN = [("run", stop, at("LOOP_BODY"))]
GO = [("cont", stop, at("LOOP_BODY"))]
# A living program stands at main already; before that nothing was to stop for.
RUN_ALIVE = [("run", whole, lambda text: "No more reverse-execution history" in text), *GO]
AGAIN = [("kill", whole, ANY), ("tbreak calls.c:{MAIN_ENDS}", kdbg.new_breakpoint, ANY), ("run", stop, at("MAIN_ENDS"))]
KILL = [("kill", whole, ANY)]
# While the program runs, and while a command that is not urgent does.
INTERRUPTED = [
    ("tbreak work", ANY, ANY), ("cont", ANY, ANY), ("kdbg: interrupt", kdbg.active, lambda found: found == (True, "Program received signal SIGINT, Interrupt.")),
    ("bt", kdbg.frames, lambda found: found[-1]["function"] == "main"),
    ("kdbg: interrupt", kdbg.active, lambda found: found[0]), ("print rounds", kdbg.value, ANY), ("kill", whole, ANY),
]
# A recording of a slice, of what `total' is in the end: its buttons go from one line of that to the next.
SLICE = [
    ("break calls.c:{ADDS}", kdbg.new_breakpoint, lambda new: new[1] == LINE["ADDS"]),
    ("break calls.c:{WRITE_1}", whole, lambda text: "left out of the recording" in text),
    ("tbreak calls.c:{LOOP_BODY}", kdbg.new_breakpoint, lambda new: new[1] == LINE["LOOP_BODY"]),
    ("run", stop, at("LOOP_BODY")), ("kdbg__alllocals", kdbg.values, lambda found: found["total"] == "0"),
    ("step", stop, at("LOOP_BODY", 1)), ("cont", stop, at("ADDS")), ("print total", kdbg.value, "260"),
    ("step", stop, at("ADD_RETURNS", -2)), ("bt", kdbg.frames, lambda found: [one["function"] for one in found] == ["add", "main"]),
    ("step", stop, at("ADD_RETURNS")), ("finish", stop, at("ADDS")), ("next", stop, at("ADDS", -1)), ("next", stop, at("ADDS")), ("print i", kdbg.value, "1"),
    ("delete {ADDS_ID}", no, ""), ("reverse-step", stop, at("ADDS", -1)), ("until calls.c:{ADD_RETURNS}", stop, at("ADD_RETURNS")),
    ("print counter", kdbg.value, "7"),
]
# Form: debugger, what drdebug serves if the debugger is GDB itself, the conversation.
DEBUG = "{drdebug} debug {pinball} -- --fullname --nx"
LIVE = "{drdebug} live -o {work}/live.pinball --gdb-arg --fullname --gdb-arg --nx -- {program}"
FORMS = {
    "recording": (DEBUG, None, [PROGRAM, SETTINGS, SOURCE, BREAKPOINTS, RUN, WINDOWS, STEPS, RECORDED, AGAIN]),
    "live": (LIVE, None, [PROGRAM, SETTINGS, SOURCE, BREAKPOINTS, RUN_ALIVE, WINDOWS, STEPS, ALIVE]),
    "remote": ("gdb --fullname --nx", ["{pinball}"], [PROGRAM, REMOTE, SETTINGS, BREAKPOINTS, GO, WINDOWS, STEPS, RECORDED, KILL]),
    "remote_live": ("gdb --fullname --nx", ["--live", "-o", "{work}/live.pinball", "--", "{program}"],
                    [PROGRAM, REMOTE, SETTINGS, BREAKPOINTS, GO, WINDOWS, STEPS, ALIVE]),
    "slice": (DEBUG, None, [PROGRAM, SETTINGS, SOURCE, SLICE]),
    "interrupted": (DEBUG, None, [PROGRAM, INTERRUPTED]),
    "interrupted_live": (LIVE + " 2000000000", None, [PROGRAM, INTERRUPTED]),
}


class Target:
    """`drdebug serve --listen' for a GDB of KDbg's own."""

    def __init__(self, recordings, words):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([recordings.drdebug, "serve", "--listen", ":0", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self.errors)
        end = time.monotonic() + kdbg.PATIENCE_S
        while not (found := re.search(rb":(\d+)\b", self.said())):
            if time.monotonic() > end or self.process.poll() is not None:
                raise Failed(f"serve does not listen: {self.said()!r}")
            time.sleep(0.02)
        self.address = f"localhost:{int(found[1])}"

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(kdbg.PATIENCE_S)


def recorded(recordings, form):
    """The program, and its recording, if the form needs one."""
    name, arguments = ("spin", ["300000000"]) if form.startswith("interrupted") else ("calls", [])
    pinball = recordings.get(name, *arguments) if "live" not in form else ""
    if form == "slice":
        whole_one, pinball = pinball, os.path.join(recordings.work, "slice.pinball")
        done = subprocess.run([recordings.drdebug, "relog", whole_one, "-o", pinball, f"total at calls.c:{LINE['MAIN_ENDS']}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise Failed(done.stdout)
    return recordings.program(name), pinball


def window(options, recordings):
    """`drdebug gui --kdbg': a KDbg that is on the path gets a debugger by its settings."""
    folder = os.path.join(recordings.work, "bin")
    pinball = os.path.join(recordings.work, "it's one.pinball")
    os.mkdir(folder)
    os.rename(recordings.get("calls"), pinball)
    with open(os.path.join(folder, "kdbg"), "w", encoding="utf-8") as script:
        script.write(f"""#!/bin/sh
command=$(sed -n 's/^DebuggerCmdStr=//p' "$XDG_CONFIG_HOME/kdbgrc")
exec {sys.executable} -B {os.path.abspath(__file__)} --drdebug {options.drdebug} --bin {options.bin} --command "$command" recording
""")
    os.chmod(os.path.join(folder, "kdbg"), 0o755)
    done = subprocess.run([options.drdebug, "gui", "--kdbg", pinball], env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failed(f"status {done.returncode}: {done.stdout}")


def converse(recordings, form, given=None):
    command, serves, tables = FORMS[form]
    command = given or command
    terminal = Terminal()
    program, pinball = recorded(recordings, form)
    words = {"drdebug": recordings.drdebug, "program": program, "work": recordings.work, "tty": terminal.name, "pinball": pinball}
    target = Target(recordings, [word.format(**words) for word in serves]) if serves else None
    side = kdbg.Kdbg(command.format(**words), recordings.work)
    try:
        Conversation(side, {**words, "address": target.address if target else ""}).talk(*tables)
        if form == "live" and "end " not in terminal.said():
            raise Failed(f"what the program writes does not come to KDbg's terminal: {terminal.said()!r}")
        side.close()
    finally:
        side.kill()
        if target:
            target.close()
        terminal.close()
    if "live" in form:
        done = subprocess.run([recordings.drdebug, "verify", f"{recordings.work}/live.pinball"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if "good" not in done.stdout:
            raise Failed(f"the recording: {done.stdout}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--command", help="the debugger; by default the form's own")
    parser.add_argument("form", choices=[*FORMS, "window"])
    options = parser.parse_args()
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return SKIP
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        try:
            recordings = Recordings(options.drdebug, options.bin, work)
            if options.form == "window":
                window(options, recordings)
            else:
                converse(recordings, options.form, options.command)
        except Failed as failed:
            print(f"FAILED: {options.form}: {failed}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
