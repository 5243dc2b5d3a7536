/* cfg_random_test.c - trace/graph/cfg on random code, compared with the rules taken literally.
 *
 * SPDX-License-Identifier: MIT
 *
 * An emitter makes code of up to 60 instructions and notes what each of them is; it never asks the
 * decoder. From the notes, a graph of single instructions is made by cfg.h's rules, and everything
 * about post-dominators is computed by definition. All answers of trace/graph/cfg must be the same.
 * Instructions that lie inside others (a second way to read the bytes) are notes of their own. With
 * DRDEBUG_SOAK more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/cfg_support.h"
#include "tests/unit/unit.h"

enum { INSNS = 60, NOTES = 2 * INSNS + 1, TARGETS = 5, BASE = 0x400000, CALLEE = 0x500000 };

enum what { PLAIN, EMULATED, JMP, JCC, CALL, INDIRECT_CALL, SYSCALL, SWITCH, END };

struct note {
    gaddr pc;
    int len;
    enum what what;
    bool stays;                   /* calls */
    int targets, target[TARGETS]; /* notes */
    /* The graph. */
    bool reached, entry, more_exit;
};

static struct note notes[NOTES];
static int note_count;
static uint8_t bytes[INSNS * 8];
static int size;
static uint64_t seed;

static unsigned rnd(unsigned below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 20) % below;
}

static struct note *emit(enum what what, const void *code, int len)
{
    struct note *n = &notes[note_count++];
    *n = (struct note){.pc = BASE + (gaddr)size, .len = len, .what = what};
    memcpy(bytes + size, code, (size_t)len);
    size += len;
    return n;
}

/* Bytes that mean something else from the second one on. */
static void emit_double(void)
{
    static const struct {
        const char *code;
        enum what inside;
    } forms[] = {
        {"\x3c\x90", PLAIN},     /* cmp al, 0x90; nop */
        {"\x3c\xc3", END},       /* cmp al, 0xc3; ret */
        {"\xf0\xff\x00", PLAIN}, /* lock inc [rax]; inc [rax] */
    };
    unsigned k = rnd(3);
    int len = k == 2 ? 3 : 2;
    struct note *n = emit(PLAIN, forms[k].code, len);
    notes[note_count++] = (struct note){.pc = n->pc + 1, .len = len - 1, .what = forms[k].inside};
}

static void emit_end(void)
{
    static const struct {
        const char *code;
        int len;
    } ends[] = {{"\xc3", 1},     {"\xc3", 1},     {"\xc2\x08\0", 3},  {"\x0f\x0b", 2},
                {"\xcc", 1},     {"\xf4", 1},     {"\xcb", 1},        {"\x06", 1},
                {"\x48\xcf", 2}, {"\xff\x28", 2}, {"\x66\xe9\0\0", 4}};
    unsigned k = rnd(ARRAY_LEN(ends));
    emit(END, ends[k].code, ends[k].len);
}

static void emit_call(void)
{
    static const char direct[5] = "\xe8";
    unsigned k = rnd(4);
    struct note *n = k == 0   ? emit(SYSCALL, "\x0f\x05", 2)
                     : k == 1 ? emit(INDIRECT_CALL, "\xff\xd0", 2)
                              : emit(CALL, direct, 5);
    n->stays = rnd(8) == 0;
}

/* Transfers get their targets later. Short ones have one byte for it, long ones four. */
static void emit_transfer(void)
{
    static const char short_form[][2] = {"\x74", "\x75", "\xe3", "\xe2", "\xe0", "\x7f", "\xeb"};
    static const char long_form[][6] = {"\x0f\x84", "\x0f\x8f", "\xe9"};
    unsigned k;
    switch (rnd(8)) {
    case 0:
    case 1:
        k = rnd(3);
        emit(k == 2 ? JMP : JCC, long_form[k], k == 2 ? 5 : 6);
        break;
    case 2:
        emit(SWITCH, "\xff\xe0", 2);
        break;
    default:
        k = rnd(7);
        emit(k == 6 ? JMP : JCC, short_form[k], 2);
    }
}

static void emit_plain(void)
{
    static const struct {
        const char *code;
        int len;
    } plain[] = {{"\x90", 1}, {"\xff\xc0", 2}, {"\x48\x01\xd8", 3}, {"\xb8\x01\0\0\0", 5}};
    unsigned k = rnd(5);
    if (k == 4)
        emit(EMULATED, rnd(2) ? "\x0f\xa2" : "\xcd\x80", 2); /* cpuid, int 0x80 */
    else
        emit(PLAIN, plain[k].code, plain[k].len);
}

