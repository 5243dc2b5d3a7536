#!/usr/bin/env python3
"""mutate.py PART - damaged pinballs are refused: no crash, no hang, one line that names the file and the cause.

SPDX-License-Identifier: MIT

PART: folder (a small pinball), packed (the same as one file), version. 250 mutations with a fixed seed between the
first two; 10,000 with a new one in a soak: flipped bits, truncations, pieces swapped, doubled, zeroed or inserted,
members deleted, emptied, exchanged or turned into something that is no file. Each goes through `info --json`, some
through `verify` and `replay`, and through the reader built with AddressSanitizer where there is one (--checker).
"""
import os
import random
import re
import shutil
import sys

import replay_test
from replay_test import SOAK, compare

COUNT = 5000 if SOAK else 125
SEED = random.randrange(1 << 30) if SOAK else 31337
LIMIT = replay_test.LIMIT
SAMPLE = 8  # one in so many goes through verify, too
HEADER = 24
PIECES = (16, 64, 512, 4096, 65536)


class Victim:
    """A pinball to damage: {name: bytes}, written afresh for each mutation. A packed one has one name, ``."""

    def __init__(self, test, path):
        self.test, self.path, self.files = test, path, {}
        if os.path.isdir(path):
            for folder, _, names in os.walk(path):
                for name in names:
                    full = os.path.join(folder, name)
                    with open(full, "rb") as f:
                        self.files[os.path.relpath(full, path)] = f.read()
        else:
            with open(path, "rb") as f:
                self.files[""] = f.read()

    def write(self, files):
        path = self.test.fresh("mutant")
        if "" in self.files:
            if "" in files:
                put(path, files[""])
            return path
        shutil.copytree(self.path, path, symlinks=True)
        for name in self.files:
            at = os.path.join(path, name)
            if name not in files:
                os.unlink(at)
            elif files[name] is not self.files[name]:
                put(at, files[name])
        return path


def put(path, data):
    if os.path.lexists(path):
        os.unlink(path)
    if data is None:
        os.mkdir(path)
    else:
        with open(path, "wb") as f:
            f.write(data)


