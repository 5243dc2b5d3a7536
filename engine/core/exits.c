/* exits.c - the ways into translated code and out of it.
 *
 * SPDX-License-Identifier: MIT
 *
 *  - Entries (cache.h). The tick is `sub qword gs:[left], 1; js expired`, at the entry of the block
 *    that is transferred to, because that block knows whether its incoming flags are dead; if they
 *    are not, the flags travel through ax around the tick.
 *  - Direct transfers are `jmp rel32`, at first to a stub that leaves for the runtime, later
 * patched to the target block.
 *  - Indirect transfers and returns: rax, rcx and flags are spilled, rcx gets the target, a table
 *    is probed, and the found block's first entry gets the three back.
 */
#include "engine/core/engine.h"
#include "engine/core/job.h"
#include "engine/core/layout.h"
#include "engine/rt/rt.h"

struct exit_site *exits_add(struct job *j, enum exit_kind kind, gaddr pc, gaddr target)
{
    rt_check(j->sites < MAX_SITES);
    struct exit_site *s = &j->site[j->sites++];
    *s = (struct exit_site){.kind = kind, .pc = pc, .target = target};
    return s;
}

void exits_point(struct job *j, const struct insn *in, uint16_t spill)
{
    rt_check(j->points < MAX_POINTS);
    gaddr segment = j->segments ? j->segment[j->segments - 1] : j->blk->pc;
    j->point[j->points++] = (struct fault_point){
        .host_off = (uint16_t)(j->e.p - j->blk->host),
        .guest_off = (uint16_t)(in->pc - segment),
        .spill = (uint16_t)(spill | (j->rcx_away ? SPILL_RCX : 0)),
        .segment = (uint8_t)(j->segments ? j->segments - 1 : 0),
        .owed = j->owed,
    };
}

/* `mov gs:[exit], site; jmp gs:[h_exit]`. The final address of a site is known before it is copied
 * to the block's metadata: sites are laid out in order. */
void exits_leave(struct job *j, struct emit *e, const struct exit_site *s, uint32_t door)
{
    int64_t id = (int64_t)(gaddr)&j->blk->site[s - j->site] - (int64_t)engine.base;
    rt_check(id == (int32_t)id);
    emit_gs_store_imm(e, T_EXIT, (int32_t)id);
    emit_gs_jmp(e, door);
}

struct exit_site *exits_direct(struct job *j, uint8_t *patch, gaddr pc, gaddr target, bool tick)
{
    struct exit_site *s = exits_add(j, EXIT_DIRECT, pc, target);
    s->patch = patch;
    s->tick = tick;
    return s;
}

void exits_stubs(struct job *j)
{
    for (int i = 0; i < j->sites; i++) {
        struct exit_site *s = &j->site[i];
        if (s->kind != EXIT_DIRECT)
            continue;
        s->stub = j->cold.p;
        emit_patch(s->patch, s->stub);
        exits_leave(j, &j->cold, s, T_H_EXIT);
    }
}

/* ---- ticks ---- */

uint8_t *exits_count(struct job *j, uint8_t n, uint32_t live, bool checked)
{
    struct emit *e = &j->e;
    if (live) {
        emit_gs_store(e, RAX, T_SPILL_RAX);
        emit_flags_to_ax(e);
    }
    emit_gs_subtract(e, T_LEFT, n); /* one instruction: a signal's handler sets it, too */
    uint8_t *patch = checked ? emit_jcc(e, 0x8) : NULL; /* js */
    if (live) {
        emit_flags_from_ax(e);
        emit_gs_load(e, RAX, T_SPILL_RAX);
    }
    return patch;
}

static void leave_expired(struct job *j, uint8_t *patch, const struct exit_site *s, uint32_t live)
{
    emit_patch(patch, j->cold.p);
    if (live) {
        emit_flags_from_ax(&j->cold);
        emit_gs_load(&j->cold, RAX, T_SPILL_RAX);
    }
    exits_leave(j, &j->cold, s, T_H_EXIT);
}

