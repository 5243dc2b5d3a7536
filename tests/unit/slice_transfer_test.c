/* slice_transfer_test.c - what a block does to what is wanted, against instruction by instruction.
 *
 * SPDX-License-Identifier: MIT
 *
 * The other way is defuse.h's rule, taken literally: an instruction that defines something wanted
 * is in the slice; then what it defines is no longer wanted, but what may have been kept of it is,
 * and what it uses. Memory is a flag for each byte.
 */
#include "slicer/walk/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"
#include "trace/index.h"

enum { BASE = 0x5000, BYTES = 0x80, CONSTANT = 0x60 }; /* memory; from CONSTANT on it is constant */

struct naive {
    struct loc_set reg;
    bool memory[BYTES];
    uint64_t taken;
};

struct tested {
    struct trace_text *t;
    struct trace_index *index;
    struct transfer_options how;
    struct transfer *transfer;
    struct trace_chunk chunk;
};

static bool is_constant(void *ctx, gaddr addr, uint64_t bytes)
{
    (void)ctx;
    (void)bytes;
    return addr >= BASE + CONSTANT;
}

static void tested_init(struct tested *x, const char *text, struct transfer_options how)
{
    struct err err;
    *x = (struct tested){.t = trace_text_new(text), .how = how};
    x->index = trace_index_new(trace_text_trace(x->t), NULL, &err);
    assert_non_null(x->index);
    x->how.code = trace_code(trace_text_trace(x->t));
    x->how.constant = is_constant;
    x->transfer = transfer_new(&x->how);
    assert_non_null(x->transfer);
    assert_int_equal(trace_read(trace_text_trace(x->t), 0, &x->chunk, &err), 0);
}

static void tested_deinit(struct tested *x)
{
    trace_chunk_deinit(&x->chunk);
    transfer_free(x->transfer);
    trace_index_free(x->index);
    trace_text_free(x->t);
}

static struct transfer_block *block_of(struct tested *x, const struct trace_step *s)
{
    struct err err;
    const struct code_block *b = code_block(x->how.code, s->block);
    struct transfer_block *found = transfer_find(x->transfer, b->number, b->pc);
    const struct cfg_function *f = cfg_function(x->index->cfg, b->pc, &err);
    if (!found)
        found = transfer_add(x->transfer, b, b->pc, f, 0);
    assert_true(f && found);
    return found;
}

/* ---- instruction by instruction ---- */

static bool any_defined(const struct naive *n, const struct defuse *du)
{
    for (unsigned k = 0; k < du->defs; k++)
        for (unsigned i = 0; i < du->def[k].count; i++)
            if (loc_set_has(&n->reg, du->def[k].first + i))
                return true;
    return false;
}

/* The bytes of an access that are wanted; they are made so, or not so, or left alone. */
static bool each_byte(struct naive *n, gaddr addr, unsigned bytes, int set)
{
    bool any = false;
    for (gaddr at = addr; at < addr + bytes; at++) {
        assert_true(at >= BASE && at < BASE + BYTES);
        any |= n->memory[at - BASE];
        if (set >= 0)
            n->memory[at - BASE] = set;
    }
    return any;
}

static void naive_registers(const struct tested *x, struct naive *n, const struct defuse *du)
{
    struct loc_set old = n->reg;
    for (unsigned k = 0; k < du->defs; k++)
        loc_set_remove(&n->reg, du->def[k].first, du->def[k].count);
    for (unsigned k = 0; k < du->uses; k++)
        for (unsigned i = 0; i < du->use[k].count; i++) {
            unsigned loc = du->use[k].first + i;
            if (du->use[k].kind == DEFUSE_KEPT    ? loc_set_has(&old, loc)
                : du->use[k].kind == DEFUSE_VALUE ? true
                                                  : x->how.addresses)
                loc_set_add(&n->reg, loc, 1);
        }
}

static void naive_insn(const struct tested *x, struct naive *n, const struct code_block *b,
                       unsigned i, const uint64_t *values, bool take)
{
    const struct defuse *du = code_defuse(x->how.code, b, i, 0, values);
    const struct plan_access *a = &b->access[b->insn[i].access_at];
    assert_non_null(du);
    take |= any_defined(n, du);
    for (unsigned k = 0; k < du->accesses; k++)
        if (du->access[k].at.write)
            take |= each_byte(n, code_address(&a[k], values), a[k].mem.bytes, -1);
    if (!take)
        return;
    n->taken |= 1ull << i;
    naive_registers(x, n, du);
    for (unsigned k = 0; k < du->accesses; k++)
        if (du->access[k].at.write && !du->access[k].may)
            each_byte(n, code_address(&a[k], values), a[k].mem.bytes, 0);
    for (unsigned k = 0; k < du->accesses; k++)
        if (du->access[k].at.read && !is_constant(NULL, code_address(&a[k], values), 0))
            each_byte(n, code_address(&a[k], values), a[k].mem.bytes, 1);
}

