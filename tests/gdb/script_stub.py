#!/usr/bin/env python3
"""script_stub.py - a stand-in for `drdebug serve`, to test gdb/drdebug.py alone.

SPDX-License-Identifier: MIT

    script_stub.py PROGRAM [BEHAVIOUR...]

Runs a small static program by single steps, keeps its registers and data after each, and serves that to GDB
on standard input and output, backwards, too. A tick is one instruction. BEHAVIOUR: `plain` knows no
qDrdebug packets, `garbage` answers them with nonsense.
"""
import ctypes
import json
import os
import struct
import socket
import sys

REGISTERS = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
# struct user_regs_struct of <sys/user.h>
USER = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
        "fs_base gs_base ds es fs gs").split()
TRACEME, SINGLESTEP, GETREGS = 0, 9, 12


class State:
    """What the program was before one of its instructions."""

    def __init__(self, pid, areas):
        buffer = ctypes.create_string_buffer(27 * 8)
        ptrace(GETREGS, pid, 0, ctypes.addressof(buffer))
        self.registers = dict(zip(USER, struct.unpack("<27Q", buffer.raw)))
        self.memory = {}
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for start, end in areas:
                memory.seek(start)
                self.memory[start] = memory.read(end - start)

    @property
    def pc(self):
        return self.registers["rip"]

    def read(self, address, size):
        """As much as is there."""
        for start, data in self.memory.items():
            if start <= address < start + len(data):
                return data[address - start:address - start + size]
        return b""


libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
libc.ptrace.restype = ctypes.c_long


