/* sites.c - places that accesses come from. SPDX-License-Identifier: MIT */
#include "facts/order/sites.h"

#include <stdlib.h>

#include "base/array.h"
#include "trace/frames.h"

void sites_deinit(struct sites *s)
{
    numbers_deinit(&s->own);
    numbers_deinit(&s->calls);
    numbers_deinit(&s->sites);
    free(s->is_own);
    *s = (struct sites){.study = s->study};
}

static bool is_own(struct sites *s, gaddr pc)
{
    struct source_line l;
    uint32_t i = numbers_add(&s->own, pc, 0);
    if (i == s->owns && array_append(&s->is_own, &s->owns, study_own(s->study, pc, &l)))
        return false;
    return i < s->owns && s->is_own[i];
}

/* The innermost call of the user's own code that the frame was made for; 0: none. */
static gaddr call_of(struct sites *s, struct frame *f)
{
    enum { DEEP = 64 };
    struct frame *path[DEEP];
    unsigned n = 0;
    gaddr pc = 0;
    for (; f && !f->mark && n < DEEP; f = f->parent) {
        path[n++] = f;
        if (f->kind == FRAME_CALL && is_own(s, f->maker_pc)) {
            pc = f->maker_pc;
            break;
        }
    }
    if (f && f->mark)
        pc = s->calls.pair[f->mark - 1][0];
    uint32_t number = numbers_add(&s->calls, pc, 0);
    while (n && number != NUMBERS_NONE)
        path[--n]->mark = number + 1;
    return pc;
}

gaddr sites_line(struct sites *s, gaddr pc, struct frame *f)
{
    return is_own(s, pc) ? pc : call_of(s, f);
}

uint32_t sites_of(struct sites *s, gaddr pc, struct frame *f)
{
    return numbers_add(&s->sites, pc, sites_line(s, pc, f));
}

const gaddr *sites_at(const struct sites *s, uint32_t site)
{
    return s->sites.pair[site];
}
