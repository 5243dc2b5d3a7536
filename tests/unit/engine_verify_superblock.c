/* engine_verify_superblock.c - is a superblock right?
 *
 * SPDX-License-Identifier: MIT
 *
 * As engine_verify.c: the code is followed with made-up values, next to the path's instructions. A
 * branch is followed both ways. Where the path predicts a target, the walk is repeated with that
 * target and with others.
 */
#include <string.h>

#include "engine/core/engine.h"
#include "engine/core/layout.h"
#include "tests/unit/engine_verify.h"
#include "tests/unit/engine_verify_int.h"

enum { MAX_PATH = 32 * MAX_GUEST, OTHERS = 5 };

/* One instruction of the path; `next`: where the path goes behind it, 0 if it ends there. */
static struct step {
    struct insn in;
    gaddr next;
    bool last; /* of its block */
} step[MAX_PATH];
static int steps;
static bool loop;

/* A run. The struct's `at` counts on through the turns of a loop. */
struct walk {
    struct sim s;
    gaddr left_for; /* it has left the path: the target is here */
    int happened, paid;
    bool loaded;   /* the target of an indirect transfer */
    bool compared; /* ... with the predicted one, as equal */
    bool ticked;   /* the last thing that happened */
    bool dropped;  /* flags were overwritten by a subtraction */
    bool counted;  /* by the last instruction */
};

static bool walk(struct walk w, uint32_t off);

static const struct step *step_at(const struct walk *w)
{
    return w->left_for || (!loop && w->s.at >= steps) ? NULL : &step[w->s.at % steps];
}

/* Where the target is. */
static gaddr pc_of(const struct walk *w)
{
    const struct step *p = step_at(w);
    return p ? p->in.pc : w->left_for;
}

static bool is_backward(const struct insn *in)
{
    return in->target <= in->pc;
}

static void transfer(struct walk *w, gaddr to, bool tick)
{
    const struct step *p = step_at(w);
    w->happened += tick;
    w->ticked = tick;
    w->loaded = w->compared = w->s.pushed = w->s.looked_up = false;
    w->s.at++;
    if (to != p->next)
        w->left_for = to;
}

/* Direct jumps on the path have no code. */
static void pass_jumps(struct walk *w)
{
    for (const struct step *p; (p = step_at(w)) && p->in.kind == INSN_JMP && p->next;)
        transfer(w, p->next, is_backward(&p->in));
}

/* ---- flags ---- */

/* Is a flag surely read at pc before it is written, or is it not to be seen? */
static bool needs_flags(gaddr pc)
{
    uint32_t untouched = FLAGS_ARITH;
    for (int i = 0; i < 12 && untouched; i++) {
        struct insn in;
        struct decoded g;
        if (!verify_read_insn(pc, &in) || in.kind == INSN_ILLEGAL)
            return true;
        verify_decode_guest(&in, &g);
        const ZydisAccessedFlags *f = g.z.cpu_flags;
        if (f && (f->tested & untouched))
            return true;
        if (f)
            untouched &= ~(f->modified | f->set_0 | f->set_1 | f->undefined);
        pc += in.len;
        if (in.kind == INSN_JMP || in.kind == INSN_CALL)
            pc = in.target;
        else if (in.kind != INSN_PLAIN)
            break;
    }
    return untouched;
}

static bool same_flags(const struct walk *w, uint64_t flags, uint32_t off)
{
    EXPECT(flags == w->s.guest_flags ||
               (w->dropped && !verify.opt->exact_flags && !needs_flags(pc_of(w))),
           off, "flags that are read are lost");
    return true;
}

static bool same_at_exit(const struct walk *w, uint32_t off)
{
    return same_flags(w, w->s.host_flags, off) && verify_same_registers(&w->s, w->s.host, off);
}

/* ---- leaving ---- */

static bool check_stub(const struct exit_site *e)
{
    struct decoded mov, jump;
    int64_t at = verify_off(e->stub);
    uint32_t off = (uint32_t)at;
    EXPECT(at >= 0 && off < verify.code_len && verify.boundary[off], off, "a stub elsewhere");
    if (!verify_decode(off, &mov) || !verify_decode(off + mov.z.length, &jump))
        return false;
    verify.visited[off] = verify.visited[jump.off] = 1;
    EXPECT(verify_slot_of(&mov.op[0]) == T_EXIT && verify_slot_of(&jump.op[0]) == T_H_EXIT &&
               engine.base + (uint64_t)mov.op[1].imm.value.s == (gaddr)e,
           off, "a stub that does not leave");
    return true;
}

