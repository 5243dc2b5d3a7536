#!/usr/bin/env python3
"""calls_indirect_test.py DRDEBUG CC - `ask calls` of functions that the C library chooses when it is loaded.

memcpy has an old version beside it, which nobody calls. SPDX-License-Identifier: MIT
"""
import os
import sys

from questions import Test

SOURCE = """
#include <string.h>
static char from[64], to[64];
int main(int argc, char **argv)
{
    for (int i = 0; i < 7; i++)
        memcpy(to, from, (size_t)argc + (size_t)i);
    for (int i = 0; i < 5; i++)
        memset(to, argc, (size_t)argc + (size_t)i);
    return (int)strlen(argv[0]) < 0;
}
"""


def main():
    test = Test(sys.argv[1])
    program = os.path.join(test.work, "indirect")
    with open(program + ".c", "w", encoding="utf-8") as f:
        f.write(SOURCE)
    test.run(sys.argv[2], "-g", "-O0", "-fno-builtin", "-o", program, program + ".c")
    pinball = test.record("indirect.pinball", program)
    for name, times in (("memcpy", 7), ("memset", 5), ("strlen", 1)):
        rows = [r for r in test.ask(pinball, "calls", name) if r["caller"] and r["caller"]["function"] == "main"]
        test.equal(len(rows), times, f"calls of {name} by main")
    test.end()


main()
