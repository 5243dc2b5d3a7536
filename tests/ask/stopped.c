/* stopped.c PINBALL N - looks for errors and races, and is interrupted at the Nth chunk that is
 * read.
 *
 * Prints how many errors and races are told and whether that was all; N 0: it is not interrupted.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "facts/heap/errors.h"
#include "facts/order/races.h"

struct count {
    uint64_t left;
};

static bool watch(void *arg, uint64_t done, uint64_t total)
{
    struct count *c = arg;
    return done <= total && c->left && --c->left == 0;
}

static struct study *open_watched(const char *path, struct count *c)
{
    struct err err;
    struct study *s = study_open(path, &(struct study_options){.trace = NULL}, &err);
    if (!s) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    trace_watch(s->trace, watch, c);
    return s;
}

int main(int argc, char **argv)
{
    struct err err = {.code = 0};
    if (argc != 3)
        return 2;
    struct count c = {strtoull(argv[2], NULL, 10)};
    struct study *s = open_watched(argv[1], &c);
    struct heap *h = heap_of(s, NULL, &err);
    const struct heap_errors *e = h ? heap_errors(h, s, &err) : NULL;
    if (!e && err.code != TRACE_STOPPED)
        return 1;
    printf("%zu %d\n", e ? e->count : 0, e && err.code != TRACE_STOPPED);
    study_close(s);
    c.left = strtoull(argv[2], NULL, 10);
    err.code = 0;
    s = open_watched(argv[1], &c);
    const struct races *r = races_find(s, false, &err);
    if (!r && err.code != TRACE_STOPPED)
        return 1;
    printf("%zu %d\n", r ? r->pairs : 0, r && !r->stopped);
    study_close(s);
    return 0;
}
