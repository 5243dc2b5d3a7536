#!/usr/bin/env python3
"""heap_test.py DRDEBUG FOLDER WHAT - `ask heap`, `ask errors` and `ask leaks` on programs that say on their lines what is wrong.

FOLDER has the programs: NAME_wrong_O0 and NAME_right_O0, the same with O2, and with `asan`, which natively says what ASan
finds. WHAT is `errors-O0`, `errors-O2`, `blocks`, `kinds`, `leaks`, or `oracles`: ASan and memcheck must find what the lines say.

SPDX-License-Identifier: MIT
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

DRDEBUG, FOLDER, WHAT = sys.argv[1:]
# With AVX-512 the C library stores under masks, whose values no trace has: what is undefined behind them is not told.
os.environ.setdefault("DRDEBUG_ENGINE", "cpu=3")
HERE = os.path.dirname(os.path.abspath(__file__))


def check(condition, text):
    if not condition:
        sys.exit(f"heap_test.py: {text}")


def program(name):
    return os.path.join(FOLDER, name)


def record(work, name, *words):
    pinball = os.path.join(work, "-".join([name, *words[:1]]))
    subprocess.run([DRDEBUG, "record", "-q", "-o", pinball, "--", program(name), *words], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    check(os.path.isdir(pinball), f"{name} {words}: no recording")
    return pinball


def ask(pinball, *words):
    done = subprocess.run([DRDEBUG, "ask", pinball, *words, "--json"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300)
    check(done.returncode == 0, f"ask {pinball} {words}: status {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()][1:-1]


def marks(source, tag="WRONG"):
    """{function: [(line, text)]} of the lines that are marked, by the function they are in."""
    out, function = {}, None
    for number, line in enumerate(open(os.path.join(HERE, source), encoding="utf-8"), 1):
        found = re.match(r"(?:CASE|.*\b(?:int|void|\*)) ?\*?(\w+)\(.*\)(?: //.*)?$", line)
        function = found.group(1) if found else function
        found = re.search(rf"{tag}: ([\w ]+?) *(?:\*/|$)", line)
        if found:
            out.setdefault(function, []).append((number, found.group(1)))
    return out


def cases(name):
    return subprocess.run([program(name)], capture_output=True, text=True, check=True).stdout.split()


def told(rows):
    return sorted({(r["place"]["line"], r["kind"]) for r in rows})


# After these the allocator's memory is not what it was: they run alone. The others run in one program.
ALONE = ("free_twice", "free_inside", "free_static", "free_stack", "write_next", "fill_too_much", "copy_too_much", "delete_twice",
         "copied", "received")


# Cases whose error is in a function that they call.
CALLED = {"by_another": "put", "before_begin": "last_of"}


# Cases that can only be told where nothing was optimized.
UNOPTIMIZED = ("one_behind",)


def errors(level):
    """The cases tell their lines and kinds, and nothing else; the right twin tells nothing."""
    count = 0
    with tempfile.TemporaryDirectory(prefix="heap.") as work:
        for source, stem in (("wrong.c", "wrong"), ("family.cc", "family"), ("variables.c", "variables")):
            marked = marks(source)
            for case, function in CALLED.items():
                marked[case] = marked.get(function, marked.get(case, []))
            for case in UNOPTIMIZED if level != "O0" else ():
                marked[case] = []
            names = cases(f"{stem}_wrong_{level}")
            for run in [[n for n in names if n not in ALONE], *([n] for n in names if n in ALONE)]:
                want = sorted(m for n in run for m in marked.get(n, []))
                got = told(ask(record(work, f"{stem}_wrong_{level}", *run), "errors"))
                check(got == want, f"{run} -{level}: {got}, marked {want}")
                count += len(run)
            got = ask(record(work, f"{stem}_right_{level}", "all"), "errors")
            check(not got, f"{stem} -{level}, the right one: {got}")
        pool = record(work, f"pool_wrong_{level}")
        got = told(ask(pool, "errors", "--allocator", "pool_alloc:2,pool_free:2"))
        check(got == sorted(marks("pool.c")["main"]), f"pool -{level}: {got}")
        said = subprocess.run([DRDEBUG, "ask", pool, "errors", "--allocator", "pool_alloc:2,strfry"], capture_output=True,
                              text=True, check=True).stdout
        check("strfry was never called" in said and "pool_alloc was" not in said, f"pool -{level}, an uncalled one: {said}")
        got = [r["kind"] for r in ask(pool, "errors")]
        check(set(got) <= {"undefined branch"}, f"pool -{level}, without its functions: {got}")
    print(f"{count} cases")


def blocks():
    """Blocks by time and address."""
    with tempfile.TemporaryDirectory(prefix="heap.") as work:
        pinball = record(work, "wrong_wrong_O0", "realloc_moved")
        lines = open(os.path.join(HERE, "wrong.c"), encoding="utf-8").read().splitlines()
        rows = [r for r in ask(pinball, "heap") if (r["allocated"]["file"] or "").endswith("wrong.c")]
        check([(r["by"], r["size"]) for r in rows] == [("malloc", 16), ("malloc", 16), ("realloc", 4096)], f"blocks: {rows}")
        old, fence, new = rows
        check("realloc(p" in lines[old["freed"]["line"] - 1] and old["freed_at"] == new["at"], f"realloc: {old} {new}")
        check(old["block"] != new["block"] and fence["freed"]["line"] == new["freed"]["line"] + 1, f"{rows}")
        address = int(str(old["block"]), 0)
        for where, offset, state in ((fence["at"], 4, "allocated"), (new["freed_at"], 4, "freed before"),
                                     (fence["at"], 18, "behind its end")):
            got = ask(pinball, "heap", hex(address + offset), "at", where)
            check(len(got) == 1 and got[0]["at"] == old["at"] and got[0]["offset"] == offset and got[0]["state"] == state,
                  f"{offset} at {where}: {got}")
        got = ask(pinball, "heap", "fence", "at", f"wrong.c:{old['freed']['line']}")
        check(len(got) == 1 and got[0]["at"] == fence["at"] and got[0]["offset"] == 0, f"fence: {got}")
        check(ask(pinball, "heap", "0x10", "at", "end") == [], "no block is at 16")
        kept = os.path.join(pinball, "trace.heap")
        before = ask(pinball, "heap") + ask(pinball, "errors")
        check(os.path.exists(kept) and before == ask(pinball, "heap") + ask(pinball, "errors"), "what was kept is different")
        for data in (b"", b"nothing of the kind", open(kept, "rb").read()[:-9]):
            with open(kept, "wb") as file:
                file.write(data)
            check(before == ask(pinball, "heap") + ask(pinball, "errors"), f"{len(data)} bytes of what was kept")
    print("blocks are found")


def kinds():
    """Every function that allocates: its blocks are those that the program prints, and no error is told."""
    count = 0
    with tempfile.TemporaryDirectory(prefix="heap.") as work:
        for way in ("O2", "static", "own"):
            pinball = record(work, f"kinds_right_{way}")
            said = subprocess.run([DRDEBUG, "replay", pinball], capture_output=True, text=True, check=True).stdout
            want = [(int(addr, 16), int(size)) for addr, size in re.findall(r"^\w+ 0x(\w+) (\d+)$", said, re.M)]
            check(want, f"{way}: it printed {said}")
            got = [(int(r["block"], 16), r["size"]) for r in ask(pinball, "heap")]
            check([g for g in got if g in want] == want, f"{way}: {got}, printed {want}")
            check(not ask(pinball, "errors"), f"{way}: {ask(pinball, 'errors')}")
            count += len(want)
    print(f"{count} blocks are as printed")


def strings():
    """The C library's string functions for every CPU: strings that fill their blocks are no errors, one without an end is."""
    for cpu in ("cpu=2", "cpu=3", ""):
        os.environ["DRDEBUG_ENGINE"] = cpu
        with tempfile.TemporaryDirectory(prefix="heap.") as work:
            got = ask(record(work, "strings_right_static"), "errors")
            check(not got, f"strings, {cpu}, the right one: {got}")
            got, want = told(ask(record(work, "strings_wrong_static"), "errors")), sorted(marks("strings.c")["main"])
            check(got == want, f"strings, {cpu}: {got}, marked {want}")
    print("strings are read as far as they may be")


