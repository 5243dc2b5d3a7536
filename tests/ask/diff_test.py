#!/usr/bin/env python3
"""diff_test.py DRDEBUG CC SEED PROGRAMS - `ask diff` on random programs, against logs that they write natively.

A program is made of calls, loops, conditions and returns that depend on its input, and runs in three threads. Compiled
another way it writes down each branch and each value of its input that it reads. From two such logs and the shape of the
source follows which branches part, how often, and which values differ. SPDX-License-Identifier: MIT
"""
import os
import random
import shutil
import sys
from collections import Counter

from questions import Test

CELLS, THREADS, FUNCTIONS = 8, 3, 4

HEAD = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int in[3][8];
static char *block[8];
#ifdef LOG
static int note(int t, int line, int outcome) { fprintf(stderr, "%d W %d %d\\n", t, line, outcome); return outcome; }
static int value(int t, int line, int v) { fprintf(stderr, "%d V %d %d\\n", t, line, v); return v; }
#define B(c) note(t, __LINE__, (c) != 0)
#define IN(n) value(t, __LINE__, in[t][n])
#define MARK(c, line) fprintf(stderr, "%d %s %d\\n", t, c, line)
#else
#define B(c) (c)
#define IN(n) in[t][n]
#define MARK(c, line) (void)0
#endif
"""
TAIL = """\
static void *run(void *arg)
{
    long t = (long)arg;
    volatile int r = f0((int)t);
    (void)r;
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t thread[3];
    for (int i = 0; i < 24; i++)
        in[i / 8][i % 8] = i + 1 < argc ? atoi(argv[i + 1]) : 0;
    for (int i = 0; i < 8; i++)
        block[i] = malloc(16 + 16 * (size_t)abs(i + 1 < argc ? atoi(argv[i + 1]) : 0));
    for (long i = 1; i < 3; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    run(NULL);
    for (int i = 1; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
"""


class Program:
    """Source, and for each line of a branch where its ways meet: "join", "loop", or "return" (the function's end)."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = HEAD.splitlines()
        self.meets = {}
        for f in range(FUNCTIONS - 1, -1, -1):
            self.function(f)
        self.lines += TAIL.splitlines()

    def put(self, text):
        self.lines.append(text)
        return len(self.lines)

    def function(self, f):
        self.put(f"static int f{f}(int t)")
        self.put("{")
        self.put("    int acc = 0;")
        self.put(f'    MARK("C", {f});')
        self.statements(f, 3, 2)
        self.put("    acc++;")
        self.put("out:")
        self.put(f'    MARK("R", {f});')
        self.put("    return acc;")
        self.put("}")

    def statements(self, f, depth, least):
        """Returns whether there is a return among them."""
        returns = False
        for _ in range(self.rng.randint(least, 3)):
            returns |= self.statement(f, depth)
        return returns

    def statement(self, f, depth):
        kinds = ["add", "block"]
        if f + 1 < FUNCTIONS:
            kinds += ["call", "call"]
        if depth:
            kinds += ["if", "if", "else", "for", "return"]
        kind, cell = self.rng.choice(kinds), self.rng.randrange(CELLS)
        space, limit = "    " * (4 - depth), self.rng.randint(-2, 4)
        if kind == "add":
            self.put(f"{space}acc += IN({cell});")
        elif kind == "block":
            self.put(f"{space}acc += block[{cell}] != NULL;")
        elif kind == "call":
            self.put(f"{space}acc += f{self.rng.randrange(f + 1, FUNCTIONS)}(t);")
        elif kind == "return":
            self.meets[self.put(f"{space}if (B(IN({cell}) > {limit + 2}))")] = "return"
            self.put(f"{space}    goto out;")
            return True
        elif kind == "for":
            line = self.put(f"{space}for (int i{depth} = 0; B(i{depth} < IN({cell})); i{depth}++) {{")
            return self.close(line, self.statements(f, depth - 1, 1), "loop", space)
        else:
            line = self.put(f"{space}if (B(IN({cell}) > {limit})) {{")
            returns = self.statements(f, depth - 1, 1)
            if kind == "else":
                self.put(f"{space}}} else {{")
                returns |= self.statements(f, depth - 1, 1)
            return self.close(line, returns, "join", space)
        return False

    def close(self, line, returns, meet, space):
        self.put(f"{space}}}")
        if meet == "join":
            self.put(f'{space}MARK("J", {line});')
        self.meets[line] = "return" if returns else meet
        return returns


def read_log(text):
    """By thread: tokens (kind, line, value, depth of calls)."""
    log, depth = {}, Counter()
    for line in text.splitlines():
        word = line.split()
        thread, kind = int(word[0]), word[1]
        depth[thread] += kind == "C"
        log.setdefault(thread, []).append((kind, int(word[2]), int(word[3]) if len(word) > 3 else 0, depth[thread]))
        depth[thread] -= kind == "R"
    return log


def behind(log, at, meet):
    """Where a way goes on together with the other one that left it at the branch `at`."""
    _, line, _, depth = log[at]
    while True:
        kind, where, value, deep = log[at]
        if deep == depth and ((kind == "R" and meet == "return") or (kind == "J" and meet == "join" and where == line)):
            return at
        if deep == depth and meet == "loop" and kind == "W" and where == line and not value:
            return at + 1
        at += 1


def reference(meets, a, b):
    """Branches that part, with how often; values that differ, with how often and the first two."""
    ways, values = Counter(), {}
    for thread in a:
        x, y, i, k = a[thread], b[thread], 0, 0
        while i < len(x) and k < len(y):
            assert x[i][:2] == y[k][:2] and x[i][3] == y[k][3], (x[i], y[k])
            kind, line, value, _ = x[i]
            if value == y[k][2]:
                i, k = i + 1, k + 1
            elif kind == "V":
                times, first = values.get((thread + 1, line), (0, (value, y[k][2])))
                values[thread + 1, line] = times + 1, first
                i, k = i + 1, k + 1
            else:
                ways[thread + 1, line] += 1
                i, k = behind(x, i, meets[line]), behind(y, k, meets[line])
    return ways, values


def thread_of(row):
    return int(row["at"].split(":")[0][1:])


def summary(rows):
    ways, values = Counter(), {}
    for row in rows:
        key = thread_of(row), row["place"]["line"]
        if row["kind"] == "way":
            ways[key] += row["times"]
        elif row["what"].startswith("in["):
            values[key] = row["times"], (int(row["here"]), int(row["other"]))
    return ways, values


class Case:
    """A program, and recordings of it with some inputs."""

    def __init__(self, test, compiler, seed):
        self.test, self.seed = test, seed
        rng = random.Random(seed)
        program = Program(rng)
        self.meets = program.meets
        base = os.path.join(test.work, f"p{seed}")
        with open(base + ".c", "w", encoding="utf-8") as f:
            f.write("\n".join(program.lines) + "\n")
        flags = ["-g", "-w", "-pthread", base + ".c"]
        test.run(compiler, "-O0", "-o", base, *flags)
        test.run(compiler, "-O2", "-o", base + ".O2", *flags)
        test.run(compiler, "-O0", "-DLOG", "-o", base + ".log", *flags)
        first = [rng.randint(-1, 5) for _ in range(CELLS * THREADS)]
        second = list(first)
        for _ in range(rng.randint(2, 7)):
            second[rng.randrange(len(second))] = rng.randint(-1, 5)
        self.program, self.inputs = base, [first, second, first]
        self.words = [[str(w) for w in given] for given in self.inputs]

    def record(self, program, n):
        path = f"{program}.{n}.pinball"
        self.test.run(self.test.drdebug, "record", "-q", f"--chaos={self.seed + n}", "-o", path, "--", program,
                      *self.words[n])
        return path

    def check(self):
        test, name = self.test, f"program {self.seed}"
        logs = [read_log(test.run(self.program + ".log", *words).stderr) for words in self.words]
        pinball = [self.record(self.program, n) for n in range(3)]
        rows = test.ask(pinball[0], "diff", pinball[1])
        ways, values = summary(rows)
        want = reference(self.meets, logs[0], logs[1])
        test.equal(ways, want[0], f"{name}: ways")
        test.equal(values, want[1], f"{name}: values")
        test.check(not [r for r in rows if (r["what"] or "").startswith("block")], f"{name}: pointers are the same")
        self.check_balance(pinball, rows, name)
        test.equal(test.ask(pinball[0], "diff", pinball[2]), [], f"{name}: the same input, another schedule")
        back = summary(test.ask(pinball[1], "diff", pinball[0]))
        test.equal(back[0], ways, f"{name}: ways, the other way round")
        test.equal(back[1], {k: (n, v[::-1]) for k, (n, v) in values.items()}, f"{name}: values, the other way round")
        if self.seed % 2 == 0:
            self.check_optimized(name)
        for path in pinball:
            shutil.rmtree(path)
        return len(ways)

    def own(self, pinball, program):
        rows = self.test.ask(pinball, "profile")
        return sum(r["self"] for r in rows if (r["module"] or "").endswith(os.path.basename(program)))

    def check_balance(self, pinball, rows, name, program=None):
        """What is not in parts is the same in both."""
        program = program or self.program
        common = [self.own(pinball[i], program) - sum(r[column] or 0 for r in rows)
                  for i, column in enumerate(("insns", "other_insns"))]
        self.test.equal(common[0], common[1], f"{name}: instructions in common")

    def check_optimized(self, name):
        program = self.program + ".O2"
        pinball = [self.record(program, n) for n in range(3)]
        rows = self.test.ask(pinball[0], "diff", pinball[1])
        self.check_balance(pinball, rows, f"{name} -O2", program)
        self.test.equal(self.test.ask(pinball[0], "diff", pinball[2]), [], f"{name} -O2: the same input")
        for path in pinball:
            shutil.rmtree(path)


def main():
    drdebug, compiler, seed, programs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    test = Test(drdebug)
    parted = sum(Case(test, compiler, seed + i).check() for i in range(programs))
    test.check(parted > 0, "some branches part")
    test.end()


main()
