#!/usr/bin/env python3
"""stopped_test.py DRDEBUG STOPPED CC - a question about facts that is interrupted keeps what was found, and nothing beside the trace.

SPDX-License-Identifier: MIT
"""
import os
import subprocess
import sys
import tempfile

DRDEBUG, STOPPED, CC = sys.argv[1:]
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
volatile int sink, shared[3];
static void wait_long(void) { for (volatile int i = 0; i < 80000; i++); }
static void *other(void *arg)
{
    shared[0]++; wait_long(); shared[1]++; wait_long(); shared[2]++;
    return arg;
}
int main(void)
{
    int *p = malloc(8);
    pthread_t t;
    pthread_create(&t, NULL, other, NULL);
    free(p);
    sink = p[0]; shared[0]++; wait_long();
    sink = p[1]; shared[1]++; wait_long();
    sink = p[0]; shared[2]++;
    pthread_join(t, NULL);
    return 0;
}
"""


def main():
    with tempfile.TemporaryDirectory(prefix="stopped.") as work:
        os.environ["XDG_STATE_HOME"] = os.path.join(work, "state")
        program, pinball = os.path.join(work, "program"), os.path.join(work, "pinball")
        subprocess.run([CC, "-g", "-O0", "-w", "-pthread", "-x", "c", "-o", program, "-"], input=PROGRAM, text=True, check=True)
        subprocess.run([DRDEBUG, "record", "-q", "-o", pinball, "--", program], check=True, timeout=120)
        subprocess.run([DRDEBUG, "trace", pinball], check=True, stdout=subprocess.DEVNULL, timeout=120)

        def told(n):
            out = subprocess.run([STOPPED, pinball, str(n)], check=True, capture_output=True, text=True, timeout=120).stdout
            return [tuple(map(int, line.split())) for line in out.splitlines()]

        seen = set()
        for n in range(1, 200, 2):
            for name in os.listdir(pinball):
                if name.startswith("trace."):
                    os.unlink(os.path.join(pinball, name))
            errors, races = told(n)
            seen |= {("errors", errors), ("races", races)}
            assert races[1] or not os.path.exists(f"{pinball}/trace.races"), f"{n}: races that are not all were kept"
            if errors[1] and races[1]:
                break
        counts = {kind: sorted({have[0] for k, have in seen if k == kind}) for kind in ("errors", "races")}
        last = told(0)
        assert last == [(3, 1), (3, 1)], f"at the end: {last}"
        for kind in counts:
            assert counts[kind][0] == 0 and counts[kind][-1] == 3 and len(counts[kind]) > 2, f"some of the {kind}: {counts[kind]}"
        print(f"{n} interruptions: {counts}")


main()