static bool check_direct(const struct walk *w, const struct decoded *h, const struct exit_site *e,
                         gaddr from)
{
    int owed = w->happened - w->paid;
    bool here = owed == 1 && w->ticked; /* the tick is the target block's to count */
    EXPECT(e->pc == from && e->target == w->left_for && w->left_for, h->off,
           "a direct exit to 0x%llx instead of 0x%llx", (unsigned long long)e->target,
           (unsigned long long)w->left_for);
    EXPECT(owed == (here ? 1 : 0), h->off, "leaves with %d ticks to pay", owed);
    EXPECT(e->tick == here && e->paid == (!here && w->ticked), h->off, "a transfer ticks wrongly");
    const uint8_t *to = h->bytes + h->z.length + h->op[0].imm.value.s;
    EXPECT(to == e->stub && h->z.raw.imm[0].size == 32, h->off, "a direct exit that leads astray");
    return same_at_exit(w, h->off) && check_stub(e);
}

static const struct exit_site *site_of(const struct decoded *h)
{
    for (int i = 0; i < verify.b->site_count; i++)
        if (verify.b->site[i].kind == EXIT_DIRECT &&
            verify.b->site[i].patch == h->bytes + h->z.length - 4)
            return &verify.b->site[i];
    return NULL;
}

/* mov gs:[exit], id; jmp gs:[door] */
static bool leave(const struct walk *w, const struct decoded *h)
{
    struct decoded jump;
    const struct step *p = step_at(w);
    const struct exit_site *e =
        (const struct exit_site *)(engine.base + (uint64_t)h->op[1].imm.value.s);
    EXPECT(e >= verify.b->site && e < verify.b->site + verify.b->site_count &&
               ((gaddr)e - (gaddr)verify.b->site) % sizeof *e == 0 && e->block == verify.b,
           h->off, "leaves through an unknown site");
    if (!verify_decode(h->off + h->z.length, &jump))
        return false;
    verify.visited[jump.off] = 1;
    EXPECT(jump.z.mnemonic == ZYDIS_MNEMONIC_JMP &&
               verify_slot_of(&jump.op[0]) == (e->kind == EXIT_INDIRECT ? T_H_INDIRECT : T_H_EXIT),
           h->off, "leaves through the wrong door");
    EXPECT(w->s.expect == e->kind, h->off, "leaves the wrong way");
    EXPECT(w->happened == w->paid, h->off, "leaves with %d ticks to pay", w->happened - w->paid);
    if (e->kind == EXIT_EXPIRED) {
        EXPECT(e->pc == pc_of(w) && w->ticked, h->off, "expires at 0x%llx",
               (unsigned long long)e->pc);
        return same_at_exit(w, h->off);
    }
    EXPECT(e->kind == EXIT_INDIRECT && p && w->loaded && !w->s.pushed && !w->compared, h->off,
           "an indirect exit too early or late");
    EXPECT(e->insn == p->in.kind && e->pc == p->in.pc && e->target == p->in.pc + p->in.len &&
               e->popped == (p->in.kind == INSN_RET ? 8u + p->in.imm16 : 0) &&
               w->s.host[RCX] == w->s.target,
           h->off, "an indirect exit with wrong facts");
    return verify_same_spilled_state(&w->s, h->off);
}

/* jmp [rax + 8] */
static bool check_hit(const struct walk *w, const struct decoded *h)
{
    const struct step *p = step_at(w);
    EXPECT(verify_is_entry(&h->op[0], 8), h->off, "an unknown indirect jump");
    EXPECT(p && w->loaded && w->s.looked_up && !w->s.expect && !w->compared &&
               w->s.host[RCX] == w->s.target && w->s.host[RAX] == (gaddr)cache_lookup(w->s.target),
           h->off, "a lookup of something else");
    EXPECT(w->s.pushed == (p->in.kind == INSN_CALL_IND), h->off, "a call does not push");
    EXPECT(w->happened == w->paid, h->off, "leaves with %d ticks to pay", w->happened - w->paid);
    return verify_same_spilled_state(&w->s, h->off);
}

