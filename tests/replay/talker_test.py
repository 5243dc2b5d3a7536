#!/usr/bin/env python3
"""talker_test.py DRDEBUG HOSTILE TALKER DUMP [mute] - a replaying process that lies does no harm, whatever verb listens to it.

SPDX-License-Identifier: MIT

DRDEBUG is built with AddressSanitizer, as is DUMP (tests/ask/probes_dump.c), which takes values by probes. Each round makes a pinball whose program is TALKER (talker.c) with a seed of
its own and gives it to every verb that replays. Each must end by itself, with one of its own statuses and without a
report of a sanitizer; no process may be left, and no file. The same seeds every time; with DRDEBUG_SOAK new ones for
half an hour (or DRDEBUG_FUZZ_SECONDS). `mute`: the one that says nothing, for which half a minute passes.
"""
import ctypes
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS = 2  # of all verbs
WORDS = 300  # that the talker says
LIMIT = 300  # seconds; a run takes less than one, unless both sides wait: half a minute
STATUSES = (0, 1, 2, 3)
SET_CHILD_SUBREAPER = 36

PACKETS = """?
qSupported:multiprocess+;xmlRegisters=i386;swbreak+;vContSupported+
qXfer:features:read:target.xml:0,fff
qXfer:threads:read::0,fff
qXfer:auxv:read::0,fff
qXfer:libraries-svr4:read::0,fff
qXfer:siginfo:read::0,fff
qXfer:exec-file:read::0,fff
vFile:setfs:0
vFile:open:2f70726f632f312f6d617073,0,0
vFile:pread:3,1000,0
vFile:open:2f70726f632f312f7461736b2f312f6d617073,0,0
qfThreadInfo
qsThreadInfo
qThreadExtraInfo,1
Hg1
g
p0
m400000,100
m7ffffff0000,4000
qAttached
QPassSignals:
vCont;c
bc
bs
vCont;s:1
vCont;r401000,402000:1
Z0,401000,1
Z2,401000,8
vCont;c
bc
bs
bs
s
g
P0=0000000000000000
M400000,8:0000000000000000
vCont;c
g
qXfer:threads:read::0,fff
qGetTLSAddr:1,0,0
T1
T2
D""".split("\n")


def packets(rng):
    """A session: mostly in order, with moves in between."""
    out = b""
    for text in PACKETS:
        for one in [text] + [rng.choice(PACKETS[:-1]) for _ in range(rng.randrange(2))]:
            out += b"$" + one.encode() + b"#%02x" % (sum(one.encode()) % 256)
    return out


def probes(rng):
    """A list for DUMP: the places that the talker names."""
    return b"401000 - 80000527\n" + b"402000 - 27\n" * rng.randrange(5)


# What is said on standard input, and the arguments; {} is the pinball. DUMP instead of drdebug.
VERBS = [
    (None, ["replay", "{}"]),
    (None, ["verify", "{}"]),
    (None, ["trace", "-o", "{}/../trace", "{}"]),
    (None, ["slice", "{}", "%rax at end"]),
    (None, ["slice", "--forward", "--values", "{}", "0x400000 64 at end"]),
    (None, ["slice", "--all", "--json", "--values", "{}", "--at", "failure"]),
    (packets, ["serve", "{}"]),
    (packets, ["serve", "-q", "--memory", "100", "{}"]),
    (probes, ["DUMP", "rows", "{}"]),
    (probes, ["DUMP", "rows", "--confined", "{}"]),
]


