#!/usr/bin/env python3
"""lines_test.py DRDEBUG SOURCE PROGRAM - `ask lines` against GDB's breakpoints on the same recording.

The source marks lines with LOOK and a number, for which NAME.look has expressions. GDB has a breakpoint on each of
these lines, and prints the expressions at every stop; the rows must be the same executions in the same threads, with
the same text in each cell. GDB's settings are its own, but for pretty-printers.

SPDX-License-Identifier: MIT
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

DRDEBUG, SOURCE, PROGRAM = sys.argv[1:4]
VERBOSE = sys.argv[4:] == ["-v"]
MOST = 24
NAME = os.path.basename(SOURCE)

GDB_SIDE = r"""
import gdb, json
marks = json.loads(%r)
points = {}
for line, expressions in marks:
    points[gdb.Breakpoint("%s:%%d" %% line).number] = (line, expressions)
def look(text):
    try:
        return gdb.execute("print " + text, to_string=True).split(" = ", 1)[1].rstrip("\n")
    except gdb.error as error:
        return "error: " + str(error)
hit = []
gdb.events.stop.connect(lambda e: hit.extend(e.breakpoints if isinstance(e, gdb.BreakpointEvent) else []))
while True:
    hit.clear()
    try:
        gdb.execute("continue", to_string=True)
    except gdb.error:
        break
    if not hit:
        break
    for point in hit:
        line, expressions = points[point.number]
        print("STOP", json.dumps([line, gdb.selected_thread().ptid[1], [look(e) for e in expressions]]))
"""


def check(condition, text):
    if not condition:
        sys.exit(f"lines_test.py: {NAME}: {text}")


def split(text):
    """The expressions of a mark: commas in brackets and quotes are their own."""
    parts, depth, quote = [""], 0, False
    for c in text:
        quote ^= c == "'"
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]


def marks():
    """Pairs (line, expressions): NAME.look has, for each number of a mark, what is looked at there."""
    looks, found = {}, []
    with open(os.path.splitext(SOURCE)[0] + ".look", encoding="utf-8") as file:
        for number, text in re.findall(r"^(\d+): (.*(?:\n .*)*)", file.read(), re.M):
            looks[number] = split(" ".join(text.split()))
    with open(SOURCE, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            mark = re.search(r"/\* LOOK (\d+) \*/", line)
            if mark:
                found.append((number, looks.pop(mark[1])))
    check(found and not looks, f"marks that are missing: {looks}")
    return found


def gdb_stops(pinball, wanted):
    script = GDB_SIDE % (json.dumps(wanted), NAME)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(script)
        file.flush()
        commands = ["set pagination off", "set confirm off", "set width 0", "set sysroot /", "disable pretty-printer",
                    f"target remote | {DRDEBUG} serve -q {pinball}", f"source {file.name}"]
        said = subprocess.run(["gdb", "-nx", "-q", "-batch"] + [w for c in commands for w in ("-ex", c)] + [PROGRAM],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900,
                              env=dict(os.environ, LC_ALL="C"))
    stops = collections.defaultdict(list)
    for line in re.findall(r"^STOP (.*)$", said.stdout, re.M):
        number, thread, texts = json.loads(line)
        stops[number].append((thread, texts))
    check(stops, f"GDB did not stop: {said.stdout[-1500:]}{said.stderr[-1500:]}")
    return stops


def rows(pinball, line, expressions, *more):
    """At most so many expressions at a time; the rows are the same executions each time."""
    got = some_rows(pinball, line, expressions[:MOST], *more)
    for i in range(MOST, len(expressions), MOST):
        other = some_rows(pinball, line, expressions[i : i + MOST], *more)
        check([r["at"] for r in got] == [r["at"] for r in other], f":{line}: other executions for other expressions")
        got = [a | b for a, b in zip(got, other)]
    return got


def some_rows(pinball, line, expressions, *more):
    words = [DRDEBUG, "ask", pinball, "lines", f"{NAME}:{line}", "--json", *more]
    if expressions:
        words += ["--print", ",".join(expressions)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    check(done.returncode == 0, f"{words}: status {done.returncode}: {done.stderr}")
    return [json.loads(text) for text in done.stdout.splitlines()][1:-1]


def same(ours, gdbs):
    """GDB's errors end a command; in a cell they have the words of a cell."""
    if gdbs.startswith("error: "):
        memory = re.search(r"Cannot access memory at address (0x[0-9a-f]+)", gdbs)
        if memory:
            return ours == f"<cannot access memory at {memory[1]}>"
        if "Division by zero" in gdbs:
            return ours == "<division by zero>"
        if "No symbol" in gdbs: # in an inlined call GDB does not see the variables around it
            return True
        return ours == "<optimized out>" if "optimized out" in gdbs else ours.startswith("<")
    return ours == gdbs


