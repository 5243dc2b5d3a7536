#!/usr/bin/env python3
"""results_test.py DRDEBUG SEEDS COMPILER... - arguments and results, of types made by chance: `ask calls` against GDB.

SPDX-License-Identifier: MIT

For each compiler, in C and C++, at -O0 and -O2 (of one seed half of these): a program of functions and methods whose parameters and results have types made by
chance. GDB stops at each, prints the arguments, and finishes. Where its own reader of the ABI is known to be wrong, what is compared
with is the value that the program was made with.
"""
import itertools
import json
import os
import random
import shutil
import subprocess
import sys

from questions import NO_LIBRARIES, SKIP, Test

FUNCTIONS = 24
SCALARS = {"char": "%d", "unsigned char": "%d", "short": "%d", "int": "%d", "unsigned": "%d", "long": "%dL", "float": "%d.5f",
           "double": "%d.25", "long double": "%d.75L", "const char *": "(text + %d)", "bool": "%d > 40", "enum color": "(enum color)(%d %% 4)",
           "_Complex float": "(%d + 2.5if)", "_Complex double": "(3 + %d.5i)", "four": "(four){%d, 2, -3, 4}",
           "_Complex long double": "(%d + 3.5il)", "two": "(two){%d, 0.5}"}
PLAIN = list(SCALARS)[:12]  # in arrays and records
HEAD = """#include <stdbool.h>
static const char text[] = "%s";
static volatile int seen;
enum color { red, green = 2, blue };
typedef int four __attribute__((vector_size(16)));
typedef double two __attribute__((vector_size(16)));
""" % ("abcdefgh" * 12)
GDB = """
import gdb, json
def arguments(frame):
    block = frame.block()
    while not block.function:
        block = block.superblock
    return {s.name: gdb.execute("print " + s.name, to_string=True).split(" = ", 1)[1].strip() for s in block if s.is_argument}
for command in ("set pagination off", "set confirm off", "set width 0", "set charset ASCII", "handle all nostop noprint pass", "pin goto begin",
                *("break " + name for name in %r)):
    gdb.execute(command, to_string=True)
rows = []
for _ in range(%d):
    gdb.execute("continue", to_string=True)
    name, given = gdb.selected_frame().name().split("(")[0], arguments(gdb.selected_frame())
    gdb.execute("finish", to_string=True)
    rows.append([name, given, gdb.execute("print $", to_string=True).split(" = ", 1)[1].strip()])
with open(%r, "w", encoding="utf-8") as out:
    json.dump(rows, out)
"""


class Maker:
    def __init__(self, seed, cxx):
        self.chance = random.Random(seed)
        self.cxx = cxx
        self.records = 0
        self.text, self.calls, self.names, self.known = [HEAD], [], [], {}
        self.long_doubles = {}

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
        name = self.chance.choice(PLAIN)
        return f"{name} m{at};", self.value(name)

    def record(self, depth=0):
        members = [self.member(depth, i) for i in range(self.chance.choice([1, 1, 2, 2, 3, 4]))]
        name = f"t{self.records}"
        self.records += 1
        extra = ""
        if self.cxx and self.chance.random() < 0.3:
            extra = self.chance.choice([" ~%s() { seen = 1; }", " ~%s() = default;", " int area() const { return 1; }",
                                        " static int shared;"]).replace("%s", name)
        self.text.append(f"struct {name} {{ " + " ".join(m[0] for m in members) + extra + " };")
        return f"struct {name}", "{" + ", ".join(m[1] for m in members) + "}"

    def some(self):
        """A type, and a value to begin a variable with."""
        if self.chance.random() < 0.4:
            name = self.chance.choice(list(SCALARS))
            return name, self.value(name)
        return self.record()

    def function(self, number):
        name, value = self.some()
        given = [self.some() for _ in range(self.chance.choice([0, 1, 1, 2, 3, 7]))]
        self.long_doubles[f"r{number}"] = [i for i, (kind, _) in enumerate(given) if kind == "long double"]
        refers = self.cxx and self.chance.random() < 0.15
        method = self.cxx and self.chance.random() < 0.25
        if refers:
            body, name = f"static int kept = {number}; seen = {number}; return kept;", "int &"
        else:
            body = f"{name} v = {value}; seen = {number}; return v;"
            if name in ("four", "two"):
                self.known[f"r{number}"] = value[value.index("{"):]
        takes = [kind + (" &" if self.cxx and self.chance.random() < 0.1 else " ") + f"p{i}" for i, (kind, _) in enumerate(given)]
        gives = ", ".join(f"g{i}" for i in range(len(given)))
        before = " ".join(f"{kind} g{i} = {start};" for i, (kind, start) in enumerate(given))
        if method:
            self.text.append(f"struct c{number} {{ int own; __attribute__((noinline)) {name} r{number}({', '.join(takes)}); }};")
            self.text.append(f"{name} c{number}::r{number}({', '.join(takes)}) {{ own++; {body} }}")
            self.calls.append(f"{{ {before} c{number} o = {{{number}}}; o.r{number}({gives}); }}")
            self.names.append(f"c{number}::r{number}")
        else:
            self.text.append(f"__attribute__((noinline)) {name} r{number}({', '.join(takes) or 'void'}) {{ {body} }}")
            self.calls.append(f"{{ {before} r{number}({gives}); }}")
            self.names.append(f"r{number}")

    def program(self):
        for number in range(FUNCTIONS):
            self.function(number)
        self.text.append("__attribute__((noinline)) __int128 wide(void) { seen = 1; return (__int128) -3 << 70; }")
        self.text.append("int main(void) { wide(); " + "\n".join(self.calls) + " return 0; }")
        return "\n".join(self.text) + "\n"