/* Back to the plain entry. */
static bool check_turn(const struct walk *w, const struct decoded *h)
{
    EXPECT(loop && !w->left_for && w->s.at && w->s.at % steps == 0 && w->ticked && !w->s.expect,
           h->off, "turns in the middle");
    EXPECT(w->happened == w->paid, h->off, "turns with %d ticks to pay", w->happened - w->paid);
    return same_at_exit(w, h->off);
}

/* ---- indirect transfers ---- */

/* Whatever holds the target now holds another number. */
static void set_target(struct walk *w, uint64_t to)
{
    struct sim *s = &w->s;
    uint64_t from = s->target, *slot[] = {&s->rax, &s->rcx, &s->s0, &s->s1, &s->target};
    for (int i = 0; i < GPR_COUNT; i++) {
        s->host[i] = s->host[i] == from ? to : s->host[i];
        s->guest[i] = s->guest[i] == from ? to : s->guest[i];
    }
    for (size_t i = 0; i < ARRAY_LEN(slot); i++)
        *slot[i] = *slot[i] == from ? to : *slot[i];
}

/* Others are followed first, from behind the load. */
static bool load_target(struct walk *w, const struct decoded *h)
{
    const struct step *p = step_at(w);
    w->loaded = true;
    for (int i = 0; p->next && i < OTHERS; i++) {
        struct walk other = *w;
        set_target(&other, i == 0   ? verify_fresh()
                           : i == 1 ? p->next + 1
                           : i == 2 ? p->next - 1
                           : i == 3 ? p->next ^ 1ull << 32
                                    : p->next ^ 1ull << (verify_fresh() & 63));
        if (!walk(other, h->off + h->z.length))
            return false;
    }
    if (p->next)
        set_target(w, p->next);
    return true;
}

/* jrcxz over the jump to what handles a miss */
static bool run_jrcxz(struct walk *w, const struct decoded *h, uint32_t *next)
{
    const struct step *p = step_at(w);
    bool hit = !w->s.host[RCX];
    EXPECT(p && p->next && w->loaded && !w->compared, h->off, "a comparison of nothing");
    EXPECT(h->z.length == 2 && h->bytes[1] == 5, h->off, "a comparison that leads astray");
    EXPECT(hit == (w->s.target == p->next), h->off, "0x%llx is taken for 0x%llx",
           (unsigned long long)w->s.target, (unsigned long long)p->next);
    if (!hit)
        return true;
    *next = h->off + 7;
    w->compared = true;
    if (p->in.kind != INSN_CALL_IND)
        transfer(w, p->next, true);
    return true;
}

/* push imm32, or push of a literal */
static bool push_return(struct walk *w, const struct decoded *h)
{
    const struct step *p = step_at(w);
    gaddr pushed;
    EXPECT(h->z.mnemonic == ZYDIS_MNEMONIC_PUSH && h->z.operand_width == 64 && !w->s.pushed, h->off,
           "a call does not push");
    if (h->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        pushed = (gaddr)h->op[0].imm.value.s;
    } else {
        int64_t at = verify_literal(h);
        EXPECT(h->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                   h->op[0].mem.base == ZYDIS_REGISTER_RIP && at >= verify.code_len &&
                   at + 8 <= verify_bytes(),
               h->off, "a call pushes something unknown");
        memcpy(&pushed, verify_at((uint32_t)at), 8);
    }
    EXPECT(pushed == p->in.pc + p->in.len, h->off, "a call pushes 0x%llx",
           (unsigned long long)pushed);
    w->s.pushed = true;
    w->s.host[RSP] -= 8;
    w->s.guest[RSP] -= 8;
    if (p->in.kind == INSN_CALL)
        transfer(w, p->in.target, true);
    else if (w->compared)
        transfer(w, p->next, true);
    return true;
}

static bool pop_target(struct walk *w, const struct decoded *h)
{
    EXPECT(h->z.mnemonic == ZYDIS_MNEMONIC_POP && h->z.operand_width == 64 &&
               verify_is_reg(&h->op[0], ZYDIS_REGISTER_RCX) && !w->loaded,
           h->off, "a return does not pop");
    w->s.host[RCX] = w->s.target = verify_fresh();
    w->s.host[RSP] += 8;
    w->s.guest[RSP] += 8u + step_at(w)->in.imm16;
    return load_target(w, h);
}

