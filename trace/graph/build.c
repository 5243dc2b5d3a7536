/* build.c - find a function's instructions and make blocks of them.
 *
 * SPDX-License-Identifier: MIT
 *
 * From the entry on, code is decoded in runs: straight on until control leaves, or until an
 * instruction follows that is known. Ends of edges wait in a list and begin further runs.
 *
 * Invariants:
 * 1. The instructions of a run lie behind each other in `insn`, in the order of their pcs.
 * 2. An instruction that is no leader has one way in: from the one before it in `insn`.
 * 3. Where an edge leads to another entry, there is no instruction in the table. So an edge whose
 *    end is not found leads to the exit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "trace/graph/cfg_private.h"

enum {
    INSNS_MAX = 1 << 28,
    SLOTS_FIRST = 256,
    PROLOGUE = 12, /* instructions in which a frame pointer is looked for */
};

/* The ways on from an instruction. */
enum { TO_NEXT = 1, TO_TARGET = 2, TO_LIST = 4, TO_EXIT = 8, ENDS_BLOCK = 16 };

struct found {
    gaddr pc, target;
    uint32_t block; /* of a leader */
    uint8_t len, kind, ways;
    bool leader; /* begins a block */
};

/* What all functions here work on. */
struct job {
    struct cfg_build *b;
    const struct cfg_program *program;
    gaddr entry;
};

void cfg_build_deinit(struct cfg_build *b)
{
    free(b->insn);
    free(b->slot);
    free(b->todo);
    free(b->succ);
}

/* Not one of base/table.h: it is emptied for each function, so its slots are as small as can be. */
static uint32_t *slot_of(struct cfg_build *b, gaddr pc)
{
    uint32_t i = hash_word(pc);
    for (i &= b->slots - 1; b->slot[i] && b->insn[b->slot[i] - 1].pc != pc;)
        i = (i + 1) & (b->slots - 1);
    return &b->slot[i];
}

static struct found *find(struct cfg_build *b, gaddr pc)
{
    uint32_t at = *slot_of(b, pc);
    return at ? &b->insn[at - 1] : NULL;
}

static int set_slots(struct cfg_build *b, uint32_t slots)
{
    if (array_reserve(&b->slot, &b->slots_room, slots))
        return -1;
    b->slots = slots;
    memset(b->slot, 0, slots * sizeof(b->slot[0]));
    for (uint32_t i = 0; i < b->insns; i++)
        *slot_of(b, b->insn[i].pc) = i + 1;
    return 0;
}

static struct found *add(struct cfg_build *b, gaddr pc)
{
    if (array_reserve(&b->insn, &b->insns_room, b->insns + 1u) || b->insns >= INSNS_MAX)
        return NULL;
    if (2 * b->insns >= b->slots && set_slots(b, 2 * b->slots) < 0)
        return NULL;
    *slot_of(b, pc) = b->insns + 1;
    struct found *new = &b->insn[b->insns++];
    *new = (struct found){.pc = pc};
    return new;
}

/* Reads code a window at a time. A read that ended early is not tried again from inside. */
static void decode(struct job *j, gaddr pc, struct insn *in)
{
    struct cfg_build *b = j->b;
    gaddr at = pc - b->window;
    bool whole = b->window_bytes == sizeof b->bytes;
    if (at >= b->window_bytes || (whole && b->window_bytes - at < INSN_MAX_BYTES)) {
        b->window = pc;
        b->window_bytes = j->program->read(j->program->ctx, pc, b->bytes, sizeof b->bytes);
        at = 0;
    }
    if (b->window_bytes && insn_decode(in, pc, b->bytes + at, b->window_bytes - at) == 0)
        return;
    memset(in, 0, sizeof *in);
    in->pc = pc;
    in->kind = INSN_ILLEGAL;
    in->len = 1;
}

static bool stays(const struct cfg_program *p, const struct insn *in)
{
    if (in->kind == INSN_CALL && p->no_return && p->no_return(p->ctx, in->target))
        return true;
    return p->stays(p->ctx, in->pc);
}

