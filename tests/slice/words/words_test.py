#!/usr/bin/env python3
"""words_test.py --drdebug DRDEBUG --work DIR - what the rows of slices say, in words.

SPDX-License-Identifier: MIT

names.cc marks lines with what they read, as its writer calls it, or its reader where a library has written it: a slice of all
that such a line uses must name it so. At -O2 less is there to be named. outside.c and unset.c mark what a story must say.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def marked(name, word):
    with open(os.path.join(HERE, name)) as f:
        return [(n, m[1]) for n, text in enumerate(f, 1) if (m := re.search(r"/\* " + word + r" (.*?) \*/", text))]


def record(drdebug, compiler, name, level):
    program = name.split(".")[0] + level
    subprocess.run([compiler, "-g", "-static", level, "-o", program, os.path.join(HERE, name)], check=True)
    shutil.rmtree(program + ".pinball", ignore_errors=True)
    subprocess.run([drdebug, "record", "-q", "-o", program + ".pinball", "--", "./" + program], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return program + ".pinball"


def slice_of(drdebug, pinball, *what):
    return subprocess.run([drdebug, "slice", pinball, "--json", *what], check=False, capture_output=True, text=True)


def check_names(drdebug, level, least):
    pinball, bad, named = record(drdebug, "g++", "names.cc", level), [], 0
    for line, name in marked("names.cc", "NAME"):
        done = slice_of(drdebug, pinball, "uses", "of", f"names.cc:{line}")
        if done.returncode:
            bad += [f"{line}: {done.stderr.strip()}"] if level == "-O0" else []
            continue
        data = json.loads(done.stdout)
        names = {x.get("what") for x in data["edges"] + data.get("story", [])}
        if name in names:
            named += 1
        elif level == "-O0":
            bad.append(f"{line}: nothing is named {name}")
    print(f"names.cc {level}: {named} named")
    if named < least:
        bad.append(f"only {named} are named")
    return [f"names.cc {level}: {b}" for b in bad]


def check_story(drdebug, name):
    """Lines marked TOLD say what a row of the failure's story must: how it is, and words."""
    with open("outside.ini", "w") as f:
        f.write("[main section]\n\nlimit7")
    done = slice_of(drdebug, record(drdebug, "gcc", name, "-O0"), "--at", "failure")
    if done.returncode:
        return [done.stderr]
    told, bad = json.loads(done.stdout)["story"], []
    for line, what in marked(name, "TOLD"):
        how, words = what.split(": ", 1)
        if not any(row["how"] == how and words in row["words"] for row in told):
            bad.append(f"{name}:{line}: no row says {what}: {[(row['how'], row['words']) for row in told]}")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    drdebug = os.path.abspath(args.drdebug)
    os.makedirs(args.work, exist_ok=True)
    os.chdir(args.work)
    os.environ["XDG_STATE_HOME"] = os.path.abspath("state")  # for the recorder's key: there may be no HOME
    bad = check_names(drdebug, "-O0", 11) + check_names(drdebug, "-O2", 2)
    bad += check_story(drdebug, "outside.c") + check_story(drdebug, "unset.c")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
