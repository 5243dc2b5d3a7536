/* closure_state.c - who defined what, and what the original values are.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/slice/closure_int.h"

/* ---- what is wrong ---- */

void closure_fail(struct check *c, const struct forward_at *n, const char *where, uint64_t by,
                  unsigned have, unsigned want)
{
    c->failed = true;
    if (c->q->quiet)
        return;
    if (n) {
        printf("node %llu T%u 0x%llx %s [", (unsigned long long)n->insn, n->thread,
               (unsigned long long)n->in->pc, insn_name(n->in));
        for (unsigned i = 0; i < n->in->len; i++)
            printf("%s%02x", i ? " " : "", n->in->bytes[i]);
        printf("]: ");
    } else
        printf("the criterion: ");
    printf("%s: %02x, %02x in the run", where, have, want);
    if (by)
        printf("; last defined by node %llu, %s the slice", (unsigned long long)by - 1,
               slice_has(c->q->slice, by - 1) ? "in" : "not in");
    printf("\n");
}

void closure_fail_loc(struct check *c, const struct forward_at *n, const char *how,
                      const struct machine_state *m, unsigned loc)
{
    char name[40], text[80];
    loc_name((struct loc_span){.first = loc, .count = 1}, name, sizeof name);
    snprintf(text, sizeof text, "%s %s", how, name);
    closure_fail(c, n, text, m->by[loc], m->now.v[loc], m->ref.v[loc]);
}

void closure_fail_byte(struct check *c, const struct forward_at *n, const char *how, gaddr addr)
{
    const struct closure_page *p = closure_page(addr);
    char text[80];
    snprintf(text, sizeof text, "%s memory 0x%llx", how, (unsigned long long)addr);
    closure_fail(c, n, text, p->by[addr % CLOSURE_PAGE], *(uint8_t *)addr,
                 p->ref[addr % CLOSURE_PAGE]);
}

/* ---- patterns ---- */

/* Neither is an instruction that goes on. */
static uint8_t pattern_byte(const struct check *c)
{
    return c->q->pattern ? 0x06 : 0xcc;
}

void closure_pattern(const struct check *c, struct flat *to, unsigned loc)
{
    static const uint8_t most[LOC_COUNT - LOC_X87_TAG] = {
        [LOC_X87_CONTROL - LOC_X87_TAG] = 0x1f,
        [LOC_X87_STATUS - LOC_X87_TAG] = 0x7f,
        [LOC_MXCSR_CONTROL - LOC_X87_TAG] = 0xf,
        [LOC_MXCSR_STATUS - LOC_X87_TAG] = 0x3f,
    };
    if (loc < LOC_X87_TAG)
        to->v[loc] = c->q->pattern ? 0x5a : 0xa5;
    else if (c->q->pattern)
        to->v[loc] = most[loc - LOC_X87_TAG] ? most[loc - LOC_X87_TAG] : 1;
    else
        to->v[loc] = 0;
    if (loc == LOC_X87_TOP)
        to->v[loc] = 0;
    if (loc == LOC_FS_BASE)
        to->fsbase = c->q->pattern ? 0x13000 : 0x11000;
}

/* ---- who defined what ---- */

void closure_mark_loc(struct check *c, uint32_t thread, unsigned loc, uint8_t state, uint64_t by)
{
    struct machine_state *m = &c->thread[thread];
    m->state[loc] = state;
    m->by[loc] = by;
    if (state == CLOSURE_FOREIGN)
        closure_pattern(c, &m->now, loc);
}

void closure_mark_byte(struct check *c, gaddr addr, uint8_t state, uint64_t by)
{
    struct closure_page *p = closure_page(addr);
    if (!p)
        return;
    p->state[addr % CLOSURE_PAGE] = state;
    p->by[addr % CLOSURE_PAGE] = by;
    if (state == CLOSURE_FOREIGN)
        *(uint8_t *)addr = pattern_byte(c);
}

uint8_t *closure_ref(gaddr addr)
{
    return &closure_page(addr)->ref[addr % CLOSURE_PAGE];
}

