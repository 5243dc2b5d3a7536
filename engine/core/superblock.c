/* superblock.c - the translation of a path through several blocks.
 *
 * SPDX-License-Identifier: MIT
 *
 * What a superblock saves, compared with its blocks one by one:
 *
 *  - Ticks. Those on the path are known beforehand, so they are *owed* until the superblock is
 *    left, and counted there with one subtraction. Fault points say how many are owed. The check of
 *    the budget comes late, by SUPERBLOCK_TICKS at most. So a thread that needs an exact stop stops
 *    that much earlier and goes on in plain blocks (dispatch.c).
 *  - Jumps. Direct jumps and calls of the path vanish; conditional ones leave the path when they go
 *    the other way. A short loop is repeated several times.
 *  - Lookups. Returns and indirect transfers compare their target with the one seen on the path.
 *    The comparison uses rcx and no flags: lea, rorx, lea make it zero, jrcxz looks. The table is
 *    probed only for another target.
 *  - Spills. rcx stays in its slot until an instruction wants it, an exit is taken, or it is
 *    overwritten. A superblock has one way in, so at each of its instructions it is known where rcx
 * is.
 *
 * Watched memory: the superblock makes the comparison. On a possible hit the thread leaves it for
 * the plain block that begins at the instruction, and looks there. Other probes are not in
 * superblocks.
 *
 * Invariants, besides those of translate.c:
 * 1. Every way out of the superblock has rcx back and owes nothing.
 * 2. An exit that does not tick counts what is owed without looking at the budget: a switch happens
 *    at ticks only. The next tick finds the budget negative.
 * 3. A loop begins anew at a tick, for the same reason.
 */
#include "engine/core/superblock.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/job.h"
#include "engine/core/layout.h"
#include "engine/core/watch.h"
#include "engine/rt/rt.h"

enum {
    UNROLL_INSNS = 64, /* a loop is repeated up to so many instructions ... */
    UNROLL_TURNS = 8,  /* ... or turns */
    ALIGN = 32,        /* of a loop's start */
    LIVES = 16,
    SIDES = SUPERBLOCK_BLOCKS + 1 + 64, /* the last block may have two; watched accesses */
};

/* A way out that has to settle something first: its code comes behind the superblock. */
struct side {
    uint8_t *patch; /* the jump to it */
    gaddr pc, target;
    uint8_t owed;
    bool tick, rcx_away;
};

static struct job the_job;
static struct side side[SIDES];
static int sides;

/* A miss of a comparison: the indirect transfer is finished by a lookup. */
static struct miss {
    uint8_t *patch;
    struct insn in;
    gaddr expected;
    uint8_t owed;
    uint8_t segment;
} miss[SUPERBLOCK_BLOCKS];
static int misses;

/* ---- flags ---- */

static struct {
    gaddr pc;
    uint32_t live;
} known[LIVES];
static int known_count;

static uint32_t live_at(struct job *j, gaddr pc)
{
    for (int i = 0; i < known_count; i++)
        if (known[i].pc == pc)
            return known[i].live;
    uint32_t live = lookahead_live(j, pc);
    if (known_count < LIVES) {
        known[known_count].pc = pc;
        known[known_count++].live = live;
    }
    return live;
}

/* ---- rcx ---- */

static void take_rcx_away(struct job *j)
{
    if (!j->rcx_away)
        emit_gs_store(&j->e, RCX, T_SPILL_RCX);
}

static void bring_rcx_back(struct job *j)
{
    if (j->rcx_away)
        emit_gs_load(&j->e, RCX, T_SPILL_RCX);
    j->rcx_away = false;
}

static void emit_insn(struct job *j, const struct insn *in)
{
    if (in->gprs_read >> RCX & 1)
        bring_rcx_back(j);
    copy_insn(j, in, j->rcx_away ? SPILL_RCX : 0);
    if (in->gprs_kill >> RCX & 1)
        j->rcx_away = false;
}

/* ---- leaving ---- */

