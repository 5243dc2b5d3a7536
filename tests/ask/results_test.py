#!/usr/bin/env python3
"""results_test.py DRDEBUG COMPILER SEED - what functions return, of types made by chance: `ask calls` against GDB's finish.

SPDX-License-Identifier: MIT
"""
import json
import os
import random
import shutil
import subprocess
import sys

from questions import SKIP, Test

FUNCTIONS = 24
SCALARS = {"char": "%d", "unsigned char": "%d", "short": "%d", "int": "%d", "unsigned": "%d", "long": "%dL", "float": "%d.5f",
           "double": "%d.25", "long double": "%d.75L", "const char *": "(text + %d)", "bool": "%d > 40"}
GDB = """
import gdb, json
for command in ("set pagination off", "set confirm off", "set width 0", "handle all nostop noprint pass", "pin goto begin",
                *(f"break r{n}" for n in range(%d))):
    gdb.execute(command, to_string=True)
rows = []
for _ in range(%d):
    gdb.execute("continue", to_string=True)
    name = gdb.selected_frame().name().split("(")[0]
    gdb.execute("finish", to_string=True)
    rows.append([name, gdb.execute("print $", to_string=True).split(" = ", 1)[1].strip()])
with open(%r, "w", encoding="utf-8") as out:
    json.dump(rows, out)
"""


class Maker:
    def __init__(self, seed, cxx):
        self.chance = random.Random(seed)
        self.cxx = cxx
        self.types = []
        self.text = ["#include <stdbool.h>", 'static const char text[] = "' + "abcdefgh" * 12 + '";', "static volatile int seen;"]

    def value(self, name):
        return SCALARS[name] % self.chance.randrange(1, 90)

    def member(self, depth, at):
        """A member's declaration, and its value."""
        kind = self.chance.choice(["scalar", "scalar", "scalar", "bits", "array", "record"])
        if kind == "bits":
            return f"unsigned m{at} : {self.chance.randrange(7, 20)};", self.value("int")
        if kind == "array":
            name = self.chance.choice(["char", "short", "float", "int"])
            count = self.chance.randrange(1, 4)
            return f"{name} m{at}[{count}];", "{" + ", ".join(self.value(name) for _ in range(count)) + "}"
        if kind == "record" and depth < 2:
            name, value = self.record(depth + 1)
            return f"{name} m{at};", value
        name = self.chance.choice(list(SCALARS))
        return f"{name} m{at};", self.value(name)

    def record(self, depth=0):
        members = [self.member(depth, i) for i in range(self.chance.choice([1, 1, 2, 2, 3, 4]))]
        name = f"struct t{len(self.types)}"
        self.types.append(name)
        extra = ""
        if self.cxx and self.chance.random() < 0.3:
            extra = self.chance.choice([" ~%s() { seen = 1; }", " ~%s() = default;", " int area() const { return 1; }",
                                        " static int shared;"]).replace("%s", name[7:])
        self.text.append(f"{name} {{ " + " ".join(m[0] for m in members) + extra + " };")
        return name, "{" + ", ".join(m[1] for m in members) + "}"

    def function(self, number):
        if self.chance.random() < 0.3:
            name = self.chance.choice(list(SCALARS))
            value = self.value(name)
        elif self.cxx and self.chance.random() < 0.2:
            name, value = "int &", None
        else:
            name, value = self.record()
        body = f"static int kept = {number}; return kept;" if value is None else f"{name} v = {value}; seen = {number}; return v;"
        self.text.append(f"__attribute__((noipa)) {name} r{number}(void) {{ {body} }}")

    def program(self):
        for number in range(FUNCTIONS):
            self.function(number)
        self.text.append("__attribute__((noipa)) __int128 wide(void) { return (__int128) -3 << 70; }")
        self.text.append("int main(void) { wide(); " + " ".join(f"r{n}();" for n in range(FUNCTIONS)) + " return 0; }")
        return "\n".join(self.text) + "\n"


def by_gdb(test, pinball):
    script, path = os.path.join(test.work, "finish.py"), os.path.join(test.work, "out")
    if os.path.exists(path):
        os.unlink(path)
    with open(script, "w", encoding="utf-8") as out:
        out.write(GDB % (FUNCTIONS, FUNCTIONS, path))
    done = subprocess.run([test.drdebug, "debug", pinball, "--", "-nx", "-batch", "-x", script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          timeout=600, env=dict(os.environ, LC_ALL="C.UTF-8"))
    if not test.check(os.path.exists(path), f"GDB ended early:\n{done.stdout[-2000:]}"):
        test.end()
    with open(path, encoding="utf-8") as rows:
        return json.load(rows)


def main():
    drdebug, compiler, seed = sys.argv[1:]
    if not shutil.which("gdb"):
        print("skipped: there is no gdb")
        sys.exit(SKIP)
    test = Test(drdebug)
    for cxx in (False, True):
        for level in ("-O0", "-O2"):
            name = f"{'cxx' if cxx else 'c'}{level}"
            source = os.path.join(test.work, name + (".cc" if cxx else ".c"))
            with open(source, "w", encoding="utf-8") as out:
                out.write(Maker(int(seed) + (level == "-O2"), cxx).program())
            language = ["-x", "c++"] if cxx else ["-x", "c"]
            subprocess.run([compiler, "-g", level, "-w", *language, "-o", source + ".out", source], check=True)
            pinball = test.record(name + ".pinball", source + ".out")
            said = [[row["function"].split("(")[0], row["result"]] for row in test.ask(pinball, "calls", name + ".*.out!r*")
                    if row["function"].split("(")[0][1:].isdigit()]
            wide = test.ask(pinball, "calls", "wide")[0]["result"]  # GDB 13 says 0
            test.equal(wide, str(-3 << 70), f"{name}: a wide integer")
            test.equal(len(said), FUNCTIONS, f"{name}: functions")
            for ours, theirs in zip(said, by_gdb(test, pinball)):
                test.equal(ours, theirs, f"{name}, seed {seed}")
    test.end()


if __name__ == "__main__":
    main()
