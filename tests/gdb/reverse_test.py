#!/usr/bin/env python3
"""reverse_test.py --drdebug PROG --bin DIR CASE - walks forwards and back must see the same.

SPDX-License-Identifier: MIT

The stub is driven by its protocol. At each stop the position, the thread and all registers are taken down;
going back, each must be met again, in the opposite order. DRDEBUG_SOAK=1: longer walks, more of them.
"""
import argparse
import random
import sys
import tempfile
import time

from stub_client import SOAK, Client, Failed, Recordings

STEPS = 2000 if SOAK else 30
WALKS = 1000 if SOAK else 1
WALK_STEPS = 1000 if SOAK else 80
ROUNDS = 200 if SOAK else 4  # of each of three threads

SYSCALL = b"\x0f\x05"

# name: (program, arguments, seed of --chaos, where main-like code is)
SUBJECTS = {
    "calls": ("calls", (), None, "main"),
    "threads": ("threads", (str(ROUNDS),), None, "visit"),
    "chaos": ("threads", (str(ROUNDS),), 7, "visit"),
    "signals": ("signals", (), None, "main"),
    "crash": ("crash", (), None, "main"),
    "abort": ("crash", ("x",), None, "main"),
    "tiny": ("tiny", (), None, "_start"),
    "filled": ("filled", (), None, "main"),
    "exits": ("exits", (), 3, "spin"),
    "spin": ("spin", ("60000",), None, "main"),
}


def check(condition, text):
    if not condition:
        raise Failed(text)


class Place:
    """All that can be seen at a stop."""

    def __init__(self, client, stop):
        when = client.when()
        self.stop, self.text = stop, f"{when['position']} events {when['events']}"
        self.position, self.events, self.ticks = when["position"], when["events"], when["ticks"]
        self.thread = when["thread"]
        self.at_end, self.why = when["at_end"], when["why"]
        client.ask("Hg0")
        self.registers = client.registers()

    def same(self, other):
        return (self.position, self.events, self.ticks, self.registers) == \
            (other.position, other.events, other.ticks, other.registers)

    def __str__(self):
        return f"{self.text} ({self.why}; {self.stop.text[:60]})"


def compare(forward, backward, what):
    """Lists of places; the second one was met going back."""
    backward = backward[::-1]
    for number, (one, other) in enumerate(zip(forward, backward)):
        check(one.same(other), f"{what}: stop {number} of {len(forward)}: forwards {one}, backwards {other}"
              + ("" if one.position != other.position else f"\n  {one.registers}\n  {other.registers}"))
    check(len(forward) == len(backward), f"{what}: {len(forward)} stops forwards, {len(backward)} backwards")


class Session:
    def __init__(self, recordings, subject):
        program, args, chaos, where = SUBJECTS[subject]
        self.name = subject
        self.client = Client.start(recordings.drdebug, recordings.get(program, *args, chaos=chaos), "--quiet")
        self.symbols = recordings.symbols(program)
        self.where = self.symbols[where]

    def run_to(self, address):
        self.client.insert(0, address)
        stop = self.client.run("vCont;c")
        self.client.remove(0, address)
        check("swbreak" in stop.fields, f"no breakpoint at {address:#x}: {stop.text}")
        return stop

    def close(self):
        self.client.close()


def single_steps(session, step, back):
    """STEPS single steps from somewhere, then as many back."""
    client = session.client
    forward = [Place(client, client.run("?"))]
    while len(forward) <= STEPS:
        stop = client.run(step())
        forward.append(Place(client, stop))
        if "replaylog" in stop.fields:
            break
    forward, backward = unique(forward), [forward[-1]]
    while len(backward) < len(forward):
        stop = client.run(back())
        backward.append(Place(client, stop))
        check("replaylog" not in stop.fields, f"{len(backward)} of {len(forward)} steps back: {backward[-1]}")
    compare(forward, unique(backward[::-1])[::-1], "single steps")


def unique(places):
    """One of those at one position that follow each other: there, a signal is told, or the recording ends."""
    out = []
    for place in places:
        if out and out[-1].position == place.position:
            out.pop()
        out.append(place)
    return out


