#!/usr/bin/env python3
"""locks_test.py --drdebug DRDEBUG --program PROGRAM --source SOURCE - what `ask locks` and `ask waits` tell of locking.c.

SPDX-License-Identifier: MIT
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile

from races_list import ask, marks, record

SENTENCE = b"all threads wait; only a signal can end this"


class Test:
    def __init__(self, args):
        self.drdebug, self.program = os.path.abspath(args.drdebug), os.path.abspath(args.program)
        self.letters = marks(args.source)
        self.checks, self.failures = 0, []

    def check(self, what, have, want):
        self.checks += 1
        if have != want:
            self.failures.append(f"{what}: {have}, not {want}")

    def letter(self, place):
        return self.letters.get(place["line"]) if place else None

    def ask(self, case, *words):
        pinball = case + ".pinball"
        if not os.path.isdir(pinball):
            record(self.drdebug, pinball, [self.program, case])
        return ask(self.drdebug, pinball, *words)

    def orders(self, case, expected):
        rows = [row for row in self.ask(case, "locks") if row["state"] == "could deadlock"]
        self.check(case, sorted((row["lock"], self.letter(row["place"])) for row in rows), expected)
        return rows

    def moments(self):
        """What is held where the second one is taken, and right before."""
        rows = self.orders("both_orders", [("first", "D"), ("second", "B")])
        for row in rows:
            held = [r for r in self.ask("both_orders", "locks", "at", row["at"]) if r["state"] == "held"]
            self.check("held", [(r["lock"], self.letter(r["place"]), r["thread"]) for r in held],
                       [("second" if row["lock"] == "first" else "first", "C" if row["lock"] == "first" else "A", row["thread"])])

    def kept(self):
        """What was found is kept beside the trace, says the same, and is found again if it is damaged."""
        name = "both_orders.pinball/trace.locks"
        self.check("kept", os.path.exists(name), True)
        before = self.ask("both_orders", "locks")
        with open(name, "rb") as file:
            data = file.read()
        for damaged in (data[:-5], b"no locks", data[:len(data) // 2] + b"?" + data[len(data) // 2 + 1:]):
            with open(name, "wb") as file:
                file.write(damaged)
            self.check(f"{len(damaged)} bytes of it", self.ask("both_orders", "locks"), before)

    def locksets(self):
        """A lock that is not held on both sides protects nothing, whatever order it makes."""
        self.check("by the order", self.ask("by_luck", "races"), [])
        rows = self.ask("by_luck", "races", "--locksets")
        self.check("by sets", [(row["race"], row["what"], self.letter(row["first_place"]), self.letter(row["then_place"]))
                               for row in rows], [("no common lock", "shared", "N", "O")])

    def without_owners(self):
        """A lock is held from the first instruction behind the call that took it."""
        self.check("by sets, readers and a spin lock", self.ask("without_owners", "races", "--locksets"), [])
        lines = {letter: line for line, letter in self.letters.items()}
        for letter, expected in (("X", ("held", "rwlock", "rwlock")), ("Y", ("held to read", "rwlock", "rwlock")),
                                 ("Z", ("held", "spin lock", "spin"))):
            touched = [row for row in self.ask("without_owners", "accesses", f"counted[{letter == 'Z':d}]")
                       if row["place"]["line"] == lines[letter]]
            self.check(f"{letter} is executed", len(touched) >= 16, True)
            for row in touched[::8]:
                held = [r for r in self.ask("without_owners", "locks", "at", row["at"]) if r["state"] != "waited for"]
                self.check(f"held at {letter}", [(r["state"], r["kind"], r["lock"]) for r in held], [expected])

    def looking(self):
        """What a word was changed to by one instruction was made of what was there."""
        rows = {(self.letter(row["first_place"]), self.letter(row["then_place"])): row for row in self.ask("looks", "races")}
        told = [row for row in rows.values() if row["pattern"]]
        self.check("races of P2 and P3", ("P3", "P2") in rows or ("P2", "P3") in rows, True)
        self.check("a pattern", {row["pattern"] for row in told}, {"atomicity violation"})
        self.check("it was seen", [row["story"] for row in told if "without having seen" in row["story"]], [])

    def waiting(self):
        rows = {(row["kind"], self.letter(row["place"])): row for row in self.ask("waits", "waits")}
        self.check("waits", sorted(map(str, rows)), sorted(map(str, [
            ("mutex", "G"), ("mutex", "I"), ("semaphore", "J"), ("condition", "K"), ("read", "L"), ("join", "M"),
            ("pause", None)])))
        mutex, ended = rows.get(("mutex", "G"), {}), rows.get(("mutex", "I"), {})
        self.check("a mutex", (mutex.get("what"), self.letter(mutex.get("since_place"))), ("first", "E"))
        self.check("whose owner ended", (ended.get("what"), self.letter(ended.get("since_place"))), ("second", "H"))
        self.check("is told", "ended holding it" in ended.get("story", ""), True)
        for kind, letter, what in (("semaphore", "J", "sem"), ("condition", "K", "cond"), ("read", "L", "descriptor 3"),
                                   ("join", "M", f"T{mutex.get('holder')}")):
            self.check(kind, rows.get((kind, letter), {}).get("what"), what)
        held = self.ask("waits", "locks")
        self.check("held at the end", sorted((row["state"], row["kind"], row["lock"], self.letter(row["place"])) for row in held
                                             if row["state"].startswith("held")),
                   [("held", "mutex", "first", "E"), ("held", "mutex", "second", "H"), ("held to read", "rwlock", "rwlock", "F")])

    def hanging(self):
        """Circles come first; what a condition waits for, who wrote it, and that nobody signalled then. No trace is made."""
        rows = self.ask("hangs", "waits")
        self.check("no trace", os.path.exists("hangs.pinball/trace"), False)
        self.check("circles", [(row["circle"], row["what"], self.letter(row["place"]), self.letter(row["since_place"]))
                               for row in rows[:3]],
                   sorted([(1, "second", "R", "Q"), (1, "first", "R", "Q")], key=lambda row: row[1] == rows[1]["what"]) +
                   [(2, "own", "T", "S")])
        self.check("who holds it", [row["holder"] for row in rows[:3]],
                   [rows[1]["thread"], rows[0]["thread"], rows[2]["thread"]])
        (condition,) = [row for row in rows if row["kind"] == "condition"]
        self.check("a condition", (condition["what"], self.letter(condition["place"]), condition["condition"]),
                   ("queue.more", "U", "queue.items"))
        line = {letter: number for number, letter in self.letters.items()}
        producer = condition["written"].split(":")[0]
        self.check("its story", condition["story"],
                   f"last signalled by {producer} at locking.c:{line['V']}, before this wait; queue.items is 5, last written by "
                   f"{producer} at locking.c:{line['W']}, and no signal followed; woken now, it would not wait again")
        done = subprocess.run([self.drdebug, "slice", "hangs.pinball", "--at", "failure"], capture_output=True, text=True,
                              timeout=300, check=False)
        told = done.stdout.splitlines()
        self.check("a slice", told[0], f"hang       {len(rows)} of {len(rows)} threads wait; T{rows[0]['thread']}, "
                   f"T{rows[1]['thread']} wait for each other; T{rows[2]['thread']} waits for itself")
        self.check("and its rows", [row["story"] in line for row, line in zip(rows, told[1:])], [True] * len(rows))

    def told(self, case):
        """What `record` says on a terminal until the program ends, which a signal must do after the sentence."""
        master, slave = os.openpty()
        with subprocess.Popen([self.drdebug, "record", "-o", case + ".pinball", "--", self.program, case],
                              stdin=subprocess.DEVNULL, stdout=slave, stderr=slave) as process:
            os.close(slave)
            text = b""
            while True:
                try:
                    text += os.read(master, 4096)
                except OSError:  # the last one has closed it
                    break
                if SENTENCE in text:
                    process.send_signal(signal.SIGTERM)
        os.close(master)
        return text.count(SENTENCE)

    def saying(self):
        """A thread in read() may be woken from outside: nothing is said of it."""
        self.check("a hang is said once", self.told("stuck"), 1)
        self.check("a program that waits for others is none", self.told("outside"), 0)


def main():
    parser = argparse.ArgumentParser()
    for name in ("drdebug", "program", "source"):
        parser.add_argument("--" + name, required=True)
    test = Test(parser.parse_args())
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
        test.moments()
        test.kept()
        test.orders("one_order", [])
        test.orders("gated", [])
        test.orders("tried", [])
        test.locksets()
        test.without_owners()
        test.looking()
        test.waiting()
        test.hanging()
        test.saying()
        os.chdir("/")
    for failed in test.failures:
        print("FAILED:", failed)
    print(f"{test.checks} checks, {len(test.failures)} failures")
    sys.exit(1 if test.failures else 0)


main()
