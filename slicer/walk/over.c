/* over.c - which chunks a walk backwards passes over.
 *
 * SPDX-License-Identifier: MIT
 *
 * A chunk does not have to be read if nothing in it can change what is wanted: its gist
 * (trace/gist.h) says that no wanted location is defined, no register that is waited for is saved,
 * and no branch or maker of a frame that nodes wait for is executed. What there is to ask must be
 * little: if much is wanted, most chunks have to be read anyway.
 */
#include "slicer/walk/walk.h"
#include "trace/classes.h"

enum { ASKED_MOST = 4096 }; /* pages, frames and saved registers */

static bool defines_wanted_memory(const struct walk *w, const struct gist *g)
{
    const struct wanted *m = &w->memory;
    for (size_t i = 0; m->live && i < m->page.room; i++) {
        const struct wanted_page *p = &m->page.slot[i];
        gaddr at = (p->number - 1) << WANTED_SHIFT;
        if (!p->number || !gist_writes(g, at, 1ull << WANTED_SHIFT))
            continue;
        for (unsigned k = 0; k < WANTED_WORDS; k++) {
            uint64_t bits = p->bits[k];
            if (!bits)
                continue;
            unsigned first = (unsigned)__builtin_ctzll(bits);
            unsigned last = 63u - (unsigned)__builtin_clzll(bits);
            if (gist_writes(g, at + 64ull * k + first, last - first + 1))
                return true;
        }
    }
    return false;
}

static bool defines_wanted_registers(const struct walk *w, const struct gist *g)
{
    for (uint32_t i = 0; i < g->threads; i++)
        if (g->thread[i].defined & classes_of(&w->reg[g->thread[i].thread]))
            return true;
    return false;
}

static bool saves_waited_for(const struct walk *w, const struct gist *g)
{
    for (size_t i = 0; w->ghosts_waiting && i < w->ghost.room; i++) {
        const struct ghost *x = &w->ghost.slot[i];
        if (x->serial && x->mask && gist_writes(g, x->addr, 8))
            return true;
    }
    return false;
}

bool slice_walk_passes(const struct walk *w, uint32_t number)
{
    const struct scan *scan = &w->s->scan;
    const struct gist *g = &scan->chunk[number].gist;
    if (g->odd || w->o->whole || w->o->keep_saves || w->state ||
        (w->wants && w->want[0]->at >= trace_chunk_first(w->s->trace, number)) ||
        w->memory.page.used > ASKED_MOST || w->ghost.used > ASKED_MOST)
        return false;
    if (defines_wanted_registers(w, g) || defines_wanted_memory(w, g) || saves_waited_for(w, g))
        return false;
    const struct control_chunk chunk = {
        .gist = g,
        .code = w->s->code,
        .insn = trace_chunk_first(w->s->trace, number),
        .before = scan->chunk[number].start.serials,
        .after = number + 1 < scan->chunks ? scan->chunk[number + 1].start.serials : UINT64_MAX,
        .most = ASKED_MOST,
    };
    return !(w->edges & SLICE_CONTROL) || !control_may(w->control, &chunk);
}
