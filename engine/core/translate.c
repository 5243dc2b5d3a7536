/* translate.c - from target code to cache code.
 *
 * SPDX-License-Identifier: MIT
 *
 * A block is the translation of straight-line code of at most one page. The target's instructions
 * are copied; what is added or changed:
 *
 *  - Entries, exits, ticks, indirect transfers: exits.c. A call pushes the original return address,
 *    from a literal behind the block.
 *  - Operands that depend on where the instruction lies: copy.c.
 *
 * Invariants:
 * 1. The target's stack is written only as the target's own instruction does; nothing below rsp.
 * 2. At every host instruction that can fault, the last fault point at or before it tells the
 * target pc and which registers are spilled; the state is that before the instruction.
 * 3. Ticks are a function of the target's execution alone, not of how blocks are cut or linked.
 */
#include "engine/core/translate.h"

#include "engine/core/flow.h"
#include "engine/core/instrument.h"
#include "engine/core/job.h"
#include "engine/core/layout.h"
#include "engine/core/watch.h"
#include "engine/rt/rt.h"

static struct job the_job; /* the baton's holder only */

/* Compares the target's bytes with those translated; leaves when they differ. */
static void emit_self_check(struct job *j, const uint8_t *bytes, size_t len)
{
    uint8_t *fail[MAX_INSNS * INSN_MAX_BYTES / 8 + 8];
    int fails = 0;
    struct emit *e = &j->e;
    emit_gs_store(e, RCX, T_SPILL_RCX);
    exits_spill_flags(j);
    emit_mov_imm64(e, RCX, j->blk->pc);
    /* The comparison faults when the file behind the code has ended, or when it is misaligned under
     * the AC flag. */
    exits_point(j, &j->insn[0], SPILL_RAX | SPILL_RCX | SPILL_FLAGS | SPILL_CHECK);
    for (size_t i = 0; i < len;) {
        size_t n = len - i >= 8 ? 8 : 1;
        if (n == 8) {
            uint64_t v;
            memcpy(&v, bytes + i, 8);
            emit_mov_imm64(e, RAX, v);
            emit_bytes(e, (const uint8_t[]){0x48, 0x39, 0x81}, 3); /* cmp [rcx+disp32], rax */
            emit32(e, (uint32_t)i);
        } else {
            emit_bytes(e, (const uint8_t[]){0x80, 0xb9}, 2); /* cmp byte [rcx+disp32], imm8 */
            emit32(e, (uint32_t)i);
            emit8(e, bytes[i]);
        }
        rt_check((size_t)fails < ARRAY_LEN(fail));
        fail[fails++] = emit_jcc(e, 0x5); /* jne */
        i += n;
    }
    emit_gs_load(e, RAX, T_SPILL_FLAGS);
    emit_flags_from_ax(e);
    emit_gs_load(e, RCX, T_SPILL_RCX);
    emit_gs_load(e, RAX, T_SPILL_RAX);
    uint8_t *over = emit_jmp(e);
    for (int i = 0; i < fails; i++)
        emit_patch(fail[i], e->p);
    emit_gs_load(e, RAX, T_SPILL_FLAGS);
    emit_flags_from_ax(e);
    emit_gs_load(e, RCX, T_SPILL_RCX);
    emit_gs_load(e, RAX, T_SPILL_RAX);
    exits_leave(j, &j->e, exits_add(j, EXIT_STALE, j->blk->pc, j->blk->pc), T_H_EXIT);
    emit_patch(over, e->p);
}

/* ---- transfers ---- */

static void emit_indirect(struct job *j, const struct insn *in)
{
    emit_gs_store(&j->e, RCX, T_SPILL_RCX);
    copy_load_target(j, in);
    exits_lookup(j, in);
}

static void emit_return(struct job *j, const struct insn *in)
{
    emit_gs_store(&j->e, RCX, T_SPILL_RCX);
    exits_point(j, in, SPILL_RCX);
    emit8(&j->e, 0x59); /* pop rcx */
    if (in->imm16) {
        emit_bytes(&j->e, (const uint8_t[]){0x48, 0x8d, 0xa4, 0x24}, 4); /* lea rsp, [rsp+disp32] */
        emit32(&j->e, in->imm16);
    }
    exits_lookup(j, in);
}

static void emit_probe(struct job *j, gaddr pc, uint8_t len, unsigned what)
{
    struct exit_site *s = exits_add(j, EXIT_PROBE, pc, pc);
    s->probe = what;
    s->len = len;
    exits_leave(j, &j->e, s, T_H_EXIT);
    s->patch = j->e.p;
}

