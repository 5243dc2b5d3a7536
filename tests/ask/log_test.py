#!/usr/bin/env python3
"""log_test.py DRDEBUG SUBJECT - what is answered from the log and a plain replay: output, events, threads, schedule.

SPDX-License-Identifier: MIT
"""
import json
import re
import subprocess
import sys
import tempfile

DRDEBUG, SUBJECT = sys.argv[1:3]
complaints = []


def check(what, good, *details):
    if not good:
        complaints.append(what)
        print("FAILED:", what, *details)


def run(*words):
    return subprocess.run([DRDEBUG, *words], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def ask(pinball, *words):
    """The rows, and the last line."""
    told = run("ask", pinball, *words, "--json")
    check(f"ask {' '.join(words)} answers", told.returncode == 0, told.stderr)
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    return [line for line in lines if "row" in line], lines[-1]


def output(pinball, written):
    rows, _ = ask(pinball, "output")
    out = [row["text"] for row in rows if row["to"] == "stdout"]
    err = [row["text"] for row in rows if row["to"] == "stderr"]
    check("lines are whole, per descriptor", sorted(out) == sorted(written.stdout.decode().splitlines()), out)
    check("a signal's line is within another's", err == ["error: signal", "late"], err)
    writes, _ = ask(pinball, "events", "write")
    by_text = {re.search(r'"(.*)"', row["event"]).group(1): row["at"] for row in writes}
    first = next(row for row in rows if row["text"] == "one line")
    check("a line's first byte and its last", (first["at"], first["last"]) == (by_text["one "], by_text["line\\ntwo\\n"]), first)
    check("the last line has no end", rows[-1]["text"] == "no end", rows[-1])
    for pattern, expected in (("two", ["two"]), ("*done", ["first done", "second done"]), ("/^(one|two)/", ["one line", "two"])):
        found = sorted(row["text"] for row in ask(pinball, "output", pattern)[0])
        check(f"output {pattern}", found == expected, found)
    wrong = run("ask", pinball, "output", "/(/")
    check("a wrong expression is refused", wrong.returncode == 2 and "/(/" in wrong.stderr, wrong)


def events(pinball):
    rows, _ = ask(pinball, "events")
    text = [row["event"] for row in rows]
    check("a signal with what the kernel told", any(re.match(r"SIGUSR1 \{si_signo=SIGUSR1, si_code=SI_TKILL, si_pid=\d+", t)
                                                    for t in text))
    check("a descriptor with its file", any(t.startswith("read(3</etc/hostname>, ") for t in text))
    check("a descriptor that was closed has none", "read(3, " in "\n".join(text))
    check("threads", [t for t in text if "begins" in t] and all("made by thread 1" in t for t in text if "begins" in t))
    check("the end", rows[-1]["what"] == "end" and rows[-1]["event"] == "exited with 5", rows[-1])
    for words, least, expected in (
            (["failed"], 2, lambda r: r["error"]),
            (["errno=ENOENT"], 1, lambda r: r["error"] == "ENOENT"),
            (["fd=3"], 3, lambda r: "3" in r["event"]),
            (["/etc/host*"], 3, lambda r: "/etc/hostname" in r["event"]),
            (["signal"], 1, lambda r: r["what"] == "signal"),
            (["%signal"], 2, lambda r: r["what"].startswith("rt_sig") or r["what"].endswith("kill")),
            (["memory"], 5, lambda r: r["what"] in ("mmap", "brk", "mprotect", "munmap", "madvise")),
            (["openat", "failed"], 1, lambda r: r["what"] == "openat" and r["error"]),
            (["exit"], 3, lambda r: r["what"] in ("exit", "end") and not r["event"].startswith("exit("))):
        found, _ = ask(pinball, "events", *words)
        check(f"events {words}", len(found) >= least and all(map(expected, found)), found[:2], len(found))
        wanted = sum(bool(expected(r)) for r in rows) if words[0] in ("failed", "errno=ENOENT", "signal", "exit") else len(found)
        check(f"events {words}: all of them", len(found) == wanted, wanted)
    some, end = ask(pinball, "events", "--limit", "7")
    check("--limit", [r["event"] for r in some] == text[:7] and not end["complete"], end)
    later, _ = ask(pinball, "events", "--after", rows[40]["at"])
    first = len(text) - len(later)
    check("--after", [r["event"] for r in later] == text[first:] and first <= 40 and
          rows[first]["at"].split(":")[1] == rows[40]["at"].split(":")[1], first)
    wrong = run("ask", pinball, "events", "frobnicate")
    check("an unknown filter", wrong.returncode == 2 and "frobnicate" in wrong.stderr, wrong.stderr)


def threads(pinball, ticks):
    rows, _ = ask(pinball, "threads")
    check("three threads", [r["thread"] for r in rows] == [1, 2, 3], rows)
    check("their names", [r["name"] for r in rows][1:] == ["first", "second"], rows)
    check("their maker", [r["maker"] for r in rows] == [None, 1, 1], rows)
    check("their ends", [r["how"] for r in rows][1:] == ["exit(0)", "exit(0)"], rows)
    check("their ticks", sum(r["ticks"] for r in rows) == ticks, ticks)
    check("the first waits for the others", rows[0]["waits"] >= 1, rows[0])
    return {r["thread"]: r["ticks"] for r in rows}


def schedule(pinball, ticks, used):
    rows, _ = ask(pinball, "schedule")
    check("turns follow each other", all(a["to"] == b["from"] and a["next"] == b["thread"] for a, b in zip(rows, rows[1:])))
    check("from the begin to the end", rows[0]["from"] == 0 and rows[-1]["to"] == ticks, rows[-1])
    sums = {t: sum(r["ticks"] for r in rows if r["thread"] == t) for t in used}
    check("turns of a thread are its ticks", sums == used, sums, used)
    why = {r["why"].partition("(")[0] for r in rows}
    check("why a turn is over", {"futex", "ended", "exited with 5"} <= why, why)
    times = [float(re.fullmatch(r"~(\d+\.\d{6}) s", r["time"]).group(1)) for r in rows]
    check("wall time grows", times == sorted(times) and times[-1] > 0, times)
    parts, _ = ask(pinball, "schedule", "--buckets", "5")
    check("five buckets", sorted({r["bucket"] for r in parts}) == [1, 2, 3, 4, 5], parts)
    check("buckets have all ticks", {t: sum(r["ticks"] for r in parts if r["thread"] == t) for t in used} == used, parts)
    one, _ = ask(pinball, "schedule", f"{rows[1]['at']}..{rows[1]['to']}", "--buckets", "1")
    check("a part", one[0]["to"] == rows[1]["to"] and one[-1]["to"] - one[-1]["from"] == sum(r["ticks"] for r in one), one)
    wrong = run("ask", pinball, "schedule", "5")
    check("not a range", wrong.returncode == 2, wrong.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        pinball = f"{folder}/p"
        written = subprocess.run([DRDEBUG, "record", "-o", pinball, "--", SUBJECT], check=False, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        check("recorded", written.returncode == 5, written)
        ticks = json.loads(run("info", "--json", pinball).stdout)["ticks"]
        output(pinball, written)
        events(pinball)
        schedule(pinball, ticks, threads(pinball, ticks))
    print(f"{len(complaints)} failures")
    sys.exit(bool(complaints))


main()