static bool is_short(const struct note *n)
{
    return (n->what == JMP || n->what == JCC) && n->len == 2;
}

/* Real code has short edges, forward mostly. */
static int draw_target(int from, bool near)
{
    int to = from - 2 + (int)rnd(10);
    return near && to >= 0 && to < note_count ? to : (int)rnd((unsigned)note_count);
}

static void choose_targets(struct note *n, bool near)
{
    n->targets =
        n->what == SWITCH ? (int)(rnd(8) ? 1 + rnd(TARGETS) : 0) : n->what == JMP || n->what == JCC;
    for (int i = 0; i < n->targets; i++) {
        int64_t distance;
        do {
            n->target[i] = draw_target((int)(n - notes), near);
            distance = (int64_t)(notes[n->target[i]].pc - n->pc) - n->len;
        } while (is_short(n) && (distance < -128 || distance > 127));
        if (n->what != SWITCH)
            memcpy(bytes + (n->pc - BASE) + n->len - (is_short(n) ? 1 : 4), &distance,
                   is_short(n) ? 1 : 4);
    }
}

/* The numbers of calls' targets tell whether they return. */
static void set_callee(struct note *n)
{
    int32_t distance = (int32_t)(CALLEE + (rnd(2) && n->stays) - n->pc) - n->len;
    memcpy(bytes + (n->pc - BASE) + 1, &distance, 4);
}

static void make_code(void)
{
    unsigned insns = rnd(2) ? INSNS : 1 + rnd(INSNS), plain = rnd(12), rest = 2 + rnd(8);
    bool near = rnd(3) > 0;
    note_count = size = 0;
    for (unsigned i = 0; i < insns; i++) {
        unsigned k = rnd(plain + rest);
        if (k < plain)
            emit_plain();
        else if (k == plain)
            rnd(3) ? emit_call() : emit_double();
        else if (k == plain + 1)
            rnd(4) ? emit_call() : emit_end();
        else
            emit_transfer();
    }
    /* The code ends: there can nothing be read, or only part of an instruction. */
    notes[note_count++] = (struct note){.pc = BASE + (gaddr)size, .len = 1, .what = END};
    if (rnd(2))
        bytes[size++] = 0x0f;
    unsigned entries = rnd(3) ? 0 : 1 + rnd(4);
    for (int i = 0; i < note_count; i++) {
        choose_targets(&notes[i], near);
        if (notes[i].what == CALL)
            set_callee(&notes[i]);
        notes[i].entry = rnd(40) < entries;
    }
}

/* What the program's callbacks say. */
static gaddr entry_list[NOTES + 1], stays_list[NOTES + 1], target_list[NOTES][TARGETS];
static struct cfg_jump jump_list[NOTES + 1];

static int by_value(const void *a, const void *b)
{
    gaddr x = *(const gaddr *)a, y = *(const gaddr *)b;
    return (x > y) - (x < y);
}

static struct cfg_code make_program(void)
{
    size_t entries = 0, stays = 0, jumps = 0;
    for (int i = 0; i < note_count; i++) {
        const struct note *n = &notes[i];
        int32_t distance;
        memcpy(&distance, bytes + (n->pc - BASE) + 1, 4);
        bool callee_stays = n->what == CALL && n->pc + 5 + (gaddr)(int64_t)distance == CALLEE + 1;
        if (n->entry)
            entry_list[entries++] = n->pc;
        if (n->stays && !callee_stays)
            stays_list[stays++] = n->pc;
        if (n->what != SWITCH)
            continue;
        for (int k = 0; k < n->targets; k++)
            target_list[i][k] = notes[n->target[k]].pc;
        qsort(target_list[i], (size_t)n->targets, sizeof(gaddr), by_value);
        jump_list[jumps++] = (struct cfg_jump){n->pc, (size_t)n->targets, target_list[i]};
    }
    entry_list[entries] = stays_list[stays] = jump_list[jumps].pc = 0;
    static const gaddr no_return[] = {CALLEE + 1, 0};
    return (struct cfg_code){.base = BASE,
                             .bytes = bytes,
                             .size = (size_t)size,
                             .entries = entry_list,
                             .stays = stays_list,
                             .no_return = no_return,
                             .jumps = jump_list};
}

/* The graph by the rules. Edges to notes that are other entries are already edges to the exit. */
static uint32_t graph_at[NOTES + 1];
static int32_t graph_succ[NOTES * (TARGETS + 2)];
static struct cfg_naive graph = {.at = graph_at, .succ = graph_succ};
static bool postdom[NOTES * NOTES];