/* The way on behind an instruction that falls through at the end of a block. */
static void fall_through(struct job *j, const struct insn *in, unsigned after)
{
    if (after)
        emit_probe(j, in->pc + in->len, 0, after);
    exits_direct(j, emit_jmp(&j->e), in->pc, in->pc + in->len, false);
}

/* jrcxz, loop: their short form around two jumps */
static void emit_jcxz(struct job *j, const struct insn *in, unsigned after)
{
    emit_bytes(&j->e, in->bytes, in->len - 1u);
    emit8(&j->e, 2);
    emit_bytes(&j->e, (const uint8_t[]){0xeb, 5}, 2); /* jmp over the next jump */
    exits_direct(j, emit_jmp(&j->e), in->pc, in->target, job_is_backward(in));
    fall_through(j, in, after);
}

static void emit_seen(struct job *j, enum exit_kind kind, const struct insn *in, unsigned after)
{
    struct exit_site *s = exits_add(j, kind, in->pc, in->pc + in->len);
    s->probe = after;
    exits_leave(j, &j->e, s, T_H_EXIT);
}

static void emit_last(struct job *j, const struct insn *in, unsigned after)
{
    struct emit *e = &j->e;
    gaddr next = in->pc + in->len;
    switch ((enum insn_kind)in->kind) {
    case INSN_PLAIN:
        copy_insn(j, in, 0);
        if (instrument && instrument->flow)
            flow_emit_after(j, j->count - 1);
        fall_through(j, in, after);
        break;
    case INSN_JMP:
        exits_direct(j, emit_jmp(e), in->pc, in->target, job_is_backward(in));
        break;
    case INSN_JCC:
        exits_direct(j, emit_jcc(e, in->opcode & 15), in->pc, in->target, job_is_backward(in));
        fall_through(j, in, after);
        break;
    case INSN_JCXZ:
        emit_jcxz(j, in, after);
        break;
    case INSN_CALL:
        exits_push_return(j, in, 0);
        exits_direct(j, emit_jmp(e), in->pc, in->target, true);
        break;
    case INSN_JMP_IND:
    case INSN_CALL_IND:
        emit_indirect(j, in);
        break;
    case INSN_RET:
        emit_return(j, in);
        break;
    case INSN_TRAP:
        copy_insn(j, in, 0);
        exits_direct(j, emit_jmp(e), in->pc, next, false);
        break;
    case INSN_SYSCALL:
        emit_seen(j, EXIT_SYSCALL, in, after);
        break;
    case INSN_EMULATE:
        emit_seen(j, EXIT_EMULATE, in, insn_goes_far(in) ? 0 : after);
        break;
    case INSN_UNSUPPORTED:
        exits_leave(j, &j->e, exits_add(j, EXIT_UNSUPPORTED, in->pc, next), T_H_EXIT);
        break;
    case INSN_ILLEGAL:
        exits_leave(j, &j->e,
                    exits_add(j, in->too_long ? EXIT_TOO_LONG : EXIT_ILLEGAL, in->pc, next),
                    T_H_EXIT);
        break;
    }
}

/* ---- instrumentation ---- */

static void emit_body(struct job *j)
{
    unsigned wanted = 0;
    const bool flows = instrument && instrument->flow;
    if (flows)
        flow_emit_entry(j);
    for (int i = 0; i < j->count; i++) {
        const struct insn *in = &j->insn[i];
        unsigned after = wanted & PROBE_EACH(PROBE_AFTER);
        wanted = instrument_wanted(in, i == 0);
        unsigned before =
            wanted & PROBE_EACH(PROBE_BLOCK | PROBE_BEFORE | PROBE_MEMORY | PROBE_TAKE);
        if (before | after)
            emit_probe(j, in->pc, in->len, before | after);
        const unsigned watch = wanted & PROBE_EACH(PROBE_WATCH);
        if (watch)
            watch_emit(j, in, watch);
        j->blk->open &= wanted == watch;
        if (flows)
            flow_emit_before(j, i);
        if (i == j->count - 1) {
            emit_last(j, in, wanted & PROBE_EACH(PROBE_AFTER));
            break;
        }
        copy_insn(j, in, 0);
        if (flows)
            flow_emit_after(j, i);
    }
}

/* ---- the whole ---- */

/* In a block that checks its own bytes at entry, a store ends the block: it may change what
 * follows. */
