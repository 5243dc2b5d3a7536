#!/usr/bin/env python3
"""slice_test.py --drdebug PROG --bin DIR CASE[.SUBJECT]... - slices inside GDB, on recordings of programs with marked lines.

SPDX-License-Identifier: MIT

The programs are those of tests/slice/cli. Tables are as in commands.py.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import commands
from commands import pattern
from stub_client import SKIP, Failed, Recordings, markers

LEVELS = ("O0", "Og")

# How many of the last slice's wants are memory, and how many are registers.
WANTS = ("python print(*(sum(kind in want for want in drdebug.slices.current.result['criterion']['wants'])"
         " for kind in ('address', 'register')))")

# name: (subject, its levels, options of debug, rows)
TABLES = {
    "at_a_line": ("wrong", LEVELS, (), [
        ("pin slice sum at wrong.c:{SUM}", ["Slice 1\n", "criterion  T1 wrong.c:{SUM}  sum\n", "ROOT CAUSE", "ADD",
                                            "~UNRELATED", pattern(r"^slice +\d+ of \d+ instructions, \d+ lines, 1 thread")]),
        ("pin backward-slice sum at {SUM}", ["Slice 2\n", "criterion  T1 wrong.c:{SUM}  sum\n", "ROOT CAUSE"]),
        ("pin slice 2 sum at wrong.c:{ADD}", ["Slice 3\n", pattern(r"T1:\d+:\w+ .*ADD \*/ +criterion")]),
        ("pin slice 2 1 sum at wrong.c:{ADD}", "Slice 4\n"),
        ("pin slice table[3] at end", ["ROOT CAUSE", "~ADD"]),
        ("pin list", [pattern(r"^ +1 +\d+ of \d+ instructions +sum at T1:"), pattern(r"^=> +5 .*table\[3\]")]),
        ("pin list 1", ["criterion  T1 wrong.c:{SUM}  sum\n", "~Slice"]),
        ("pin list", pattern("^=> +1 ")),
        ("pin delete 1", None),
        ("pin list", [pattern(r"^ +2 "), "~=>", "~ 1  "]),
        ("pin list 1", "No slice number 1."),
        ("complete pin delete ", ["pin delete 2\n", "~delete 1"]),
    ]),
    "at_a_stop": ("wrong", LEVELS, (), [
        ("tbreak wrong.c:{ADD}", None),
        ("continue", None),
        ("next 2", None),
        ("pin slice sum", ["criterion  T1 wrong.c:", "ROOT CAUSE", "ADD", "~UNRELATED"]),
        ("pin slice table[0]", ["ROOT CAUSE", "~SUM"]),
        ("python value = gdb.parse_and_eval('&table[0]')", None),
        ("python gdb.execute(f'pin slice {{int(value):#x}} 4')", ["ROOT CAUSE", "~SUM"]),
        ("pin goto end", None),
        ("pin slice table", ["ROOT CAUSE", "~ADD"]),
    ]),
    "expressions": ("null", ("O0",), ("--end",), [
        ("pin slice list->value", ["criterion  T1 null.c:{CRASH}  list->value\n", "ROOT CAUSE", "~UNRELATED"]),
        ("pin slice (long) *list->value + 1", "there is no memory at 0x0"),
        ("pin slice list->next->value", ["criterion", "~ROOT CAUSE"]),
        (WANTS, "3 0"),
        ("pin forward-slice list->value", None),
        (WANTS, "1 0"),
        ("pin slice (*list).value == 0 && sum", None),
        (WANTS, "3 0"),
        ("pin slice -sum * (int) sizeof(list) + sum", None),
        (WANTS, "1 0"),
        ("pin slice *(int *) $sp", None),
        (WANTS, "1 1"),
        ("pin slice {{int}} $sp", None),
        (WANTS, "1 1"),
    ]),
    "registers": ("wrong", ("Og",), (), [
        ("tbreak total", None),
        ("continue", "total ("),
        ("pin slice %rdi", ["criterion  T1 wrong.c:", "SUM", "~ROOT CAUSE"]),
        ("pin slice $rdi", ["SUM", "~ROOT CAUSE"]),
        ("pin slice $edi, $dil, $r8l, $ah, $xmm1, $ymm15, $xmm1.v4_float[0]", None),
        ("python print([want['register'] for want in drdebug.slices.current.result['criterion']['wants']])",
         "['edi', 'dil', 'r8b', 'ah', 'xmm1', 'ymm15', 'xmm1[0..3]']"),
        ("pin slice $nothing", "%nothing: no such register"),
        ("pin slice n", ["SUM", "~ROOT CAUSE"]),
        ("up", None),
        ("pin slice %rdi", ["criterion  T1 wrong.c:{SUM}  %rdi", "~ROOT CAUSE"]),
        ("pin slice sum", pattern("^sum: .*optimized out")),
    ]),
    "threads": ("atomic", LEVELS, ("--end",), [
        ("pin slice T3 k at atomic.c:{CRITERION}", ["ROOT CAUSE", "x, read by T3"]),
        ("pin slice x", ["ROOT CAUSE"]),
        ("pin slice 7 9 k at atomic.c:{CRITERION}", pattern("thread 9")),
        ("thread apply 1 pin slice %rax", "criterion  T1 "),
        ("thread apply 1 pin slice x", "ROOT CAUSE"),
    ]),
    "frames": ("frames", LEVELS, (), [
        ("handle SIGUSR1 nostop noprint", None),
        ("tbreak here", None),
        ("continue", "here ("),
        ("pin slice local", "local: no such variable is visible here"),
        ("up", "inner ("),
        ("pin slice twice", ["criterion  T1 frames.c:", "TWICE", "~OUTER LOCAL"]),
        ("up", "leaf ("),
        ("pin slice twice", "twice: no such variable is visible here"),
        ("pin slice local", ["LEAF LOCAL", "~TWICE", "~OUTER LOCAL"]),
        ("up", "outer ("),
        ("pin slice local", ["OUTER LOCAL", "~LEAF LOCAL"]),
        ("pin why t->key", "MAIN T"),
        ("up", "main ("),
        ("pin slice t.key", ["MAIN T", "~TWICE"]),
        ("thread 2", None),
        ("frame function work", "work ("),
        ("pin slice local", ["criterion  T2 frames.c:", "WORK LOCAL", "~OUTER LOCAL"]),
        ("thread 1", None),
        ("tbreak handler", None),
        ("continue", "handler ("),
        ("finish", None),
        ("reverse-stepi", None),
        ("frame function interrupted", "interrupted ("),
        ("pin slice local", ["INTERRUPTED LOCAL", "~HANDLER LOCAL"]),
        ("frame function main", "main ("),
        ("pin slice t.key", ["HANDLER LOCAL", "TWICE"]),
    ]),
    "signalled": ("frames", LEVELS, (), [
        ("continue", "received signal SIGUSR1"),
        ("pin slice local", ["INTERRUPTED LOCAL", "~HANDLER LOCAL"]),
        ("up", "main ("),
        ("pin slice t.key", ["TWICE", "~HANDLER LOCAL"]),
    ]),
    "end_frames": ("wrong", ("O0",), ("--end",), [
        ("frame function main", "main ("),
        ("pin slice sum", ["criterion  T1 wrong.c:{FAILS}", "ROOT CAUSE"]),
        ("pin goto end", None),
        ("frame function main", "main ("),
        ("pin slice sum", ["criterion  T1 wrong.c:{FAILS}", "ROOT CAUSE"]),
    ]),
    "inlined": ("frames", ("Og",), (), [
        ("tbreak inner", None),
        ("continue", None),
        ("pin slice local", ["LEAF LOCAL", "~OUTER LOCAL"]),
        ("frame function outer", "outer ("),
        ("pin slice local", ["OUTER LOCAL", "~LEAF LOCAL"]),
    ]),
    "races": ("unordered", LEVELS, ("--end",), [
        ("pin why", pattern(r"ROOT CAUSE \*/ +(computed|set) +x, read by T3, race")),
        ("pin list 1", pattern(r"ROOT CAUSE \*/ +data +x, read by T3, race$")),
    ]),
    "kept": ("wrong", ("O0",), (), [
        ("pin list", pattern(r"^ +mine +\d+ of \d+ instructions  sum at wrong.c:{SUM}")),
        ("complete pin list ", "pin list mine\n"),
        ("pin list mine", ["criterion  T1 wrong.c:{SUM}  sum\n", "ROOT CAUSE"]),
        ("pin slice-step", pattern(r"^\d+ of \d+: T1 wrong.c:")),
        ("pin delete mine", None),
        ("pin list", "No slices."),
        ("pin delete mine", "No slice number mine."),
    ]),
    "trace": ("wrong", ("O0",), (), [
        ("pin when", "~instructions executed"),
        ("pin trace", pattern(r"^.*pinball: trace of \d+ k instructions")),
        ("pin goto begin", None),
        ("pin when", pattern(r"^all threads: 0 of [\d,]+ instructions executed")),
        ("stepi 7", None),
        ("pin when", pattern(r"^all threads: 7 of [\d,]+ instructions executed")),
        ("reverse-stepi", None),
        ("pin when", pattern(r"^all threads: 6 of [\d,]+ instructions executed")),
        ("tbreak wrong.c:{SUM}", None),
        ("continue", None),
        ("python gdb.execute('pin trace ' + gdb.parse_and_eval('$pin_position()').string() + '..')",
         pattern(r"trace of [\d.]+ k instructions")),
        ("tbreak wrong.c:{FAILS}", None),
        ("continue", None),
        ("pin slice sum", ["ADD", "~ROOT CAUSE"]),
        ("pin trace", None),
        ("pin slice sum", ["ADD", "ROOT CAUSE"]),
        ("pin trace 3", "Usage: pin trace [FROM..TO]"),
    ]),
    "only": ("atomic", ("O0",), ("--end",), [
        ("pin only", "Slices show everything.\n"),
        ("pin slice T3 k at atomic.c:{CRITERION}", ["ROOT CAUSE", "CRITERION"]),
        ("pin only threads 3 files *.c", "Slices show threads 3, files *.c.\n"),
        ("pin slice T3 k at atomic.c:{CRITERION}", ["~ROOT CAUSE", "CRITERION"]),
        ("pin only files nosuch*", "Slices show files nosuch*.\n"),
        ("pin slice T3 k at atomic.c:{CRITERION}", ["~ROOT CAUSE"]),
        ("pin only threads", "Usage: pin only"),
        ("pin only threads x", "Usage: pin only"),
        ("pin only threads files *.c", "Usage: pin only"),
        ("pin only wrong", "Usage: pin only"),
        ("pin only", "Slices show files nosuch*.\n"),
        ("pin only all", "Slices show everything.\n"),
        ("pin slice T3 k at atomic.c:{CRITERION}", "ROOT CAUSE"),
        ("complete pin only t", "pin only threads"),
    ]),
    "forward": ("wrong", LEVELS, (), [
        ("pin forward-slice table at wrong.c:{ROOT CAUSE}", [
            "Slice 1\n", "criterion  T1 wrong.c:{ROOT CAUSE}  table\n", "ADD", "FAILS",
            pattern(r"^forward +\d+ of \d+ instructions, \d+ lines?, 1 thread"),
            pattern(r"T1:\d+:\w+ .*ADD \*/ +data +table\[")]),
        ("pin list", pattern(r"^=> +1 .*forward: table at T1:")),
        ("tbreak wrong.c:{FAILS}", None),
        ("continue", None),
        ("pin forward-slice table[3]", ["criterion  T1 wrong.c:{FAILS}  table[3]\n", "Nothing depends on it."]),
        ("pin forward-slice", "Usage: pin forward-slice [INSTANCE] [THREAD] WHAT [at WHERE]"),
        ("pin forward-slice nosuch at wrong.c:{ADD}", "nosuch: no such variable"),
        ("complete pin forw", "pin forward\npin forward-slice"),
    ]),
    "chop": ("wrong", LEVELS, ("--end",), [
        ("pin chop table at wrong.c:{ROOT CAUSE} to failure", [
            "Slice 1\n", "criterion  T1 wrong.c:{ROOT CAUSE}  table\n", pattern(r"^to +T1 wrong.c:{FAILS}  the branch"),
            "ADD", "SUM", "~UNRELATED", pattern(r"^chop +\d+ of \d+ instructions")]),
        ("pin list", pattern(r"^=> +1 .*table at T1:\S+ to failure at T1:")),
        ("pin slice-back", pattern(r"^\d+ of \d+: T1 wrong.c:")),
        ("pin chop table[0] at wrong.c:{ADD} to table[1] at end", "Nothing leads from the one to the other."),
        ("pin chop table", "Usage: pin chop WHAT [at WHERE] to failure|WHAT [at WHERE]"),
        ("help pin chop", "Usage: pin chop"),
    ]),
    "prune": ("wrong", ("O0",), (), [
        ("pin prune", "No slice to prune: `pin slice' makes one."),
        ("pin slice sum at wrong.c:{SUM}", ["Slice 1\n", "ROOT CAUSE", "ADD"]),
        ("pin prune", "Nothing is pruned."),
        ("pin prune table", ["ADD", "~ROOT CAUSE", "~Slice", "pruned     table\n", pattern(r"^before +\d+ instructions")]),
        ("pin prune", pattern(r"^table +at T1:\S+$")),
        ("pin list", [pattern(r"^=> +1 .*sum at T1:\S+, without table$"), "~ 2 "]),
        ("pin prune --clear", ["ROOT CAUSE", "~pruned     table"]),
        ("tbreak wrong.c:{ADD}", None),
        ("continue", None),
        ("pin prune i", [pattern(r"^pruned +i$"), "ROOT CAUSE"]),
        ("pin prune", pattern(r"^i +at T1:\S+$")),

        ("pin prune %rax", pattern(r"^pruned +i, %rax$")),
        ("pin prune %rax", "the same: nothing depended on it"),
        ("pin prune table[i]", pattern(r"^pruned +i, %rax, %rax, table\[i\]$")),
        ("pin prune nosuch", "nosuch: no such variable at that place, nor where the criterion is"),
        ("pin prune total(3)", "calls a function"),
        ("pin prune --frob", "Usage: pin prune [WHAT|--clear]"),
        ("pin prune --clear", ["ROOT CAUSE", "~pruned     i"]),
        ("pin slice-step", pattern(r"^\d+ of \d+: T1 wrong.c:")),
    ]),
    "sets": ("right", ("O0",), ("--end",), [
        ("pin combine 1 minus 2", "No slice number 1."),
        ("pin correct x", "No slice of what a value depends on: `pin slice' makes one."),
        ("pin slice w at right.c:{S10}", ["Slice 1\n", "S7", "S2", "S4", "S3", "again      pin list 1\n"]),
        ("pin slice x at right.c:{S8}", ["Slice 2\n", "S3", "~S2"]),
        ("pin combine 1 minus 2", ["Slice 3\n", "S7", "S2", "~S3", "~S4"]),
        ("pin combine 1 common 2", ["Slice 4\n", "S3", "S4", "~S7"]),
        ("pin combine 1 plus 2", ["Slice 5\n", "S7", "S5"]),
        ("pin combine 1 without 2", "Usage: pin combine N minus|common|plus M"),
        ("pin list 1", ["S3", "S4"]),
        ("pin correct x at right.c:{S8}", ["S7", "S2", "S0", "~S3", "~S4", "~S1 ", pattern(r"^before +\d+ instructions")]),
        ("pin list", [pattern(r"^=> +1 "), pattern(r" 3 .*w minus x at T1:")]),
        ("pin output-slice t*", [pattern(r"^Slice 6$"), "S6", "~S7"]),
        ("pin output-slice nobody", "no line of its output has `nobody` in it"),
        ("pin output-slice", "Usage: pin output-slice PATTERN"),
    ]),
    "errors": ("wrong", ("O0",), (), [
        ("pin slice-step", "No slice to go through: `pin slice' makes one."),
        ("pin list", "No slices."),
        ("pin slice", "Usage: pin slice [INSTANCE] [THREAD] WHAT [at WHERE]"),
        ("pin slice 2 sum", "Usage: pin slice"),
        ("pin slice nosuch", "nosuch: no such variable is visible here"),
        ("pin slice nosuch at {SUM}", ["nosuch: no such variable", "hint: "]),
        ("pin slice sum at wrong.c:1", "wrong.c:1 has no code; the next line with code is"),
        ("pin slice sum at T1:1:123", "T1:1:123 is not in the trace"),
        ("pin slice 9 sum at {ADD}", "was reached 8 times: there is no instance 9"),
        ("pin slice %foo", "%foo: no such register"),
        ("pin slice total(3)", "total(3): it calls a function"),
        ("pin slice table[0] = 3", "changes something"),
        ("pin slice table[", pattern("not closed|ends early")),
        ("pin slice 3 + 4", "3 + 4: reads no variable, memory or register: it is a constant"),
        ("pin slice &table", "an address is computed by the compiler"),
        ("pin slice table[i] + sum at {ADD}", ["criterion  T1 wrong.c:{ADD}  table[i] + sum\n", "ROOT CAUSE"]),
        ("pin slice table[total(3)] at {SUM}", "table[total(3)]: it calls a function"),
        ("pin why", "Why what? Say `pin why EXPRESSION'"),
        ("pin delete", "Usage: pin delete N|NAME"),
        ("pin delete 3", "No slice number 3."),
        ("pin why table[1]", "Nothing that was executed made it"),
        ("help pin why", "Usage: pin why [EXPRESSION]"),
        ("complete pin sl", "pin slice\npin slice-back\npin slice-step"),
    ]),
}


class Test(commands.Test):
    def __init__(self, recordings):
        self.recordings, self.work = recordings, recordings.work
        self.failures = self.checks = 0

    def pinball(self, subject, level):
        path = os.path.join(self.work, f"{subject}-{level}.pinball")
        if not os.path.exists(path):
            subprocess.run([self.recordings.drdebug, "record", "-q", "-o", path, "--",
                            self.recordings.program(f"{subject}-{level}")], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=60, check=False)
        return path

    def slice(self, *words):
        return subprocess.run([self.recordings.drdebug, "slice", *words], stdout=subprocess.PIPE, text=True, timeout=60,
                              check=True).stdout

    def table(self, name):
        subject, levels, options, rows = TABLES[name]
        for level in levels:
            self.rows(f"{name} {level}", subject, level, options, rows)

    def rows(self, name, subject, level, options, rows):
        words = markers(subject, "../slice/cli")
        rows = [(command, [pattern(fill(one.pattern, words)) if isinstance(one, re.Pattern) else one
                           for one in (expected if isinstance(expected, list) else [expected])])
                for command, expected in rows]
        self.run_rows(name, self.pinball(subject, level), options, rows, words)

    # ---- cases that are no tables ----

    def kept(self):
        at = f"wrong.c:{markers('wrong', '../slice/cli')['SUM']}"
        self.slice(self.pinball("wrong", "O0"), "-o", "mine", "sum", "at", at)
        self.table("kept")

    def failure(self, subject):
        """At the failure, the guilty line is in the story."""
        for level in LEVELS:
            cause = markers(subject, "../slice/cli")["ROOT CAUSE"]
            self.rows(f"why {subject} {level}", subject, level, ("--end",), [
                ("pin why", [pattern("^criterion  T[13] "),
                             pattern(rf"^ [1-9]  T\d+:\d+:[0-9a-f]+ +{subject}.c:{cause} .*ROOT CAUSE \*/ ")]),
                ("pin goto end", None),
                ("pin why", "ROOT CAUSE")])

    def why_value(self):
        for level in LEVELS:
            self.rows(f"why_value {level}", "wrong", level, (), [
                ("tbreak {FAILS}", None),
                ("continue", None),
                ("pin why table[3]", ["criterion  T1 wrong.c:{FAILS}  table[3]\n",
                                      pattern(r"^ 1  T1:\d+:[0-9a-f]+ +wrong.c:{ROOT CAUSE} .*table\[3\](, .*)?$")]),
                ("pin list", pattern(r"^=> +1 .*table\[3\]"))])

    def walk(self, subject):
        """Both ways through all statements of a slice: at each the position is the one of the list."""
        pinball = self.pinball(subject, "O0")
        result = json.loads(self.slice(pinball, "--json", "--steps", "--at", "failure"))
        wanted = [step["position"] for step in result["steps"]]
        script = os.path.join(self.work, "walk.py")
        with open(script, "w", encoding="utf-8") as out:
            out.write(WALK)
        shown = self.debug(pinball, ("--end",), "-ex", "pin why", "-x", script).stdout
        for name, expected in (("BACK", wanted[::-1]), ("STEP", wanted[1:])):
            went = re.search(rf"^{name} (.*)$", shown, re.MULTILINE)
            self.equal(f"{subject}: {name}", went and went[1].split(), expected)
        self.check(subject, "No statement of the slice is before this.", shown, {})
        self.check(subject, "No statement of the slice is after this.", shown, {})
        for step in result["steps"]:
            row = result["lines"][step["line"]]
            self.equal(f"{subject}: thread of {step['position']}", f"T{row['thread']}", step["position"].split(":")[0])

    def walk_from(self):
        """From anywhere, it is the next one."""
        self.rows("walk from main", "wrong", "O0", (), [
            ("pin slice sum at {SUM}", None),
            ("pin slice-step", pattern("^2 of")),  # the first one is where main stops
            ("tbreak total", None),
            ("continue", "total ("),
            ("pin slice-back", pattern(r"^\d+ of \d+: T1 wrong.c:")),
            ("pin slice-back", pattern(r"^\d+ of \d+: T1 wrong.c:{SUM}  ")),
            ("pin back", None),
            ("pin back", "total ("),
            ("pin slice-step", pattern(r"^\d+ of \d+: T1 wrong.c:"))])

    def equal(self, name, have, want):
        self.checks += 1
        if have != want:
            self.fail(f"{name}: {have!r}, expected {want!r}")

    def interrupt(self):
        """Ctrl-C ends the work, and the session goes on."""
        slow = os.path.join(self.work, "slow")
        with open(slow, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\nexec sleep 1000\n")
        os.chmod(slow, 0o755)
        shown = self.debug(self.pinball("wrong", "O0"), (), "-ex", f"python SLOW = {os.fsencode(slow)!r}", "-ex",
                           "python " + INTERRUPT.replace("\n", "; "), "-ex", "pin slice table at end", "-ex",
                           "python drdebug.recording = genuine", "-ex", "pin slice table at end").stdout
        self.check("interrupt", "Collecting the trace of the whole recording, once... (Ctrl-C stops it)", shown, {})
        self.check("interrupt", "Quit\n", shown, {})
        self.check("interrupt", "ROOT CAUSE", shown, {})
        self.check("interrupt", "~Traceback", shown, {})

    def mi(self):
        """Each pin command has one of MI, whose fields are those that the text is made of."""
        pinball = self.pinball("wrong", "O0")
        rows = [(f"-info-gdb-mi-command pin-{name}", 'exists="true"') for name in pin_commands()] + MI
        script = "".join(f"{n}{command}\n" for n, (command, _) in enumerate(rows, 1))
        words = markers("wrong", "../slice/cli")
        shown = subprocess.run([self.recordings.drdebug, "debug", pinball, "--", "-nx", "-i=mi3"], timeout=90, text=True,
                               input=script.format(**words) + "-gdb-exit\n", stdout=subprocess.PIPE, check=False,
                               stderr=subprocess.STDOUT, cwd=self.work).stdout
        answers = dict(re.findall(r"^(\d+)(\^.*)$", shown, re.MULTILINE))
        for n, (command, expected) in enumerate(rows, 1):
            one = pattern(fill(expected.pattern, words)) if isinstance(expected, re.Pattern) else expected
            self.check(f"mi: {command}", one, answers.get(str(n), shown[-500:]), words)
        self.check("mi", "~Traceback", shown, {})

    def own_gdb(self):
        """A GDB of one's own, in another directory: the stub says where the recording is."""
        script = os.path.join(os.path.dirname(self.recordings.drdebug), "gdb", "drdebug.py")
        pinball = os.path.relpath(self.pinball("wrong", "O0"), self.work)
        shown = subprocess.run(
            ["gdb", "-nx", "-batch", "-ex", f"source {script}", "-ex", "set remotetimeout 50", "-ex",
             f"target extended-remote | {self.recordings.drdebug} serve {pinball}", "-ex", "cd /", "-ex",
             "pin slice table at end"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=60, check=False, text=True, cwd=self.work).stdout
        self.check("own_gdb", "ROOT CAUSE", shown, {})


POSITION = r"T1:\d+:[0-9a-f]+"
LINE = rf'position="{POSITION}",thread="1",file="[^"]*wrong.c",line="\d+",text="[^"]*",kind="\w+",what="[^"]*"'
MI = [
    ("-pin-when", pattern(rf'^\^done,position="{POSITION}",thread="1",.*at_end="false",.*location="main \(\) at ')),
    ("-pin-when now", '^error,msg="Usage: -pin-when"'),
    ("-pin-goto end", pattern(r"^\^running$")),
    ("-pin-result", pattern(rf'^\^done,moved="true",position="{POSITION}"$')),
    ("-pin-goto end", pattern(rf'^\^done,moved="false",position="{POSITION}"$')),
    ("-pin-goto P2.T1:5:1", '^error,msg="P2.T1:5:1: not reached'),
    ("-pin-result", pattern(r"^\^done$")),
    ("-pin-why", pattern(rf'^\^done,number="1",criterion=\{{thread="1",.*note="SIGABRT".*causes=\[\{{{LINE}\}},.*ROOT CAUSE')),
    ("-pin-slice sum at wrong.c:{SUM}", pattern(r'^\^done,number="2",kind="backward",criterion=.*what="sum"\}},instructions="'
                                               rf'\d+",total="\d+",threads="1",.*lines=\[\{{{LINE}\}},.*pruned=\[\]$')),
    ("-pin-backward-slice nosuch at wrong.c:{SUM}", '^error,msg="nosuch: no such variable'),
    ("-pin-forward-slice table at wrong.c:{ROOT CAUSE}", '^done,number="3",kind="forward"'),
    ("-pin-chop table at wrong.c:{ROOT CAUSE} to failure", pattern(r'^\^done,number="4",kind="chop",.*,to=\{{thread="1",')),
    ("-pin-prune table at", "^error,msg="),
    ("-pin-prune", "^done,prunes=[]"),
    ("-pin-prune table", pattern(r'^\^done,kind="chop",.*pruned=\["table"\],before="\d+"$')),
    ("-pin-prune", pattern(r'prunes=\[\{{what="table",where="at end thread 1( frame \d+)?"\}}\]')),
    ("-pin-list", pattern(r'^\^done,slices=\[\{{name="1",current="false",.*name="4",current="true"')),
    ("-pin-list 2", '^done,kind="backward"'),
    ("-pin-slice-back", "^running"),
    ("-pin-result", pattern(rf'^\^done,{LINE},step="\d+",steps="\d+"$')),
    ("-pin-slice-step", '^error,msg="No statement of the slice is after this."'),
    ("-pin-slice-back", "^running"),
    ("-pin-slice-step", "^running"),
    ("-pin-last table[6]", "^running"),
    ("-pin-result", pattern(r'expression="table\[6\]",position=.*old="0",new="37"')),
    ("-pin-history", pattern(rf'^\^done,places=\[\{{position="{POSITION}",location="[^"]*",current="false"\}}.*current="true"\}}\]')),
    ("-pin-back", "^running"),
    ("-pin-forward", "^running"),
    ("-pin-checkpoint here", pattern(rf'^\^done,number="1",position="{POSITION}",location="fill')),
    ("-pin-checkpoints", pattern(r'^\^done,checkpoints=\[\{{number="1",.*note="here"\}}\]$')),
    ("-pin-rollback 1", '^done,moved="false"'),
    ("-pin-rollback 9", '^error,msg="No checkpoint number 9."'),
    ("-pin-events mmap", pattern(r'^\^done,events=\[\{{number="\d+",.*about="mmap\(NULL, .*\) = 0x\w+",.*next="\w+"\}}')),
    ("-pin-output", pattern(r'^\^done,lines=\[\{{position=.*,fd="2",text="[^"]*Assertion')),
    ("-pin-only threads 1", '^done,only=[{{kind="threads",value="1"}}]'),
    ("-pin-trace", pattern(r'^\^done,trace="[^"]*trace of \d+ k instructions')),
    ("-pin-delete 2", '^done,deleted="2"'),
]

WALK = """
def walk(name):
    went = []
    while True:
        try:
            gdb.execute(f"pin slice-{name}", to_string=True)
        except gdb.error as error:
            print(error)
            break
        went.append(gdb.parse_and_eval("$pin_position()").string())
    print(name.upper(), *went)

walk("back")
walk("step")
"""

INTERRUPT = """import os, signal, threading
genuine = drdebug.recording
drdebug.recording = lambda: (SLOW, genuine()[1])
threading.Timer(2.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()"""


def pin_commands():
    """The rows of gdb/pin.def."""
    rows = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "gdb", "pin.def")
    with open(rows, encoding="utf-8") as f:
        names = re.findall(r'^PIN\("([a-z-]+)"', f.read(), re.MULTILINE)
    assert names, f"{rows} has no rows"
    return names


def fill(text, words):
    """{MARKER} in a pattern, where {{ is a bracket."""
    return re.sub(r"\{([A-Z][A-Z ]*)\}", lambda m: words[m[1]], text).replace("{{", "{").replace("}}", "}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("case", nargs="+")
    options = parser.parse_args()
    if not shutil.which("gdb"):
        print("skipped: gdb is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as work:
        test = Test(Recordings(os.path.abspath(options.drdebug), options.bin, work))
        for name in options.case:
            try:
                case, _, subject = name.partition(".")
                if hasattr(test, case):
                    getattr(test, case)(*([subject] if subject else []))
                else:
                    test.table(name)
            except (Failed, subprocess.SubprocessError) as failed:
                test.fail(f"{name}: {failed}")
        print(f"{test.checks} checks, {test.failures} failures")
        return 1 if test.failures or not test.checks else 0


if __name__ == "__main__":
    sys.exit(main())
