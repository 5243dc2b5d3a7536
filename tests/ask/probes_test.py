#!/usr/bin/env python3
"""probes_test.py DRDEBUG DUMP CASE PROGRAM [ARGUMENT...] - what probes take, compared with breakpoints and with the trace.

SPDX-License-Identifier: MIT

The program is recorded. Probes are put at instructions that its trace has: some of every kind, in the program and in its
libraries; each takes registers, vector registers, memory and a string. CASE:
  stub    every row equals what a breakpoint's stop shows: position, registers, memory (`drdebug serve`)
  gdb     the same, printed by GDB at breakpoints that it continues from (`drdebug debug`)
  trace   rows are the executions of the trace, thread by thread
  window  rows between two positions, and the first few, are those of the whole; a confined study has the same
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gdb"))
from stub_client import NO_LIBRARIES, Client, Failed, Stop  # noqa: E402

SOAK = bool(os.environ.get("DRDEBUG_SOAK"))
PLACES, MOST_TIMES, MOST_ROWS = (400, 60, 6000) if SOAK else (40, 30, 300)
STRINGS = re.compile("(movs|stos|lods|scas|cmps)[bwdq]$")
ARITHMETIC = 0x8d5  # flags that the engine need not keep where nobody reads them

RAX, RDI, RSP, RIP, EFLAGS, ST0, XMM0, XMM1, MXCSR, FS_BASE, YMM0H = 0, 5, 7, 16, 17, 24, 40, 41, 56, 58, 60
MEMORY, STRING, REGISTER = 1, 2, 3
WHOLE, UNREADABLE, CUT, ENDLESS = range(4)
MEMORY_BYTES, STRING_BYTES = 16, 32


def has_avx():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        return " avx " in f.read()


REGISTERS = list(range(16)) + [RIP, EFLAGS, ST0, XMM0, XMM1, MXCSR, FS_BASE] + ([YMM0H] if has_avx() else [])
SIZES = [8] * 16 + [8, 4] + [4] * 6 + [10] * 8 + [4] * 8 + [16] * 16 + [4] + [8] * 3 + [16] * 16
TAKE = ("".join(f"80{n:04x}" for n in REGISTERS) + f"26{RSP:04x}0d{MEMORY_BYTES:02x}29" +
        f"26{RDI:04x}22{STRING_BYTES:02x}2f" + f"26{RAX:04x}27")

Row = collections.namedtuple("Row", "probe thread count pc ticks when take undone value pieces")


def run(words, text="", environment=None):
    done = subprocess.run(words, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                          check=False, env=environment)
    if done.returncode:
        raise Failed(f"{' '.join(words)}: status {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.stdout.splitlines()


def parse(line):
    words = line.split()
    number = [int(w) for w in words[:3]] + [int(words[3], 16)] + [int(w) for w in words[4:8]] + [int(words[8], 16)]
    pieces = [(int(kind), int(where, 16), int(end), text)
              for kind, where, end, text in (piece.split(":") for piece in words[9:])]
    return Row(*number, pieces)


class Recorded:
    def __init__(self, drdebug, dump, folder, command):
        self.drdebug, self.dump = drdebug, dump
        self.pinball = os.path.join(folder, "pinball")
        subprocess.run([drdebug, "record", "-q", "-o", self.pinball, "--", *command], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)

    def ask(self, mode, *options, probes=()):
        text = "".join(f"{pc:x} {when} {take}\n" for pc, when, take in probes)
        stranger = {"XDG_STATE_HOME": self.pinball + ".elsewhere"} if "--confined" in options else {}
        return run([self.dump, mode, *options, self.pinball], text,
                   dict(os.environ, XDG_CACHE_HOME=self.pinball + ".cache", **stranger))

    def rows(self, probes, *options):
        lines = self.ask("rows", *options, probes=probes)
        ended = lines.pop()
        rows = [parse(line) for line in lines]
        if not re.match(rf"(end|enough): {len(rows)} rows", ended):
            raise Failed(f"rows end with {ended!r}")
        return rows, ended.split(":")[0]

    def executed(self):
        """{pc: (times, name)}"""
        out = {}
        for line in self.ask("executed"):
            _, pc, times, name = line.split()
            out[int(pc, 16)] = (out.get(int(pc, 16), (0,))[0] + int(times), name)
        return out

    def places(self, rng):
        """Some instructions of each kind, executed a few times each."""
        few = {pc: name for pc, (times, name) in self.executed().items() if times <= MOST_TIMES}
        calls = [pc for pc, name in few.items() if name == "syscall"]
        strings = [pc for pc, name in few.items() if STRINGS.match(name)]
        some = rng.sample(sorted(few), min(PLACES, len(few)))
        return sorted(set(some + rng.sample(sorted(calls), min(20, len(calls))) +
                          rng.sample(sorted(strings), min(10, len(strings)))))


# ---- breakpoints ----

def read(client, address, size):
    """As much as can be read, from the first byte on."""
    out = b""
    while size and len(out) < size:
        try:
            answer = client.ask(f"m{address + len(out):x},{size - len(out):x}")
            if not answer or answer[:1] == b"E":
                break
            out += bytes.fromhex(answer.decode())
        except ValueError:
            break
    return out


def expected_pieces(register, memory):
    """What a row should hold: register(n) gives bytes; memory(address, size) as much as can be read."""
    pieces = []
    for n in REGISTERS:
        value = register(n)
        wide = value.ljust(8, b"\0") if n in (RIP, EFLAGS) or n < 16 else value
        pieces.append((REGISTER, n, WHOLE, wide.hex()))
    sp, di = (int.from_bytes(register(n), "little") for n in (RSP, RDI))
    data = memory(sp, MEMORY_BYTES)
    pieces.append((MEMORY, sp, WHOLE if len(data) == MEMORY_BYTES else UNREADABLE, data.hex()))
    text = memory(di, STRING_BYTES)
    if b"\0" in text:
        text, end = text[:text.index(b"\0") + 1], WHOLE
    else:
        end = ENDLESS if len(text) == STRING_BYTES else UNREADABLE
    pieces.append((STRING, di, end, text.hex()))
    return pieces


def plain(pieces):
    """Without flags that may differ."""
    out = []
    for kind, where, end, text in pieces:
        if (kind, where) == (REGISTER, EFLAGS):
            text = f"{int.from_bytes(bytes.fromhex(text), 'little') & ~ARITHMETIC:x}"
        out.append((kind, where, end, text))
    return out


def compare(rows, stops):
    """Both are lists of (thread, count or None, pc, pieces)."""
    for number, (row, stop) in enumerate(zip(rows, stops)):
        for name, a, b in zip(("thread", "count", "pc"), row, stop):
            if a != b and b is not None:
                raise Failed(f"row {number}: {name} is {a:#x}, at the breakpoint {b:#x}")
        for a, b in zip(row[3], stop[3]):
            if a != b:
                raise Failed(f"row {number} at {row[2]:#x}: {a}, at the breakpoint {b}")
    if len(rows) != len(stops):
        raise Failed(f"{len(rows)} rows, {len(stops)} stops at breakpoints")


def wanted(rows):
    return [(row.thread, row.count, row.pc, plain(row.pieces)) for row in rows if not row.undone]


def limit(rows, places):
    """Places that keep the number of stops small."""
    times = collections.Counter(row.pc for row in rows if not row.undone)
    out, total = [], 0
    for pc in places:
        if times[pc] and total + times[pc] <= MOST_ROWS:
            out.append(pc)
            total += times[pc]
    return out


def stub_stops(recorded, places):
    client = Client.start(recorded.drdebug, recorded.pinball)
    for pc in places:
        client.insert(0, pc)
    stops = []
    while True:
        answer = client.ask("vCont;c", 300)
        if answer[:1] in b"WX":
            break
        stop = Stop(answer)
        if stop.why().startswith("replaylog"):
            break
        if stop.why() == "exec":
            for pc in places:
                client.insert(0, pc)
        if stop.why() != "swbreak":
            continue
        data, at, value = bytes.fromhex(client.registers().replace("x", "0")), 0, []
        for size in SIZES:
            value.append(data[at:at + size])
            at += size
        now = client.when()
        pieces = expected_pieces(value.__getitem__, lambda a, n: read(client, a, n))
        stops.append((now["thread"], now["count"], now["pc"], plain(pieces)))
    client.kill()
    return stops


def check_stub(recorded, rng):
    places = recorded.places(rng)
    rows, _ = recorded.rows([(pc, "-", TAKE) for pc in places])
    places = limit(rows, places)
    rows = [row for row in rows if row.pc in places]
    check_evaluated(rows)
    compare(wanted(rows), stub_stops(recorded, places))
    return f"{len(rows)} rows of {len(places)} places, {sum(row.undone for row in rows)} of them undone"


def check_evaluated(rows):
    if not rows:
        raise Failed("no rows")
    for row in rows:
        if row.when or row.take:
            raise Failed(f"a row was not evaluated: {row}")
        rax = next((text for kind, where, _, text in row.pieces if (kind, where) == (REGISTER, RAX)), None)
        if not row.undone and int.from_bytes(bytes.fromhex(rax), "little") != row.value:
            raise Failed(f"rax is not the value: {row}")


# ---- GDB ----

GDB_SCRIPT = """
import gdb
def number(value):
    return int(value.cast(gdb.lookup_type("unsigned long")))