def compare(pinball, number, expressions, stops):
    nowhere = re.compile("error: .*(No symbol|unknown type)")
    known = [i for i in range(len(expressions)) if not all(nowhere.match(texts[i]) for _, texts in stops)]
    if len(known) < len(expressions): # what is nowhere visible is refused
        stops = [(thread, [texts[i] for i in known]) for thread, texts in stops]
        expressions = [expressions[i] for i in known]
    got = rows(pinball, number, expressions)
    check(len(got) == len(stops), f":{number}: {len(got)} rows, {len(stops)} stops")
    threads, wrong = {}, []
    for row, (thread, texts) in zip(got, stops):
        own = row["at"].split(":")[0]
        check(threads.setdefault(thread, own) == own, f":{number}: {row}: GDB's thread is {thread}")
        wrong += [f":{number} {row['at']} {e}: {row[e]}\n    GDB has {t}"
                  for e, t in zip(expressions, texts) if not same(row[e], t)]
    return len(got) * len(expressions), wrong


def conditions(pinball, number, expressions, stops):
    """Rows with a condition are those of all rows whose cells satisfy it."""
    tried = 0
    for e in expressions:
        column = [texts[expressions.index(e)] for _, texts in stops]
        if not all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in column):
            continue
        middle = sorted(column, key=float)[len(column) // 2]
        if "." in middle:
            middle = str(float(middle) - 0.0001) # a float's digits are not all of it
        want = [thread for (thread, _), text in zip(stops, column) if float(text) >= float(middle)]
        got = rows(pinball, number, [e], "--where", f"({e}) >= {middle}")
        check(len(got) == len(want) and not any(row["where"] for row in got),
              f":{number} --where {e} >= {middle}: {len(got)} rows, not {len(want)}")
        check(all(float(row[e]) >= float(middle) for row in got), f":{number} --where {e} >= {middle}: {got}")
        tried += 1
        if tried == 2:
            break
    return tried


def refused(pinball, number, expression):
    """What is wrong with an expression is said, also behind what is optimized out."""
    done = subprocess.run([DRDEBUG, "ask", pinball, "lines", f"{os.path.basename(SOURCE)}:{number}", "--print", expression],
                          capture_output=True, text=True, check=False)
    check(done.returncode and expression in done.stderr, f":{number} --print {expression}: {done.stdout}{done.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="lines.") as work:
        pinball = os.path.join(work, "l.pinball")
        subprocess.run([DRDEBUG, "record", "-q", "--chaos=5", "-o", pinball, "--", PROGRAM], check=True,
                       stdout=subprocess.DEVNULL)
        wanted = marks()
        stops = gdb_stops(pinball, wanted)
        cells, wrong, tried, gone = 0, [], 0, 0
        for number, expressions in wanted:
            n, bad = compare(pinball, number, expressions, stops[number])
            cells += n
            wrong += bad
            gone += sum(text == "<optimized out>" for _, texts in stops[number] for text in texts)
            if stops[number] and tried < 4:
                tried += conditions(pinball, number, expressions, stops[number])
        check(not wrong, f"{len(wrong)} of {cells} cells differ:\n" + "\n".join(wrong if VERBOSE else wrong[:20]))
        check(tried, "no condition was tried")
        for number, expressions in wanted:
            for k, e in enumerate(expressions):
                if stops[number] and {texts[k] for _, texts in stops[number]} == {"<optimized out>"}:
                    refused(pinball, number, e + " +")
                    refused(pinball, number, e + " + nobody")
    print(f"{cells} cells are as GDB prints them, {gone} of these optimized out; {tried} conditions")


main()