def steps(recordings, subject):
    session = Session(recordings, subject)
    if subject != "tiny":
        session.run_to(session.where)
    single_steps(session, lambda: "vCont;s", lambda: "bs")
    session.close()


def steps_from_begin(recordings, subject):
    session = Session(recordings, subject)
    client = session.client
    single_steps(session, lambda: "vCont;s", lambda: "bs")
    stop = client.run("bs")
    check(stop.fields.get("replaylog") == "begin", f"a step back from the begin: {stop.text}")
    stop = client.run("bc")
    check(stop.fields.get("replaylog") == "begin", f"continued back from the begin: {stop.text}")
    session.close()


def steps_to_end(recordings, subject):
    """From the end back, and forwards to it again."""
    session = Session(recordings, subject)
    client = session.client
    stop = client.run("vCont;c")
    while "replaylog" not in stop.fields:  # a signal
        stop = client.run("vCont;c")
    check(stop.fields["replaylog"] == "end", f"continued to the end: {stop.text}")
    end = Place(client, stop)
    stop = client.run("vCont;c")
    check(stop.fields.get("replaylog") == "end", f"continued from the end: {stop.text}")
    check(Place(client, stop).same(end), f"the end is at {end}, then at {Place(client, stop)}")
    stop = client.run("vCont;s")
    check(stop.fields.get("replaylog") == "end", f"a step from the end: {stop.text}")
    check(Place(client, stop).same(end), f"the end is at {end}, then at {Place(client, stop)}")
    backward = [end] + [Place(client, client.run("bs")) for _ in range(STEPS)]
    forward = [backward[-1]]
    for _ in range(4 * STEPS):
        stop = client.run("vCont;s")
        forward.append(Place(client, stop))
        if "replaylog" in stop.fields:
            break
    check("replaylog" in stop.fields, f"the end is not met again: {stop.text}")
    check(Place(client, stop).same(end), f"the end was at {end}, now it is at {Place(client, stop)}")
    compare(unique(forward), unique(backward[::-1])[::-1], "steps at the end")
    session.close()


def steps_far(recordings, subject):
    """Back, far from the last checkpoint, over the place where one is left for the steps that follow."""
    session = Session(recordings, subject)
    client = session.client
    client.goto("end")
    client.goto("-10000")
    backward = [Place(client, client.run("?"))]
    for _ in range(STEPS):
        stop = client.run("bs")
        backward.append(Place(client, stop))
        check(backward[-1].why == "step", f"step {len(backward)} back: {backward[-1]}")
    forward = [backward[-1]] + [Place(client, client.run("vCont;s")) for _ in range(STEPS)]
    compare(forward, backward, "steps")
    session.close()


def all_stops(client, packet, limit=100000):
    """Until an end; signals are stops, too."""
    out = []
    while len(out) < limit:
        stop = client.run(packet)
        if "replaylog" in stop.fields:
            return out, stop
        out.append(Place(client, stop))
    raise Failed(f"{packet}: no end after {limit} stops")


BREAKS = {"calls": ("add", "factorial", "main"), "threads": ("visit", "work", "main"),
          "chaos": ("visit", "work", "main"), "signals": ("on_usr1", "on_usr2", "on_segv", "main"),
          "crash": ("use", "main"), "abort": ("use", "main"), "tiny": ("twice", "tiny"),
          "filled": ("fill", "work", "main")}
HITS = {"calls": 26, "threads": 3 * ROUNDS + 4, "chaos": 3 * ROUNDS + 4, "signals": 6, "crash": 3, "abort": 2, "tiny": 6,
        "filled": 7}


def breakpoints(recordings, subject):
    """All hits, all signals: the same in both directions."""
    session = Session(recordings, subject)
    client = session.client
    for name in BREAKS[subject]:
        client.insert(0, session.symbols[name])
    forward, stop = all_stops(client, "vCont;c")
    check(stop.fields["replaylog"] == "end", f"forwards: {stop.text}")
    backward, stop = all_stops(client, "bc")
    check(stop.fields["replaylog"] == "begin", f"backwards: {stop.text}")
    hits = [place for place in forward if place.stop.why() == "swbreak"]
    check(len(hits) == HITS[subject], f"{len(hits)} hits, not {HITS[subject]}")
    only = [place for place in backward if place.stop.why() == "swbreak"]
    compare(hits, only, "breakpoints")
    compare([p for p in forward if p.stop.why() != "swbreak"], [p for p in backward if p.stop.why() != "swbreak"],
            "signals")
    again, _ = all_stops(client, "vCont;c")
    compare(forward, again[::-1], "a second time")
    session.close()


