/* slicetimes.c - how long a trace and slices of a recording take: slicetimes PINBALL TRACE
 * [SLICES].
 *
 * SPDX-License-Identifier: MIT
 *
 * Prints JSON. Slices are of what instructions in the last tenth of the trace use.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "slicer/slice.h"
#include "study/study.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const struct err *err)
{
    fprintf(stderr, "slicetimes: %s\n", err->msg);
    exit(1);
}

static double slice(struct trace_index *s, uint64_t at, uint64_t most, unsigned edges,
                    uint64_t *nodes, uint64_t *pairs)
{
    struct slice_want want = {.kind = SLICE_USES, .at = at};
    struct slice_options o = {.edges = edges, .most = most};
    struct slice_figures f;
    struct err err;
    double start = now();
    struct slice *x = slice_backward(s, &want, 1, &o, &err);
    if (!x)
        die(&err);
    double took = now() - start;
    *nodes = slice_count(x);
    slice_figures(x, &f);
    *pairs = f.pairs;
    slice_free(x);
    return took;
}

static void slices(struct trace_index *s, uint64_t insns, int count)
{
    uint64_t nodes, pairs;
    for (int i = 0; i < count; i++) {
        uint64_t at = insns - 1 - insns / 10 * (uint64_t)i / (uint64_t)count;
        double few = slice(s, at, 100, SLICE_ALL, &nodes, &pairs);
        double data = slice(s, at, 0, SLICE_VALUE | SLICE_ADDRESS, &nodes, &pairs);
        double all = slice(s, at, 0, SLICE_ALL, &nodes, &pairs);
        printf("%s{\"few\": %.4f, \"data\": %.4f, \"all\": %.4f, \"nodes\": %llu, \"pairs\": %llu}",
               i ? ", " : "", few, data, all, (unsigned long long)nodes, (unsigned long long)pairs);
    }
}

int main(int argc, char **argv)
{
    struct err err;
    uint64_t nodes, pairs;
    int count = argc > 3 ? atoi(argv[3]) : 5;
    if (argc < 3)
        return 2;
    struct study_options o = {.trace = argv[2], .fresh = true};
    double start = now();
    struct study *s = study_open(argv[1], &o, &err);
    if (!s)
        die(&err);
    double collected = now();
    struct collect_result r = s->result;
    if (count)
        slice(s->index, r.insns - 1, 0, SLICE_ALL, &nodes, &pairs);
    printf("{\"insns\": %llu, \"bytes\": %llu, \"collect\": %.4f, \"first\": %.4f, \"slices\": [",
           (unsigned long long)r.insns, (unsigned long long)r.bytes, collected - start,
           now() - start);
    slices(s->index, r.insns, count);
    printf("]}\n");
    study_close(s);
    return 0;
}
