/* pairs.c - saved registers of a recording: who finds them, and what that is worth to slices.
 *
 * SPDX-License-Identifier: MIT
 *
 *     pairs PINBALL TRACE [SLICES]
 *
 * Prints JSON. "named" are the places that call frame information says hold a register, counted
 * once for each frame that came to where it says so; "found" are those of them that the first
 * MaxSave instructions of the frame wrote. Restores that were confirmed are told by either way of
 * finding saves and by both. Slices are taken with pairs looked through and without, of what
 * instructions in the second half of the trace use.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "slicer/slice.h"
#include "source/frame.h"
#include "study/study.h"
#include "trace/pass.h"
#include "trace/scan.h"

enum { SAVES = 256, DWARF_RBP = 6, DWARF_RSP = 7, DWARF_GPRS = 16 };

static void die(const char *what)
{
    fprintf(stderr, "pairs: %s\n", what);
    exit(2);
}

/* ---- places that are named ---- */

/* Before instruction `insn` of a block, a register's place is at CFA + offset. */
struct claim {
    unsigned insn, reg;
    int64_t offset;
};

struct claims {
    struct claim *at;
    size_t count, room;
    bool known;
};

/* A call that is under way. */
struct call {
    uint64_t serial;
    unsigned saves;
    gaddr addr[SLICE_MAX_SAVE];
    uint8_t reg[SLICE_MAX_SAVE];
    uint32_t told; /* registers whose places were counted */
};

struct thread {
    struct call *call; /* by depth */
    size_t room;
};

static struct {
    struct claims *claims; /* by block */
    struct thread *thread;
    uint64_t named, found;
} in;

static unsigned register_of(unsigned dwarf)
{
    static const uint8_t gpr[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP};
    return dwarf < sizeof gpr ? gpr[dwarf] : dwarf;
}

/* Is the CFA on the stack? longjmp() has its registers in a buffer and says so in this way. */
static bool has_frame(struct source *source, gaddr pc)
{
    struct source_cfa cfa;
    return source_cfa(source, pc, &cfa) && (cfa.reg == DWARF_RSP || cfa.reg == DWARF_RBP);
}

static void find_claims(struct source *source, const struct code_block *b, struct claims *out)
{
    struct source_save save[SAVES];
    size_t saves = source_saves(source, b->pc, save, SAVES);
    out->known = true;
    for (size_t k = 0; k < saves && k < SAVES; k++)
        for (unsigned i = 0; i < b->insns; i++) {
            if (b->insn[i].in.pc != save[k].from || save[k].reg >= DWARF_GPRS ||
                save[k].reg == DWARF_RSP || !has_frame(source, save[k].from))
                continue;
            if (array_push(&out->at, &out->count, &out->room,
                           (struct claim){i, register_of(save[k].reg), save[k].offset}))
                die("no memory");
        }
}

static uint32_t depth_of(struct frame *f)
{
    if (!f->mark)
        f->mark = f->parent ? depth_of(f->parent) + 1 : 1;
    return f->mark;
}

static struct call *call_of(const struct pass_step *p)
{
    struct thread *t = &in.thread[p->step->thread];
    uint32_t depth = depth_of(p->frame);
    const size_t had = t->room;
    if (array_reserve(&t->call, &t->room, (size_t)depth + 1))
        die("no memory");
    memset(t->call + had, 0, (t->room - had) * sizeof *t->call);
    struct call *c = &t->call[depth];
    if (c->serial != p->frame->serial)
        *c = (struct call){.serial = p->frame->serial};
    return c;
}

static void check(struct call *c, const struct claim *claim, const struct frame *f)
{
    gaddr addr = f->slot + 8 + (uint64_t)claim->offset;
    if (f->kind == FRAME_ROOT || c->told >> claim->reg & 1)
        return;
    c->told |= 1u << claim->reg;
    in.named++;
    for (unsigned i = 0; i < c->saves; i++)
        if (c->addr[i] == addr && c->reg[i] == claim->reg) {
            in.found++;
            return;
        }
}

static void do_step(struct source *source, const struct pass_step *p)
{
    struct claims *claims = &in.claims[p->block->number];
    if (!claims->known)
        find_claims(source, p->block, claims);
    struct call *c = call_of(p);
    for (unsigned i = 0; i < p->step->insns; i++) {
        const struct code_insn *ci = &p->block->insn[i];
        for (size_t k = 0; k < claims->count; k++)
            if (claims->at[k].insn == i)
                check(c, &claims->at[k], p->frame);
        if (ci->saves < 0 || c->saves == SLICE_MAX_SAVE)
            continue;
        c->addr[c->saves] = code_address(&p->block->access[ci->access_at], p->values);
        c->reg[c->saves++] = (uint8_t)ci->saves;
    }
}

