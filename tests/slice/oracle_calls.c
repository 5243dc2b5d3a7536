/* oracle_calls.c - what the kernel does: system calls, signals, threads.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/slicing.md, the exceptions of "Data". Choices where the text leaves one:
 * - "x87 registers" are the eight with their tags; control and status words are none.
 * - A signal's frame is written memory: what was saved there is saved no more.
 */
#include <cpuid.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/slice/oracle_int.h"

/* struct rt_sigframe, from its return address on. */
enum {
    PLACES_AT = 8 + 40,
    PLACE_FLAGS = 17,
    FLAGS_BYTES = 4,
    STATE_XMM_AT = 160,
    /* parts, as cpuid numbers them */
    STATE_YMM = 2,
    STATE_MASKS = 5,
    STATE_ZMM = 6,
    STATE_ZMM16 = 7,
};

static const uint8_t place_reg[] = {R8,  R9,  R10, R11, R12, R13, R14, R15,
                                    RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP};

static const uint16_t flag_locs[] = {LOC_CF, LOC_PF, LOC_AF, LOC_ZF, LOC_SF, LOC_OF, LOC_DF};

/* ---- system calls ---- */

static void sigreturn(struct oracle *o, struct othread *t, gaddr frame);

static void use_ranges(struct oracle *o, const struct flow_range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].how == FLOW_READ && !(i + 1 < n && r[i + 1].how == FLOW_MOVE))
            oracle_use_memory(o, r[i].addr, r[i].bytes);
}

static void move_range(struct oracle *o, gaddr to, gaddr from, uint64_t bytes, uint32_t node)
{
    gaddr *of = oracle_zeros(bytes + 1, sizeof *of);
    for (uint64_t i = 0; i < bytes; i++)
        of[i] = from + i;
    oracle_copy(o, to, of, bytes, node + 1);
    free(of);
}

static void define_ranges(struct oracle *o, const struct flow_range *r, size_t n, uint32_t node)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].how == FLOW_WRITE)
            oracle_write(o, r[i].addr, r[i].bytes, node, false);
        else if (r[i].how == FLOW_MOVE && i > 0)
            move_range(o, r[i].addr, r[i - 1].addr, r[i].bytes, node);
}

/* The call's number, and its arguments: as many as it has. */
static void use_arguments(struct oracle *o, const struct othread *t, int64_t nr)
{
    static const uint8_t order[] = {RAX, RDI, RSI, RDX, R10, R8, R9};
    unsigned args = 6;
    switch (nr) {
#define SYSCALL(number, name, count, ...)                                                          \
    case number:                                                                                   \
        args = count;                                                                              \
        break;
#include "engine/os/syscalls.def"
#undef SYSCALL
    default:
        break;
    }
    for (unsigned i = 0; i <= args; i++)
        for (unsigned k = 0; k < LOC_GPR_BYTES; k++)
            if (!oracle_pruned(o, false, loc_gpr(order[i]) + k))
                oracle_use(o, t->reg[loc_gpr(order[i]) + k], DEFUSE_VALUE);
}

void oracle_call(struct oracle *o, struct othread *t, const struct flow_call *note)
{
    struct calling c = t->calling;
    size_t ranges = (note->note.bytes - sizeof *note) / sizeof note->range[0];
    t->calling.is = false;
    if (note->nr == SYS_rt_sigreturn) {
        sigreturn(o, t, note->frame);
        oracle_frames_sigreturn(&t->stack, note->frame);
        return;
    }
    if (!c.is)
        return;
    const struct defuse *d = code_defuse(o->code, c.block, c.block->insns - 1u, c.flags, c.value);
    use_arguments(o, t, note->nr);
    use_ranges(o, note->range, ranges);
    oracle_define_registers(o, t, d, c.node, NULL);
    define_ranges(o, note->range, ranges, c.node);
}

/* ---- threads ---- */

static struct othread *thread_numbered(struct oracle *o, uint32_t number)
{
    for (uint32_t i = 0; i < o->threads; i++)
        if (trace_thread(o->trace, i) == number)
            return &o->thread[i];
    return NULL;
}

void oracle_begin(struct oracle *o, const struct flow_begin *note)
{
    struct othread *child = thread_numbered(o, note->thread);
    const struct othread *parent = thread_numbered(o, note->parent);
    if (!child || !parent)
        return;
    source by = parent->calling.is ? parent->calling.node + 1 : 0;
    static const uint8_t own[] = {RAX, RSP, RCX, R11};
    memcpy(child->reg, parent->reg, sizeof child->reg);
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        for (unsigned k = 0; k < LOC_GPR_BYTES; k++)
            child->reg[loc_gpr(own[i]) + k] = by;
    child->reg[LOC_FS_BASE] = by;
    child->stack.made_by = by;
}

/* ---- signals ---- */

static source all_flags(struct oracle *o, const struct othread *t)
{
    source all = 0;
    for (size_t i = 0; i < ARRAY_LEN(flag_locs); i++)
        all = oracle_join(o, all, t->reg[flag_locs[i]]);
    return all;
}