WATCHED = {"calls": [("written", 4), ("counter", 4), ("table", 32), ("word", 8)],
           "threads": [("shared", 4), ("visits", 16)], "chaos": [("shared", 4)],
           "signals": [("handled", 4), ("alarms", 4), ("faults", 4)],
           "crash": [("pointer", 8), ("value", 4)], "tiny": [("a", 4), ("b", 4)],
           "filled": [("filled", 8), ("large", 8), ("inherited", 4), ("guarded", 8)]}
WRITES = {("calls", "written"): 5, ("calls", "counter"): 20, ("calls", "table"): 9, ("threads", "shared"): 3 * ROUNDS,
          ("chaos", "shared"): 3 * ROUNDS, ("threads", "visits"): 3 * ROUNDS, ("signals", "handled"): 4, ("signals", "faults"): 1,
          ("crash", "pointer"): 1, ("crash", "value"): 1, ("tiny", "a"): 5, ("tiny", "b"): 5, ("calls", "word"): 1,
          ("filled", "filled"): 2 + 2 * 3, ("filled", "large"): 2, ("filled", "guarded"): 1}


def before_and_after(client, after, name):
    """From the place after a write, back before it and forwards again. Returns the place before it."""
    stop, before = client.run("bc"), client.when()
    check(stop.why() == "watch" and before["thread"] == after["thread"], f"{name}: the write before {after}: {stop.text}")
    stop, again = client.run("vCont;c"), client.when()
    while stop.why() != "watch" and "replaylog" not in stop.fields:  # a signal's
        stop, again = client.run("vCont;c"), client.when()
    check(stop.why() == "watch" and again == after, f"{name}: from {before} to {again}, not {after}: {stop.text}")
    return before


def watches(recordings, subject):
    """Every write is found in both directions, those of an equal value, too."""
    session = Session(recordings, subject)
    client = session.client
    for name, size in WATCHED[subject]:
        address = session.symbols[name]
        client.goto("begin")
        if subject != "tiny":
            session.run_to(session.symbols["main"])  # the loader may write there
        parts = [(address + at, min(8, size - at)) for at in range(0, size, 8)][:4]
        for at, part in parts:
            client.insert(2, at, part)
        forward, values, before = [], [], []
        while True:
            stop = client.run("vCont;c")
            if "replaylog" in stop.fields:
                break
            if stop.why() == "watch":
                forward.append(client.when())
                values.append(client.memory(address, size))
                check(address <= int(stop.fields["watch"], 16) < address + size, f"{name}: {stop.text}")
                before.append(before_and_after(client, forward[-1], name))
        wanted = WRITES.get((subject, name))
        check(wanted is None or len(forward) == wanted, f"{name}: {len(forward)} writes forwards, not {wanted}: {forward[-3:]}")
        backward, old = [], []
        while len(backward) < len(forward):
            stop = client.run("bc")
            if "replaylog" in stop.fields:
                break
            if stop.why() == "watch":
                backward.append(client.when())
                old.append(client.memory(address, size))
        check(len(backward) == len(forward), f"{name}: {len(forward)} writes forwards, {len(backward)} backwards")
        backward, old = backward[::-1], old[::-1]
        for number, (one, other) in enumerate(zip(forward, backward)):
            # Forwards the stop is after the instruction, backwards before it; or both in one call.
            check(one["thread"] == other["thread"] and other["events"] <= one["events"] and
                  0 <= one["ticks"] - other["ticks"] <= 1 and
                  (one["pc"], one["events"]) != (other["pc"], other["events"]),
                  f"{name}: write {number}: forwards {one}, backwards {other}")
        check(backward == before, f"{name}: backwards {backward}, from each write on its own {before}")
        for number, (one, other) in enumerate(zip(old[1:], values)):
            check(one == other, f"{name}: value after write {number}: {other}, before the next {one}")
        for at, part in parts:
            client.remove(2, at, part)
        # Once more by the question for the last write.
        client.goto("end")
        found = client.json(f"last {address:x} {size}")
        check(backward and found.get("position") == backward[-1]["position"],
              f"{name}: last: {found}, watchpoint: {backward[-1] if backward else None}")
    session.close()