/* ---- both, compared ---- */

static void same(const struct naive *n, const struct loc_set *reg, struct wanted *memory,
                 uint64_t taken, const char *when)
{
    if (n->taken != taken)
        fail_msg("%s: takes %llx, not %llx", when, (unsigned long long)taken,
                 (unsigned long long)n->taken);
    if (memcmp(&n->reg, reg, sizeof *reg) != 0)
        fail_msg("%s: other locations are wanted", when);
    for (unsigned i = 0; i < BYTES; i++)
        if (wanted_any(memory, BASE + i, 1) != n->memory[i])
            fail_msg("%s: byte %x is wanted: %d", when, i, !n->memory[i]);
}

/* Walks over the step backwards in both ways, from what `n` wants. How many are in the slice? */
static unsigned compare(struct tested *x, const struct trace_step *s, struct naive *n, bool take,
                        const char *when)
{
    struct transfer_block *t = block_of(x, s);
    const uint64_t *values = x->chunk.value + s->value_at;
    struct wanted memory = {0};
    struct loc_set reg = n->reg;
    uint64_t taken = 0;
    bool any = false;
    for (unsigned i = 0; i < BYTES; i++)
        if (n->memory[i])
            assert_true(wanted_add(&memory, BASE + i, 1));
    bool matters = transfer_matters(t, &reg, &memory, values) || take;
    for (unsigned k = t->pieces; k-- > 0;) {
        struct transfer_piece *p = &t->piece[k];
        bool last = take && p->end == t->b->insns;
        for (unsigned i = p->end; i-- > p->first;)
            naive_insn(x, n, t->b, i, values, last && i == p->end - 1u);
        if (p->simple) {
            assert_true(transfer_run(x->transfer, t, p, last, values, &reg, &memory, &taken));
            any = true;
            same(n, &reg, &memory, taken, when);
            continue;
        }
        /* It is the caller's work: go on from what is right. */
        reg = n->reg;
        taken = n->taken;
        for (unsigned i = 0; i < BYTES; i++) {
            wanted_take(&memory, BASE + i, 1);
            if (n->memory[i])
                assert_true(wanted_add(&memory, BASE + i, 1));
        }
    }
    if (n->taken && !matters)
        fail_msg("%s: it was said not to matter", when);
    assert_true(any || x->how.nothing_simple || !x->how.keep_saves);
    wanted_deinit(&memory);
    return (unsigned)__builtin_popcountll(n->taken);
}

/* ---- one by one ---- */

/* The slice of a location behind the one step of the text: a bit for each instruction. */
static uint64_t slice_of(const char *text, unsigned loc, unsigned count, bool addresses)
{
    struct tested x;
    struct naive n = {0};
    tested_init(&x, text, (struct transfer_options){.addresses = addresses, .keep_saves = true});
    loc_set_add(&n.reg, loc, count);
    compare(&x, &x.chunk.step[0], &n, false, text);
    tested_deinit(&x);
    return n.taken;
}

static void values_are_followed(void **state)
{
    (void)state;
    const char *text = "block a 1000: mov eax,1; mov rbx,rax; xor eax,eax; jmp rax\n"
                       "thread 1 a\n a\n";
    assert_int_equal(slice_of(text, loc_gpr(RBX), 8, true), 1 << 1 | 1 << 0);
    assert_int_equal(slice_of(text, loc_gpr(RAX), 8, true), 1 << 2);
    assert_int_equal(slice_of(text, loc_gpr(RCX), 8, true), 0);
}

static void parts_of_registers_are_apart(void **state)
{
    (void)state;
    const char *text = "block a 1000: xor eax,eax; mov al,1; nop; jmp rax\nthread 1 a\n a\n";
    assert_int_equal(slice_of(text, loc_gpr(RAX), 1, true), 1 << 1);
    assert_int_equal(slice_of(text, loc_gpr(RAX) + 1, 1, true), 1 << 0);
    assert_int_equal(slice_of(text, loc_gpr(RAX), 8, true), 1 << 0 | 1 << 1);
}