static int note_at(gaddr pc)
{
    for (int i = 0; i < note_count; i++)
        if (notes[i].pc == pc)
            return i;
    fail_msg("no instruction at %llx", (unsigned long long)pc);
    return -1;
}

/* Returns the number of edges, each once. */
static int edges_of(int at, int entry, int32_t *out)
{
    const struct note *n = &notes[at];
    int ends[TARGETS + 2], count = 0, different = 0;
    bool call = n->what == CALL || n->what == INDIRECT_CALL || n->what == SYSCALL;
    if (n->what == PLAIN || n->what == EMULATED || n->what == JCC || (call && !n->stays))
        ends[count++] = note_at(n->pc + (gaddr)n->len);
    for (int i = 0; i < n->targets; i++)
        ends[count++] = n->target[i];
    if (count == 0 || n->more_exit)
        ends[count++] = CFG_EXIT;
    for (int i = 0; i < count; i++) {
        bool known = false;
        int to = ends[i] >= 0 && notes[ends[i]].entry && ends[i] != entry ? CFG_EXIT : ends[i];
        for (int k = 0; k < different; k++)
            known |= out[k] == to;
        if (!known)
            out[different++] = to;
    }
    return different;
}

static void make_graph(int entry)
{
    uint32_t edges = 0;
    graph.nodes = (uint32_t)note_count;
    for (int i = 0; i < note_count; i++) {
        graph_at[i] = edges;
        edges += (uint32_t)edges_of(i, entry, graph_succ + edges);
    }
    graph_at[note_count] = edges;
}

static void reach(int entry)
{
    for (int i = 0; i < note_count; i++)
        notes[i].reached = i == entry;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < note_count; i++)
            for (uint32_t k = graph_at[i]; notes[i].reached && k < graph_at[i + 1]; k++)
                if (graph_succ[k] != CFG_EXIT && !notes[graph_succ[k]].reached)
                    changed = notes[graph_succ[k]].reached = true;
    }
}

/* Rule 3, as it is written. */
static void open_loops(int entry)
{
    bool reaches[NOTES];
    for (;;) {
        int highest = -1;
        cfg_naive_reaches(&graph, -1, reaches);
        for (int i = 0; i < note_count; i++)
            if (notes[i].reached && !reaches[i] && (highest < 0 || notes[i].pc > notes[highest].pc))
                highest = i;
        if (highest < 0)
            return;
        notes[highest].more_exit = true;
        make_graph(entry);
    }
}

static bool is_postdom(int m, int n)
{
    return postdom[(size_t)m * graph.nodes + (size_t)n];
}

static void model(int entry)
{
    for (int i = 0; i < note_count; i++)
        notes[i].more_exit = false;
    make_graph(entry);
    reach(entry);
    open_loops(entry);
    cfg_naive_postdominators(&graph, postdom);
}

static int block_of[NOTES];

/* Instructions and how they are put into blocks. */
static void check_blocks(const struct cfg_function *f)
{
    uint32_t count = 0;
    for (int i = 0; i < note_count; i++) {
        block_of[i] = cfg_block_of(f, notes[i].pc);
        assert_int_equal(block_of[i] != CFG_NONE, notes[i].reached);
        count += notes[i].reached;
    }
    assert_int_equal(cfg_insn_count(f), count);
    for (gaddr pc = BASE - 2; pc < BASE + (gaddr)size + 2; pc++) {
        int at = note_count;
        while (at-- > 0 && notes[at].pc != pc)
            ;
        if (at < 0)
            assert_int_equal(cfg_block_of(f, pc), CFG_NONE);
    }
    for (uint32_t b = 0; b < cfg_block_count(f); b++) {
        const struct cfg_block *block = cfg_block(f, (int32_t)b);
        int at = note_at(block->first);
        for (uint32_t i = 1; i < block->insns; i++) {
            assert_int_equal(block_of[at], b);
            assert_int_equal(graph_at[at + 1] - graph_at[at], 1);
            at = graph_succ[graph_at[at]];
        }
        assert_int_equal(notes[at].pc, block->last);
        assert_int_equal(block_of[at], b);
        count -= block->insns;
    }
    assert_int_equal(count, 0);
}

