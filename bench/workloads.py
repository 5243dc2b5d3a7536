"""workloads.py - what the benches run: programs, arguments and generated inputs.

One row per program. A program of our own is built from programs/NAME.c; the others are the
distribution's, on inputs made here once and kept in the build directory. The inputs depend on
nothing but this file, so two machines compress the same bytes.

SPDX-License-Identifier: MIT"""

import os
import random
from dataclasses import dataclass

CPU = "cpu"  # counts in the geometric mean
CALL = "call"  # reports ns_per_call on standard error
START = "start"  # short: start-up is all there is
COMPILE = "compile"  # processes that exec others, much code that runs once
PAIRS = "pairs"  # system calls
PARALLEL = "parallel"  # on two cores natively, in turns here
MUTEX = "mutex"  # the same work with few threads and with many
THREADS = "threads"  # recording only: threads that take turns
BULK = "bulk"  # recording only: much input that cannot be compressed

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs")

MIB = 1 << 20
CORPUS_SEED = 20240229
CORPUS_BYTES = {"gzip": 11 * MIB, "bzip2": 7 * MIB, "xz": 3 * MIB, "pbzip2": 14 * MIB,
                "pigz": 22 * MIB, "xz-T2": 8 * MIB}
BULK_BYTES = 100 * MIB
WITHOUT_INPUT = ("intloop", "onecycle", "fib", "quicksort", "chase", "matmul", "vmswitch", "vmfnptr",
                 "python3")


@dataclass(frozen=True)
class Workload:
    name: str
    kind: str
    argv: tuple


def all_workloads(build_dir):
    """Every workload in the order of the table. Missing files show when one is run."""

    def own(name, kind=CPU):
        return Workload(name, kind, (os.path.join(build_dir, "bench", name),))

    def corpus(name):
        return corpus_path(build_dir, name)

    return [
        own("intloop"),
        own("onecycle"),
        own("fib"),
        own("quicksort"),
        own("chase"),
        own("matmul"),
        own("vmswitch"),
        own("vmfnptr"),
        Workload("gzip", CPU, ("/usr/bin/gzip", "-9nc", corpus("gzip"))),
        Workload("bzip2", CPU, ("/usr/bin/bzip2", "-c", corpus("bzip2"))),
        Workload("xz", CPU, ("/usr/bin/xz", "-2", "-T1", "-c", corpus("xz"))),
        Workload("sqlite3", CPU, ("/usr/bin/sqlite3", "-batch", ":memory:",
                                  ".read " + os.path.join(SOURCES, "orders.sql"))),
        Workload("python3", CPU, ("/usr/bin/python3", "-B", os.path.join(SOURCES, "interp.py"))),
        own("getppid", CALL),
        own("clockgettime", CALL),
        own("hello", START),
        Workload("python3-pass", START, ("/usr/bin/python3", "-c", "pass")),
        Workload("gcc", COMPILE, ("/usr/bin/gcc", "-O2", "-c", os.path.join(SOURCES, "compiled.c"),
                                  "-o", "/dev/null")),
        own("pipepairs", PAIRS),
        Workload("pbzip2", PARALLEL, ("/usr/bin/pbzip2", "-p2", "-c", corpus("pbzip2"))),
        Workload("pigz", PARALLEL, ("/usr/bin/pigz", "-p2", "-9nc", corpus("pigz"))),
        Workload("xz-T2", PARALLEL, ("/usr/bin/xz", "-2", "-T2", "--block-size=2MiB", "-c",
                                     corpus("xz-T2"))),
        Workload("mutex4", MUTEX, (os.path.join(build_dir, "bench", "mutex"), "4")),
        Workload("mutex64", MUTEX, (os.path.join(build_dir, "bench", "mutex"), "64")),
    ]


def record_workloads(build_dir):
    """What the bench of recording runs."""

    def own(name, kind, *words):
        return Workload(name, kind, (os.path.join(build_dir, "bench", name),) + words)

    return all_workloads(build_dir) + [
        own("handover", THREADS),
        own("bulkread", BULK, bulk_path(build_dir)),
    ]


def bulk_path(build_dir):
    return os.path.join(build_dir, "bench", "input", "random-%d" % BULK_BYTES)


def corpus_path(build_dir, name):
    return os.path.join(build_dir, "bench", "input", "corpus-%d.%s" % (CORPUS_BYTES[name], name))


def make_inputs(build_dir, names):
    """Make the input files of these workloads that are not there yet."""
    for name in names:
        if name in CORPUS_BYTES:
            make_input(corpus_path(build_dir, name), write_corpus, CORPUS_BYTES[name])
        elif name == "bulkread":
            make_input(bulk_path(build_dir), write_random, BULK_BYTES)


def make_input(path, write, size):
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path + ".part", size)
        os.rename(path + ".part", path)


def write_random(path, size):
    rng = random.Random(CORPUS_SEED)
    with open(path, "wb") as out:
        for _ in range(size // MIB):
            out.write(rng.randbytes(MIB))


def write_corpus(path, size):
    """Prose-like text with a binary table now and then: about 3:1 for gzip."""
    rng = random.Random(CORPUS_SEED)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    weights = [1.0 / (rank + 2) for rank in range(len(letters))]
    vocabulary = ["".join(rng.choices(letters, weights, k=rng.randint(2, 10))) for _ in range(6000)]
    zipf = [1.0 / (rank + 3) for rank in range(len(vocabulary))]
    with open(path, "wb") as out:
        while out.tell() < size:
            if rng.random() < 0.04:
                rows = range(rng.randint(100, 400))
                block = b"".join(
                    bytes((row & 255, 0, rng.getrandbits(5), rng.getrandbits(8))) for row in rows)
            else:
                words = rng.choices(vocabulary, zipf, k=rng.randint(60, 400))
                block = (" ".join(words).capitalize() + ".\n").encode()
            out.write(block[: size - out.tell()])