def leaks():
    with tempfile.TemporaryDirectory(prefix="heap.") as work:
        for level in ("O0", "O2"):
            got = sorted((r["place"]["line"], f"{r['leak']} {r['blocks']} {r['bytes']}")
                         for r in ask(record(work, f"leaks_wrong_{level}"), "leaks"))
            want = sorted(m for f in marks("leaks.c", "LEAK").values() for m in f)
            check(got == want, f"leaks -{level}: {got}, marked {want}")
    print("leaks are as marked")


ASAN = {"heap-use-after-free": "use after free", "attempting double-free": "double free",
        "attempting free on address": "wrong free", "alloc-dealloc-mismatch": "wrong function",
        "heap-buffer-overflow": "overflow", "stack-buffer-overflow": "overflow", "stack-buffer-underflow": "overflow",
        "global-buffer-overflow": "overflow"}


def oracles():
    """What is marked is what ASan and memcheck find, on the same lines."""
    found = 0
    for source, stem in (("wrong.c", "wrong"), ("family.cc", "family"), ("variables.c", "variables")):
        for function, marked in marks(source).items():
            if "undefined" in marked[0][1]:
                continue
            case = next((c for c, f in CALLED.items() if f == function), function)
            done = subprocess.run([program(f"{stem}_wrong_asan"), case], capture_output=True, text=True,
                                  env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:alloc_dealloc_mismatch=1"})
            kind = [k for text, k in ASAN.items() if text in done.stderr]
            line = re.search(rf"{re.escape(source)}:(\d+)", done.stderr)
            check(kind and line and (int(line.group(1)), kind[0]) in marked, f"ASan, {case}: {done.stderr[:400]}")
            found += 1
    if not shutil.which("valgrind"):
        print(f"{found} by ASan; memcheck is not here: undefined values are not compared")
        return
    for case, marked in marks("wrong.c").items():
        if "undefined" not in marked[0][1]:
            continue
        done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", program("wrong_wrong_O0"), case], capture_output=True,
                              text=True)
        lines = [int(n) for n in re.findall(r"wrong\.c:(\d+)", done.stderr)]
        check(done.returncode == 9 and marked[0][0] in lines, f"memcheck, {case}: {done.stderr[:400]}")
        found += 1
    done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", program("wrong_right_O0"), "all"], capture_output=True)
    check(done.returncode == 0, f"memcheck finds something in the right one: {done.stderr[:400]}")
    print(f"{found} by ASan and memcheck")


{"errors-O0": lambda: errors("O0"), "errors-O2": lambda: errors("O2"), "blocks": blocks, "kinds": kinds, "leaks": leaks, "strings": strings,
 "oracles": oracles}[WHAT]()