def isra(program):
    """Functions of which GCC made a copy that may leave out the result."""
    names = subprocess.run(["nm", "-C", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split(" ", 2)[2].split("(")[0].split(" [")[0].split(".")[0] for line in names.splitlines() if ".isra" in line}


def by_gdb(test, pinball, names):
    script, path = os.path.join(test.work, "finish.py"), os.path.join(test.work, "out")
    if os.path.exists(path):
        os.unlink(path)
    with open(script, "w", encoding="utf-8") as out:
        out.write(GDB % (names, FUNCTIONS, path))
    done = subprocess.run([test.drdebug, "debug", pinball, "--", "-nx", "-batch", *NO_LIBRARIES, "-x", script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          timeout=600, env=dict(os.environ, LC_ALL="C.UTF-8"))
    if not test.check(os.path.exists(path), f"GDB ended early:\n{done.stdout[-2000:]}"):
        test.end()
    with open(path, encoding="utf-8") as rows:
        return json.load(rows)


def check(test, compiler, cxx, level, seed):
    name = f"{os.path.basename(compiler)}-{'cxx' if cxx else 'c'}{level}-{seed}"
    source = os.path.join(test.work, name + (".cc" if cxx else ".c"))
    maker = Maker(2 * seed + (level == "-O2"), cxx)
    with open(source, "w", encoding="utf-8") as out:
        out.write(maker.program())
    test.run(compiler, "-g", level, "-w", "-x", "c++" if cxx else "c", "-o", source + ".out", source)
    pinball = test.record(name + ".pinball", source + ".out")
    said = {row["function"].split("(")[0]: row for row in test.ask(pinball, "calls", name + ".*.out!*r*")}
    wide = test.ask(pinball, "calls", "wide")[0]["result"]  # GDB 13 says 0
    test.equal(wide, str(-3 << 70), f"{name}: a wide integer")
    dropped = isra(source + ".out")
    for function, given, result in by_gdb(test, pinball, maker.names):
        what, row = f"{name}: {function}", said.get(function)
        if not test.check(row, f"{what} was not executed: {sorted(said)}"):
            continue
        for number in maker.long_doubles.get(function.split("::")[-1], []):  # that GCC has left out: only GDB knows these
            if f"p{number}=<optimized out>" in (row["arguments"] or ""):
                given[f"p{number}"] = "<optimized out>"
        test.equal(row["arguments"] or "", ", ".join(f"{k}={v}" for k, v in given.items()), f"{what}: arguments")
        if function.split("::")[-1] in maker.known:  # GDB 13 looks for vectors in rax
            result = maker.known[function.split("::")[-1]]
        if row["result"] is not None or function not in dropped:
            test.equal(row["result"], result, f"{what}: result")


def main():
    drdebug, seeds, *compilers = sys.argv[1:]
    if not shutil.which("gdb"):
        print("skipped: there is no gdb")
        sys.exit(SKIP)
    test = Test(drdebug)
    programs = list(itertools.product(compilers, (False, True), ("-O0", "-O2")))
    for seed in map(int, seeds.split(",")):
        for compiler, cxx, level in programs:
            if "," in seeds or (compilers.index(compiler) + cxx + (level == "-O2")) % 2:
                check(test, compiler, cxx, level, seed)
    test.end()


if __name__ == "__main__":
    main()