uint8_t closure_state_of(const struct check *c, gaddr addr)
{
    const struct closure_page *p = closure_page(addr);
    if (p)
        return p->state[addr % CLOSURE_PAGE];
    for (size_t i = c->writtens; i-- > 0;)
        if (addr - c->written[i].addr < c->written[i].bytes)
            return c->written[i].state;
    return CLOSURE_UNTOUCHED;
}

void closure_mark_range(struct check *c, gaddr addr, uint64_t bytes, uint8_t state, uint64_t by,
                        gaddr from)
{
    c->written = realloc(c->written, sizeof *c->written * (c->writtens + 1));
    if (!c->written)
        abort();
    c->written[c->writtens++] = (struct written){addr, bytes, by, state};
    for (gaddr a = addr; a < addr + bytes;) {
        if (!closure_page(a)) {
            a = PAGE_DOWN(a) + CLOSURE_PAGE;
            continue;
        }
        uint8_t now = from && closure_state_of(c, from + (a - addr)) == CLOSURE_FOREIGN
                          ? CLOSURE_FOREIGN
                          : state;
        if (now == CLOSURE_OWN)
            *(uint8_t *)a = *closure_ref(a);
        closure_mark_byte(c, a++, now, by);
    }
}

/* ---- the original values ---- */

static void new_page(struct check *c, gaddr addr, const uint8_t *bytes)
{
    struct closure_page *p = closure_page(addr);
    memcpy(p->ref, bytes, CLOSURE_PAGE);
    memset(p->state, CLOSURE_UNTOUCHED, CLOSURE_PAGE);
    memset(p->by, 0, sizeof p->by);
    memset((void *)addr, pattern_byte(c), CLOSURE_PAGE);
    for (size_t i = 0; i < c->writtens; i++) {
        const struct written *w = &c->written[i];
        gaddr from = w->addr > addr ? w->addr : addr, to = w->addr + w->bytes;
        for (; from < to && from < addr + CLOSURE_PAGE; from++) {
            if (w->state == CLOSURE_OWN)
                *(uint8_t *)from = *closure_ref(from);
            closure_mark_byte(c, from, w->state, w->by);
        }
    }
}

const struct closure_entry *closure_entries(const struct check *c, uint64_t node)
{
    return (const struct closure_entry *)(c->r->log + c->r->at[node]);
}

void closure_make_pages(struct check *c, uint64_t node)
{
    for (const struct closure_entry *e = closure_entries(c, node); e->kind; e = closure_next(e))
        if (e->kind == CLOSURE_NEW_PAGE)
            new_page(c, e->addr, e->bytes);
}

static bool defines(const struct defuse *du, unsigned loc)
{
    for (unsigned k = 0; du && k < du->defs; k++)
        if (loc - du->def[k].first < du->def[k].count)
            return true;
    return false;
}

static bool changes_rbp(const struct closure_entry *e)
{
    return e->addr < loc_gpr(RBP) + 8 && e->addr + e->count > loc_gpr(RBP);
}

gaddr closure_go_on(struct check *c, const struct forward_at *n)
{
    struct flat *ref = &c->thread[n->thread].ref;
    gaddr next = 0;
    for (const struct closure_entry *e = closure_entries(c, n->insn); e->kind;
         e = closure_next(e)) {
        if (e->kind == CLOSURE_REGISTER) {
            memcpy(ref->v + e->addr, e->bytes, e->count);
            if (changes_rbp(e))
                c->thread[n->thread].framed = true;
        }
        if (e->kind == CLOSURE_FS_BASE)
            ref->fsbase = e->addr;
        else if (e->kind == CLOSURE_NEXT)
            next = e->addr;
        else if (e->kind == CLOSURE_MEMORY || e->kind == CLOSURE_GIVEN)
            for (uint32_t i = 0; i < e->count; i++) {
                *closure_ref(e->addr + i) = e->bytes[i];
                if (e->kind == CLOSURE_GIVEN)
                    closure_mark_byte(c, e->addr + i, CLOSURE_UNTOUCHED, 0);
            }
    }
    if (defines(n->du, loc_gpr(RBP)))
        c->thread[n->thread].framed = false;
    return next;
}