/* The jump whose rel32 is at `patch` leaves the path for `target`. */
static void leave(struct job *j, uint8_t *patch, gaddr pc, gaddr target, bool tick)
{
    if (!j->owed && !j->rcx_away) {
        exits_direct(j, patch, pc, target, tick);
        return;
    }
    rt_check(sides < SIDES);
    side[sides++] = (struct side){patch, pc, target, j->owed, tick, j->rcx_away};
}

static void emit_side(struct job *j, const struct side *s)
{
    uint32_t live = live_at(j, s->target);
    uint8_t ticks = (uint8_t)(s->owed + s->tick);
    uint8_t *expired = NULL;
    emit_patch(s->patch, j->e.p);
    j->rcx_away = s->rcx_away;
    bring_rcx_back(j);
    if (ticks)
        expired = exits_count(j, ticks, live, s->tick);
    exits_direct(j, emit_jmp(&j->e), s->pc, s->target, false)->paid = s->tick;
    if (expired)
        exits_expired(j, expired, s->target, live);
}

/* ---- indirect transfers ---- */

static void emit_lea_rcx(struct job *j, int32_t disp)
{
    emit_bytes(&j->e, (const uint8_t[]){0x48, 0x8d, 0x89}, 3); /* lea rcx, [rcx+disp32] */
    emit32(&j->e, (uint32_t)disp);
}

static void emit_swap_rcx(struct job *j)
{
    emit_bytes(&j->e, (const uint8_t[]){0xc4, 0xe3, 0xfb, 0xf0, 0xc9, 32},
               6); /* rorx rcx, rcx, 32 */
}

static int32_t low_half(gaddr pc)
{
    return (int32_t)(uint32_t)pc;
}

static int32_t high_half(gaddr pc)
{
    return (int32_t)((int64_t)(pc - (gaddr)(int64_t)low_half(pc)) >> 32);
}

static bool can_compare(gaddr pc)
{
    return low_half(pc) != INT32_MIN && (!high_half(pc) || engine.rorx);
}

/* rcx = rcx - expected, or the reverse of it; the halves change places when both count. */
static void emit_distance(struct job *j, gaddr expected)
{
    emit_lea_rcx(j, -low_half(expected));
    if (!high_half(expected))
        return;
    emit_swap_rcx(j);
    emit_lea_rcx(j, -high_half(expected));
}

static void emit_distance_back(struct job *j, gaddr expected)
{
    if (high_half(expected)) {
        emit_lea_rcx(j, high_half(expected));
        emit_swap_rcx(j);
    }
    emit_lea_rcx(j, low_half(expected));
}

/* rcx = the target of the transfer; what was in rcx is in its slot. */
static void emit_target(struct job *j, const struct insn *in)
{
    if (in->kind != INSN_RET) {
        if (in->gprs_read >> RCX & 1)
            bring_rcx_back(j);
        take_rcx_away(j);
        copy_load_target(j, in);
        return;
    }
    take_rcx_away(j);
    exits_point(j, in, SPILL_RCX);
    emit8(&j->e, 0x59); /* pop rcx */
    if (in->imm16) {
        emit_bytes(&j->e, (const uint8_t[]){0x48, 0x8d, 0xa4, 0x24}, 4); /* lea rsp, [rsp+disp32] */
        emit32(&j->e, in->imm16);
    }
}

static void emit_predicted(struct job *j, const struct insn *in, gaddr expected)
{
    emit_target(j, in);
    emit_distance(j, expected);
    emit_bytes(&j->e, (const uint8_t[]){0xe3, 5}, 2); /* jrcxz over the next jump */
    rt_check(misses < SUPERBLOCK_BLOCKS);
    miss[misses++] = (struct miss){emit_jmp(&j->e), *in, expected, j->owed, (uint8_t)j->segments};
    j->rcx_away = true;
    if (in->kind == INSN_CALL_IND)
        exits_push_return(j, in, SPILL_RCX);
    j->owed++;
}