/* The instruction at a fault point. */
static bool run_point(struct walk *w, const struct fault_point *p, const struct decoded *h)
{
    const struct step *g = step_at(w);
    EXPECT(g, h->off, "a copy behind the end");
    const struct insn *in = &g->in;
    gaddr pc = cache_point_pc(verify.b, p);
    EXPECT(pc == in->pc, h->off, "a fault would show 0x%llx, not 0x%llx", (unsigned long long)pc,
           (unsigned long long)in->pc);
    EXPECT(p->owed == w->happened - w->paid, h->off, "a fault would count %d ticks, not %d",
           p->owed, w->happened - w->paid);
    if (!verify_same_fault_state(&w->s, p))
        return false;
    switch (in->kind) {
    case INSN_PLAIN:
        if (!verify_same_instruction(&w->s, in, h))
            return false;
        verify_execute_copy(&w->s, h);
        w->dropped = false;
        transfer(w, g->last ? in->pc + in->len : g->next, false);
        return true;
    case INSN_CALL:
        return push_return(w, h);
    case INSN_CALL_IND:
        if (w->loaded)
            return push_return(w, h);
        /* fallthrough */
    case INSN_JMP_IND:
        return verify_run_load_target(&w->s, in, h) && load_target(w, h);
    case INSN_RET:
        return pop_target(w, h);
    default:
        return FAIL(h->off, "a fault point at %s", insn_name(in));
    }
}

/* ---- jumps ---- */

/* The target's own conditional jump: one way leaves the path. */
static bool run_jcc(struct walk *w, const struct decoded *h, uint32_t *next)
{
    const struct step *p = step_at(w);
    const struct insn *in = &p->in;
    gaddr behind = in->pc + in->len, from = in->pc;
    bool follow = p->next && p->next == in->target;
    EXPECT((h->z.opcode & 15) == ((in->opcode & 15) ^ follow), h->off, "a bad condition");
    struct walk out = *w;
    transfer(&out, follow ? behind : in->target, !follow && is_backward(in));
    out.left_for = follow ? behind : in->target;
    const struct exit_site *e = site_of(h);
    int64_t to = verify_jump(h);
    if (!e)
        EXPECT(to > h->off && to < verify.code_len && verify.boundary[to], h->off, "to nowhere");
    if (e ? !check_direct(&out, h, e, from) : !walk(out, (uint32_t)to))
        return false;
    *next = h->off + h->z.length;
    transfer(w, follow ? in->target : behind, follow && is_backward(in));
    return true;
}

static bool run_jump(struct walk *w, const struct decoded *h, uint32_t *next)
{
    const struct step *p = step_at(w);
    const struct exit_site *e = site_of(h);
    int64_t to = verify_jump(h);
    if (h->z.mnemonic == ZYDIS_MNEMONIC_JMP && p && p->in.kind == INSN_JMP && !p->next)
        transfer(w, p->in.target, is_backward(&p->in)); /* the path's end */
    if (h->z.mnemonic == ZYDIS_MNEMONIC_JMP) {
        *next = 0;
        if (e)
            return check_direct(w, h, e, step[steps && w->s.at ? (w->s.at - 1) % steps : 0].in.pc);
        if (to == verify.b->plain_off)
            return check_turn(w, h);
    }
    EXPECT(to > h->off && to < verify.code_len && verify.boundary[to], h->off, "a jump to nowhere");
    if (h->z.mnemonic == ZYDIS_MNEMONIC_JMP) {
        *next = (uint32_t)to;
        return true;
    }
    struct walk taken = *w;
    bool expired = h->z.mnemonic == ZYDIS_MNEMONIC_JS && w->counted;
    EXPECT(expired || (h->z.mnemonic == ZYDIS_MNEMONIC_JNZ && w->s.looked_up), h->off,
           "an unexpected jump");
    taken.s.expect = expired ? EXIT_EXPIRED : EXIT_INDIRECT;
    return walk(taken, (uint32_t)to);
}

/* ---- what the translator adds ---- */