static void memory_is_followed_by_its_bytes(void **state)
{
    (void)state;
    const char *text = "block a 1000: mov [rsi+2],al; mov [rdi],rax; mov rax,[rsi]; jmp rax\n"
                       "thread 1 a\n a rsi=5000 rdi=%x\n";
    char apart[256], over[256];
    snprintf(apart, sizeof apart, text, 0x5008);
    snprintf(over, sizeof over, text, 0x5000);
    assert_int_equal(slice_of(apart, loc_gpr(RAX), 8, false), 1 << 2 | 1 << 0);
    assert_int_equal(slice_of(over, loc_gpr(RAX), 8, false), 1 << 2 | 1 << 1);
}

static void addresses_count_if_asked_for(void **state)
{
    (void)state;
    struct tested x;
    for (int addresses = 0; addresses < 2; addresses++) {
        struct naive n = {0};
        tested_init(&x, "block a 1000: mov rax,[rdi]; jmp rax\nthread 1 a\n a rdi=5010\n",
                    (struct transfer_options){.addresses = addresses});
        loc_set_add(&n.reg, loc_gpr(RAX), 8);
        assert_int_equal(compare(&x, &x.chunk.step[0], &n, false, "addresses"), 1);
        assert_int_equal(loc_set_has(&n.reg, loc_gpr(RDI)), addresses);
        assert_true(n.memory[0x10]);
        tested_deinit(&x);
    }
}

/* ---- at random ---- */

enum { BLOCKS = 24, STEPS_EACH = 6, QUESTIONS = 24, INSNS = 24, SEEDS = 6 };

static void make_random(struct random_text *r)
{
    bool plain;
    unsigned insns = 0;
    while (trace_text_insn(insns, &plain))
        insns++;
    for (unsigned b = 0; b < BLOCKS; b++) {
        random_text_put(r, "block b%u %x: ", b, 0x1000 * (b + 1));
        for (unsigned i = 1 + random_text_below(r, INSNS); i > 0;) {
            const char *text = trace_text_insn(random_text_below(r, insns), &plain);
            if (plain)
                random_text_put(r, "%s; ", text);
            i -= plain;
        }
        random_text_put(r, "jmp rax\n");
    }
    random_text_put(r, "thread 1 b0\n");
    for (unsigned i = 0; i < BLOCKS * STEPS_EACH; i++)
        random_text_put(r, "b%u rdi=%x rsi=%x rsp=%x\n", i % BLOCKS,
                        BASE + random_text_below(r, 0x60), BASE + random_text_below(r, 0x60),
                        BASE + random_text_below(r, 0x60));
}

static void want_some(struct random_text *r, struct naive *n)
{
    static const unsigned locs[] = {LOC_GPR, LOC_GPR + 8, LOC_GPR + 3 * 8, LOC_GPR + 6 * 8,
                                    LOC_CF,  LOC_ZF,      LOC_VEC,         LOC_VEC + LOC_VEC_BYTES};
    unsigned registers = random_text_below(r, 4), bytes = random_text_below(r, 5);
    memset(n, 0, sizeof *n);
    for (unsigned i = 0; i < registers; i++)
        loc_set_add(&n->reg, locs[random_text_below(r, sizeof locs / sizeof *locs)],
                    1 + random_text_below(r, 8));
    for (unsigned i = 0; i < bytes; i++)
        n->memory[random_text_below(r, BYTES)] = true;
}

static void blocks_at_random_do_what_their_instructions_do(void **state)
{
    (void)state;
    struct random_text *r = calloc(1, sizeof *r);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct tested x;
        unsigned taken = 0;
        *r = (struct random_text){.seed = seed};
        make_random(r);
        tested_init(&x, r->text,
                    (struct transfer_options){.addresses = seed % 2,
                                              .keep_saves = seed % 3,
                                              .most_bytes = seed % 4 ? 0 : 1 << 12});
        for (unsigned i = 0; i < BLOCKS * STEPS_EACH; i++)
            for (unsigned q = 0; q < QUESTIONS; q++) {
                char when[64];
                struct naive n;
                snprintf(when, sizeof when, "seed %d, step %u, question %u", (int)seed, i, q);
                want_some(r, &n);
                taken += compare(&x, &x.chunk.step[i], &n, random_text_below(r, 4) == 0, when);
            }
        assert_true(taken > BLOCKS * STEPS_EACH * QUESTIONS);
        tested_deinit(&x);
    }
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_followed),
        cmocka_unit_test(parts_of_registers_are_apart),
        cmocka_unit_test(memory_is_followed_by_its_bytes),
        cmocka_unit_test(addresses_count_if_asked_for),
        cmocka_unit_test(blocks_at_random_do_what_their_instructions_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