static void emit_miss(struct job *j, const struct miss *m)
{
    emit_patch(m->patch, j->e.p);
    emit_distance_back(j, m->expected);
    j->owed = m->owed;
    j->rcx_away = true;
    j->segments = m->segment; /* a push of the return address may fault */
    exits_lookup(j, &m->in);
}

/* ---- the path ---- */

/* From the block in j->insn to `next`; 0: the path ends here. False: that is not a way it goes. */
static bool emit_last(struct job *j, gaddr next)
{
    const struct insn *in = &j->insn[j->count - 1];
    gaddr behind = in->pc + in->len;
    switch ((enum insn_kind)in->kind) {
    case INSN_PLAIN:
        emit_insn(j, in);
        if (!next)
            leave(j, emit_jmp(&j->e), in->pc, behind, false);
        return !next || next == behind;
    case INSN_JMP:
        if (!next)
            leave(j, emit_jmp(&j->e), in->pc, in->target, job_is_backward(in));
        j->owed += job_is_backward(in);
        return !next || next == in->target;
    case INSN_JCC:
        if (next && next == in->target) {
            leave(j, emit_jcc(&j->e, (in->opcode & 15) ^ 1), in->pc, behind, false);
            j->owed += job_is_backward(in);
            return true;
        }
        leave(j, emit_jcc(&j->e, in->opcode & 15), in->pc, in->target, job_is_backward(in));
        if (!next)
            leave(j, emit_jmp(&j->e), in->pc, behind, false);
        return !next || next == behind;
    case INSN_CALL:
        exits_push_return(j, in, j->rcx_away ? SPILL_RCX : 0);
        if (!next)
            leave(j, emit_jmp(&j->e), in->pc, in->target, true);
        j->owed++;
        return !next || next == in->target;
    case INSN_JMP_IND:
    case INSN_CALL_IND:
    case INSN_RET:
        if (next && can_compare(next)) {
            emit_predicted(j, in, next);
            return true;
        }
        emit_target(j, in);
        exits_lookup(j, in);
        return !next;
    default:
        return false;
    }
}

/* Back to the head of a loop. */
static void emit_turn(struct job *j)
{
    uint8_t ticks = j->owed;
    bring_rcx_back(j);
    j->owed = 0;
    uint8_t *expired = exits_count(j, ticks, j->live_in, true);
    emit_patch(emit_jmp(&j->e), j->blk->host + j->blk->plain_off);
    exits_expired(j, expired, j->blk->pc, j->live_in);
}

/* Watched memory is looked at in the superblock, if there is room for the ways out. */
static bool emit_watch(struct job *j, const struct insn *in)
{
    if (!(instrument_wanted(in, false) & PROBE_EACH(PROBE_WATCH)))
        return true;
    int checks = watch_checks(in);
    for (int i = 0; i < checks; i++) {
        if (sides + SUPERBLOCK_BLOCKS + 1 >= SIDES)
            return false;
        if (watch_reads_rcx(i))
            bring_rcx_back(j);
        take_rcx_away(j);
        j->rcx_away = true;
        leave(j, watch_emit_check(j, in, i), in->pc, in->pc, false);
    }
    return true;
}

static bool has_probes(const struct job *j)
{
    for (int i = 0; i < j->count; i++)
        if (instrument_wanted(&j->insn[i], i == 0) & ~PROBE_EACH(PROBE_WATCH))
            return true;
    return false;
}

/* Reads the path's block number i, which may have changed since it was executed, or got probes. */
static bool read(struct job *j, const struct path *path, int i)
{
    gaddr fault, pc = path->pc[i];
    if (lookahead_block(j, pc, &fault) < 0 || has_probes(j))
        return false;
    const struct insn *last = &j->insn[j->count - 1];
    gaddr end = last->pc + last->len;
    return lookahead_own(j, pc) && lookahead_own(j, end - 1) && !j->src->watch(pc, end - pc);
}

/* Does the way from the block in j->insn to `next` tick? */
static bool ticks_to(const struct job *j, gaddr next)
{
    const struct insn *in = &j->insn[j->count - 1];
    switch (in->kind) {
    case INSN_PLAIN:
        return false;
    case INSN_JMP:
    case INSN_JCC:
        return next == in->target && job_is_backward(in);
    default:
        return true;
    }
}