static void count_named(struct study *s)
{
    struct err err;
    struct pass pass;
    struct pass_step step;
    int more_steps;
    in.claims = calloc(code_count(trace_code(s->trace)) + 1, sizeof *in.claims);
    in.thread = calloc(trace_threads(s->trace) + 1, sizeof *in.thread);
    if (!in.claims || !in.thread || pass_init(&pass, s->trace, &err))
        die("no memory");
    while ((more_steps = pass_next(&pass, &step, &err)) > 0)
        do_step(s->source, &step);
    if (more_steps < 0)
        die(err.msg);
    pass_deinit(&pass);
    for (uint32_t i = 0; i < code_count(trace_code(s->trace)); i++)
        free(in.claims[i].at);
    for (uint32_t i = 0; i < trace_threads(s->trace); i++)
        free(in.thread[i].call);
    free(in.claims);
    free(in.thread);
    printf("\"named\": %" PRIu64 ", \"found\": %" PRIu64, in.named, in.found);
}

/* ---- pairs ---- */

static void count_pairs(struct study *s)
{
    struct err err;
    struct scan early, named, all;
    struct scan_lists a = {0}, b = {0};
    uint64_t by_early = 0, by_named = 0, by_both = 0, by_any = 0;
    const struct scan_options of_early = {.max_save = SLICE_MAX_SAVE},
                              of_named = {.source = s->source},
                              of_all = {.max_save = SLICE_MAX_SAVE, .source = s->source};
    if (scan_init(&early, s->trace, &of_early, &err) ||
        scan_init(&named, s->trace, &of_named, &err) || scan_init(&all, s->trace, &of_all, &err))
        die(err.msg);
    for (uint32_t c = 0; c < all.chunks; c++) {
        if (scan_unpack(&early.chunk[c], &a, &err) || scan_unpack(&named.chunk[c], &b, &err))
            die(err.msg);
        by_early += a.restores;
        by_named += b.restores;
        by_any += all.chunk[c].restores;
        for (uint32_t i = 0, k = 0; i < a.restores && k < b.restores;) {
            uint32_t x = a.restore[i], y = b.restore[k];
            by_both += x == y;
            i += x <= y;
            k += y <= x;
        }
    }
    printf(", \"pairs\": %" PRIu64 ", \"pairs_early\": %" PRIu64 ", \"pairs_named\": %" PRIu64
           ", \"pairs_both\": %" PRIu64,
           by_any, by_early, by_named, by_both);
    scan_lists_deinit(&a);
    scan_lists_deinit(&b);
    scan_deinit(&early);
    scan_deinit(&named);
    scan_deinit(&all);
}

/* ---- slices ---- */

static uint64_t nodes_of(struct study *s, uint64_t at, unsigned edges, bool keep_saves)
{
    struct err err;
    struct slice_want want = {.kind = SLICE_USES, .at = at};
    struct slice_options o = {.edges = edges, .keep_saves = keep_saves};
    struct slice *slice = slice_backward(s->index, &want, 1, &o, &err);
    if (!slice)
        die(err.msg);
    uint64_t nodes = slice_count(slice);
    slice_free(slice);
    return nodes;
}

static void take_slices(struct study *s, unsigned count)
{
    static const struct {
        const char *name;
        unsigned edges;
    } kinds[] = {{"all", SLICE_ALL}, {"data", SLICE_VALUE | SLICE_ADDRESS}};
    uint64_t insns = trace_insns(s->trace);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        printf(", \"%s\": [", kinds[k].name);
        for (unsigned i = 0; i < count; i++) {
            uint64_t at = insns - 1 - insns / 2 * i / count;
            printf("%s[%" PRIu64 ", %" PRIu64 "]", i ? ", " : "",
                   nodes_of(s, at, kinds[k].edges, true), nodes_of(s, at, kinds[k].edges, false));
        }
        printf("]");
    }
}

int main(int argc, char **argv)
{
    struct err err;
    if (argc < 3)
        die("usage: pairs PINBALL TRACE [SLICES]");
    struct study_options options = {.trace = argv[2], .fresh = true};
    struct study *s = study_open(argv[1], &options, &err);
    if (!s)
        die(err.msg);
    printf("{\"insns\": %" PRIu64 ", ", trace_insns(s->trace));
    count_named(s);
    count_pairs(s);
    take_slices(s, argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0);
    printf("}\n");
    study_close(s);
    return 0;
}