static unsigned ways_of(const struct cfg_program *p, const struct insn *in)
{
    const gaddr *list;
    switch (in->kind) {
    case INSN_PLAIN:
        return TO_NEXT;
    case INSN_EMULATE:
        return insn_goes_far(in) ? ENDS_BLOCK | TO_EXIT : TO_NEXT;
    case INSN_JMP:
        return ENDS_BLOCK | TO_TARGET;
    case INSN_JCC:
    case INSN_JCXZ:
        return ENDS_BLOCK | TO_TARGET | TO_NEXT;
    case INSN_CALL:
    case INSN_CALL_IND:
    case INSN_SYSCALL:
        return ENDS_BLOCK | (stays(p, in) ? TO_EXIT : TO_NEXT);
    case INSN_JMP_IND:
        return ENDS_BLOCK | (p->targets(p->ctx, in->pc, &list) ? TO_LIST : TO_EXIT);
    default:
        return ENDS_BLOCK | TO_EXIT;
    }
}

/* mov rbp, rsp or lea rbp, [rsp + c]. */
static bool sets_frame_pointer(const struct insn *in)
{
    struct insn_operands o;
    bool lea = in->mnemonic == ZYDIS_MNEMONIC_LEA;
    if ((!lea && in->mnemonic != ZYDIS_MNEMONIC_MOV) || !(in->gprs_kill & 1 << RBP))
        return false;
    insn_operands(in, &o);
    if (o.op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o.op[0].reg.value != ZYDIS_REGISTER_RBP)
        return false;
    if (!lea)
        return o.op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               o.op[1].reg.value == ZYDIS_REGISTER_RSP;
    return o.op[1].mem.base == ZYDIS_REGISTER_RSP && o.op[1].mem.index == ZYDIS_REGISTER_NONE;
}

static bool is_other_entry(const struct job *j, gaddr pc)
{
    return pc != j->entry && j->program->is_entry(j->program->ctx, pc);
}

/* An edge to pc, to be followed later. */
static int lead_to(struct job *j, gaddr pc)
{
    struct cfg_build *b = j->b;
    if (is_other_entry(j, pc))
        return 0;
    return array_push(&b->todo, &b->todos, &b->todos_room, pc);
}

/* The next instruction comes last: it will be the first to be followed. */
static int follow_edges(struct job *j, const struct found *in)
{
    const gaddr *list;
    size_t targets = 0;
    if (in->ways & TO_LIST)
        targets = j->program->targets(j->program->ctx, in->pc, &list);
    for (size_t i = 0; i < targets; i++)
        if (lead_to(j, list[i]) < 0)
            return -1;
    if ((in->ways & TO_TARGET) && lead_to(j, in->target) < 0)
        return -1;
    return in->ways & TO_NEXT ? lead_to(j, in->pc + in->len) : 0;
}

static int explore_run(struct job *j, gaddr pc)
{
    struct cfg_build *b = j->b;
    bool first_run = b->insns == 0;
    for (bool leader = true;; leader = false) {
        struct insn in;
        struct found *known = find(b, pc);
        if (known) {
            known->leader = true;
            return 0;
        }
        struct found *new = add(b, pc);
        if (!new)
            return -1;
        decode(j, pc, &in);
        new->target = in.target;
        new->len = in.len;
        new->kind = in.kind;
        new->leader = leader;
        new->ways = (uint8_t)ways_of(j->program, &in);
        if (first_run && b->insns <= PROLOGUE && sets_frame_pointer(&in))
            b->frame_pointer = true;
        if (new->ways & ENDS_BLOCK)
            return follow_edges(j, new);
        pc += in.len;
        if (is_other_entry(j, pc))
            return 0;
    }
}

static int explore(struct job *j)
{
    struct cfg_build *b = j->b;
    b->insns = 0;
    b->todos = b->succs = 0;
    b->frame_pointer = false;
    b->window_bytes = 0;
    if (set_slots(b, SLOTS_FIRST) < 0 || explore_run(j, j->entry) < 0)
        return -1;
    while (b->todos > 0)
        if (explore_run(j, b->todo[--b->todos]) < 0)
            return -1;
    return 0;
}

static int by_first(const void *a, const void *b)
{
    gaddr x = ((const struct cfg_block *)a)->first, y = ((const struct cfg_block *)b)->first;
    return (x > y) - (x < y);
}