/* Byte k of a part of the extended state, by its number; 0: the CPU has no such part. */
static unsigned part_at(unsigned part, unsigned k)
{
    static struct {
        bool known;
        unsigned bytes, at;
    } parts[STATE_ZMM16 + 1];
    unsigned c, d;
    if (!parts[part].known)
        __get_cpuid_count(0xd, part, &parts[part].bytes, &parts[part].at, &c, &d);
    parts[part].known = true;
    return k < parts[part].bytes ? parts[part].at + k : 0;
}

/* Byte k of vector register v. */
static unsigned vector_byte_at(unsigned v, unsigned k)
{
    if (v >= 16)
        return part_at(STATE_ZMM16, 64 * (v - 16) + k);
    if (k < 16)
        return STATE_XMM_AT + 16 * v + k;
    return k < 32 ? part_at(STATE_YMM, 16 * v + k - 16) : part_at(STATE_ZMM, 32 * v + k - 32);
}

/* Calls `f` for each place of a vector or mask register's bytes that lies before `end`. */
static void each_vector_byte(struct oracle *o, struct othread *t, gaddr fpstate, gaddr end,
                             void (*f)(struct oracle *o, struct othread *t, gaddr at, unsigned loc))
{
    for (unsigned loc = LOC_VEC; loc < LOC_X87; loc++) {
        unsigned at = loc < LOC_MASK ? vector_byte_at((loc - LOC_VEC) / LOC_VEC_BYTES,
                                                      (loc - LOC_VEC) % LOC_VEC_BYTES)
                                     : part_at(STATE_MASKS, loc - LOC_MASK);
        if (at && fpstate + at < end)
            f(o, t, fpstate + at, loc);
    }
}

static void vector_to_frame(struct oracle *o, struct othread *t, gaddr at, unsigned loc)
{
    oracle_shadow_set(o->memory, at, 1, t->reg[loc]);
}

static void vector_from_frame(struct oracle *o, struct othread *t, gaddr at, unsigned loc)
{
    t->reg[loc] = oracle_shadow_get(o->memory, at);
}

static void set_registers(struct othread *t, unsigned first, unsigned end, source what)
{
    for (unsigned loc = first; loc < end; loc++)
        t->reg[loc] = what;
}

void oracle_signal(struct oracle *o, struct othread *t, const struct flow_signal *note)
{
    static const uint8_t new[] = {RDI, RSI, RDX, RAX};
    ORACLE_PUSH(t->delivery, t->deliveries, t->delivery_room, (struct flow_signal *)note);
    oracle_shadow_disarm(o->memory, note->frame, note->end - note->frame);
    oracle_shadow_set(o->memory, note->frame, note->end - note->frame, 0);
    for (unsigned i = 0; i < ARRAY_LEN(place_reg); i++)
        for (unsigned k = 0; k < LOC_GPR_BYTES; k++)
            if (place_reg[i] != RSP)
                oracle_shadow_set(o->memory, note->frame + PLACES_AT + 8 * i + k, 1,
                                  t->reg[loc_gpr(place_reg[i]) + k]);
    oracle_shadow_set(o->memory, note->frame + PLACES_AT + 8 * PLACE_FLAGS, FLAGS_BYTES,
                      all_flags(o, t));
    if (note->fpstate)
        each_vector_byte(o, t, note->fpstate, note->end, vector_to_frame);
    for (size_t i = 0; i < ARRAY_LEN(new); i++)
        set_registers(t, loc_gpr(new[i]), loc_gpr(new[i]) + LOC_GPR_BYTES, 0);
    set_registers(t, LOC_DF, LOC_DF + 1, 0);
    set_registers(t, LOC_VEC, LOC_CF, 0);
    oracle_frames_signal(o, &t->stack, note);
}

static void sigreturn(struct oracle *o, struct othread *t, gaddr frame)
{
    const struct flow_signal *told = NULL;
    source flags = 0;
    for (size_t i = t->deliveries; i > 0 && !told; i--)
        if (t->delivery[i - 1]->frame == frame)
            told = t->delivery[i - 1];
    set_registers(t, 0, LOC_COUNT, 0);
    for (unsigned i = 0; i < ARRAY_LEN(place_reg); i++)
        for (unsigned k = 0; k < LOC_GPR_BYTES; k++)
            if (place_reg[i] != RSP)
                t->reg[loc_gpr(place_reg[i]) + k] =
                    oracle_shadow_get(o->memory, frame + PLACES_AT + 8 * i + k);
    for (unsigned k = 0; k < FLAGS_BYTES; k++)
        flags = oracle_join(o, flags,
                            oracle_shadow_get(o->memory, frame + PLACES_AT + 8 * PLACE_FLAGS + k));
    for (size_t i = 0; i < ARRAY_LEN(flag_locs); i++)
        t->reg[flag_locs[i]] = flags;
    if (told && told->fpstate)
        each_vector_byte(o, t, told->fpstate, told->end, vector_from_frame);
}