def reads(recordings, subject):
    """rwatch and awatch: the same number in both directions."""
    session = Session(recordings, subject)
    client = session.client
    for kind, why in ((3, "rwatch"), (4, "awatch")):
        for name, size in WATCHED[subject]:
            if name == "alarms":
                continue  # is read in a loop
            address = session.symbols[name]
            client.goto("begin")
            if subject != "tiny":
                session.run_to(session.symbols["main"])
            start = client.when()["position"]
            client.insert(kind, address, min(size, 8))
            forward = [client.when() for stop in iter_until(client, "vCont;c") if stop.why() == why]
            backward, back = [], iter_until(client, "bc")
            while len(backward) < len(forward) and (stop := next(back, None)):
                if stop.why() == why:
                    backward.append(client.when())
            client.remove(kind, address, min(size, 8))
            backward.reverse()
            check(len(forward) == len(backward), f"{why} {name}: {len(forward)} forwards, {len(backward)} back to {start}")
            for number, (one, other) in enumerate(zip(forward, backward)):
                check(one["thread"] == other["thread"] and 0 <= one["ticks"] - other["ticks"] <= 1,
                      f"{why} {name}: {number}: forwards {one}, backwards {other}")
    session.close()


def iter_until(client, packet):
    while "replaylog" not in (stop := client.run(packet)).fields:
        yield stop


def calls(recordings, subject):
    """Caught system calls: entries and returns in both directions. The loader's are the same in all."""
    session = Session(recordings, subject)
    client, main_at = session.client, None if SOAK or subject == "calls" else session.symbols.get("main")
    if main_at:
        session.run_to(main_at)
    check(client.ask("QCatchSyscalls:1") == b"OK", "QCatchSyscalls is refused")
    forward, stop = all_stops(client, "vCont;c")
    if main_at:
        client.insert(0, main_at)
    backward = []
    for stop in iter_until(client, "bc"):
        if "swbreak" in stop.fields:
            break
        backward.append(Place(client, stop))
    else:
        check(not main_at and client.run("bc").fields.get("replaylog") == "begin", "main, or the begin, is not met again")

    def kinds(places):
        return [(p.stop.why(), p.stop.fields.get(p.stop.why()), p.position, p.events) for p in places
                if p.stop.why().startswith("syscall")]
    one, other = kinds(forward), kinds(backward)[::-1]
    check(len(one) > 2 or main_at, f"only {len(one)} stops at system calls")
    for number, (a, b) in enumerate(zip(one, other)):
        check(a == b, f"system call stop {number} of {len(one)}: forwards {a}, backwards {b}")
    check(len(one) == len(other), f"{len(one)} system call stops forwards, {len(other)} backwards")
    session.close()


