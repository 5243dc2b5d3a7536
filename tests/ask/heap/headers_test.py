#!/usr/bin/env python3
"""headers_test.py DRDEBUG SOURCE PROGRAM... - blocks of containers belong to the user's lines, optimized or not.

SPDX-License-Identifier: MIT
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from questions import Test  # noqa: E402  (a folder above)


def marked(source, mark):
    with open(source, encoding="utf-8") as lines:
        return {number for number, line in enumerate(lines, 1) if f"// {mark}" in line}


def main():
    drdebug, source, *programs = sys.argv[1:]
    test = Test(drdebug)
    name = os.path.basename(source)
    own = marked(source, "GROW") | marked(source, "LATE")
    for program in programs:
        pinball = test.record(os.path.basename(program) + ".pinball", program)
        rows = [row for row in test.ask(pinball, "heap") if row["by"] == "operator new"]
        test.check(len(rows) > 10, f"{program}: {len(rows)} blocks")
        for row in rows:
            for place in (row["allocated"], row["freed"]):
                file = os.path.basename(place.get("file", ""))
                test.check(file == name and place["line"] in own, f"{program}: {row}")
        errors = test.ask(pinball, "errors")
        test.equal([row["kind"] for row in errors], ["use after free"], f"{program}: errors")
        said = set(re.findall(r"(\S+):(\d+) \(T1\)", errors[0]["what"]))
        late = marked(source, "LATE")
        test.check(said and all(file == name and int(line) in late for file, line in said), f"{program}: {errors[0]}")
    test.end()


if __name__ == "__main__":
    main()
