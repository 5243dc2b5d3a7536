#!/usr/bin/env python3
"""ranks_test.py --drdebug DRDEBUG --work DIR [OPTION...] [NAME...] - in which row of a slice is the cause of a bug?

SPDX-License-Identifier: MIT

The programs of table.py are recorded while they fail. The rank of a bug is the first row that `drdebug slice DIR --at
failure` prints which names one of the lines marked /* ROOT CAUSE */, from 1 on. If only a row below the story does, which names
many lines, it is `rest`; if none does, `-`. ranks.txt has what was reached: no rank may become worse, no story may have more
rows. What became better is printed, and --update writes it there.
The correct twin of a program must end by itself, and the slice of what it prints last must have no marks.

  --part I/N     every Nth bug, from the Ith on
  --levels L,L   -O0, -O2 or both
  --no-twins     only the bugs
  --update       write ranks.txt anew
  --keep         leave the recordings in DIR; they are used again
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from table import BUGS, half  # noqa: E402

# String functions of the C library differ by CPU, and with them the rows between: all of them record as if on the same one.
os.environ.setdefault("DRDEBUG_ENGINE", "cpu=2")
RANKS = os.path.join(HERE, "ranks.txt")
TRIES = 8
REST, NO_RANK = 1000, 10000
NAMES = {REST: "rest", NO_RANK: "-"}
HEADS = ("hang", "criterion", "findings", "story", "missed", "slice", "libraries", "pruned")


class Failed(Exception):
    pass


def source_of(name):
    return next(p for p in (os.path.join(HERE, name + e) for e in (".c", ".cc")) if os.path.exists(p))


def lines_with(source, pattern):
    with open(source) as f:
        return [n for n, text in enumerate(f, 1) if re.search(pattern, text)]


# ---- recordings ----


def compile_it(bug, level, fixed):
    source, program = source_of(bug.name), bug.name + level + ("-fixed" if fixed else "")
    compiler = "g++" if source.endswith(".cc") else "gcc"
    subprocess.run([compiler, "-g", "-w", "-pthread", "-static", level, *(["-DFIXED"] if fixed else []), "-o", program, source],
                   check=True)
    return program


def record_once(drdebug, program, wait):
    """The exit status. After `wait` seconds the program is ended as a test runner would: the group gets SIGTERM."""
    shutil.rmtree(program + ".pinball", ignore_errors=True)
    child = subprocess.Popen([drdebug, "record", "-q", "-o", program + ".pinball", "--", "./" + program], start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return child.wait(wait)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGTERM)
        return child.wait(60)


def record(drdebug, bug, level):
    """Threads take turns as they like: an order that does not fail is tried again."""
    if os.path.exists(bug.name + level + ".pinball"):
        return bug.name + level + ".pinball"
    program, expected = compile_it(bug, level, False), 128 + getattr(signal, bug.end)
    for attempt in range(TRIES):
        status = record_once(drdebug, program, 0.6 * (attempt + 1) if bug.end == "SIGTERM" else 60)
        if status == expected:
            return program + ".pinball"
    raise Failed(f"it ended with {status}, not with {bug.end}")


def run(argv):
    done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise Failed(f"{' '.join(argv[1:])}: {done.stderr.strip()}")
    return done.stdout


# ---- ranks ----


def lines_of(row, name):
    """The lines of the program that a row names: `T1 :30`, `T1 name.c:30`, `since name.c:30`, `name.c:30, 32, 40`,
    `decided at :30, :32`, `with :30, :32`."""
    lines = [int(n) for n in re.findall(r"^\s+T\d+ :(\d+)\b", row)]
    for match in re.finditer(r"(?:decided at|with|same code as) ((?::\d+(?:, )?)+)", row):  # of the row's own file
        lines += [int(n) for n in re.findall(r"\d+", match[1])] if re.match(r"\s+T\d+ (:|" + re.escape(name) + ")", row) else []
    for match in re.finditer(r"carried by ([^()]*)", row):
        lines += [int(n) for n in re.findall(r"\w:(\d+)", match[1])] if re.match(r"\s+T\d+ (:|" + re.escape(name) + ")", row) else []
    for match in re.finditer(re.escape(name) + r":(\d+(?:, \d+)*)\b", row):
        lines += [int(n) for n in match[1].split(", ")]
    return lines


def rank_of(text, name, guilty):
    """(the rank, the rows of the story, or, where there is none, all of them)"""
    rank, rows, story = NO_RANK, 0, None
    for row in text.splitlines():
        word = row.split(" ")[0]
        if word in HEADS:
            row = row.split("  ", 2)[-1]  # what the criterion's line says behind its place is read before the first row
            if word == "slice" and rows:
                story = rows
        else:
            rows += 1
        if rank == NO_RANK and set(lines_of(row, name)) & set(guilty):
            rank = max(rows, 1) if story is None else REST
    return rank, rows if story is None else story


def measure(drdebug, bug, level):
    source, pinball = source_of(bug.name), record(drdebug, bug, level)
    guilty = lines_with(source, r"/\* ROOT CAUSE \*/")
    if not guilty:
        raise Failed("no line is marked")
    text = run([drdebug, "slice", pinball, "--at", "failure", "--lines", "100000"])
    return rank_of(text, os.path.basename(source), guilty)


# ---- what else is said of a bug ----


def check_far(drdebug, bug, level):
    """The latest execution of a guilty line is as far from the symptom as table.py says."""
    source, pinball = source_of(bug.name), record(drdebug, bug, level)
    name, latest = os.path.basename(source), (0, None, None)

    def number(position):
        return int(run([drdebug, "trace", pinball, "--number", position]).split()[0])

    def rows(*question):
        return [json.loads(row) for row in run([drdebug, "ask", pinball, *question, "--json"]).splitlines()[:-1]]

    for line in lines_with(source, r"/\* ROOT CAUSE \*/"):
        for row in [r for r in rows("lines", f"{name}:{line}") if "at" in r][-1:]:
            latest = max(latest, (number(row["at"]), row["at"], row["place"]["function"]))
    symptom = json.loads(run([drdebug, "slice", pinball, "--at", "failure", "--json"]))
    called = [row.get("function") or "" for row in rows("calls", "*", "--after", latest[1])] + [symptom["lines"][0]["function"]]
    with open(source) as f:
        own = set(re.findall(r"\b(\w+)\((?:[^;{}()]|\([^()]*\))*\)(?: const)?\n *\{", f.read()))
    between = ({f.split("(")[0].split("::")[-1] for f in called} & own) - {latest[2]}
    insns = number(symptom["criterion"]["position"]) - latest[0]
    if insns < 1000 or len(between) < 3:
        raise Failed(f"only {insns} instructions and {sorted(between)} are between cause and symptom")


def twin_level(bug):
    """One of them, since it is the same program. What C++ inlines leaves no line to ask about."""
    return bug.levels[0 if source_of(bug.name).endswith(".cc") else len(bug.name) % len(bug.levels)]


def check_twin(drdebug, bug, level):
    program, source = compile_it(bug, level, True), source_of(bug.name)
    status = record_once(drdebug, program, 60)
    if status:
        raise Failed(f"the twin ended with {status}")
    last = lines_with(source, r"\b(f?printf|puts)\(")[-1]
    text, lines = None, iter(range(last, last + 8))
    while text is None:  # optimized code may have none for the line itself
        where = f"{os.path.basename(source)}:{next(lines)}"
        try:
            text = run([drdebug, "slice", program + ".pinball", "--json", "uses", "of", where])
        except Failed as failure:
            if not re.search("has no code|left no instruction", str(failure)):
                raise
    data = json.loads(text)
    marked = [edge for edge in data["edges"] if edge.get("race") == "race" or edge.get("mark")]
    if marked or data.get("findings"):
        raise Failed(f"the twin has marks: {marked or data['findings']}")


# ---- the table of ranks ----


def read_ranks():
    ranks = {}
    if os.path.exists(RANKS):
        with open(RANKS) as f:
            for row in f:
                if row.strip() and row[0] != "#":
                    name, level, rank, _, rows = row.split()[:5]
                    ranks[name, level] = number(rank), int(rows)
    return ranks


def number(rank):
    return next((n for n, text in NAMES.items() if text == rank), None) or int(rank)


def line_of(name, level, rank, rows):
    return f"{name:<18} {level}  {NAMES.get(rank, rank):>4} of {rows:<4} {half(name)}"


def summary(results):
    text = ""
    for part in ("tuned", "reported"):
        ranks = sorted(rank for (name, _), (rank, _) in results.items() if half(name) == part)
        if ranks:
            median = ranks[len(ranks) // 2]
            text += (f"# {part + ' half:':<14} {len(ranks)} bugs; the cause in the first 10 rows: {sum(r <= 10 for r in ranks)}, in the "
                     f"first 3: {sum(r <= 3 for r in ranks)}, in no row: {ranks.count(NO_RANK)}, median {NAMES.get(median, median)}\n")
    return text


def write_ranks(ranks):
    with open(RANKS, "w") as f:
        f.write("# Program, level, the row that names the cause (`rest`: one below the story; `-`: none does), rows.\n"
                "# ranks_test.py --update writes this.\n")
        f.write(summary(ranks))
        for (name, level), (rank, rows) in sorted(ranks.items()):
            f.write(line_of(name, level, rank, rows) + "\n")


def examine(drdebug, bug, level, known, twins):
    """(rank, rows, what is wrong with it)"""
    rank, rows = measure(drdebug, bug, level)
    was, most = known.get((bug.name, level), (NO_RANK, NO_RANK))
    wrong = []
    if rank > was:
        wrong.append(f"the rank was {NAMES.get(was, was)}")
    if rows > most:
        wrong.append(f"there were {most} rows")
    print(f"{line_of(bug.name, level, rank, rows):<44} {bug.kind:<34}", "; ".join(wrong) or ("better" if rank < was else ""), flush=True)
    if bug.far and twins and level == bug.levels[0]:
        check_far(drdebug, bug, level)
    if twins and level == twin_level(bug):
        check_twin(drdebug, bug, level)
    return rank, rows, wrong


def clean(bug, level):
    for name in (bug.name + level, bug.name + level + "-fixed"):
        shutil.rmtree(name + ".pinball", ignore_errors=True)
        if os.path.exists(name):
            os.unlink(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--levels", default="-O0,-O2")
    parser.add_argument("--no-twins", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    drdebug = os.path.abspath(args.drdebug)
    os.makedirs(args.work, exist_ok=True)
    os.chdir(args.work)
    os.environ["XDG_STATE_HOME"] = os.path.abspath("state")  # for the recorder's key: there may be no HOME
    first, step = (int(n) for n in args.part.split("/"))
    known, results, bad = read_ranks(), {}, 0
    for bug in [b for b in BUGS if not args.names or b.name in args.names][first::step]:
        for level in sorted(set(bug.levels) & set(args.levels.split(","))):
            if not args.keep:
                clean(bug, level)
            try:
                rank, rows, wrong = examine(drdebug, bug, level, known, not args.no_twins)
                results[bug.name, level] = rank, rows
                bad += bool(wrong)
            except Failed as failure:
                bad += 1
                print(f"{bug.name:<18} {level}  FAILED: {failure}", flush=True)
            if not args.keep:
                clean(bug, level)
    print(summary(results), end="")
    if args.update:
        write_ranks({**known, **results})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