/* As much of the path as there is room for. A loop must be closed by a transfer that ticks, since
 * the budget is looked at there. */
static struct path room_for(struct job *j, const struct path *all, int *insns)
{
    struct path path = {.next = all->next};
    for (*insns = 0; path.count < all->count; path.count++) {
        if (!read(j, all, path.count) || *insns + j->count > SUPERBLOCK_INSNS) {
            path.next = 0;
            break;
        }
        path.pc[path.count] = all->pc[path.count];
        *insns += j->count;
    }
    if (path.count && !ticks_to(j, path.next))
        path.next = 0;
    return path;
}

/* How often a loop is repeated; 1 for other paths. */
static int turns(const struct path *path, int insns)
{
    int n = 1;
    if (path->next == path->pc[0])
        while (n < UNROLL_TURNS && (n + 1) * insns <= UNROLL_INSNS &&
               (n + 1) * path->count <= SUPERBLOCK_BLOCKS)
            n++;
    return n;
}

static void align_loop(struct job *j)
{
    static const uint8_t nop9[] = {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
    static const uint8_t nop[] = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90};
    for (size_t gap; (gap = (size_t)(-(uint64_t)j->e.p & (ALIGN - 1)));)
        if (gap >= sizeof nop9)
            emit_bytes(&j->e, nop9, sizeof nop9);
        else
            emit_bytes(&j->e, nop + sizeof nop - gap, gap);
    j->blk->plain_off = (uint16_t)(j->e.p - j->blk->host);
}

static bool emit_path(struct job *j, const struct path *path, int repeat)
{
    bool loop = path->next == path->pc[0];
    for (int i = 0; i < repeat * path->count; i++) {
        int at = i % path->count;
        bool last = i == repeat * path->count - 1;
        gaddr next = at + 1 < path->count ? path->pc[at + 1] : loop ? path->next : 0;
        if (!read(j, path, at) || j->segments == SUPERBLOCK_BLOCKS)
            return false;
        j->segment[j->segments++] = path->pc[at];
        for (int k = 0; k < j->count; k++) {
            if (!emit_watch(j, &j->insn[k]))
                return false;
            if (k < j->count - 1)
                emit_insn(j, &j->insn[k]);
        }
        cache_stats.superblock_insns += (uint64_t)j->count;
        if (!emit_last(j, next) || j->owed >= SUPERBLOCK_TICKS)
            return false;
        if (last && loop)
            emit_turn(j);
    }
    return true;
}

bool superblock_make(struct block *head, const struct path *all, const struct code_source *src,
                     const struct translate_options *opt)
{
    struct job *j = &the_job;
    struct build b;
    j->src = src;
    j->opt = opt;
    j->pages = sides = misses = known_count = 0;
    j->pages_most = BLOCK_PAGES;
    int insns;
    const struct path path = room_for(j, all, &insns);
    int repeat = turns(&path, insns);
    gaddr pc = head->pc;
    if (path.count < 2 && path.next != pc)
        return false;
    j->live_in = live_at(j, pc);
    uint64_t generation = cache_generation;
    translate_begin(j, &b, pc);
    if (cache_generation != generation)
        return false; /* the head may have gone to make room */
    j->blk->base = head;
    exits_entries(j);
    if (path.next == pc)
        align_loop(j);
    if (!emit_path(j, &path, repeat))
        return false;
    for (int i = 0; i < sides; i++)
        emit_side(j, &side[i]);
    for (int i = 0; i < misses; i++)
        emit_miss(j, &miss[i]);
    exits_stubs(j);
    exits_expired_entry(j);
    exits_literals(j);
    cache_stats.superblocks++;
    cache_stats.superblock_bytes += (uint64_t)(j->e.p - j->blk->host);
    j->segments = repeat * path.count;
    cache_attach(head, translate_finish(j, &b));
    return true;
}
