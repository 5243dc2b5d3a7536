/* percall.h - how a program of calls reports its own time, free of start-up and translation.
 *
 * The figure goes to standard error, where the driver reads it; standard output stays the same from
 * run to run and can be compared.
 * SPDX-License-Identifier: MIT */
#ifndef PERCALL_H
#define PERCALL_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline int64_t percall_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline void percall_report(int64_t start_ns, long calls)
{
    fprintf(stderr, "ns_per_call=%.2f\n", (double)(percall_now_ns() - start_ns) / (double)calls);
}

#endif
