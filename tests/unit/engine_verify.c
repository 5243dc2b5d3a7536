/* engine_verify.c - is a translated block right? SPDX-License-Identifier: MIT */
#include "tests/unit/engine_verify.h"

#include <stdio.h>
#include <string.h>

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/layout.h"
#include "tests/unit/engine_verify_int.h"

/* ---- decoding ---- */

static bool read_guest(void)
{
    gaddr pc = verify.b->pc, end = pc + verify.b->len;
    for (verify.count = 0; pc != end; verify.count++) {
        EXPECT(verify.count < MAX_GUEST, 0, "more than %d instructions", MAX_GUEST);
        if (!verify_read_insn(pc, &verify.insn[verify.count]))
            return false;
        pc += verify.insn[verify.count].len;
        EXPECT(pc - verify.b->pc <= verify.b->len, 0, "ends in the middle of an instruction");
        EXPECT(pc == end || !insn_ends_block(&verify.insn[verify.count]), 0,
               "goes on after a transfer");
    }
    EXPECT(verify.count > 0, 0, "made of nothing");
    return true;
}

/* The address of a push's operand inside the block is a literal; it is the last thing there. */
static bool find_boundaries(void)
{
    struct decoded d;
    verify.code_len = verify_bytes();
    memset(verify.boundary, 0, sizeof verify.boundary);
    memset(verify.visited, 0, sizeof verify.visited);
    EXPECT(verify.code_len && verify.code_len <= MAX_HOST, 0, "%u bytes long", verify.code_len);
    for (uint32_t off = 0; off < verify.code_len; off += d.z.length) {
        if (!verify_decode(off, &d))
            return false;
        verify.boundary[off] = 1;
        if (d.z.mnemonic != ZYDIS_MNEMONIC_PUSH || d.op[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
            d.op[0].mem.base != ZYDIS_REGISTER_RIP)
            continue;
        int64_t at = verify_literal(&d);
        if (at < 0)
            continue;
        EXPECT(at == verify_bytes() - 8, off, "its literal is not at the block's end");
        verify.code_len = (uint32_t)at;
        while (verify.code_len && verify_bytes() - verify.code_len < 15 &&
               *verify_at(verify.code_len - 1) == 0xcc)
            verify.code_len--;
    }
    return true;
}

static bool check_points(void)
{
    for (int i = 0; i < verify.b->point_count; i++) {
        const struct fault_point *p = &verify.b->point[i];
        bool boundary = false;
        EXPECT(p->host_off < verify.code_len && verify.boundary[p->host_off], p->host_off,
               "fault point %d is not at an instruction", i);
        EXPECT(!i || (p[-1].host_off < p->host_off && p[-1].guest_off <= p->guest_off), p->host_off,
               "fault point %d is out of order", i);
        for (int k = 0; k < verify.count; k++)
            boundary |= verify.insn[k].pc - verify.b->pc == p->guest_off;
        EXPECT(boundary, p->host_off, "fault point %d names +0x%x: no instruction", i,
               p->guest_off);
    }
    return true;
}

/* ---- comparing ---- */

static bool same_state(const struct sim *s, uint32_t off)
{
    EXPECT(s->host_flags == s->guest_flags, off, "flags are not the target's");
    return verify_same_registers(s, s->host, off);
}

/* ---- probes ---- */

static bool transfers(const struct insn *in)
{
    struct decoded g;
    if (in->kind == INSN_ILLEGAL)
        return true;
    verify_decode_guest(in, &g);
    return g.z.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
           g.z.meta.category == ZYDIS_CATEGORY_RET;
}

/* What the tool wants to hear here: of the instruction that comes next, and of the one before. */
static unsigned probes_due(const struct sim *s)
{
    const unsigned before = PROBE_BLOCK | PROBE_BEFORE | PROBE_MEMORY;
    if (s->way == TAKEN)
        return 0;
    int done = s->way == FELL ? s->at : s->at - 1; /* the last that was executed */
    unsigned due = done < 0 || verify.insn[done].kind == INSN_TRAP
                       ? 0
                       : instrument_wanted(&verify.insn[done], done == 0) & PROBE_AFTER;
    if (done + 1 < verify.count)
        due |= instrument_wanted(&verify.insn[done + 1], done + 1 == 0) & before;
    return due;
}

/* Comes before every instruction, and before leaving for the one behind the block. */
static bool probes_were_heard(const struct sim *s, uint32_t off)
{
    EXPECT(s->probed || !probes_due(s), off, "a probe is missing");
    return true;
}

/* The last one falls through where only the dispatcher sees it: the site says what it wants. */
static unsigned probes_left(const struct insn *in)
{
    bool returns = in->kind == INSN_SYSCALL || (in->kind == INSN_EMULATE && !transfers(in));
    return returns ? instrument_wanted(in, verify.count == 1) & PROBE_AFTER : 0;
}

static bool check_probe(const struct sim *s, const struct exit_site *e, uint32_t off)
{
    bool behind = s->at == verify.count || s->way == FELL;
    gaddr pc = behind ? verify.b->pc + verify.b->len : verify.insn[s->at].pc;
    EXPECT(!s->probed && e->probe && e->probe == probes_due(s), off, "probes %x instead of %x",
           e->probe, probes_due(s));
    EXPECT(e->pc == pc && e->len == (behind ? 0 : verify.insn[s->at].len), off,
           "a probe at 0x%llx of length %d", (unsigned long long)e->pc, e->len);
    EXPECT(e->patch > verify.b->host + off && e->patch < verify.b->host + verify.b->host_len, off,
           "a probe goes on elsewhere");
    return same_state(s, off);
}

/* ---- copies ---- */

/* push imm32, or push of the literal */
static bool run_push_return(struct sim *s, const struct insn *in, const struct decoded *h)
{
    gaddr ret = in->pc + in->len, pushed;
    EXPECT(h->z.mnemonic == ZYDIS_MNEMONIC_PUSH && h->z.operand_width == 64 && !s->pushed, h->off,
           "a call does not push");
    if (h->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        pushed = (gaddr)h->op[0].imm.value.s;
    } else {
        EXPECT(verify_slot_of(&h->op[0]) == -1 && h->op[0].mem.base == ZYDIS_REGISTER_RIP &&
                   verify_literal(h) == verify_bytes() - 8,
               h->off, "a call pushes something unknown");
        memcpy(&pushed, verify_at(verify_bytes() - 8), 8);
    }
    EXPECT(pushed == ret, h->off, "a call pushes 0x%llx", (unsigned long long)pushed);
    s->pushed = true;
    s->host[RSP] -= 8;
    s->guest[RSP] -= 8;
    return true;
}

static bool run_pop_target(struct sim *s, const struct decoded *h)
{
    EXPECT(h->z.mnemonic == ZYDIS_MNEMONIC_POP && h->z.operand_width == 64 &&
               h->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               h->op[0].reg.value == ZYDIS_REGISTER_RCX,
           h->off, "a return does not pop");
    s->host[RCX] = s->target = verify_fresh();
    s->host[RSP] += 8;
    s->guest[RSP] += 8u + verify.insn[s->at].imm16;
    return true;
}

/* The instruction at a fault point. */
static bool run_point(struct sim *s, const struct fault_point *p, const struct decoded *h)
{
    EXPECT(s->at < verify.count, h->off, "a copy after the last instruction");
    const struct insn *in = &verify.insn[s->at];
    EXPECT(p->guest_off == in->pc - verify.b->pc, h->off, "a fault would show +0x%x, not +0x%llx",
           p->guest_off, (unsigned long long)(in->pc - verify.b->pc));
    if (!verify_same_fault_state(s, p) || !probes_were_heard(s, h->off))
        return false;
    switch (in->kind) {
    case INSN_PLAIN:
    case INSN_TRAP:
        if (!verify_same_instruction(s, in, h))
            return false;
        verify_execute_copy(s, h);
        s->at++;
        s->probed = false;
        return true;
    case INSN_CALL:
        return run_push_return(s, in, h);
    case INSN_JMP_IND:
        return verify_run_load_target(s, in, h);
    case INSN_CALL_IND:
        return p->spill & SPILL_FLAGS ? run_push_return(s, in, h)
                                      : verify_run_load_target(s, in, h);
    case INSN_RET:
        return run_pop_target(s, h);
    default:
        return FAIL(h->off, "a fault point at %s", insn_name(in));
    }
}

/* ---- exits ---- */

static bool check_leave_kind(const struct sim *s, const struct exit_site *e, uint32_t off)
{
    static const uint8_t kind[] = {[INSN_SYSCALL] = EXIT_SYSCALL,
                                   [INSN_EMULATE] = EXIT_EMULATE,
                                   [INSN_UNSUPPORTED] = EXIT_UNSUPPORTED,
                                   [INSN_ILLEGAL] = EXIT_ILLEGAL};
    EXPECT(s->at < verify.count, off, "leaves after the last instruction");
    const struct insn *in = &verify.insn[s->at];
    EXPECT(e->pc == in->pc, off, "leaves for 0x%llx", (unsigned long long)e->pc);
    EXPECT(s->at == verify.count - 1 && in->kind < sizeof kind, off, "leaves in the middle");
    EXPECT(e->target == in->pc + in->len, off, "goes on at 0x%llx", (unsigned long long)e->target);
    EXPECT(e->kind == (in->too_long ? EXIT_TOO_LONG : kind[in->kind]), off, "exit kind %d for %s",
           e->kind, insn_name(in));
    EXPECT(e->probe == probes_left(in), off, "leaves with probes %x", e->probe);
    return same_state(s, off) && probes_were_heard(s, off);
}

static bool check_indirect(const struct sim *s, const struct exit_site *e, uint32_t off)
{
    const struct insn *in = &verify.insn[verify.count - 1];
    EXPECT(s->at == verify.count - 1 && !s->pushed && s->host[RCX] == s->target, off,
           "an indirect exit too early or late");
    EXPECT(e->insn == in->kind && e->pc == in->pc && e->target == in->pc + in->len &&
               e->popped == (in->kind == INSN_RET ? 8u + in->imm16 : 0),
           off, "an indirect exit with wrong facts");
    return verify_same_spilled_state(s, off);
}

static bool run(struct sim s, uint32_t off);

/* mov gs:[exit], id; jmp gs:[door] */
static bool run_leave(const struct sim *s, const struct decoded *h, const struct exit_site *only)
{
    struct decoded jump;
    const struct exit_site *e =
        (const struct exit_site *)(engine.base + (uint64_t)h->op[1].imm.value.s);
    EXPECT(h->op[0].size == 64 && e >= verify.b->site &&
               e < verify.b->site + verify.b->site_count &&
               ((gaddr)e - (gaddr)verify.b->site) % sizeof *e == 0,
           h->off, "leaves through an unknown site");
    EXPECT(e->block == verify.b && (!only || e == only), h->off, "leaves through another site");
    if (!verify_decode(h->off + h->z.length, &jump))
        return false;
    verify.visited[jump.off] = 1;
    EXPECT(jump.z.mnemonic == ZYDIS_MNEMONIC_JMP &&
               jump.z.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR &&
               verify_slot_of(&jump.op[0]) == (e->kind == EXIT_INDIRECT ? T_H_INDIRECT : T_H_EXIT),
           h->off, "leaves through the wrong door");
    EXPECT(!s || !s->expect || s->expect == e->kind, h->off, "leaves the wrong way");
    switch ((enum exit_kind)e->kind) {
    case EXIT_DIRECT:
        EXPECT(only, h->off, "runs into a stub");
        return true; /* checked where it was jumped to */
    case EXIT_INDIRECT:
        return check_indirect(s, e, h->off);
    case EXIT_EXPIRED:
        EXPECT(e->pc == verify.b->pc && s->at == 0 && verify.stop, h->off, "expires too late");
        return verify_same_registers(s, s->host, h->off);
    case EXIT_STALE:
        EXPECT(e->pc == verify.b->pc && s->at == 0, h->off, "checks its bytes too late");
        return same_state(s, h->off);
    case EXIT_PROBE: {
        struct sim probed = *s;
        probed.probed = true;
        return check_probe(s, e, h->off) && run(probed, (uint32_t)(e->patch - verify.b->host));
    }
    default:
        return check_leave_kind(s, e, h->off);
    }
}

static bool check_stub(const struct exit_site *e)
{
    struct decoded d;
    int64_t at = verify_off(e->stub);
    uint32_t off = (uint32_t)at;
    EXPECT(at >= 0 && off < verify.code_len, 0, "a stub elsewhere");
    EXPECT(verify.boundary[off], off, "a stub inside an instruction");
    if (!verify_decode(off, &d))
        return false;
    verify.visited[off] = 1;
    EXPECT(d.z.mnemonic == ZYDIS_MNEMONIC_MOV && verify_slot_of(&d.op[0]) == T_EXIT &&
               d.op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE,
           off, "a stub that does not leave");
    return run_leave(NULL, &d, e);
}

/* The patched jump `h` of direct exit e; conditional or not. */
static bool check_direct(struct sim *s, const struct decoded *h, const struct exit_site *e)
{
    const struct insn *in = &verify.insn[verify.count - 1];
    bool conditional = h->z.mnemonic != ZYDIS_MNEMONIC_JMP, taken = true;
    if (!probes_were_heard(s, h->off))
        return false;
    switch (in->kind) {
    case INSN_PLAIN:
    case INSN_TRAP:
        EXPECT(s->at == verify.count && !conditional, h->off, "leaves before its end");
        taken = false;
        break;
    case INSN_JCC:
        EXPECT(s->at == verify.count - 1 && conditional == (s->way == UNDECIDED), h->off,
               "a bad conditional jump");
        EXPECT(!conditional || (h->z.opcode & 15) == (in->opcode & 15), h->off, "a bad condition");
        taken = conditional;
        break;
    case INSN_JCXZ:
        EXPECT(s->at == verify.count - 1 && !conditional && s->way != UNDECIDED, h->off,
               "a bad conditional jump");
        taken = s->way == TAKEN;
        break;
    case INSN_CALL:
        EXPECT(s->pushed, h->off, "a call that did not push");
        /* fallthrough */
    case INSN_JMP:
        EXPECT(s->at == verify.count - 1 && !conditional, h->off, "a bad jump");
        break;
    default:
        return FAIL(h->off, "a direct exit from %s", insn_name(in));
    }
    bool tick = taken && (in->kind == INSN_CALL || in->target <= in->pc);
    EXPECT(e->pc == in->pc && e->target == (taken ? in->target : in->pc + in->len), h->off,
           "a direct exit to 0x%llx", (unsigned long long)e->target);
    EXPECT(e->tick == tick, h->off, "a transfer that %s", tick ? "does not tick" : "ticks");
    const uint8_t *to = h->bytes + h->z.length + h->op[0].imm.value.s;
    const uint8_t *want =
        e->to ? e->to->host + (e->tick ? e->to->tick_off : e->to->plain_off) : e->stub;
    EXPECT(to == want && h->z.raw.imm[0].size == 32, h->off, "a direct exit that leads astray");
    if (conditional) {
        s->way = FELL;
        s->probed = false;
    }
    return same_state(s, h->off) && check_stub(e);
}

static const struct exit_site *direct_site(const struct decoded *h)
{
    for (int i = 0; i < verify.b->site_count; i++)
        if (verify.b->site[i].kind == EXIT_DIRECT &&
            verify.b->site[i].patch == h->bytes + h->z.length - 4)
            return &verify.b->site[i];
    return NULL;
}

/* jrcxz, loop and their kin: to the jump that comes after the next, or on. */
static bool run_jcxz(struct sim *s, const struct decoded *h, uint32_t to)
{
    const struct insn *in = &verify.insn[s->at];
    EXPECT(h->z.length == in->len && !memcmp(h->bytes, in->bytes, in->len - 1u), h->off,
           "is not %s", insn_name(in));
    if (!probes_were_heard(s, h->off))
        return false;
    if (in->mnemonic != ZYDIS_MNEMONIC_JRCXZ && in->mnemonic != ZYDIS_MNEMONIC_JECXZ)
        s->host[RCX] = s->guest[RCX] = verify_fresh();
    s->probed = false;
    struct sim taken = *s;
    taken.way = TAKEN;
    s->way = FELL;
    return run(taken, to);
}

/* A relative jump. Sets *next to where to go on, 0 for nowhere. */
static bool run_jump(struct sim *s, const struct decoded *h, uint32_t *next)
{
    const struct exit_site *e = direct_site(h);
    int64_t to = verify_jump(h);
    bool jmp = h->z.mnemonic == ZYDIS_MNEMONIC_JMP;
    if (e) {
        *next = jmp ? 0 : h->off + h->z.length;
        return check_direct(s, h, e);
    }
    EXPECT(to > h->off && to < verify.code_len && verify.boundary[to], h->off, "a jump to nowhere");
    if (s->at == verify.count - 1 && verify.insn[s->at].kind == INSN_JCXZ && s->way == UNDECIDED &&
        h->z.mnemonic == verify.insn[s->at].mnemonic)
        return run_jcxz(s, h, (uint32_t)to);
    if (jmp) {
        *next = (uint32_t)to;
        return true;
    }
    struct sim taken = *s;
    bool expired = h->z.mnemonic == ZYDIS_MNEMONIC_JS;
    EXPECT(h->z.mnemonic == ZYDIS_MNEMONIC_JNZ || expired, h->off, "an unexpected jump");
    taken.expect = expired ? EXIT_EXPIRED : s->looked_up ? EXIT_INDIRECT : EXIT_STALE;
    return run(taken, (uint32_t)to);
}

/* jmp [rax + 8] */
static bool check_hit(const struct sim *s, const struct decoded *h)
{
    const struct insn *in = &verify.insn[verify.count - 1];
    EXPECT(h->z.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR && verify_is_entry(&h->op[0], 8), h->off,
           "an unknown indirect jump");
    EXPECT(s->looked_up && !s->expect && s->at == verify.count - 1 && s->host[RCX] == s->target &&
               s->host[RAX] == (gaddr)cache_lookup(s->target),
           h->off, "a lookup of something else");
    EXPECT(s->pushed == (in->kind == INSN_CALL_IND), h->off, "an indirect call does not push");
    return verify_same_spilled_state(s, h->off);
}

/* ---- what the translator adds ---- */

static bool run_cmp(struct sim *s, const struct decoded *h)
{
    const ZydisDecodedOperand *a = &h->op[0], *b = &h->op[1];
    s->host_flags = verify_fresh();
    if (verify_is_reg(a, ZYDIS_REGISTER_RCX)) {
        EXPECT(verify_is_entry(b, 0), h->off, "an unexpected compare");
        s->looked_up = true;
        return true;
    }
    const struct fault_point *p = cache_fault_point(verify.b, (gaddr)h->bytes);
    EXPECT(p && (p->spill & SPILL_CHECK) && p->guest_off == 0 && s->at == 0, h->off,
           "a look at code without a fault point");
    EXPECT(a->type == ZYDIS_OPERAND_TYPE_MEMORY && a->mem.segment != ZYDIS_REGISTER_GS, h->off,
           "an unexpected compare");
    uint64_t at = verify_address(h, a, s->host, 0) - verify.b->pc, n = a->size / 8u;
    uint64_t want = b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? b->imm.value.u : s->host[RAX];
    EXPECT(at + n <= verify.b->len && (n == 8 || n == 1), h->off, "looks at other code");
    for (uint64_t i = at; i < at + n; i++) {
        gaddr pc = verify.b->pc + i;
        uint8_t byte;
        EXPECT(verify.src->fetch(pc, &byte, 1) == 1 && byte == (uint8_t)(want >> 8 * (i - at)),
               h->off, "compares with other code");
        verify.looked_at[i] = 1;
    }
    return verify_same_fault_state(s, p);
}

static bool run_arithmetic(struct sim *s, const struct decoded *h)
{
    const ZydisDecodedOperand *a = &h->op[0], *b = &h->op[1];
    s->host_flags = verify_fresh();
    if (h->z.mnemonic == ZYDIS_MNEMONIC_SUB && verify_slot_of(a) == T_LEFT && b->imm.value.u == 1) {
        EXPECT(a->size == 64 && verify.stop, h->off, "ticks in the body");
        return true;
    }
    return verify_run_index(s, h);
}

static bool run_added(struct sim *s, const struct decoded *h, uint32_t *next)
{
    switch (h->z.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        if (verify_slot_of(&h->op[0]) == T_EXIT && h->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            *next = 0;
            return run_leave(s, h, NULL);
        }
        return verify_run_mov(s, h);
    case ZYDIS_MNEMONIC_LEA:
        return verify_run_lea(s, h);
    case ZYDIS_MNEMONIC_CMP:
        return run_cmp(s, h);
    case ZYDIS_MNEMONIC_LAHF:
        return verify_run_flag_move(s, h, next);
    case ZYDIS_MNEMONIC_ADD:
        if (verify_is_reg(&h->op[0], ZYDIS_REGISTER_AL))
            return verify_run_flag_move(s, h, next);
        return run_arithmetic(s, h);
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SUB:
        return run_arithmetic(s, h);
    case ZYDIS_MNEMONIC_JMP:
        if (h->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            *next = 0;
            return check_hit(s, h);
        }
        return run_jump(s, h, next);
    default:
        EXPECT(h->z.meta.category == ZYDIS_CATEGORY_COND_BR, h->off, "an unexpected %s",
               ZydisMnemonicGetString(h->z.mnemonic));
        return run_jump(s, h, next);
    }
}

/* Jumps inside a block only go forwards, so it ends. */
static bool run(struct sim s, uint32_t off)
{
    struct decoded h;
    for (uint32_t next; off; off = next) {
        EXPECT(!verify.stop || off <= verify.stop || s.expect, off, "jumps over the plain entry");
        if (off == verify.stop)
            return !s.expect ? verify_same_registers(&s, s.host, off) : FAIL(off, "does not leave");
        if (!verify_decode(off, &h))
            return false;
        EXPECT(verify.boundary[off], off, "a run into an instruction");
        verify.visited[off] = 1;
        next = off + h.z.length;
        const struct fault_point *p = verify_point_at(off);
        bool ok = p && !(p->spill & SPILL_CHECK) ? run_point(&s, p, &h) : run_added(&s, &h, &next);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- flags at entries ---- */

/* Are flags read at pc before something could have written them? Then they cannot be given up. */
static bool surely_reads_flags(void)
{
    uint32_t untouched = FLAGS_ARITH;
    for (int i = 0; i < verify.count; i++) {
        struct decoded g;
        if (verify.insn[i].kind == INSN_ILLEGAL)
            return untouched;
        verify_decode_guest(&verify.insn[i], &g);
        const ZydisAccessedFlags *f = g.z.cpu_flags;
        if (f && (f->tested & untouched))
            return true;
        if (f)
            untouched &= ~(f->modified | f->set_0 | f->set_1 | f->undefined);
    }
    uint8_t last = verify.insn[verify.count - 1].kind;
    return untouched && last != INSN_PLAIN && last != INSN_JMP && last != INSN_CALL;
}

/* Runs the entry code at off up to the plain entry. */
static bool run_entry(const struct sim *start, uint32_t off)
{
    struct decoded h;
    bool restores = false;
    for (uint32_t at = off; at < verify.b->plain_off; at += h.z.length) {
        if (!verify_decode(at, &h))
            return false;
        restores |= h.z.mnemonic == ZYDIS_MNEMONIC_SAHF;
    }
    EXPECT(restores || !(verify.opt->exact_flags || verify.opt->one || surely_reads_flags()), off,
           "an entry loses flags that are read");
    verify.stop = verify.b->plain_off;
    /* The first instruction is at 0, which run() takes for an end. */
    struct sim s = *start;
    if (off == 0) {
        uint32_t next;
        if (!verify_decode(0, &h))
            return false;
        verify.visited[0] = 1;
        next = h.z.length;
        if (!run_added(&s, &h, &next))
            return false;
        off = next;
    }
    bool ok = run(s, off);
    verify.stop = 0;
    return ok;
}

/* From the first byte of a block that has no other way in; run() takes 0 for an end. */
static bool run_bare(struct sim s)
{
    struct decoded h;
    uint32_t next;
    if (!verify_decode(0, &h))
        return false;
    verify.visited[0] = 1;
    next = h.z.length;
    const struct fault_point *p = verify_point_at(0);
    bool ok = p && !(p->spill & SPILL_CHECK) ? run_point(&s, p, &h) : run_added(&s, &h, &next);
    return ok && run(s, next);
}

static bool run_all_entries(void)
{
    struct sim plain = verify_start_state(), indirect = plain;
    indirect.rax = indirect.guest[RAX];
    indirect.rcx = indirect.guest[RCX];
    indirect.flags = indirect.guest_flags;
    indirect.host[RAX] = verify_fresh();
    indirect.host[RCX] = verify_fresh();
    indirect.host_flags = verify_fresh();
    if (verify.b->bare)
        return !verify.b->plain_off ? run_bare(plain) : FAIL(0, "not bare");
    EXPECT(verify.b->tick_off > 0 && verify.b->tick_off < verify.b->plain_off &&
               verify.b->plain_off < verify.code_len,
           0, "entries out of order");
    EXPECT(verify.boundary[verify.b->tick_off] && verify.boundary[verify.b->plain_off], 0,
           "an entry inside an instruction");
    return run_entry(&indirect, 0) && run_entry(&plain, verify.b->tick_off) &&
           run(plain, verify.b->plain_off);
}

static bool check_coverage(void)
{
    bool any = false, all = true;
    for (uint32_t off = 0; off < verify.code_len; off++)
        EXPECT(!verify.boundary[off] || verify.visited[off], off, "never reached");
    for (int i = 0; i < verify.b->len; i++) {
        any |= verify.looked_at[i];
        all &= verify.looked_at[i];
    }
    bool wanted = verify.src->watch(verify.b->pc, verify.b->len) && !verify.opt->one;
    EXPECT(wanted ? all : !any, 0, "checks %s of its bytes", any ? "some" : "none");
    return true;
}

const char *verify_block(const struct block *b, const struct code_source *src,
                         const struct translate_options *opt)
{
    verify_start(b, src, opt);
    bool ok = b->len <= MAX_LEN || FAIL(0, "made of %u bytes", b->len);
    ok = ok && read_guest() && find_boundaries() && check_points() && run_all_entries() &&
         check_coverage();
    return ok ? NULL : verify.why;
}