static bool run_arithmetic(struct walk *w, const struct decoded *h)
{
    const ZydisDecodedOperand *a = &h->op[0], *b = &h->op[1];
    bool flags_are_safe = w->s.host[RAX] == w->s.guest_flags || w->s.flags == w->s.guest_flags;
    w->s.host_flags = verify_fresh();
    if (h->z.mnemonic == ZYDIS_MNEMONIC_SUB && verify_slot_of(a) == T_LEFT) {
        EXPECT(a->size == 64 && b->imm.value.u && b->imm.value.u < 256, h->off, "odd ticks");
        w->paid += (int)b->imm.value.u;
        w->counted = true;
        w->dropped |= !flags_are_safe;
        return true;
    }
    return verify_run_index(&w->s, h);
}

static bool run_compare(struct walk *w, const struct decoded *h)
{
    const ZydisDecodedOperand *m = &h->op[1];
    EXPECT(verify_is_reg(&h->op[0], ZYDIS_REGISTER_RCX) && verify_is_entry(m, 0), h->off,
           "an unexpected compare");
    w->s.host_flags = verify_fresh();
    w->s.looked_up = true;
    return true;
}

static bool run_added(struct walk *w, const struct decoded *h, uint32_t *next)
{
    const struct step *p = step_at(w);
    switch (h->z.mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
        return true;
    case ZYDIS_MNEMONIC_MOV:
        if (verify_slot_of(&h->op[0]) == T_EXIT) {
            *next = 0;
            return leave(w, h);
        }
        return verify_run_mov(&w->s, h);
    case ZYDIS_MNEMONIC_LEA:
        return verify_run_lea(&w->s, h);
    case ZYDIS_MNEMONIC_RORX:
        EXPECT(verify_is_reg(&h->op[0], ZYDIS_REGISTER_RCX) &&
                   verify_is_reg(&h->op[1], ZYDIS_REGISTER_RCX) && h->op[2].imm.value.u == 32,
               h->off, "an unexpected rorx");
        w->s.host[RCX] = w->s.host[RCX] << 32 | w->s.host[RCX] >> 32;
        return true;
    case ZYDIS_MNEMONIC_JRCXZ:
        return run_jrcxz(w, h, next);
    case ZYDIS_MNEMONIC_CMP:
        return run_compare(w, h);
    case ZYDIS_MNEMONIC_LAHF:
        return verify_run_flag_move(&w->s, h, next);
    case ZYDIS_MNEMONIC_ADD:
        if (verify_is_reg(&h->op[0], ZYDIS_REGISTER_AL))
            return verify_run_flag_move(&w->s, h, next);
        return run_arithmetic(w, h);
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SUB:
        return run_arithmetic(w, h);
    case ZYDIS_MNEMONIC_JMP:
        if (h->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            *next = 0;
            return check_hit(w, h);
        }
        return run_jump(w, h, next);
    default:
        EXPECT(h->z.meta.category == ZYDIS_CATEGORY_COND_BR, h->off, "an unexpected %s",
               ZydisMnemonicGetString(h->z.mnemonic));
        if (p && p->in.kind == INSN_JCC && !w->counted)
            return run_jcc(w, h, next);
        return run_jump(w, h, next);
    }
}

/* A jump back ends a run, so it ends. */
static bool walk(struct walk w, uint32_t off)
{
    struct decoded h;
    for (uint32_t next; off; off = next) {
        if (off == verify.stop)
            return !w.s.expect && w.happened == w.paid ? same_at_exit(&w, off)
                                                       : FAIL(off, "an entry counts wrongly");
        if (!verify_decode(off, &h))
            return false;
        EXPECT(verify.boundary[off], off, "a run into an instruction");
        verify.visited[off] = 1;
        next = off + h.z.length;
        if (!verify.stop)
            pass_jumps(&w);
        const struct fault_point *p = verify_point_at(off);
        bool counted = w.counted;
        if (!(p ? run_point(&w, p, &h) : run_added(&w, &h, &next)))
            return false;
        w.counted &= !counted;
    }
    return true;
}

/* ---- the whole ---- */