void exits_expired(struct job *j, uint8_t *patch, gaddr pc, uint32_t live)
{
    leave_expired(j, patch, exits_add(j, EXIT_EXPIRED, pc, pc), live);
}

void exits_entries(struct job *j)
{
    if (j->live_in) {
        emit_gs_load(&j->e, RAX, T_SPILL_FLAGS);
        emit_flags_from_ax(&j->e);
    }
    emit_gs_load(&j->e, RCX, T_SPILL_RCX);
    emit_gs_load(&j->e, RAX, T_SPILL_RAX);
    j->blk->tick_off = (uint16_t)(j->e.p - j->blk->host);
    struct exit_site *s = exits_add(j, EXIT_EXPIRED, j->blk->pc, j->blk->pc);
    s->patch = exits_count(j, 1, j->live_in, true);
    j->blk->plain_off = (uint16_t)(j->e.p - j->blk->host);
}

void exits_expired_entry(struct job *j)
{
    leave_expired(j, j->site[0].patch, &j->site[0], j->live_in);
}

/* ---- calls and indirect transfers ---- */

void exits_spill_flags(struct job *j)
{
    emit_gs_store(&j->e, RAX, T_SPILL_RAX);
    emit_flags_to_ax(&j->e);
    emit_gs_store(&j->e, RAX, T_SPILL_FLAGS);
}

void exits_push_return(struct job *j, const struct insn *in, uint16_t spill)
{
    gaddr ret = in->pc + in->len;
    exits_point(j, in, spill);
    if (ret < 1ull << 31) {
        emit8(&j->e, 0x68);
        emit32(&j->e, (uint32_t)ret);
        return;
    }
    emit8(&j->e, 0xff);
    emit8(&j->e, 0x35);
    emit32(&j->e, 0);
    rt_check(j->literals < MAX_LITERALS);
    j->literal[j->literals].at = j->e.p - 4;
    j->literal[j->literals++].value = ret;
}

void exits_literals(struct job *j)
{
    if (!j->literals)
        return;
    while ((gaddr)j->cold.p & 7)
        emit8(&j->cold, 0xcc);
    for (int i = 0; i < j->literals; i++) {
        emit_patch(j->literal[i].at, j->cold.p);
        emit64(&j->cold, j->literal[i].value);
    }
}

/* A call pushes its return address only when the target is known to be good; on a miss the
 * dispatcher does. Ticks that are owed are counted here; the one of this transfer is not among
 * them. A block for one execution never looks: every step comes to the runtime. */
void exits_lookup(struct job *j, const struct insn *in)
{
    struct emit *e = &j->e;
    exits_spill_flags(j);
    if (j->owed)
        emit_gs_subtract(e, T_LEFT, j->owed);
    j->owed = 0;
    struct exit_site *s = exits_add(j, EXIT_INDIRECT, in->pc, in->pc + in->len);
    s->insn = in->kind;
    s->popped = in->kind == INSN_RET ? 8u + in->imm16 : 0;
    if (j->opt->one) {
        exits_leave(j, e, s, T_H_INDIRECT);
        return;
    }
    emit_bytes(e, (const uint8_t[]){0x89, 0xc8, 0x25}, 3); /* mov eax, ecx; and eax, imm32 */
    emit32(e, LOOKUP_SIZE - 1);
    emit_bytes(e, (const uint8_t[]){0xc1, 0xe0, 0x04}, 3); /* shl eax, 4 */
    emit_gs_op(e, 0x03, RAX, T_LOOKUP);                    /* add rax, gs:[lookup] */
    emit_bytes(e, (const uint8_t[]){0x48, 0x3b, 0x08}, 3); /* cmp rcx, [rax] */
    emit_patch(emit_jcc(e, 0x5), j->cold.p);               /* jne */
    exits_leave(j, &j->cold, s, T_H_INDIRECT);
    if (in->kind == INSN_CALL_IND)
        exits_push_return(j, in, SPILL_RAX | SPILL_RCX | SPILL_FLAGS);
    emit_bytes(e, (const uint8_t[]){0xff, 0x60, 0x08}, 3); /* jmp [rax+8] */
}
