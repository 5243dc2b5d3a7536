#!/usr/bin/env python3
"""touched_test.py DRDEBUG PROGRAM - `ask accesses` and `ask values` against GDB's watchpoints.

GDB stops behind each access to a variable and tells its value there and which thread it is; the rows must be the same
accesses, in the same order, with the same values. Beside that: limits, groups, moments, forms.

SPDX-License-Identifier: MIT
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

DRDEBUG, PROGRAM = sys.argv[1:]
WATCHED = [("counter", 4), ("flags", 1), ("pairs[1].right", 8), ("real", 8)]


def check(condition, text):
    if not condition:
        sys.exit(f"touched_test.py: {text}")


def ask(pinball, *words, status=0):
    done = subprocess.run([DRDEBUG, "ask", pinball, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check(done.returncode == status, f"ask {words}: status {done.returncode}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def rows(pinball, *words):
    lines = [json.loads(line) for line in ask(pinball, *words, "--json").splitlines()]
    check(lines[0]["version"] == 1 and lines[-1]["rows"] == len(lines) - 2, f"{words}: {lines[0]} {lines[-1]}")
    return lines[1:-1]


def watched(pinball, what, size):
    """(thread, the bytes behind the access) of every stop of an access watchpoint."""
    script = f"""
set pagination off
set confirm off
target remote | {DRDEBUG} serve -q {pinball}
awatch -l {what}
python
import gdb
seen = []
gdb.events.stop.connect(lambda event: seen.append(isinstance(event, gdb.BreakpointEvent)))
address = int(gdb.parse_and_eval("(long)&{what}"))
while True:
    seen.clear()
    try:
        gdb.execute("continue", to_string=True)
    except gdb.error:
        break
    if seen != [True]:
        break
    value = bytes(gdb.selected_inferior().read_memory(address, {size}))
    print("STOP", gdb.selected_thread().ptid[1], value.hex())
