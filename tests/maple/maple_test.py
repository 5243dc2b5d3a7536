#!/usr/bin/env python3
"""maple_test.py DRDEBUG BIN SUBJECTS PART - the search finds the bugs of the subjects, and nothing else.

SPDX-License-Identifier: MIT

found: each subject fails within 1000 runs, and the recording replays with the same end. repeats: a recipe gives the same switches 10
times. pairs: the report names the marked lines. twins: the correct forms do not fail. memo: a search that was stopped goes on as if it had not been;
damaged memos. jobs: four of them, by GNU parallel, find what one finds. retest: a failure's orders on the corrected program. words: what a report
says. bad: programs that no search is for, and options that are wrong.
"""
import fcntl
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

DRDEBUG, BIN, SUBJECTS, PART = sys.argv[1:5]
sys.path.insert(0, SUBJECTS)
from table import SUBJECTS as TABLE, TWINS  # noqa: E402

FAILED = []


def run(*args, **more):
    return subprocess.run([DRDEBUG, *args], capture_output=True, text=True, timeout=600, **more)


def complain(what):
    print(what)
    FAILED.append(what)


def search(name, *options):
    source, args = TABLE[name]
    return run("maple", "--json", *options, "--", os.path.join(BIN, source), *args)


def found():
    for name in TABLE:
        directory = f"{name}.pinball"
        done = search(name, "-o", directory, "--runs", "1000", "--no-report")
        if done.returncode:
            complain(f"{name}: status {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
            continue
        first = json.loads(done.stdout)["found"][0]
        print(f"{name}: run {first['run']}, {first['strategy']}, {first['failure']}")
        replayed = [run("replay", directory).stderr for _ in range(2)]
        if replayed[0] != replayed[1] or "ended" not in replayed[0]:
            complain(f"{name}: replays say {replayed}")
        left = [entry for entry in os.listdir(".") if entry.startswith(name) and entry != directory]
        if left:
            complain(f"{name}: left behind: {left}")


def marked(source):
    with open(os.path.join(SUBJECTS, source + ".c"), encoding="ascii") as file:
        return [f"{source}.c:{number}" for number, line in enumerate(file, 1) if "ROOT CAUSE" in line]


def pairs():
    """The two accesses whose order decides; the reduced run fails as the first did, its neighbour does not."""
    for name in ["lost_update", "double_fetch", "circular_buffer", "log_processed", "no_barrier", "token_ring"]:
        for seed in range(1, 20):  # until the first run, which is not perturbed, passes
            directory = f"{name}{seed}.pinball"
            done = json.loads(search(name, "-o", directory, "--pair", "--seed", str(seed)).stdout)["found"]
            if len(done) > 1:
                break
        places = [access["place"] for pair in done[1]["pairs"] for access in pair]
        if not set(places) & set(marked(TABLE[name][0])):
            complain(f"{name}: {places} are not the marked lines")
        ends = [run("info", directory + more).stdout.split("program ended: ")[1].split("\n")[0] for more in ("", ".reduced", ".passing")]
        if ends[0].split(" in ")[0] != ends[1].split(" in ")[0] or ends[2] != "exit status 0":
            complain(f"{name}: the runs end with {ends}")
        if done[1]["after"] > done[1]["before"]:
            complain(f"{name}: not reduced: {done[1]}")


def repeats():
    recipes = ["random:0:5", "random:8:6", "pct:3:17", "pos:0:9", "surw:0:4/1", "rff:0:3,1>2", "idiom:0:1,1.0.0,2.1.0"]
    names = ["lost_update", "transfer", "missing_signal", "aba_stack", "reorder_10", "philosophers_3", "stop_flag"]
    for recipe, name in zip(recipes, names):
        done = search(name, "-o", f"{name}.pinball", "--recipe", recipe, "--runs", "11")
        if not done.stdout or not json.loads(done.stdout)["same"]:
            complain(f"{name} {recipe}: {done.stdout}{done.stderr}")


def twins():
    runs = "2000" if os.environ.get("DRDEBUG_SOAK") else "8"
    for name in TWINS:
        source, args = TABLE[name]
        done = run("maple", "-o", "t.pinball", "--runs", runs, "--", os.path.join(BIN, source + "_fixed"), *args)
        if done.returncode != 1 or f"{runs} runs" not in done.stdout or "none failed" not in done.stdout:
            complain(f"{name}: {done.returncode} {done.stdout}{done.stderr}")
    # A loop that no profile has seen waits for a thread that the tactic holds back: that is no hang.
    for strategy in ("hold", "maple"):
        expect(1, "none failed", "-o", "h.pinball", "--runs", runs, "--strategy", strategy, "--", os.path.join(BIN, "bakery_fixed"))


def fixed(name):
    return os.path.join(BIN, TABLE[name][0] + "_fixed")


def same(one, other):
    with open(one, "rb") as a, open(other, "rb") as b:
        if a.read() != b.read():
            complain(f"{one} and {other} differ")


def memo():
    """Two searches of 32 runs are one of 64; what was damaged is refused; a lock shuts a second search out."""
    lost = fixed("lost_update")
    expect(0, "iRoots: ", "--memo", "M", "--profile", "--", lost)
    for copy in "AB":
        shutil.copy("M", copy)
    expect(1, "32 runs", "--memo", "A", "--runs", "32", "-j", "2", "--", lost)
    expect(1, "32 runs", "--memo", "A", "--runs", "32", "-j", "1", "--", lost)
    expect(1, "64 runs", "--memo", "B", "--runs", "64", "--", lost)
    same("A", "B")
    expect(0, "ruled out  A lost_update.c:11 -> B lost_update.c:12 -> A lost_update.c:12", "--memo", "A", "--show", "--", lost)
    expect(1, "none failed", "--memo", "A", "--active", "--", lost)
    done = run("maple", "--memo", "A", "--show", "--", lost).stdout
    if "predicted" in done or "exposed" not in done:
        complain(f"left after --active: {done}")
    text = pathlib.Path("M").read_bytes()
    for seed in range(12):
        rng = random.Random(seed)
        at = rng.randrange(len(text))
        pathlib.Path("D").write_bytes(text[:at] if seed % 2 else text[:at] + bytes([text[at] ^ 1 << rng.randrange(8)]) + text[at + 1:])
        if at or not seed % 2:
            expect(1, "damaged", "--memo", "D", "--runs", "3", "--", lost)
    expect(1, "another build", "--memo", "M", "--runs", "3", "--", fixed("abba"))
    with open("M", "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        expect(1, "another search", "--memo", "M", "--runs", "3", "--", lost)
    # One iRoot by its number, in a program that has the bug.
    bug = os.path.join(BIN, "lost_update")
    run("maple", "--memo", "N", "--profile", "--all", "--no-report", "-o", "n0.pinball", "--", bug)
    listed = run("maple", "--memo", "N", "--show", "--", bug).stdout
    number = next(line.split()[0] for line in listed.splitlines() if "A lost_update.c:11 -> B lost_update.c:12 -> A lost_update.c:12" in line)
    forced = [run("maple", "--memo", "N", "--iroot", number, "--seed", str(seed), "--no-report", "-o", f"n{seed}.pinball", "--", bug).returncode
              for seed in range(1, 9)]
    if 0 not in forced:
        complain(f"iRoot {number} makes the program fail with none of 8 seeds: {forced}")
    expect(2, "--memo FILE", "--show", "--", bug)


def jobs():
    """Parts of four jobs make the same memo as one job of all runs, in any order; none is added twice."""
    lost = fixed("lost_update")
    expect(0, "iRoots: ", "--memo", "M", "--profile", "--", lost)
    shutil.copy("M", "S")
    subprocess.run(["parallel", "-j2", DRDEBUG, "maple", "--memo", "M", "--job", "{}/4", "--runs", "70", "--", lost, ":::", "1", "2", "3", "4"],
                   check=False, capture_output=True, timeout=300)
    expect(1, "70 runs", "--memo", "S", "--job", "1/1", "--runs", "70", "--", lost)
    same("M", "M")
    expect(1, "0 failures", "--memo", "M", "--merge", "M.3-of-4", "M.1-of-4", "M.4-of-4", "M.2-of-4")
    expect(1, "0 failures", "--memo", "S", "--merge", "S.1-of-1")
    same("M", "S")
    expect(1, "added already", "--memo", "M", "--merge", "M.1-of-4")
    expect(1, "whole memo", "--memo", "M", "--merge", "S")
    expect(2, "job", "--memo", "M", "--job", "5/4", "--", lost)


def failing(name, *options):
    """A failing recording with its report, by a search whose first run passed."""
    for seed in range(1, 20):
        directory = f"{name}{seed}.pinball"
        done = search(name, "-o", directory, "--seed", str(seed), *options)
        found = json.loads(done.stdout)["found"]
        if len(found) > 1:
            return directory, found
    raise SystemExit(f"{name}: no seed exposes it")


def retest():
    """0: the orders were forced or cannot come, and nothing failed; 1: it still fails; 4: the accesses are gone."""
    for name, words in (("lost_update", "cannot come: locks"), ("abba", "cannot come: locks")):
        directory, _ = failing(name)
        expect(0, words, "--retest", directory, "--runs", "96", "--", fixed(name))
        expect(1, "run", "--retest", directory, "-o", f"{name}.again", "--no-report", "--", os.path.join(BIN, name))
    # The correct form has the same accesses to the flag. Its read of the freed memory is another line; whether the failing run's profile had seen
    # both sides of that order is chance.
    directory, _ = failing("use_after_free")
    gone = "consume use_after_free.c:18" in pathlib.Path(directory, "maple").read_text(encoding="ascii")
    expect(4 if gone else 0, "write at use_after_free.c:17, read at use_after_free.c:30: forced",
           "--retest", directory, "--runs", "96", "--", fixed("use_after_free"))
    directory, _ = failing("double_fetch")
    expect(4, "not tried: no run had such a read in", "--retest", directory, "--runs", "96", "--", fixed("double_fetch"))
    pathlib.Path(directory, "maple").write_text("drdebug maple orders 1\naccess\n", encoding="ascii")
    expect(1, "damaged", "--retest", directory, "--", fixed("abba"))
    os.unlink(os.path.join(directory, "maple"))
    expect(1, "no search", "--retest", directory, "--", fixed("abba"))


def words():
    """Values, stacks and a sentence; a deadlock in the user's own lines."""
    _, found = failing("lost_update")
    text = json.dumps(found[1])
    if "T3 wrote 1 to it at lost_update.c:12" not in text and "T2 wrote 1 to it at lost_update.c:12" not in text:
        complain(f"lost_update: no story in {text}")
    if not any(access["value"] and access["stack"] for pair in found[1]["pairs"] for access in pair):
        complain(f"lost_update: no value or no stack in {text}")
    _, found = failing("abba")
    if not any("waits for the mutex" in line and "abba.c:" in line and "held by T" in line for line in found[0]["waits"]):
        complain(f"abba: {found[0]}")
    # A slice leaves out what has nothing to do with the criterion, and the bug is still found.
    expect(0, "SIGABRT", "--slice", "total at end", "-o", "s.pinball", "--no-report", "--", os.path.join(BIN, "lost_update"))
    expect(1, "no such variable", "--slice", "nothing at end", "-o", "t.pinball", "--", fixed("lost_update"))
    expect(0, "SIGABRT", "--strategy", "period", "-o", "p.pinball", "--no-report", "--", os.path.join(BIN, "lost_update"))


def expect(status, words, *args, **more):
    done = run("maple", *args, **more)
    text = done.stdout + done.stderr
    if done.returncode != status or words not in text:
        complain(f"{args}: status {done.returncode}, not {status}: {text}")


def bad():
    lost = os.path.join(BIN, "lost_update")
    expect(0, "fails without being perturbed", "--runs", "9", "--", "/bin/false")
    expect(1, "one thread", "-o", "a.pinball", "--runs", "3", "--", "/bin/true")
    expect(127, "", "-o", "b.pinball", "--", "/nowhere/program")
    expect(2, "is no recipe", "--recipe", "pct", "--", lost)
    expect(2, "not a number", "--runs", "many", "--", lost)
    expect(2, "a time", "--for", "soon", "--", lost)
    expect(1, "no strategy", "-o", "c.pinball", "--strategy", "luck", "--", lost)
    expect(1, "there already", "-o", ".", "--", lost)
    expect(0, "the check failed", "-o", "d.pinball", "--check", "test $DRDEBUG_RUN -lt 3", "--runs", "9", "--", "/bin/true")
    expect(0, "it reported an error", "-o", "e.pinball", "--fail", "total == 2", "--", lost)
    expect(0, "run 1", "-o", "f.pinball", "--", "sh", "-c", "read line; test \"$line\" != given", stdin=open(given(), encoding="ascii"))


def given():
    with open("given", "w", encoding="ascii") as file:
        file.write("given\n")
    return "given"


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    {"found": found, "repeats": repeats, "twins": twins, "bad": bad, "pairs": pairs, "memo": memo, "jobs": jobs, "retest": retest, "words": words}[PART]()
    os.chdir("/")
sys.exit(bool(FAILED))