static void cut_at_first_store(struct job *j)
{
    for (int i = 0; i < j->count - 1; i++) {
        struct insn_operands ops;
        insn_operands(&j->insn[i], &ops);
        for (int k = 0; k < ops.z.operand_count; k++)
            if (ops.op[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                (ops.op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) {
                j->count = i + 1;
                return;
            }
    }
}

void translate_begin(struct job *j, struct build *b, gaddr pc)
{
    cache_begin(b, pc, j->opt->region);
    j->blk = cache_meta(b, sizeof *j->blk);
    j->blk->pc = pc;
    j->blk->host = b->code;
    j->blk->site = (struct exit_site *)b->meta;
    j->blk->cold = b->cold;
    j->e = (struct emit){b->code, b->code_end};
    j->cold = (struct emit){b->cold, b->cold_end};
    j->sites = j->points = j->literals = j->segments = j->owed = 0;
    j->rcx_away = false;
}

static void *keep(struct build *b, const void *from, size_t bytes)
{
    return memcpy(cache_meta(b, bytes), from, bytes);
}

struct block *translate_finish(struct job *j, struct build *b)
{
    struct block *blk = j->blk;
    blk->host_len = (uint32_t)(j->e.p - blk->host);
    blk->cold_len = (uint32_t)(j->cold.p - blk->cold);
    blk->site_count = (uint16_t)j->sites;
    blk->point_count = (uint16_t)j->points;
    keep(b, j->site, sizeof *blk->site * (size_t)j->sites);
    for (int i = 0; i < j->sites; i++)
        blk->site[i].block = blk;
    blk->point = keep(b, j->point, sizeof *blk->point * (size_t)j->points);
    blk->segment_count = (uint16_t)j->segments;
    if (j->segments)
        blk->segment = keep(b, j->segment, sizeof *blk->segment * (size_t)j->segments);
    if (!blk->transient)
        blk->pages = cache_meta(b, sizeof *blk->pages * (size_t)j->pages);
    cache_commit(b, blk);
    for (int i = 0; i < j->pages && !blk->transient; i++)
        cache_depend(blk, j->page[i]);
    return blk;
}

static size_t block_bytes(const struct job *j, uint8_t *out)
{
    size_t n = 0;
    for (int i = 0; i < j->count; i++) {
        insn_note_isa(&j->insn[i]);
        memcpy(out + n, j->insn[i].bytes, j->insn[i].len);
        n += j->insn[i].len;
    }
    return n;
}

/* Can a superblock go on behind it? Not where the block leaves for the runtime. */
static bool is_open(enum insn_kind last)
{
    switch (last) {
    case INSN_PLAIN:
    case INSN_JMP:
    case INSN_JCC:
    case INSN_CALL:
    case INSN_JMP_IND:
    case INSN_CALL_IND:
    case INSN_RET:
        return true;
    default:
        return false;
    }
}

struct block *translate(gaddr pc, const struct code_source *src,
                        const struct translate_options *opt, gaddr *fault)
{
    struct job *j = &the_job;
    uint8_t bytes[MAX_INSNS * INSN_MAX_BYTES];
    struct build b;
    j->src = src;
    j->opt = opt;
    if (lookahead_block(j, pc, fault) < 0)
        return NULL;
    const struct insn *last = &j->insn[j->count - 1];
    bool check = src->watch(pc, last->pc + last->len - pc) && !opt->one;
    if (check)
        cut_at_first_store(j);
    size_t len = block_bytes(j, bytes);
    j->page[0] = PAGE_DOWN(pc);
    j->page[1] = PAGE_DOWN(pc + len - 1);
    j->pages = j->page[1] != j->page[0] ? 2 : 1;
    j->pages_most = j->pages + BLOCK_PEEKS;
    if (!opt->bare)
        j->live_in = check ? FLAGS_ARITH : lookahead_live_in(j); /* the check may find any code */
    translate_begin(j, &b, pc);
    j->blk->len = (uint16_t)len;
    j->blk->transient = opt->one;
    j->blk->open = !check && is_open(j->insn[j->count - 1].kind);
    j->blk->bare = opt->bare;
    if (!opt->bare)
        exits_entries(j);
    if (check)
        emit_self_check(j, bytes, len);
    emit_body(j);
    exits_stubs(j);
    if (!opt->bare)
        exits_expired_entry(j);
    exits_literals(j);
    cache_stats.blocks++;
    cache_stats.insns += (uint64_t)j->count;
    cache_stats.code_bytes += len;
    return translate_finish(j, &b);
}