/* Cuts the runs. For now, insn_at of a block is a number in b->insn. */
static void make_blocks(struct cfg_build *b, struct cfg_function *f)
{
    struct cfg_block *block = NULL;
    for (uint32_t i = 0; i < b->insns; i++) {
        const struct found *in = &b->insn[i];
        if (in->leader) {
            block = &f->block[f->blocks++];
            *block = (struct cfg_block){.first = in->pc, .insn_at = i};
        }
        block->last = in->pc;
        block->kind = in->kind;
        block->insns++;
    }
    qsort(f->block, f->blocks, sizeof(f->block[0]), by_first);
    for (uint32_t k = 0; k < f->blocks; k++)
        b->insn[f->block[k].insn_at].block = k;
}

/* The successors of a block stay sorted. Mostly they come so. */
static int add_successor(struct cfg_build *b, struct cfg_block *block, gaddr pc)
{
    const struct found *to = find(b, pc);
    if (!to) {
        block->exits = true;
        return 0;
    }
    int32_t number = (int32_t)to->block;
    if (array_reserve(&b->succ, &b->succs_room, b->succs + 1))
        return -1;
    size_t i = b->succs;
    while (i > block->succ_at && b->succ[i - 1] > number)
        i--;
    if (i > block->succ_at && b->succ[i - 1] == number)
        return 0;
    memmove(&b->succ[i + 1], &b->succ[i], (b->succs - i) * sizeof(b->succ[0]));
    b->succ[i] = number;
    b->succs++;
    block->succs++;
    return 0;
}

static int connect_block(struct job *j, struct cfg_block *block)
{
    const gaddr *list;
    size_t targets = 0;
    const struct found *last = &j->b->insn[block->insn_at + block->insns - 1];
    block->succ_at = (uint32_t)j->b->succs;
    block->exits = last->ways & TO_EXIT;
    if ((last->ways & TO_NEXT) && add_successor(j->b, block, last->pc + last->len) < 0)
        return -1;
    if ((last->ways & TO_TARGET) && add_successor(j->b, block, last->target) < 0)
        return -1;
    if (last->ways & TO_LIST)
        targets = j->program->targets(j->program->ctx, last->pc, &list);
    for (size_t i = 0; i < targets; i++)
        if (add_successor(j->b, block, list[i]) < 0)
            return -1;
    return 0;
}

/* The lengths of a block's instructions are kept, their pcs are not. */
static void keep_lengths(struct cfg_build *b, struct cfg_function *f)
{
    gaddr end = 0;
    for (uint32_t k = 0; k < f->blocks; k++) {
        struct cfg_block *block = &f->block[k];
        const struct found *in = &b->insn[block->insn_at];
        block->insn_at = f->insns;
        for (uint32_t i = 0; i < block->insns; i++)
            f->len[f->insns++] = in[i].len;
        f->overlaps |= block->first < end;
        gaddr block_end = block->last + in[block->insns - 1].len;
        if (block_end > end)
            end = block_end;
        if (block->last - block->first > f->longest)
            f->longest = block->last - block->first;
    }
}

static uint32_t leaders(const struct cfg_build *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->insns; i++)
        n += b->insn[i].leader;
    return n;
}

static int fill(struct job *j, struct cfg_function *f)
{
    struct cfg_build *b = j->b;
    f->entry = j->entry;
    f->frame_pointer = b->frame_pointer;
    f->block = calloc(leaders(b), sizeof(f->block[0]));
    f->len = malloc(b->insns);
    if (!f->block || !f->len)
        return -1;
    make_blocks(b, f);
    for (uint32_t k = 0; k < f->blocks; k++)
        if (connect_block(j, &f->block[k]) < 0)
            return -1;
    keep_lengths(b, f);
    f->succ = malloc((b->succs + 1) * sizeof(f->succ[0]));
    if (!f->succ)
        return -1;
    if (b->succs)
        memcpy(f->succ, b->succ, b->succs * sizeof(f->succ[0]));
    return 0;
}

struct cfg_function *cfg_build(struct cfg_build *b, const struct cfg_program *program, gaddr entry)
{
    struct job j = {.b = b, .program = program, .entry = entry};
    if (explore(&j) < 0)
        return NULL;
    struct cfg_function *f = calloc(1, sizeof *f);
    if (f && fill(&j, f) < 0) {
        cfg_function_free(f);
        return NULL;
    }
    return f;
}
