#!/usr/bin/env python3
"""confined_test.py DRDEBUG SUBJECT MUTANTS - a stranger's log is put into words in a confined process, with the same result.

SPDX-License-Identifier: MIT

Each question that needs no trace is asked of the same recording as one's own and, with another user's key, as a stranger's: rows,
notes and errors are the same. So they are for recordings whose log was damaged with care: the sums are right, only bytes of records
are not. That no call gets out of the process is slice.confined's.
"""
import os
import random
import shutil
import struct
import subprocess
import sys

from questions import Test

DRDEBUG, SUBJECT, MUTANTS = sys.argv[1:]
PATIENCE = 60  # seconds
SEED = int(os.environ.get("ASK_SEED", "16"))
HEADER = struct.Struct("<4sHHIIQQQQQQ")
MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261


def turn(value, by):
    value &= MASK
    return (value << by | value >> 64 - by) & MASK


def xxh64(data):
    at, size = 0, len(data)
    if size >= 32:
        v = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while at <= size - 32:
            for i, word in enumerate(struct.unpack_from("<4Q", data, at)):
                v[i] = turn(v[i] + word * P2, 31) * P1 & MASK
            at += 32
        h = sum(turn(word, by) for word, by in zip(v, (1, 7, 12, 18))) & MASK
        for word in v:
            h = ((h ^ turn(word * P2, 31) * P1 & MASK) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + size) & MASK
    for at in range(at, size - 7, 8):
        h = (turn(h ^ turn(struct.unpack_from("<Q", data, at)[0] * P2, 31) * P1 & MASK, 27) * P1 + P4) & MASK
    at = size & ~7
    if size - at >= 4:
        h = (turn(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = turn(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def unpack(path):
    """The chunks of a log: [header's fields, payload]."""
    with open(path, "rb") as f:
        data = f.read()
    chunks, at = [], 0
    while at < len(data):
        fields = list(HEADER.unpack_from(data, at))
        payload = data[at + HEADER.size:at + HEADER.size + fields[7]]
        at += HEADER.size + fields[7]
        if fields[3] & 1:
            payload = subprocess.run(["zstd", "-dcq"], input=payload, stdout=subprocess.PIPE, check=True).stdout
        chunks.append((fields, payload))
    return chunks


def pack(chunks, path):
    with open(path, "wb") as f:
        for fields, payload in chunks:
            head = [*fields[:3], 0, 0, fields[5], len(payload), len(payload), fields[8], xxh64(payload), 0]
            raw = HEADER.pack(*head)[:-8]
            f.write(raw + struct.pack("<Q", xxh64(raw)) + payload)


def mutate(rng, chunks):
    """Words that look like those of a record: small and large numbers, other words of the log."""
    changed = [(fields, bytearray(payload)) for fields, payload in chunks]
    for _ in range(rng.choice((1, 1, 2, 5))):
        _, payload = rng.choice(changed)
        at = rng.randrange(len(payload) // 4) * 4
        other = rng.randrange(len(payload) // 4) * 4
        word = rng.choice((rng.randbytes(4), b"\0\0\0\0", b"\xff\xff\xff\xff", bytes(payload[other:other + 4]),
                           struct.pack("<I", rng.randrange(400)), struct.pack("<i", -rng.randrange(1, 200))))
        payload[at:at + 4] = word
    return [(fields, bytes(payload)) for fields, payload in changed]


class Both:
    """The same question to one's own recording and to a stranger's."""

    def __init__(self, test):
        self.test = test
        self.own = dict(os.environ, LC_ALL="C.UTF-8", XDG_STATE_HOME=os.path.join(test.work, "own"))
        self.stranger = dict(self.own, XDG_STATE_HOME=os.path.join(test.work, "stranger"))

    def run(self, env, *words):
        return subprocess.run([DRDEBUG, *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)

    def ask(self, pinball, *words, about=""):
        """None: a damaged log can make a program run for ever."""
        try:
            own, other = (self.run(env, "ask", pinball, *words) for env in (self.own, self.stranger))
        except subprocess.TimeoutExpired:
            return None
        self.test.equal((other.returncode, other.stdout, other.stderr), (own.returncode, own.stdout, own.stderr),
                        f"{about}{' '.join(words)}: a stranger's")
        self.test.check(own.returncode in (0, 1, 2, 3), f"{about}{words}: status {own.returncode}: {own.stderr}")
        return own


def questions(rng, position, ticks):
    """Of each kind, with options that end it early or put it into another form."""
    low, high = sorted(rng.sample(range(1, ticks), 2))
    yield from (["events"], ["events", "failed", "--json"], ["events", "signal", "--csv"], ["events", "--group-by", "what,error"],
                ["events", "--after", position, "--limit", "3"], ["events", "--thread", "2", "--count"],
                ["output", "--json"], ["output", "*1*"], ["output", "/[0-9]/", "--limit", "1"], ["output", "/(/"],
                ["threads", "--json"], ["threads", "--csv"], ["schedule", "--json"], ["schedule", "--limit", "2"],
                ["schedule", f"{low}..{high}"], ["schedule", f"{position}..", "--buckets", "3"], ["schedule", "T9:1:1.."],
                ["schedule", "--buckets", str(rng.randrange(2, 40)), "--csv"])


def main():
    test, rng = Test(DRDEBUG), random.Random(SEED)
    both = Both(test)
    pinball = os.path.join(test.work, "subject")
    both.run(both.own, "record", "-q", "-o", pinball, "--", SUBJECT)
    test.check(b"by a stranger" in both.run(both.stranger, "info", pinball).stdout, "it is a stranger's")
    events = [line.split(b",") for line in both.run(both.own, "ask", pinball, "events", "--csv").stdout.splitlines()[1:]]
    position = rng.choice([e[1] for e in events if e[1].startswith(b"T1:")]).decode()
    for words in questions(rng, position, 2000):
        both.ask(pinball, *words)
    chunks = unpack(os.path.join(pinball, "events"))
    mutant = os.path.join(test.work, "mutant")
    shutil.copytree(pinball, mutant)
    pack(chunks, os.path.join(mutant, "events"))
    test.equal(both.ask(mutant, "events").stdout, both.ask(pinball, "events").stdout, "a log that was packed again")
    failed = endless = 0
    for number in range(int(MUTANTS)):
        pack(mutate(rng, chunks), os.path.join(mutant, "events"))
        done = both.ask(mutant, *rng.choice((["events", "--csv"], ["events", "--json"], ["threads"], ["schedule"], ["output"])),
                        about=f"mutant {number} of seed {SEED}: ")
        failed += done is not None and done.returncode != 0
        endless += done is None
    test.check(endless < int(MUTANTS) / 4, f"{endless} endless replays")
    print(f"{MUTANTS} mutants: {failed} could not be replayed, {endless} had no end")
    test.end()


main()
