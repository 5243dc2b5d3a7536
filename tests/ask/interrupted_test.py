#!/usr/bin/env python3
"""interrupted_test.py DRDEBUG CC TIMES - Ctrl-C at moments made by chance: what is told is a beginning of the answer, and says so.

SPDX-License-Identifier: MIT

Before the answer begins an interruption ends the program, as it ends others. After it nothing is left beside the trace that makes
a later answer another one. Half of the recordings are a stranger's: then two processes have to end.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

from questions import Test

DRDEBUG, CC, TIMES = sys.argv[1:]
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static int *twice(int n) { int *p = malloc(sizeof *p * 4); p[0] = n * 2; return p; }
static void *work(void *arg)
{
    for (int i = 0; i < 1500; i++) {
        int *p = twice(i);
        if (i % 7 == 0)
            pthread_mutex_lock(&lock);
        sum += p[0];
        if (i % 7 == 0)
            pthread_mutex_unlock(&lock);
        if (i % 50)
            free(p);
        if (i < 0)
            puts("never");
    }
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    printf("%ld\n", sum);
    return 0;
}
"""
QUESTIONS = (["calls", "twice"], ["accesses", "sum"], ["values", "sum"], ["profile"], ["coverage"], ["races"], ["errors"], ["leaks"],
             ["locks"], ["heap"], ["events"], ["schedule"], ["lines", "twice", "--print", "n,sum"], ["why-not", "program.c:22"])


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


def numbered(rows):
    """Rows that can be compared: totals grow until the end."""
    return [row for row in rows if "row" in row]


def main():
    test, chance = Test(DRDEBUG), random.Random(int(os.environ.get("ASK_SEED", "1")))
    own = dict(os.environ, LC_ALL="C.UTF-8", XDG_STATE_HOME=f"{test.work}/own", XDG_CACHE_HOME=f"{test.work}/cache")
    stranger = dict(own, XDG_STATE_HOME=f"{test.work}/stranger")
    pinball = os.path.join(test.work, "subject")
    source, program = os.path.join(test.work, "program.c"), os.path.join(test.work, "program")
    with open(source, "w", encoding="utf-8") as out:
        out.write(PROGRAM)
    test.run(CC, "-g", "-O0", "-pthread", "-o", program, source)
    subprocess.run([DRDEBUG, "record", "-q", "-o", pinball, "--", program], env=own, stdout=subprocess.DEVNULL, check=True, timeout=200)
    whole, took, seen = {}, {}, {"complete": 0, "interrupted": 0, "before": 0}

    def ask(env, words, after=None):
        child = subprocess.Popen([DRDEBUG, "ask", pinball, *words, "--json"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, start_new_session=True)
        if after is not None:
            time.sleep(after)
            os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=600)
        return child.returncode, out, err

    for number in range(int(TIMES)):
        words, env = chance.choice(QUESTIONS), chance.choice((own, stranger))
        name = " ".join(words)
        if name not in whole:
            begin = time.monotonic()
            status, out, err = ask(own, words)
            took[name] = time.monotonic() - begin
            test.check(status == 0, f"{name}: {err}")
            whole[name] = rows_of(out)
        if chance.random() < 0.7:
            for kept in os.listdir(pinball):
                if kept.startswith("trace."):
                    os.unlink(os.path.join(pinball, kept))
        before = set(os.listdir(pinball))
        status, out, err = ask(env, words, chance.random() * took[name])
        what = f"{number}: {name}"
        test.check(status in (0, -signal.SIGINT), f"{what}: status {status}: {out[-300:]}{err}")
        left = set(os.listdir(pinball)) - before
        test.check(all(f == "trace" or f.startswith("trace.") and f.count(".") == 1 for f in left), f"{what}: it left {left}")
        if status:
            seen["before"] += 1
            continue
        told = rows_of(out)
        complete = told[-1]["complete"]
        seen["complete" if complete else "interrupted"] += 1
        if complete:
            test.equal(numbered(told), numbered(whole[name]), what)
        elif words[0] in ("calls", "accesses", "values", "events", "schedule", "lines"):
            test.check(len(numbered(told)) <= len(numbered(whole[name])), f"{what}: more rows than there are")
        test.equal(numbered(rows_of(ask(own, words)[1])), numbered(whole[name]), f"{what}: asked again")
    print(seen)
    test.end()


main()
