/* relogtimes.c - a recording of a slice, and how long making it takes: relogtimes PINBALL OUT
 * all|thin|failure.
 *
 * SPDX-License-Identifier: MIT
 *
 * The slice is of what an instruction in the last tenth of the trace uses, or of the failure. The
 * trace, which is kept with the recording, is not counted. Prints JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pinball/format.h"
#include "pinball/pinball.h"
#include "pinball/record_gap.h"
#include "pinball/records.h"
#include "pinball/text.h"
#include "relogger/relog.h"
#include "slicer/criterion/criterion.h"
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
    fprintf(stderr, "relogtimes: %s\n", err->msg);
    exit(1);
}

static struct slice *make_slice(struct study *s, const char *kind)
{
    const uint64_t insns = trace_insns(s->trace);
    const struct slice_want late = {.kind = SLICE_USES, .at = insns - 1 - insns / 20};
    const struct slice_options o = {.edges = strcmp(kind, "thin") ? SLICE_ALL : SLICE_VALUE};
    struct criterion c = {.wants = 0};
    struct err err;
    const bool failure = !strcmp(kind, "failure");
    if (failure && criterion_find(s, &(struct criterion_options){.text = NULL}, &c, &err))
        die(&err);
    struct slice *slice =
        slice_backward(s->index, failure ? c.want : &late, failure ? c.wants : 1, &o, &err);
    if (!slice)
        die(&err);
    criterion_deinit(&c);
    return slice;
}

/* Instructions in gaps that are worth one, whatever they write; and bytes that all gaps put in. */
static void gaps_of(const char *dir, uint64_t *far, uint64_t *wrote)
{
    static uint8_t data[CHUNK_MAX_BYTES];
    uint64_t bytes, records, left = 0;
    struct err err;
    struct pinball *p = pinball_open(dir, &err);
    if (!p)
        die(&err);
    for (uint64_t i = 0; i < pinball_chunks(p); i++) {
        pinball_chunk_info(p, i, &bytes, &records);
        if (pinball_read_chunk(p, i, data, sizeof data, &err))
            die(&err);
        for (const struct record *r = records_first(data, bytes); r;
             r = records_next(r, data + bytes)) {
            const struct record_gap *g = (const void *)r;
            if (left && r->kind < RECORD_SKIPPABLE)
                left--;
            if (left && r->kind == RECORD_DATA)
                *wrote += ((const struct record_data *)(const void *)r)->bytes;
            if (r->kind != RECORD_GAP)
                continue;
            left = g->records + 1;
            *far += g->insns >= RELOG_GAP ? g->insns : 0;
        }
    }
    pinball_close(p);
}

int main(int argc, char **argv)
{
    struct err err;
    struct pieces kept;
    struct relog_result r;
    struct text head = {0};
    uint64_t far = 0, wrote = 0;
    if (argc != 4)
        return 2;
    struct study *s = study_open(argv[1], &(struct study_options){.trace = NULL}, &err);
    if (!s)
        die(&err);
    struct slice *slice = make_slice(s, argv[3]);
    const double begin = now();
    if (pieces_find(s, &(struct pieces_rule){.slice = slice}, &kept, &err) ||
        relog_weigh(s->trace, &kept, RELOG_GAP, &err))
        die(&err);
    const double found = now();
    text_add(&head, "relog_of", argv[1]);
    const struct relog_options how = {.gap = RELOG_GAP, .head = &head};
    if (relog(s->pinball, s->trace, &kept, argv[2], &how, &r, &err))
        die(&err);
    const double done = now();
    gaps_of(argv[2], &far, &wrote);
    printf("{\"insns\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"gaps\": %" PRIu64
           ", \"out\": %" PRIu64 ", \"far\": %" PRIu64 ", \"wrote\": %" PRIu64
           ", \"find\": %.4f, \"relog\": %.4f}\n",
           r.insns, r.kept, r.gaps, r.out, far, wrote, found - begin, done - begin);
    slice_free(slice);
    pieces_deinit(&kept);
    text_deinit(&head);
    study_close(s);
    return 0;
}