static void check_successors(const struct cfg_function *f, const struct cfg_block *block, int last)
{
    uint32_t succs = 0;
    bool exits = false;
    const int32_t *list = cfg_successors(f, block_of[last]);
    for (uint32_t i = graph_at[last]; i < graph_at[last + 1]; i++) {
        uint32_t k = 0;
        if (graph_succ[i] == CFG_EXIT) {
            exits = true;
            continue;
        }
        while (k < block->succs && list[k] != block_of[graph_succ[i]])
            k++;
        assert_in_range(k, 0, block->succs - 1);
        assert_int_equal(cfg_block(f, list[k])->first, notes[graph_succ[i]].pc);
        succs++;
    }
    for (uint32_t k = 1; k < block->succs; k++)
        assert_true(list[k - 1] < list[k]);
    assert_int_equal(block->succs, succs);
    assert_int_equal(block->exits, exits);
    assert_int_equal(cfg_is_branch(block), succs + exits >= 2);
}

/* m post-dominates n strictly, by the blocks' tree. Within a block: what comes later. */
static bool by_blocks(const struct cfg_function *f, int m, int n)
{
    if (block_of[m] == block_of[n])
        return notes[m].pc > notes[n].pc;
    return cfg_postdominates(f, block_of[m], block_of[n]);
}

static void check_depends(const struct cfg_function *f, int b)
{
    for (uint32_t e = graph_at[b]; e < graph_at[b + 1]; e++) {
        int x = graph_succ[e];
        bool on_path[NOTES] = {false};
        int32_t to = x == CFG_EXIT ? CFG_EXIT : block_of[x];
        for (int32_t s = to; s != CFG_EXIT && s != cfg_block(f, block_of[b])->ipdom;
             s = cfg_block(f, s)->ipdom)
            on_path[s] = true;
        for (int s = 0; s < note_count; s++) {
            if (!notes[s].reached)
                continue;
            bool want = x != CFG_EXIT && is_postdom(s, x) && (s == b || !is_postdom(s, b));
            assert_int_equal(cfg_depends(f, block_of[s], block_of[b], to), want);
            assert_int_equal(on_path[block_of[s]], want);
        }
    }
}

static void check_function(const struct cfg_function *f)
{
    check_blocks(f);
    for (int n = 0; n < note_count; n++) {
        if (!notes[n].reached)
            continue;
        const struct cfg_block *block = cfg_block(f, block_of[n]);
        for (int m = 0; m < note_count; m++)
            if (notes[m].reached)
                assert_int_equal(by_blocks(f, m, n), m != n && is_postdom(m, n));
        if (block->last != notes[n].pc)
            continue;
        check_successors(f, block, n);
        check_depends(f, n);
        /* The immediate one is a strict one that all others post-dominate. */
        int ipdom = block->ipdom == CFG_EXIT ? -1 : note_at(cfg_block(f, block->ipdom)->first);
        for (int m = 0; m < note_count; m++)
            if (m != n && notes[m].reached && is_postdom(m, n))
                assert_true(ipdom >= 0 && is_postdom(m, ipdom));
        assert_true(ipdom < 0 || (ipdom != n && is_postdom(ipdom, n)));
    }
}

static struct {
    unsigned long long number, functions, insns, blocks, branches, joined;
} done;

static void count(const struct cfg_function *f)
{
    done.functions++;
    done.insns += cfg_insn_count(f);
    done.blocks += cfg_block_count(f);
    for (uint32_t b = 0; b < cfg_block_count(f); b++) {
        const struct cfg_block *block = cfg_block(f, (int32_t)b);
        done.branches += cfg_is_branch(block);
        done.joined += cfg_is_branch(block) && block->ipdom != CFG_EXIT;
    }
}

static void random_code_obeys_the_rules(void **state)
{
    (void)state;
    bool soak = getenv("DRDEBUG_SOAK");
    unsigned long long first = soak ? (unsigned long long)time(NULL) << 20 : 1;
    unsigned long long end = first + (soak ? 500000 : 4000);
    for (done.number = first; done.number < end; done.number++) {
        seed = done.number * 0x9e3779b97f4a7c15ull | 1;
        make_code();
        struct cfg_code code = make_program();
        struct cfg *cfg = cfg_support_new(&code);
        for (int k = 0; k < 2; k++) {
            int entry = k ? (int)rnd((unsigned)note_count) : 0;
            const struct cfg_function *f = cfg_support_function(cfg, notes[entry].pc);
            model(entry);
            check_function(f);
            count(f);
        }
        cfg_free(cfg);
    }
}

static int report(void **state)
{
    (void)state;
    printf("up to number %llu: %llu functions, %llu instructions, %llu blocks; %llu "
           "branches, of which %llu join before the exit\n",
           done.number, done.functions, done.insns, done.blocks, done.branches, done.joined);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_code_obeys_the_rules, report)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