static bool read_path(const struct path *path)
{
    steps = 0;
    for (int i = 0; i < path->count; i++) {
        const struct block *b = cache_find(path->pc[i]);
        EXPECT(b, 0, "the path has no block at 0x%llx", (unsigned long long)path->pc[i]);
        for (gaddr pc = b->pc; pc < b->pc + b->len; steps++) {
            EXPECT(steps < MAX_PATH, 0, "a path too long");
            if (!verify_read_insn(pc, &step[steps].in))
                return false;
            pc += step[steps].in.len;
            step[steps].last = pc >= b->pc + b->len;
            step[steps].next = pc;
        }
        step[steps - 1].next = i + 1 < path->count ? path->pc[i + 1] : 0;
    }
    const struct insn *last = &step[steps - 1].in;
    bool ticks = last->kind != INSN_PLAIN && ((last->kind != INSN_JMP && last->kind != INSN_JCC) ||
                                              (last->target == path->next && is_backward(last)));
    loop = path->next == path->pc[0] && ticks;
    if (loop)
        step[steps - 1].next = path->next;
    return true;
}

/* The literals are behind the code, which ends with the way out for an expired entry. */
static bool find_boundaries(void)
{
    struct decoded h;
    verify.code_len = verify_bytes();
    memset(verify.boundary, 0, sizeof verify.boundary);
    memset(verify.visited, 0, sizeof verify.visited);
    EXPECT(verify.code_len && verify.code_len <= MAX_HOST, 0, "%u bytes long", verify.code_len);
    for (uint32_t off = 0; off < verify.code_len; off += h.z.length) {
        if (!verify_decode(off, &h))
            return false;
        verify.boundary[off] = 1;
        if (h.z.mnemonic != ZYDIS_MNEMONIC_PUSH || h.op[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
            h.op[0].mem.base != ZYDIS_REGISTER_RIP || !verify_point_at(off))
            continue;
        int64_t at = verify_literal(&h);
        if (at > off && at < verify.code_len)
            verify.code_len = (uint32_t)at;
    }
    while (verify.code_len < verify_bytes() && verify.code_len &&
           *verify_at(verify.code_len - 1) == 0xcc)
        verify.code_len--;
    return true;
}

static bool check_points(void)
{
    for (int i = 0; i < verify.b->point_count; i++) {
        const struct fault_point *p = &verify.b->point[i];
        EXPECT(p->host_off < verify.code_len && verify.boundary[p->host_off] &&
                   (!i || p[-1].host_off < p->host_off),
               p->host_off, "fault point %d is out of place", i);
    }
    return true;
}

static bool walk_entry(struct walk w, uint32_t off)
{
    w.happened = 1;
    w.ticked = true;
    verify.stop = verify.b->plain_off;
    struct decoded h;
    uint32_t next = 0;
    bool ok = true;
    if (off == 0) { /* walk() takes 0 for an end */
        ok = verify_decode(0, &h);
        next = ok ? h.z.length : 0;
        verify.visited[0] = 1;
        ok = ok && run_added(&w, &h, &next);
    }
    ok = ok && walk(w, off ? off : next);
    verify.stop = 0;
    return ok;
}

static bool walk_all(void)
{
    struct walk plain = {.s = verify_start_state()}, indirect = plain;
    struct sim *s = &indirect.s;
    s->rax = s->guest[RAX];
    s->rcx = s->guest[RCX];
    s->flags = s->guest_flags;
    s->host[RAX] = verify_fresh();
    s->host[RCX] = verify_fresh();
    s->host_flags = verify_fresh();
    indirect.dropped = true; /* it does not take dead flags back */
    EXPECT(verify.b->tick_off > 0 && verify.b->tick_off < verify.b->plain_off &&
               verify.b->plain_off < verify.code_len && verify.boundary[verify.b->tick_off] &&
               verify.boundary[verify.b->plain_off],
           0, "entries out of order");
    return walk_entry(indirect, 0) && walk_entry(plain, verify.b->tick_off) &&
           walk(plain, verify.b->plain_off);
}

const char *verify_superblock(const struct block *b, const struct path *path,
                              const struct code_source *src, const struct translate_options *opt)
{
    verify_start(b, src, opt);
    bool ok = read_path(path) && find_boundaries() && check_points() && walk_all();
    for (uint32_t off = 0; ok && off < verify.code_len; off++)
        ok = !verify.boundary[off] || verify.visited[off] || FAIL(off, "never reached");
    return ok ? NULL : verify.why;
}