def children():
    """Process ids of those who were left to us; empty if there are none."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as f:
        return f.read().split()


class Failed(Exception):
    pass


def check_nothing_left(folder, before):
    end = time.monotonic() + LIMIT
    while children():
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            pass
        if time.monotonic() > end:
            raise Failed(f"processes are left: {children()}")
        time.sleep(0.01)
    left = [name for name in os.listdir(folder) if name not in before and name != "cache"]
    if left:
        raise Failed(f"files are left: {left}")


def run(tools, folder, pinball, verb, rng):
    say, arguments = verb
    cache = os.path.join(folder, "cache")  # a stranger's trace is kept there
    environment = dict(os.environ, TMPDIR=os.path.join(folder, "tmp"), HOME=folder, XDG_STATE_HOME=folder,
                       XDG_CACHE_HOME=cache,
                       ASAN_OPTIONS="exitcode=99:detect_leaks=0:allocator_may_return_null=1",
                       UBSAN_OPTIONS="print_stacktrace=1:exitcode=99")
    words = [tools[3], *arguments[1:]] if arguments[0] == "DUMP" else [tools[0], *arguments]
    command = [a.format(pinball) for a in words]
    try:
        done = subprocess.run(command, input=say(rng) if say else b"", stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=LIMIT, env=environment, cwd=folder, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"did not end: {' '.join(command)}") from error
    text = done.stderr.decode(errors="replace")
    if done.returncode not in STATUSES or "Sanitizer" in text or "runtime error" in text:
        raise Failed(f"status {done.returncode}: {' '.join(command)}\n{text[-6000:]}")
    if os.listdir(environment["TMPDIR"]):
        raise Failed(f"left in TMPDIR: {os.listdir(environment['TMPDIR'])}")
    return text


def one_round(tools, seed, heard):
    hostile, talker = tools[1:3]
    folder = tempfile.mkdtemp()
    try:
        os.mkdir(os.path.join(folder, "tmp"))
        for number, verb in enumerate(VERBS):
            rng = random.Random(seed * len(VERBS) + number)
            pinball = os.path.join(folder, "pinball")
            shutil.rmtree(pinball, ignore_errors=True)
            subprocess.run([hostile, pinball, "talk", talker, str(rng.randrange(1 << 32)), str(WORDS)], check=True)
            before = os.listdir(folder) + ["trace", "drdebug"]
            text = run(tools, folder, pinball, verb, rng)
            heard["nonsense"] = heard.get("nonsense", 0) + ("talks nonsense" in text)
            heard["runs"] = heard.get("runs", 0) + 1
            check_nothing_left(folder, before)
    except Failed as error:
        kept = folder + ".failed"
        os.rename(folder, kept)
        print(f"FAILED: seed {seed}: {error}\nkept: {kept}")
        return False
    shutil.rmtree(folder)
    return True


def mute(tools):
    """A process that sleeps and never says anything is not waited for."""
    hostile, talker = tools[1:3]
    folder = tempfile.mkdtemp()
    try:
        os.mkdir(os.path.join(folder, "tmp"))
        pinball = os.path.join(folder, "pinball")
        subprocess.run([hostile, pinball, "talk", talker, "1", "0"], check=True)
        text = run(tools, folder, pinball, (None, ["replay", "{}"]), None)
        check_nothing_left(folder, ["pinball", "tmp", "drdebug"])
        if "does not answer" not in text:
            raise Failed(f"a mute process: {text}")
    except Failed as error:
        print(f"FAILED: {error}")
        return False
    finally:
        shutil.rmtree(folder)
    return True


def main():
    tools = [os.path.abspath(path) for path in sys.argv[1:5]]
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if sys.argv[5:] == ["mute"]:
        return 0 if mute(tools) else 1
    heard, good = {}, True
    if os.environ.get("DRDEBUG_SOAK"):
        end = time.monotonic() + float(os.environ.get("DRDEBUG_FUZZ_SECONDS", 1800))
        while time.monotonic() < end and good:
            good = one_round(tools, random.randrange(1 << 30), heard)
    else:
        for seed in range(ROUNDS):
            good = one_round(tools, seed, heard) and good
    print(f"{heard.get('runs')} runs, nonsense was noticed in {heard.get('nonsense')}")
    if good and not heard.get("nonsense"):
        print("FAILED: the talker was never heard")
        good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
