#!/usr/bin/env python3
"""bombs.py DRDEBUG FAILING - small files that claim to be large: what drdebug takes for them stays small.

SPDX-License-Identifier: MIT

Memory is what the kernel saw of the process at its largest, and time is bounded only so that an endless
loop ends the test. FAILING is tests/replay/failing.c.
"""
import copy
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

MOST_KB = 1 << 20
LIMIT_MB = 400
HEADER = struct.Struct("<IHHIIQQQQQQ")
MASK = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotate(x, n):
    return (x << n | x >> (64 - n)) & MASK


def round1(acc, word):
    return rotate((acc + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """XXH64 with seed 0, as its specification has it."""
    at = 0
    if len(data) >= 32:
        acc = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while at + 32 <= len(data):
            for i, word in enumerate(struct.unpack_from("<4Q", data, at)):
                acc[i] = round1(acc[i], word)
            at += 32
        h = sum(rotate(a, n) for a, n in zip(acc, (1, 7, 12, 18))) & MASK
        for a in acc:
            h = ((h ^ round1(0, a)) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + len(data)) & MASK
    for at in range(at, len(data) - 7, 8):
        h = (rotate(h ^ round1(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
    at = len(data) - len(data) % 8
    if len(data) - at >= 4:
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


class Chunk:
    def __init__(self, data, at):
        (_, self.version, self.kind, self.flags, _, self.sequence, self.raw, stored, self.extra, total,
         check) = HEADER.unpack_from(data, at)
        assert check == xxh64(data[at:at + 56]), "the sum of a header"
        self.payload = data[at + 64:at + 64 + stored]
        assert total == xxh64(self.payload), "the sum of a payload"
        self.end = at + 64 + stored

    def unpack(self):
        if self.flags:
            self.payload = subprocess.run(["zstd", "-dcq"], input=self.payload, stdout=subprocess.PIPE,
                                          check=True).stdout
            self.flags = 0

    def bytes(self):
        head = HEADER.pack(0x42507244, self.version, self.kind, self.flags, 0, self.sequence, self.raw,
                           len(self.payload), self.extra, xxh64(self.payload), 0)[:56]
        return head + struct.pack("<Q", xxh64(head)) + self.payload


def chunks(path):
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        found.append(Chunk(data, at))
        at = found[-1].end
    return found


def store(path, found):
    path.write_bytes(b"".join(c.bytes() for c in found))


class Test:
    def __init__(self, drdebug, work):
        self.drdebug, self.work, self.failures = drdebug, work, 0

    def check(self, good, what):
        print(("ok: " if good else "FAILED: ") + what)
        self.failures += not good

    def run(self, what, status, *words, says=""):
        """In a process of its own, whose children's largest memory it tells."""
        script = ("import resource, subprocess, sys; "
                  "r = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT); "
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(r.returncode)")
        try:
            done = subprocess.run([sys.executable, "-c", script, self.drdebug, *words], cwd=self.work, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)
        except subprocess.TimeoutExpired:
            self.check(False, f"{what}: does not end")
            return
        peak = int(done.stderr.split()[-1])
        self.check(done.returncode == status and says in done.stdout,
                   f"{what}: status {done.returncode}, not {status}: {done.stdout[:300]}")
        self.check(peak < MOST_KB, f"{what}: {peak} KB")
        left = sum(f.stat().st_size for f in (self.work / "tmp").rglob("*") if f.is_file())
        self.check(left == 0, f"{what}: {left} bytes in TMPDIR")


def build(test):
    (test.work / "tmp").mkdir()
    (test.work / "far.c").write_text("""
int total, unused;
int main(int argc, char **argv)
{
    total = argc;
    if (argc > 5)
        unused = argv[0][0];
    __asm__ volatile(".loc 1 4294967290\\n addl $1, %0" : "+m"(total));
    total = total * 2 + unused;
    return total;
}
""")
    subprocess.run(["cc", "-g", "-O0", "-static", "-o", "far", "far.c"], cwd=test.work, check=True)
    test.run("record", 4, "record", "-q", "-o", "far.pinball", "./far")
    test.run("trace", 0, "trace", "-o", "good", "far.pinball")


def far_lines(test):
    page = test.work / "page"
    test.run("lines near 2^32", 0, "slice", "far.pinball", "total", "at", "end", "--all", "--html", "page", says="total")
    test.check(page.stat().st_size < 1 << 20 and "4294967290" in page.read_text(), "the page has the line, and little else")


def trace_fields(test):
    """What a step's chunk claims, and where mappings end."""
    good, bad = test.work / "good", test.work / "bad"
    found = chunks(good)
    steps = next(c for c in found if c.extra & 0xff == 2)
    claimed = steps.extra
    for insns in (0xffffffff, 1 << 40, (1 << 56) - 1):
        steps.extra = 2 | insns << 8
        store(bad, found)
        test.run(f"{insns} instructions in a chunk", 1, "slice", "far.pinball", "total", "at", "end", "--trace", "bad",
                 says="not a trace")
    steps.extra = claimed
    rest = found[-1]
    rest.unpack()
    store(bad, found)
    test.run("the same again", 0, "slice", "far.pinball", "total", "at", "end", "--trace", "bad", says="total")
    head = struct.unpack_from("<8Q", rest.payload)
    at = 64 + 4 * (head[2] + head[2] % 2) + 8 * head[3] + 16 * head[4] + 8 * head[5]
    data = bytearray(rest.payload)
    shift = 0
    for i in range(head[6]):  # the program's code becomes large, what follows it moves up
        start, end, offset, file, prot = struct.unpack_from("<QQQiI", data, at + 32 * i)
        if start < 0x600000000000:
            start += shift
            shift = shift or (3200 << 20 if file >= 0 and prot & 4 else 0)
            struct.pack_into("<QQ", data, at + 32 * i, start, end + shift)
    test.check(shift > 0, "the program has code below the libraries")
    rest.payload = bytes(data)
    store(bad, found)
    test.run("mappings of 3.2 GB", 0, "slice", "far.pinball", "total", "at", "end", "--trace", "bad", says="total")


def limited(test, what, status, *words, says=""):
    """As a stranger's, with a limit that is said."""
    before = dict(os.environ)
    os.environ.update(DRDEBUG_REPLAY_MEMORY=str(LIMIT_MB), XDG_STATE_HOME=str(test.work / "other"))
    test.run(what, status, *words, says=says)
    os.environ.clear()
    os.environ.update(before)


def trace_code(test):
    """Blocks that pack well and take some fifty times as much when they are unpacked."""
    found = chunks(test.work / "good")
    blocks = next(c for c in found if c.extra & 0xff == 1)
    insns = 64
    body = struct.pack("<II", insns, insns) + b"\1" * insns + b"\x90" * insns
    found = found[:1] + [c for c in found if c.extra & 0xff == 1]  # the version comes first
    for n in range(5):
        raw = b"".join(struct.pack("<Q", 0x400000 + (n << 16 | i) * 4) + body for i in range(58000))
        new = Chunk(blocks.bytes(), 0)
        new.sequence, new.flags, new.raw = len(found), 1, len(raw)
        new.payload = subprocess.run(["zstd", "-qc", "--no-check"], input=raw, stdout=subprocess.PIPE, check=True).stdout
        found.append(new)
    store(test.work / "bad", found)
    limited(test, "a trace's code", 1, "slice", "far.pinball", "total", "at", "end", "--trace", "bad", says="no memory")


def line_table(test):
    """One byte of debug information makes a row of a hundred."""
    rows = 12000000
    subprocess.run(["objcopy", "--dump-section", ".debug_line=line", "far"], cwd=test.work, check=True)
    line = (test.work / "line").read_bytes()
    end = 4 + struct.unpack_from("<I", line)[0]
    assert line[end - 3:end] == b"\0\1\1", "ends a sequence"
    (test.work / "line").write_bytes(struct.pack("<I", end - 4 + rows) + line[4:end - 3] + b"\1" * rows + line[end - 3:])
    subprocess.run(["objcopy", "--update-section", ".debug_line=line", "far", "rows"], cwd=test.work, check=True)
    test.run("record", 4, "record", "-q", "-o", "rows.pinball", "./rows")
    limited(test, "rows of lines", 0, "slice", "rows.pinball", "total", "at", "end", says="T1")
    limited(test, "rows of lines, packed", 0, "pack", "--sources", "--source-dir", "/", "-o", "packed", "rows.pinball")


def long_trace(test):
    """A trace that goes on and on leaves something of the disk."""
    (test.work / "long.c").write_text("""
unsigned long long at[1 << 22], x = 88172645463325252ull;
int main(void)
{
    for (int i = 0; i < 4000000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        at[x >> 32 & 0x3fffff] = x;
    }
    return 0;
}
""")
    subprocess.run(["cc", "-O1", "-o", "long", "long.c"], cwd=test.work, check=True)
    test.run("record", 0, "record", "-q", "-o", "long.pinball", "./long")
    before = dict(os.environ)
    os.environ.update(LD_PRELOAD=str(pathlib.Path(sys.argv[2]).resolve()), FAIL_ROOM="1")
    test.run("a small trace on a full disk", 0, "trace", "-o", "small", "far.pinball")
    test.run("a large trace on a full disk", 1, "trace", "-o", "large", "long.pinball", says="of the disk stay free")
    test.check(not list(test.work.glob("large*")), "nothing of it is left")
    os.environ.clear()
    os.environ.update(before)


def many_notes(test):
    """Bookmarks that would be compared with each other for hours."""
    text = "".join(f"bookmark T1:{i}:401000 x\n" for i in range(100000)).encode()
    head = chunks(test.work / "far.pinball/end")[0]
    head.kind, head.sequence, head.payload, head.raw = 6, 0, text, len(text)
    store(test.work / "far.pinball/notes", [head])
    test.run("many bookmarks", 1, "serve", "far.pinball", says="bookmarks")
    (test.work / "far.pinball/notes").unlink()


def other_events(test):
    """A recording that begins like another one has another trace: both are in the user's cache."""
    (test.work / "reads.c").write_text("""
#include <fcntl.h>
#include <unistd.h>
char data[1 << 16];
int main(void)
{
    int fd = open("/dev/urandom", O_RDONLY);
    for (int i = 0; i < 200; i++)
        if (read(fd, data, sizeof data) < 0)
            return 1;
    return 0;
}
""")
    subprocess.run(["cc", "-g", "-o", "reads", "reads.c"], cwd=test.work, check=True)
    test.run("record", 0, "record", "-q", "-o", "reads.pinball", "./reads")
    words = ("slice", "reads.pinball", "data[5]", "at", "end")
    cache = test.work / "cache/drdebug"
    limited(test, "a slice", 0, *words)
    before = len(list(cache.glob("*.trace")))
    limited(test, "the same again", 0, *words)
    test.check(len(list(cache.glob("*.trace"))) == before, "its trace was used again")
    path = test.work / "reads.pinball/events"
    found = chunks(path)
    test.check(len(found) > 1, f"{len(found)} chunks of events")
    middle = found[len(found) // 2]
    middle.unpack()
    data, at = bytearray(middle.payload), 0
    while struct.unpack_from("<I", data, at + 4)[0] < 4096:  # a record of what was read
        at += struct.unpack_from("<I", data, at + 4)[0]
    data[at + 1000] ^= 1
    middle.payload = bytes(data)
    store(path, found)
    limited(test, "a slice of other events", 0, *words)
    test.check(len(list(cache.glob("*.trace"))) == before + 1, "it has a trace of its own")


def kept_slice(test):
    """A slice that was kept wants a petabyte."""
    test.run("keep", 0, "slice", "far.pinball", "total", "at", "end", "-o", "one")
    path = test.work / "far.pinball/slices/one"
    found = chunks(path)
    found[0].unpack()
    text = found[0].payload.decode().split("\n")
    text = [f"want 0 1 0 4096 {1 << 50}" if line.startswith("want ") else line for line in text]
    found[0].payload = "\n".join(text).encode()
    found[0].raw = len(found[0].payload)
    store(path, found)
    test.run("a petabyte", 1, "slice", "far.pinball", "--show", "one", says="too many")


def many_statements(test):
    """A log that lists more statements than anybody can read, which pack to next to nothing."""
    whole, path, times = test.work / "far.pinball", test.work / "listed.pinball", 400
    shutil.copytree(whole, path)
    begin = bytes([121, 1, 120, 2, 0, 2, 0, 2, 0, 120, 0, 0, 2, 0, 0, 0])  # a thread, its first place, a way back to it
    steps = begin + b"\xff" * (32768 - len(begin))
    record = struct.pack("<BBHIQ", 132, 0, 0, 16 + len(steps), len(steps)) + steps
    found, listed = chunks(path / "events"), (8 << 20) // len(record)
    packed = subprocess.run(["zstd", "-cq"], input=record * listed, stdout=subprocess.PIPE, check=True).stdout
    more = [copy.copy(found[0]) for _ in range(times)]
    for i, chunk in enumerate(more):
        chunk.flags, chunk.sequence, chunk.raw = 1, len(found) + i, len(record) * listed
        chunk.payload, chunk.extra = packed, listed
    text = change_text(path / "head", r"\Z", "relog_of other\n")
    text = change_text(path / "end", r"(?m)^chunks .*", f"chunks {len(found) + times}")
    records = int(re.search(r"(?m)^records (\d+)", text)[1]) + times * listed
    change_text(path / "end", r"(?m)^records .*", f"records {records}")
    store(path / "events", found + more)
    test.run("many statements", 1, "serve", "listed.pinball", says="more statements than")


def change_text(path, old, new):
    [found] = chunks(path)
    text = re.sub(old, new, found.payload.decode())
    found.payload, found.raw = text.encode(), len(text.encode())
    store(path, [found])
    return text


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.environ.update(XDG_STATE_HOME=str(work / "state"), XDG_CACHE_HOME=str(work / "cache"),
                          TMPDIR=str(work / "tmp"), LC_ALL="C")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        test = Test(str(pathlib.Path(sys.argv[1]).resolve()), work)
        build(test)
        far_lines(test)
        trace_fields(test)
        trace_code(test)
        line_table(test)
        long_trace(test)
        many_notes(test)
        other_events(test)
        kept_slice(test)
        many_statements(test)
        sys.exit(test.failures > 0)


if __name__ == "__main__":
    main()
