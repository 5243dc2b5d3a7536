#!/usr/bin/env python3
"""cache_full.py - with a code cache far too small for the program, old blocks go and it goes on.

SPDX-License-Identifier: MIT

    cache_full.py DRDEBUG BIN
"""
import os

import engine_test as e

SIZES = [1, 65536, 400000, 1 << 20] if e.SOAK else [65536]
ROUNDS = 5 if e.SOAK else 1
SOURCE = """#include <stdio.h>
static int twice(int x) { return 2 * x; }
int main(void) { for (int i = 0; i < 9; i++) printf("%d\\n", twice(i)); return 0; }
"""
SCRIPT = "import json, re\n" \
         "d = json.loads('{\"a\": [1, 2.5, {\"b\": null}], \"c\": \"x\"}')\n" \
         "print(json.dumps(d, sort_keys=True), re.findall(r'(\\w)\\1', 'aabbccd'), 2 ** 333)\n"


def subjects(test):
    source = os.path.join(test.work, "twice.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    return {
        "gcc": ["/usr/bin/gcc", "-O1", "-S", "-o", "-", source],
        "python3": [e.PYTHON, "-S", "-c", SCRIPT],
        "compute": [test.program("compute")],
        "rewrite": [test.program("rewrite")],
        "crowd": [test.program("crowd"), "20"],
        "bash": ["/bin/bash", "--norc", "-c", "for i in 1 2 3; do (echo $i | tr 123 abc); done"],
    }


def check(test):
    for name, argv in subjects(test).items():
        native = test.native(argv)
        test.equal(native.status, 0, f"{name} natively")
        for size in SIZES:
            for link in (("link=1", "link=0") if e.SOAK else ("link=1",)):
                for _ in range(ROUNDS):
                    check_run(test, name, argv, native, f"cache={size}", link)


def check_run(test, name, argv, native, *options):
    run = test.run(argv, "stats=1", *options)
    label = f"{name} {' '.join(options)}"
    test.equal(run.shown(), native.shown(), label)
    evicted = run.number("stats", "evicted")
    print(f"{label}: {evicted} evicted")
    test.check(evicted > 0 or options[0] in ("cache=400000", "cache=1048576"), f"{label}: none evicted")


e.main(check)