def ptrace(*args):
    if libc.ptrace(*args) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def record(path):
    """States of the program from its first instruction to its last, and what it wrote."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write_end, 1)
        ptrace(TRACEME, 0, 0, 0)
        os.execv(path, [path])
    os.close(write_end)
    os.waitpid(pid, 0)
    with open(f"/proc/{pid}/maps") as maps:
        areas = [tuple(int(n, 16) for n in line.split()[0].split("-"))
                 for line in maps if "[v" not in line]  # not the kernel's own
    states = []
    while True:
        states.append(State(pid, areas))
        ptrace(SINGLESTEP, pid, 0, 0)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            break
    os.close(read_end)
    return states


class Stub:
    def __init__(self, path, behaviour):
        self.path = os.path.realpath(path)
        self.behaviour = behaviour
        self.states = record(self.path)
        self.now = 0
        self.goal = None
        self.breaks, self.watches = set(), set()
        self.bookmarks = []

    # ---- moving ----

    @property
    def state(self):
        return self.states[self.now]

    def changed(self, i):
        """A watched range that instruction i writes to."""
        return next((w for w in self.watches if i + 1 < len(self.states)
                     and self.states[i].read(*w) != self.states[i + 1].read(*w)), None)

    def forwards(self, single):
        while self.now + 1 < len(self.states):
            hit = self.changed(self.now)
            self.now += 1
            if hit:
                return f"T05watch:{hit[0]:x};"
            if self.state.pc in self.breaks:
                return "T05swbreak:;"
            if single:
                return "T05"
        return "T05replaylog:end;"

    def backwards(self, single):
        while self.now > 0:
            self.now -= 1
            hit = self.changed(self.now)
            if hit:
                return f"T05watch:{hit[0]:x};"
            if self.state.pc in self.breaks:
                return "T05swbreak:;"
            if single:
                return "T05"
        return "T05replaylog:begin;"

    def resume(self, move, single):
        if self.goal is not None:
            self.now, self.goal = self.goal, None
            return "T00thread:1;"
        return move(single) + "thread:1;"

    # ---- qDrdebug ----

    def position(self, i):
        return f"T1:{i}:{self.states[i].pc:x}"

    def when(self, _):
        return {"position": self.position(self.now), "thread": 1, "tid": 4711, "ticks": self.now,
                "count": self.now, "pc": self.state.pc, "events": len(self.calls(self.now)),
                "why": "position", "at_begin": self.now == 0,
                "at_end": self.now == len(self.states) - 1}

    def place(self, text):
        if text == "begin":
            return 0
        if text == "end":
            return len(self.states) - 1
        if text[:1] in ("+", "-"):
            place = self.now + int(text)
        elif text.startswith("T1:"):
            place = int(text.split(":")[1])
        else:
            raise ValueError(f"{text}: not a position")
        if not 0 <= place < len(self.states):
            raise ValueError(f"{text}: not in this recording")
        return place

    def goto(self, text):
        place = self.place(text)
        if place == self.now:
            return {"direction": "here"}
        self.goal = place
        return {"direction": "forward" if place > self.now else "backward"}

    def last(self, text):
        area = tuple(int(n, 0) for n in text.split())
        for i in range(self.now - 1, -1, -1):
            if self.states[i].read(*area) != self.states[i + 1].read(*area):
                return {"position": self.position(i)}
        return {"position": None}

    def calls(self, end):
        return [i for i in range(end) if self.states[i].read(self.states[i].pc, 2) == b"\x0f\x05"]

    def page(self, rows, args, key):
        words = args.split()
        start = int(words[words.index("from") + 1]) if "from" in words else 0
        return {key: rows[start:start + 1], "next": start + 1 if start + 1 < len(rows) else None}

    def events(self, args):
        rows = [{"number": n, "position": self.position(i), "kind": "call", "call": 1,
                 "about": f"write(1, ...) = {self.states[i + 1].registers['rax']}"}
                for n, i in enumerate(self.calls(len(self.states) - 1))]
        rows.append({"number": 2, "position": self.position(self.now), "kind": "signal", "signal": 11,
                     "about": "SIGSEGV {si_signo=SIGSEGV}"})
        rows.append({"number": 3, "position": self.position(self.now), "kind": "call", "call": 257,
                     "about": "openat(AT_FDCWD, \"\\x07\") = -1 ENOENT"})
        wanted = args.split()[0] if args and not args.startswith("from") else ""
        if wanted == "frobnicate":
            return {"error": "frobnicate: not a kind of event"}
        if wanted:
            rows = [row for row in rows if wanted in (row["kind"], row["about"].partition("(")[0])]
        return self.page(rows, args, "events")

    def output(self, args):
        rows = [{"position": self.position(i), "fd": 1,
                 "text": self.states[i].read(self.states[i].registers["rsi"],
                                             self.states[i].registers["rdx"]).decode().strip()}
                for i in self.calls(len(self.states) - 1)]
        rows.append({"position": self.position(5), "fd": 2, "text": "bell\x07 \x1b[1m \u00e9"})
        return self.page(rows, args, "output")

    def bookmark(self, args):
        position, _, note = args.partition(" ")
        self.bookmarks.append({"position": position, "note": note})
        return {}

    def ask(self, text):
        if "plain" in self.behaviour:
            return ""
        if "garbage" in self.behaviour:
            return "zz"
        name, _, args = text.partition(" ")
        table = {"when": self.when, "goto": self.goto, "last": self.last, "events": self.events,
                 "output": self.output, "bookmark": self.bookmark,
                 "bookmarks": lambda _: {"bookmarks": self.bookmarks}}
        try:
            answer = table[name](args)
        except (KeyError, ValueError) as error:
            answer = {"error": str(error)}
        return json.dumps(answer).encode().hex()

    # ---- GDB's packets ----

    def all_registers(self):
        r = self.state.registers
        text = b"".join(struct.pack("<Q", r[name]) for name in REGISTERS)
        return text + b"".join(struct.pack("<I", r[n]) for n in "eflags cs ss ds es fs gs".split())

    def read_memory(self, text):
        address, size = (int(n, 16) for n in text.split(","))
        return self.state.read(address, size).hex() or "E01"

    def xfer(self, data, text):
        offset, size = (int(n, 16) for n in text.split(","))
        return ("m" if offset + size < len(data) else "l") + data[offset:offset + size]

    def set_break(self, text, add):
        kind, address, size = (int(n, 16) for n in text.split(";")[0].split(","))
        place, where = ((self.breaks, address) if kind < 2 else (self.watches, (address, size)))
        (place.add if add else place.discard)(where)
        return "OK" if kind < 3 else ""

    def answer(self, text):
        fixed = {"?": "T05thread:1;", "vCont?": "vCont;c;C;s;S", "qfThreadInfo": "m1",
                 "qsThreadInfo": "l", "qC": "QC1", "qAttached": "1", "!": "OK", "D": "OK"}
        if text in fixed:
            return fixed[text]
        if text.startswith("qSupported"):
            return ("PacketSize=4000;qXfer:features:read+;qXfer:exec-file:read+;swbreak+;ReverseStep+;"
                    "ReverseContinue+")
        if text.startswith("qXfer:features:read:target.xml:"):
            return self.xfer(description(), text.split(":")[-1])
        if text.startswith("qXfer:exec-file:read:"):
            return self.xfer(self.path, text.split(":")[-1])
        if text.startswith("qDrdebug,"):
            return self.ask(text[len("qDrdebug,"):])
        if text == "g":
            return self.all_registers().hex()
        if text[0] == "m":
            return self.read_memory(text[1:])
        if text[0] in "Zz":
            return self.set_break(text[1:], text[0] == "Z")
        if text[0] in "HT":
            return "OK"
        if text in ("bc", "bs"):
            return self.resume(self.backwards, text == "bs")
        if text.startswith("vCont;"):
            return self.resume(self.forwards, text[6] in "sS")
        return ""


def description():
    wide = "".join(f'<reg name="{n}" bitsize="64" type="{"code_ptr" if n == "rip" else "int64"}"/>'
                   for n in REGISTERS)
    narrow = "".join(f'<reg name="{n}" bitsize="32" type="int32"/>'
                     for n in "eflags cs ss ds es fs gs".split())
    st = "".join(f'<reg name="st{i}" bitsize="80" type="i387_ext"/>' for i in range(8))
    fp = "".join(f'<reg name="{n}" bitsize="32" type="int" group="float"/>'
                 for n in "fctrl fstat ftag fiseg fioff foseg fooff fop".split())
    return ('<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target>'
            "<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>"
            f'<feature name="org.gnu.gdb.i386.core">{wide}{narrow}{st}{fp}</feature></target>')


def packets(stream):
    """Unescaped texts of packets."""
    while c := stream.read(1):
        if c != b"$":
            continue
        text = b""
        while (c := stream.read(1)) not in (b"#", b""):
            text += bytes([stream.read(1)[0] ^ 0x20]) if c == b"}" else c
        stream.read(2)
        yield text.decode("utf-8", "replace")


def main():
    words, source, sink = sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer
    if "--listen" in words:  # as `drdebug serve --once --listen unix:PATH`
        at = words.index("--listen")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(words[at + 1].removeprefix("unix:"))
        listener.listen()
        client = listener.accept()[0]
        words, source, sink = words[:words.index("--once")], client.makefile("rb"), client.makefile("wb")
    stub = Stub(words[0], words[1:])
    for text in packets(source):
        reply = b"k" if text == "k" else stub.answer(text).encode()
        sink.write(b"+$" + reply + b"#%02x" % (sum(reply) & 255))
        sink.flush()
        if text in ("k", "D"):
            break


if __name__ == "__main__":
    main()