end
"""
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write(script)
        file.flush()
        said = subprocess.run(["gdb", "-nx", "-q", "-iex", "set debug-file-directory", "-iex", "set sysroot /", "-batch", "-x", file.name, PROGRAM],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    stops = re.findall(r"^STOP (\d+) ([0-9a-f]*)$", said.stdout, re.M)
    check(stops, f"GDB did not stop: {said.stdout[-1500:]}{said.stderr[-1500:]}")
    return stops


def value_of(what, text):
    return float(text) if what == "real" else int(text.split()[0], 0)


def bytes_value(what, text):
    raw = bytes.fromhex(text)
    if what == "real":
        import struct
        return struct.unpack("<d", raw)[0]
    return int.from_bytes(raw, "little", signed=what != "flags")


def compare(pinball, what, size):
    stops = watched(pinball, what, size)
    # GDB is not told of what the loader and the kernel did before it was there; a stop tells of one instruction, which
    # may read and write.
    got = [r for r in rows(pinball, "accesses", what) if not r["by"]]
    check(len(got) == len(stops), f"{what}: {len(got)} rows, {len(stops)} stops")
    threads = {}
    for row, (thread, raw) in zip(got, stops):
        number = row["at"].split(":")[0]
        check(threads.setdefault(thread, number) == number, f"{what}: {row}: thread {thread}")
        check(value_of(what, row["value"]) == bytes_value(what, raw), f"{what}: {row}: GDB has {raw}")
    values = [r for r in rows(pinball, "values", what) if not r["by"]]
    writes = [r for r in got if r["access"] != "read"]
    check([r["at"] for r in values] == [r["at"] for r in writes], f"{what}: values are of other writes than accesses")
    last = None
    for v, w in zip(values, writes):
        check(v["value"] == w["value"], f"{what}: {v} {w}")
        check(last is None or v["same"] == (v["value"] == last), f"{what}: {v}: before it was {last}")
        last = v["value"]
    return len(got)


def options(pinball):
    all_rows = rows(pinball, "accesses", "counter")
    check(int(ask(pinball, "accesses", "counter", "--count")) == len(all_rows), "--count")
    check(rows(pinball, "accesses", "counter", "--limit", "5") == all_rows[:5], "--limit")
    later = rows(pinball, "accesses", "counter", "--after", all_rows[7]["at"])
    check([r["at"] for r in later] == [r["at"] for r in all_rows[7:]], "--after")
    of2 = rows(pinball, "accesses", "counter", "--thread", "2")
    check([r["at"] for r in of2] == [r["at"] for r in all_rows if r["at"].startswith("T2:")], "--thread")
    writes = rows(pinball, "accesses", "counter", "--writes")
    check([r["at"] for r in writes] == [r["at"] for r in all_rows if r["access"] != "read"], "--writes")
    groups = rows(pinball, "accesses", "counter", "--group-by", "access")
    check(sum(g["count"] for g in groups) == len(all_rows), f"--group-by: {groups}")
    check(groups == sorted(groups, key=lambda g: -g["count"]), "--group-by: the most frequent first")
    table = list(csv.reader(io.StringIO(ask(pinball, "accesses", "counter", "--csv"))))
    check([r[1] for r in table[1:]] == [r["at"] for r in all_rows], "--csv")
    text = ask(pinball, "accesses", "counter").splitlines()
    check(len(text) == len(all_rows) + 1 and all(r["at"] in line for r, line in zip(all_rows, text[1:])), "the table")


def kernel(pinball):
    got = rows(pinball, "accesses", "text")
    check(any(r["by"] == "read" and r["access"] == "write" for r in got), f"nobody read() into text: {got}")
    check("from the kernel" in str(got[-1]["value"]) or len(got) > 3, "what text had")


def pins(pinball):
    """The same inside GDB, where rows are numbered, and can be gone to."""
    writes = rows(pinball, "values", "counter")
    commands = ["pin values counter", "pin goto #3", "pin when", "pin accesses counter --count", "pin ask values counter --limit 2",
                "pin goto #99", "pin goto #0", "pin ask", "pin why-not touched.c:10000"]
    words = [word for command in commands for word in ("-ex", f"echo @@\\n", "-ex", command)]
    said = subprocess.run([DRDEBUG, "debug", "--end", pinball, "--", "-iex", "set debug-file-directory", "-nx", "-batch", *words],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False).stdout.split("@@\n")[1:]
    check(len(said) == len(commands), f"GDB ended early: {said}")
    check(all(row["at"] in said[0] and f"#{row['row']} " in said[0] for row in writes), f"pin values: {said[0]}")
    check(writes[2]["at"] in said[2], f"pin goto #3: {said[1]}{said[2]}")
    check(said[3].split()[-1] == str(len(rows(pinball, "accesses", "counter"))), f"--count: {said[3]}")
    check("#2" in said[4] and "#3" not in said[4] and "limit" in said[4], f"--limit: {said[4]}")
    check("no row 99" in said[5] and "no row 0" in said[6] and "Usage: pin ask" in said[7], f"mistakes: {said[5:8]}")
    check("touched.c" in said[8] and "Python" not in said[8], f"pin why-not: {said[8]}")


def mistakes(pinball):
    for words, status, said in [(("accesses", "nosuch"), 1, "nosuch"), (("nosuch",), 2, "question"), (("values",), 2, "usage"),
                                (("values", "counter", "--where", "1"), 2, "--where"),
                                (("values", "counter", "--group-by", "foo"), 1, "columns are"),
                                (("values", "counter", "--after", "T9:1:1"), 1, "never"), (("values", "1 +"), 1, "early"),
                                (("values", "counter", "--limit", "0"), 2, "number")]:
        answer = ask(pinball, *words, status=status)
        check(said in answer, f"{words}: {answer}")


def main():
    with tempfile.TemporaryDirectory(prefix="touched.") as work:
        pinball = os.path.join(work, "t.pinball")
        subprocess.run([DRDEBUG, "record", "-q", "--chaos=7", "-o", pinball, "--", PROGRAM], check=True,
                       stdout=subprocess.DEVNULL)
        compared = sum(compare(pinball, what, size) for what, size in WATCHED)
        options(pinball)
        kernel(pinball)
        pins(pinball)
        mistakes(pinball)
    print(f"{compared} accesses are as GDB sees them")


main()
