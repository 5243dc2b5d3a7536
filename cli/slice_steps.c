/* slice_steps.c - the statements of a slice in the order of their execution.
 * SPDX-License-Identifier: MIT */
#include "cli/slice_steps.h"

#include <stdlib.h>

#include "trace/trace.h"

/* Where a thread's last node was. */
struct step {
    uint32_t thread, row;
    gaddr pc;
};

struct slice_steps {
    struct study *study;
    size_t known;
    struct step of[];
};

struct slice_steps *slice_steps_new(struct study *s)
{
    size_t room = trace_threads(s->trace) + 1;
    struct slice_steps *steps = calloc(1, sizeof *steps + room * sizeof steps->of[0]);
    if (steps)
        steps->study = s;
    return steps;
}

void slice_steps_free(struct slice_steps *s)
{
    free(s);
}

bool slice_steps_begin(struct slice_steps *s, uint32_t thread, uint32_t row, gaddr pc)
{
    struct source_line l;
    size_t i = 0;
    while (i < s->known && s->of[i].thread != thread)
        i++;
    struct step *last = &s->of[i];
    bool same = i < s->known && last->row == row;
    bool own = study_line(s->study, pc, &l); /* else it counts to the row, in whatever order */
    bool back = same && own && pc <= last->pc;
    *last = (struct step){thread, row, own ? pc : same ? last->pc : 0};
    s->known += i == s->known;
    return !same || back;
}