def discard(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def flip(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:], f"bit flipped in byte {at}"


def burst(rng, data):
    at, size = rng.randrange(len(data)), rng.choice((2, 4, 8, 100))
    return data[:at] + rng.randbytes(min(size, len(data) - at)) + data[at + size:], f"{size} random bytes at {at}"


def numbers(rng, data):
    """Sizes and counts that are far too large, where a field may be."""
    at = rng.randrange(0, max(1, min(len(data) - 8, 4096)), 4)
    value = rng.choice((0, 1, 0x7fffffff, 0xffffffff, 1 << 40, (1 << 63) - 1, (1 << 64) - 1))
    return data[:at] + value.to_bytes(8, "little") + data[at + 8:], f"{value:#x} at {at}"


def truncate(rng, data):
    size = rng.choice((0, 1, rng.randrange(len(data)), len(data) - 1, max(0, len(data) - rng.randrange(1, 100))))
    return data[:size], f"truncated to {size}"


def pick(rng, data):
    size = rng.choice([p for p in PIECES if p < len(data)] or [1])
    return rng.randrange(0, len(data) // size) * size, size


def swap(rng, data):
    (a, size), (b, _) = pick(rng, data), pick(rng, data)
    b = b // size * size
    a, b = sorted((a, b))
    if b + size > len(data) or a == b:
        return flip(rng, data)
    one, two = data[a:a + size], data[b:b + size]
    return data[:a] + two + data[a + size:b] + one + data[b + size:], f"{size} bytes at {a} and {b} swapped"


def double(rng, data):
    at, size = pick(rng, data)
    return data[:at + size] + data[at:], f"{size} bytes at {at} doubled"


def zero(rng, data):
    at, size = pick(rng, data)
    return data[:at] + bytes(len(data[at:at + size])) + data[at + size:], f"{size} bytes at {at} zeroed"


def remove(rng, data):
    at, size = pick(rng, data)
    return data[:at] + data[at + size:], f"{size} bytes at {at} removed"


def grow(rng, data):
    tail = rng.randbytes(rng.choice((1, 100, 5000)))
    return data + tail, f"{len(tail)} bytes appended"


CHANGES = (flip, flip, flip, burst, numbers, truncate, truncate, swap, double, zero, remove, grow)


def mutate(rng, victim, n):
    """({name: bytes}, name, description). The first ones go over the members, each in turn."""
    names = sorted(victim.files)
    files = dict(victim.files)
    if n < 4 * len(names):
        name, way = names[n // 4], n % 4
        if way == 0:
            del files[name]
            return files, name, "deleted"
        files[name] = (b"", None, rng.randbytes(len(files[name])))[way - 1]
        return files, name, ("emptied", "a directory", "random bytes")[way - 1]
    name = rng.choice([n for n in names if victim.files[n]])
    if len(names) > 1 and rng.randrange(20) == 0:
        other = rng.choice(names)
        files[name], files[other] = files[other], files[name]
        return files, name, f"exchanged with {other}"
    files[name], text = rng.choice(CHANGES)(rng, files[name])
    return files, name, text


def refused_well(done, path):
    """Exactly one line that begins with the name of a file of the pinball, and says what is wrong."""
    lines = [line for line in done.err.decode("latin-1").splitlines() if not line.startswith("hint:")]
    if done.status == 3:  # found by replaying
        return any("drdebug: " in line for line in lines)
    return done.status == 1 and len(lines) == 1 and re.match(rf"drdebug: {re.escape(path)}[^:]*: \S.*\w", lines[0]) is not None


def sane(test, done, path, text):
    good = test.check(done.status is not None, f"{text}: hangs {done.note}")
    good = good and test.check(0 <= done.status < 128 and b"runtime error" not in done.err and b"Sanitizer" not in done.err,
                               f"{text}: crashes: {done.text()}")
    if good and done.status != 0:
        good = test.check(refused_well(done, path), f"{text}: not one clear line about a file: {done.text()}")
    return good


def small_recording(test):
    recording = test.record([test.program("end_ends"), "thread", "exit=4"])
    test.recorded(recording, "a small pinball")
    return recording


def mutations(test, path, recording):
    print(f"seed {SEED}")
    rng, victim = random.Random(SEED), Victim(test, path)
    checker = test.options.checker if test.options.checker and os.path.exists(test.options.checker) else None
    print(f"{len(victim.files)} members, {sum(map(len, victim.files.values()))} bytes, "
          + ("with the checked reader" if checker else "no pinball_check was built: verbs only"))
    counts = {"info": 0, "verify": 0, "unnoticed": 0}
    for n in range(COUNT):
        files, name, text = mutate(rng, victim, n)
        if files == victim.files:
            continue
        mutant = victim.write(files)
        text = f"mutation {n}, {name or 'packed'} {text}"
        done = test.verb("info", "--json", mutant, limit=LIMIT)
        counts["info"] += done.status != 0
        sane(test, done, mutant, text + ": info")
        if checker:
            sane(test, replay_test.execute([checker, mutant], limit=LIMIT), mutant, text + ": pinball_check")
        if n % SAMPLE == 0:
            deep(test, mutant, text, recording, counts)
        if test.failures > 20:
            print("and so on")
            break
        discard(mutant)
    print(f"{counts['info']} of {COUNT} refused by info; {counts['verify']} of a sample by verify, {counts['unnoticed']} not")
    test.check(counts["unnoticed"] <= counts["verify"] // 10, "verify finds too little")


def deep(test, mutant, text, recording, counts):
    """verify reads all; what it lets pass must replay as if nothing had happened. replay must not crash, whatever."""
    done = test.verb("verify", mutant, limit=3 * LIMIT)
    sane(test, done, mutant, text + ": verify")
    counts["verify"] += done.status != 0
    replay = replay_test.Replay(mutant, test.verb("replay", mutant, limit=LIMIT))
    test.check(replay.status in (0, 1, 3), f"{text}: replay: {replay.text()}")
    if done.status == 0:
        counts["unnoticed"] += 1
        test.same(recording, replay, f"{text}: verify is content, but")


def folder(test):
    recording = small_recording(test)
    mutations(test, recording.path, recording)


def pack(test, recording):
    packed = test.fresh("packed")
    done = test.verb("pack", recording.path, "-o", packed)
    test.check(done.status == 0 and os.path.isfile(packed), f"pack: {done.text()}")
    return packed


def packed_file(test):
    recording = small_recording(test)
    mutations(test, pack(test, recording), recording)


def version(test):
    """Some integer near the beginning of some file is the version: changed, it is refused with a sentence about that."""
    recording = small_recording(test)
    for path in (recording.path, pack(test, recording)):
        victim, said, other = Victim(test, path), [], []
        for name, data in sorted(victim.files.items()):
            for at in range(0, min(HEADER, len(data))):
                files = dict(victim.files)
                files[name] = data[:at] + bytes([(data[at] + 1) % 256]) + data[at + 1:]
                mutant = victim.write(files)
                done = test.verb("info", mutant, limit=LIMIT)
                sane(test, done, mutant, f"byte {at} of {name or 'the packed file'}: info")
                (said if re.search(rb"version", done.err) else other).append(done)
                discard(mutant)
            if test.failures > 20:
                return
        test.check(said, f"{path}: no change of the first {HEADER} bytes of any file is refused for its version: "
                   + "; ".join(sorted({replay_test.tail(d.err, 80) for d in other})[:6]))
        for done in said:
            test.check(done.status == 1 and re.search(rb"version \S*\d.*\w", done.err),
                       f"the refusal names no version: {done.text()}")
        print(f"{os.path.basename(path)}: {replay_test.tail(said[0].err) if said else '-'}")


if __name__ == "__main__":
    parts = {"folder": folder, "packed": packed_file, "version": version}
    options = replay_test.parser_of(__doc__)
    options.add_argument("--checker", help="pinball_check, the reader under AddressSanitizer")
    options.add_argument("part", choices=sorted(parts))
    sys.exit(replay_test.main(lambda t: parts[t.options.part](t), options))