def random_walk(recordings, subject, seed):
    session = Session(recordings, subject)
    client, draw = session.client, random.Random(seed)
    addresses = [session.symbols[name] for name in BREAKS[subject]]
    datum = [(session.symbols[name], min(size, 8)) for name, size in WATCHED.get(subject, [])]
    known, positions, done = {}, [], []
    client.goto("end")
    ticks = client.when()["ticks"]
    met = 0
    for number in range(WALK_STEPS):
        kind = draw.choice(["step"] * 4 + ["back"] * 4 + ["next", "continue", "continue back", "goto", "goto ticks",
                                                         "watch", "watch back"])
        stop = None
        chosen = draw.sample(addresses, draw.randrange(1, len(addresses) + 1))
        watched = [draw.choice(datum)] if datum and kind.startswith("watch") else []
        done.append(kind)
        try:
            if kind == "goto":
                if positions:
                    to = draw.choice(positions)
                    stop = client.goto(to)
                    check(client.when()["position"] == to, f"goto {to} leads to {client.when()['position']}")
            elif kind == "goto ticks":
                by = draw.randrange(-min(ticks, 3000), min(ticks, 3000))
                stop = client.goto(f"{by:+}") if by else None
            elif kind == "step":
                stop = client.run("vCont;s:" + draw.choice([client.run("?").thread]))
            elif kind == "back":
                stop = client.run("bs")
            elif kind == "next":
                pc = client.when()["pc"]
                stop = client.run(f"vCont;r{pc:x},{pc + 40:x}")
            else:
                for address in chosen:
                    client.insert(0, address)
                for address, size in watched:
                    client.insert(2, address, size)
                stop = client.run("bc" if kind.endswith("back") else "vCont;c")
                for address in chosen:
                    client.remove(0, address)
                for address, size in watched:
                    client.remove(2, address, size)
            place = Place(client, stop or client.run("?"))
        except Failed as failed:
            raise Failed(f"seed {seed}, step {number}, after {done[-8:]}: {failed}") from None
        if place.why in ("signal", "call-return", "call-entry", "end") or place.at_end:
            continue  # not the only stop there
        if place.why == "watch" and client.memory(client.when()["pc"], 2) == SYSCALL:
            continue  # in a call: others may have run since it began
        before = known.get(place.position)
        if before is None:
            known[place.position] = place
            positions.append(place.position)
        else:
            met += 1
            check(place.same(before), f"seed {seed}, step {number}, after {done[-8:]}: {before}, now {place}\n"
                  f"  {before.registers}\n  {place.registers}")
    check(met > WALK_STEPS // 50, f"seed {seed}: only {met} places met again")
    session.close()


def walks(recordings, subject):
    for seed in range(1, WALKS + 1):
        random_walk(recordings, subject, seed)


def memory_limit(recordings, subject):
    """With little memory for checkpoints all is the same."""
    name, args, chaos, _ = SUBJECTS[subject]
    pinball = recordings.get(name, *args, chaos=chaos)
    lists = []
    for options in (("--memory", "1"), ()):
        client = Client.start(recordings.drdebug, pinball, "--quiet", *options)
        for symbol in BREAKS[subject]:
            client.insert(0, recordings.symbols(name)[symbol])
        client.goto("end")
        places, _ = all_stops(client, "bc")
        lists.append(places)
        client.close()
    compare(lists[0], lists[1][::-1], "with --memory 1")


def step_over(recordings, subject):
    """GDB steps the thread that stands at a breakpoint over it, alone, and cannot bear a stop of another one:
    finish_step_over: Assertion `ecs->event_thread->control.trap_expected' failed."""
    session = Session(recordings, subject)
    client = session.client
    code = range(session.where, session.where + 45)  # any instruction of it, wherever those begin
    for address in code:
        client.insert(0, address)
    for packet in ("vCont;c", "bc"):
        until = time.monotonic() + (600 if SOAK else 6)
        for number in range(STEPS * 20):
            if time.monotonic() > until:
                break
            stop = client.run(packet)
            if "replaylog" in stop.fields:
                break
            place, thread = client.when(), stop.thread
            client.remove(0, place["pc"])
            if packet == "bc":
                client.ask("Hc" + thread)
            stop = client.run("bs" if packet == "bc" else "vCont;s:" + thread)
            check(stop.thread == thread or "replaylog" in stop.fields,
                  f"{packet}, stop {number} at {place['position']}: stepped over in {thread}, answered {stop.text}")
            client.insert(0, place["pc"])
            if packet == "bc":
                client.ask("Hc-1")
    session.close()


CASES = {"step_over": step_over, "steps": steps, "begin": steps_from_begin, "end": steps_to_end, "far": steps_far,
         "breakpoints": breakpoints, "watches": watches, "reads": reads, "calls": calls, "walks": walks,
         "memory": memory_limit}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("case")
    parser.add_argument("subject", nargs="*")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as work:
        recordings = Recordings(options.drdebug, options.bin, work)
        special = {"step_over": "exits", "far": "spin"}
        usual = [special[options.case]] if options.case in special else [s for s in SUBJECTS if s not in special.values()]
        for subject in options.subject or usual:
            if options.case in ("watches", "reads") and subject not in WATCHED:
                continue
            try:
                CASES[options.case](recordings, subject)
            except Failed as failed:
                failures += 1
                print(f"FAILED: {options.case} {subject}: {failed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