class Probe(gdb.Breakpoint):
    def stop(self):
        frame = gdb.newest_frame()
        print("@@", gdb.selected_thread().ptid[1], *("%%x" %% number(gdb.parse_and_eval(n)) for n in
              ["(long)$pc"] + ["$" + n for n in "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()]
              + ["$xmm0.v2_int64[0]", "$xmm0.v2_int64[1]"]))
        return False
gdb.execute("set pagination off")
for pc in %s:
    Probe("*%%#x" %% pc)
for _ in range(100):
    try:
        gdb.execute("continue")
    except gdb.error as error:
        print("##", error)
        break
    if not gdb.selected_thread() or not gdb.selected_thread().is_valid():
        break
"""


def check_gdb(recorded, rng):
    """GDB may step over a breakpoint while others wait: no calls."""
    executed = recorded.executed()
    places = [pc for pc in recorded.places(rng) if executed[pc][1] != "syscall"]
    take = "".join(f"80{n:04x}" for n in list(range(16)) + [XMM0]) + "27"
    rows, _ = recorded.rows([(pc, "-", take) for pc in places])
    places = limit(rows, places)
    rows = [row for row in rows if row.pc in places and not row.undone]
    script = recorded.pinball + ".py"
    with open(script, "w", encoding="ascii") as f:
        f.write(GDB_SCRIPT % places)
    said = run([recorded.drdebug, "debug", "--start", recorded.pinball, "--", "-nx", "-batch", *NO_LIBRARIES, "-ex", "handle all nostop noprint",
                "-x", script])
    stops = [[int(line.split()[1])] + [int(word, 16) for word in line.split()[2:]]
             for line in said if line.startswith("@@")]
    mine = []
    for row in rows:
        values = [int.from_bytes(bytes.fromhex(text), "little") for _, _, _, text in row.pieces]
        wide = values.pop()
        mine.append([row.thread, row.pc, *values, wide & (1 << 64) - 1, wide >> 64])
    for number, (a, b) in enumerate(zip(mine, stops)):
        if a != b:
            raise Failed(f"row {number}: {[hex(v) for v in a]}, GDB has {[hex(v) for v in b]}")
    if not rows or len(mine) != len(stops):
        raise Failed(f"{len(mine)} rows, {len(stops)} in GDB:\n" + "\n".join(said[-20:]))
    return f"{len(rows)} rows of {len(places)} places"


# ---- the trace ----

def check_trace(recorded, rng):
    places = [(pc, "-", "-") for pc in recorded.places(rng)]
    rows, _ = recorded.rows(places)
    undone, mine = 0, {}
    for row in rows:
        key, position = (row.thread, row.pc), (row.count, row.pc)
        if row.undone:
            undone += 1
            if position not in mine.get(key, []):
                raise Failed(f"undone, but not taken: {row}")
            mine[key].remove(position)
        else:
            mine.setdefault(key, []).append(position)
    traced = {}
    for line in recorded.ask("positions", probes=places):
        thread, count, pc = line.split()
        traced.setdefault((int(thread), int(pc, 16)), []).append((int(count), int(pc, 16)))
    for key in sorted(set(mine) | set(traced)):
        a, b = mine.get(key, []), traced.get(key, [])
        if a[:-1] == b and a[-1:] == [last_of(rows, key[0])]:
            continue  # what the thread, or the program, ended in
        if a != b:
            raise Failed(f"T{key[0]} at {key[1]:x}: {len(a)} rows, {len(b)} executions; first different: "
                         f"{next(((x, y) for x, y in zip(a, b) if x != y), None)}, last row {a[-1:]}, {b[-1:]}")
    if not rows:
        raise Failed("no rows")
    return f"{len(rows)} rows, {undone} of them undone"


def last_of(rows, thread):
    return next((row.count, row.pc) for row in reversed(rows) if row.thread == thread)


# ---- windows ----

def same(rows):
    return [row._replace(pieces=plain(row.pieces)) for row in rows]


def check_window(recorded, rng):
    probes = [(pc, "-", TAKE) for pc in recorded.places(rng)]
    rows, ended = recorded.rows(probes)
    rows = same(rows)
    if ended != "end" or len(rows) < 10:
        raise Failed(f"{ended}: {len(rows)} rows")
    confined, _ = recorded.rows(probes, "--confined")
    if same(confined) != rows:
        raise Failed("a confined study has other rows")
    own = [i for i, row in enumerate(rows) if row.thread == 1]
    first, last = own[len(own) // 4], own[3 * len(own) // 4]

    def token(row):
        return f"T{row.thread}:{row.count}:{row.pc:x}"

    window = ["--from", token(rows[first]), "--to", token(rows[last])]
    for options in (window, ["--confined", *window]):
        part, _ = recorded.rows(probes, *options)
        while rows[first - 1][1:4] == rows[first][1:4]:
            first -= 1
        if same(part) != rows[first:last]:
            raise Failed(f"{options}: {len(part)} rows, not {last - first}")
    for options in (["--enough", "7"], ["--enough", "7", "--confined"]):
        part, ended = recorded.rows(probes, *options)
        if ended != "enough" or same(part) != rows[:7]:
            raise Failed(f"{options}: {ended}, {len(part)} rows")
    return f"{len(rows)} rows, {last - first} in the window"


CASES = {"stub": check_stub, "gdb": check_gdb, "trace": check_trace, "window": check_window}


def main():
    drdebug, dump, case, *command = sys.argv[1:]
    seed = random.randrange(1 << 30) if SOAK else 1
    with tempfile.TemporaryDirectory() as folder:
        recorded = Recorded(drdebug, dump, folder, command)
        try:
            print(CASES[case](recorded, random.Random(seed)))
        except Failed as error:
            print(f"FAILED: {case}, seed {seed}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
