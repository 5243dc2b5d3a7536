/* engine_superblock_test.c - engine/core/superblock.h: superblocks of hand-written paths and of
 * paths through real code, followed on paper by verify_superblock().
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "engine/core/superblock.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/engine.h"
#include "tests/unit/engine_support.h"
#include "tests/unit/engine_verify.h"
#include "tests/unit/unit.h"

static const gaddr LOW = 0x401000, HIGH = 0x7ffff7dd5000;

static struct translate_options options;
static struct path path;

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static int start(void **state)
{
    (void)state;
    options = (struct translate_options){.region = 1};
    support_code.check = false;
    engine.rorx = true;
    return 0;
}

static void use_code(gaddr pc, const uint8_t *code, size_t n)
{
    cache_kill_all();
    support_code.pc = pc;
    support_code.bytes = code;
    support_code.size = n;
}

static struct block *block_at(gaddr pc)
{
    gaddr fault;
    struct block *b = cache_find(pc);
    return b ? b : translate(pc, &support_source, &options, &fault);
}

/* The superblock of the path, or NULL when none is made. Every one that is made must be right. */
static struct block *make_path(void)
{
    for (int i = 0; i < path.count; i++)
        if (!block_at(path.pc[i]))
            return NULL;
    struct block *head = block_at(path.pc[0]);
    if (head->superblock || !superblock_make(head, &path, &support_source, &options))
        return NULL;
    return head->superblock;
}

/* Offsets from pc: the blocks of the path, and as the last one where it goes on. */
static struct block *make(gaddr pc, const uint8_t *code, size_t n, int count, const int *off)
{
    use_code(pc, code, n);
    path.count = count - 1;
    for (int i = 0; i < count - 1; i++)
        path.pc[i] = pc + (gaddr)off[i];
    path.next = pc + (gaddr)off[count - 1];
    struct block *t = make_path();
    assert_non_null(t);
    const char *wrong = verify_superblock(t, &path, &support_source, &options);
    if (wrong)
        fail_msg("%s", wrong);
    return t;
}

#define PATH(...)                                                                                  \
    (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), (const int[])                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static int exits_of(const struct block *b, enum exit_kind kind)
{
    int n = 0;
    for (int i = 0; i < b->site_count; i++)
        n += b->site[i].kind == kind;
    return n;
}

/* ---- hand-written paths ---- */

/* dec ecx; jnz 0: the loop that everybody has */
static void repeats_a_short_loop(void **state)
{
    (void)state;
    struct block *t = make(LOW, CODE(0xff, 0xc9, 0x75, 0xfc, 0xc3), PATH(0, 0));
    assert_int_equal(exits_of(t, EXIT_DIRECT), 8); /* a way out of each turn */
    assert_int_equal(t->point[7].owed, 7);
}

/* call 6; jmp 0; 6: ret */
static const uint8_t call_and_return[] = {0xe8, 0x02, 0, 0, 0, 0xeb, 0xf9, 0xc3};

static void predicts_returns(void **state)
{
    (void)state;
    make(LOW, call_and_return, sizeof call_and_return, PATH(0, 7, 5, 0));
    make(HIGH, call_and_return, sizeof call_and_return, PATH(0, 7, 5, 0));
    make(0x7ffffff9, call_and_return, sizeof call_and_return, PATH(0, 7, 5, 0));
    make(0x80000000, call_and_return, sizeof call_and_return, PATH(0, 7, 5, 0));
    make(0xfffffffffb, call_and_return, sizeof call_and_return, PATH(0, 7, 5, 0));
}

static void without_rorx_only_low_targets_are_compared(void **state)
{
    (void)state;
    engine.rorx = false;
    make(LOW, call_and_return, sizeof call_and_return, PATH(0, 7, 5, 0));
    use_code(HIGH, call_and_return, sizeof call_and_return);
    path = (struct path){{HIGH, HIGH + 7, HIGH + 5}, 3, HIGH};
    assert_null(make_path());
}

/* A block at the head that the path comes back to without a tick: nothing is looked at there. */
static void a_loop_without_a_tick_at_its_head_is_a_path(void **state)
{
    (void)state;
    /* 0: inc eax; 2: dec ecx; jnz 0, from 2 on */
    struct block *t = make(LOW, CODE(0x74, 0x00, 0xff, 0xc9, 0x75, 0xfa, 0xc3), PATH(2, 0, 2));
    assert_int_equal(exits_of(t, EXIT_EXPIRED), 1 + 0);
}

/* rcx after a return: 5 + the instruction; jmp 0; ret */
static void uses_of_rcx_behind_a_return(void **state)
{
    static const struct {
        uint8_t n, bytes[10];
    } row[] = {
        {2, {0xd3, 0xe0}},                      /* shl eax, cl */
        {2, {0xb1, 7}},                         /* mov cl, 7 */
        {2, {0xb5, 7}},                         /* mov ch, 7 */
        {4, {0x66, 0xb9, 7, 0}},                /* mov cx, 7 */
        {5, {0xb9, 7, 0, 0, 0}},                /* mov ecx, 7 */
        {3, {0x48, 0x8b, 0x0b}},                /* mov rcx, [rbx] */
        {3, {0x48, 0x8b, 0x09}},                /* mov rcx, [rcx] */
        {2, {0x31, 0xc9}},                      /* xor ecx, ecx */
        {3, {0x0f, 0xbc, 0xc8}},                /* bsf ecx, eax */
        {4, {0xf3, 0x0f, 0xbc, 0xc8}},          /* tzcnt ecx, eax */
        {4, {0xf3, 0x0f, 0xb8, 0xc8}},          /* popcnt ecx, eax */
        {4, {0xf3, 0x0f, 0x1e, 0xc9}},          /* rdsspd ecx */
        {5, {0xf3, 0x48, 0x0f, 0x1e, 0xc9}},    /* rdsspq rcx */
        {3, {0x0f, 0x44, 0xc8}},                /* cmovz ecx, eax */
        {1, {0x59}},                            /* pop rcx */
        {1, {0x51}},                            /* push rcx */
        {2, {0xf3, 0xa4}},                      /* rep movsb */
        {4, {0x48, 0x0f, 0xc7, 0x0e}},          /* cmpxchg16b [rsi] */
        {6, {0x66, 0x0f, 0x3a, 0x61, 0xc1, 0}}, /* pcmpestri */
        {5, {0xc4, 0xe2, 0xeb, 0xf6, 0xc8}},    /* mulx rcx, rdx, rax */
        {5, {0xc4, 0xe2, 0xf3, 0xf6, 0xc0}},    /* mulx rax, rcx, rax */
        {2, {0x87, 0xc8}},                      /* xchg eax, ecx */
        {3, {0x0f, 0x94, 0xc1}},                /* setz cl */
        {2, {0xf7, 0xf1}},                      /* div ecx */
        {7, {0x48, 0x8b, 0x0d, 0, 0x10, 0, 0}}, /* mov rcx, [rip] */
        {9, {0x65, 0x48, 0x8b, 0x0c, 0x25, 8}}, /* mov rcx, gs:[8] */
        {9, {0x65, 0x48, 0x8b, 0x04, 0x25, 8}}, /* mov rax, gs:[8] */
        {7, {0x48, 0x89, 0x05, 0, 0x10, 0, 0}}, /* mov [rip], rax */
        {1, {0x90}},
    };
    static const gaddr place[] = {0x401000, 0x7ffff7dd5000};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++)
        for (size_t k = 0; k < ARRAY_LEN(place); k++) {
            uint8_t code[32] = {0xe8}, n = row[i].n;
            code[1] = (uint8_t)(n + 2);
            memcpy(code + 5, row[i].bytes, n);
            code[5 + n] = 0xeb;
            code[6 + n] = (uint8_t) - (7 + n);
            code[7 + n] = 0xc3;
            make(place[k], code, 8u + n, PATH(0, 7 + n, 5, 0));
        }
}

/* Indirect calls that never return, and each with a literal on the path and beside it. */
static void the_longest_path_fits(void **state)
{
    static uint8_t code[32 * 16];

    (void)state;
    use_code(HIGH, code, sizeof code);
    path.count = 32;
    for (int i = 0; i < 32; i++) {
        memcpy(code + 16 * i, (const uint8_t[]){0x65, 0xff, 0x14, 0xc8},
               4); /* call gs:[rax + rcx * 8] */
        path.pc[i] = HIGH + 16 * (gaddr)i;
    }
    for (int turn = 0; turn < 2; turn++) {
        cache_kill_all();
        path.next = turn ? HIGH : HIGH + 4;
        struct block *t = make_path();
        assert_non_null(t);
        const char *wrong = verify_superblock(t, &path, &support_source, &options);
        if (wrong)
            fail_msg("%s", wrong);
    }
}

/* Code that can change unseen is in no superblock. */
static void refuses_code_that_checks_itself(void **state)
{
    (void)state;
    support_code.check = true;
    use_code(LOW, call_and_return, sizeof call_and_return);
    path = (struct path){{LOW, LOW + 7, LOW + 5}, 3, LOW};
    assert_null(make_path());
}

/* A way that the code does not go: the path was followed before it changed. */
static void refuses_a_path_that_is_none(void **state)
{
    (void)state;
    use_code(LOW, call_and_return, sizeof call_and_return);
    path = (struct path){{LOW, LOW + 5}, 2, LOW};
    assert_null(make_path());
}

static void a_superblock_depends_on_all_its_pages(void **state)
{
    static uint8_t code[4 * PAGE_BYTES];

    (void)state;
    memcpy(code, (const uint8_t[]){0xe8, 0xfb, 0x0f, 0, 0, 0xeb, 0xf9}, 7); /* call the next page */
    code[PAGE_BYTES] = 0xc3;
    for (int page = 0; page < 2; page++) {
        struct block *t = make(LOW, code, sizeof code, PATH(0, PAGE_BYTES, 5, 0));
        struct block *head = cache_find(LOW);
        assert_ptr_equal(head->superblock, t);
        cache_kill_range(LOW + (gaddr)page * PAGE_BYTES, LOW + (gaddr)page * PAGE_BYTES + 1);
        assert_true(t->dead);
        assert_true(page == 0 ? head->dead : !head->superblock);
    }
}

/* ---- paths through real code ---- */

struct sweep {
    size_t superblocks, loops, insns, tried;
    const char *wrong;
};

static unsigned dice(unsigned n)
{
    return (unsigned)(rand() >> 4) % n;
}

static struct insn last_of(const struct block *b)
{
    struct insn in = {0};
    for (gaddr pc = b->pc; pc < b->pc + b->len; pc += in.len) {
        uint8_t bytes[INSN_MAX_BYTES];
        size_t n = support_source.fetch(pc, bytes, sizeof bytes);
        n += n < sizeof bytes ? support_source.fetch(pc + n, bytes + n, sizeof bytes - n) : 0;
        if (insn_decode(&in, pc, bytes, n) < 0)
            break;
    }
    return in;
}

static bool on_path(gaddr pc)
{
    for (int i = 0; i < path.count; i++)
        if (path.pc[i] == pc)
            return true;
    return false;
}

/* A path from pc on as it might be taken; where a transfer may go anywhere, to `anywhere` or back.
 */
static void follow(gaddr pc, gaddr anywhere)
{
    gaddr stack[SUPERBLOCK_BLOCKS];
    int depth = 0;
    path.count = 0;
    path.next = 0;
    for (struct block *b; (b = block_at(pc));) {
        path.next = pc;
        if (!b->open || on_path(pc) || path.count == SUPERBLOCK_BLOCKS)
            return;
        path.pc[path.count++] = pc;
        struct insn in = last_of(b);
        gaddr behind = in.pc + in.len;
        switch (in.kind) {
        case INSN_JCC:
            pc = dice(2) ? in.target : behind;
            break;
        case INSN_CALL:
            stack[depth++] = behind;
            pc = in.target;
            break;
        case INSN_JMP:
            pc = in.target;
            break;
        case INSN_PLAIN:
            pc = behind;
            break;
        case INSN_CALL_IND:
            stack[depth++] = behind;
            pc = anywhere;
            break;
        default:
            pc = in.kind == INSN_RET && depth ? stack[--depth] : dice(3) ? path.pc[0] : anywhere;
        }
        path.next = pc;
    }
}

/* Which path it was that the verifier did not like. */
static void tell_path(void)
{
    for (int i = 0; i < path.count; i++) {
        struct insn last = last_of(block_at(path.pc[i]));
        print_message("  0x%llx to 0x%llx: %s, target 0x%llx, bytes",
                      (unsigned long long)path.pc[i], (unsigned long long)last.pc, insn_name(&last),
                      (unsigned long long)last.target);
        for (int k = 0; k < last.len; k++)
            print_message(" %02x", last.bytes[k]);
        print_message("\n");
    }
    print_message("  then 0x%llx\n", (unsigned long long)path.next);
}

static void sweep_code(struct sweep *s, gaddr pc, const uint8_t *code, size_t n, size_t tries)
{
    use_code(pc, code, n);
    gaddr at = pc, before = pc;
    for (size_t i = 0; i < tries && !s->wrong; i++) {
        struct block *b = block_at(at);
        if (!b || at + b->len >= pc + n)
            break;
        follow(at, before);
        s->tried++;
        if (path.count &&
            !(path.next == path.pc[0] && last_of(block_at(path.pc[0])).pc == path.pc[0])) {
            struct block *t = make_path();
            if (t && t->segment_count < path.count) { /* there was no room for the rest */
                path.count = t->segment_count;
                path.next = 0;
            }
            s->wrong = t ? verify_superblock(t, &path, &support_source, &options) : NULL;
            if (s->wrong)
                tell_path();
            s->superblocks += t != NULL;
            s->loops += t && path.next == path.pc[0];
        }
        before = at;
        b = block_at(at);
        at = b ? at + b->len + (dice(8) ? 0 : dice(4) * 16) : pc + dice((unsigned)n);
    }
}

static int sweep_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
            continue;
        gaddr pc = (options.region == 1 ? HIGH : LOW) + ph->p_vaddr % PAGE_BYTES;
        sweep_code(arg, pc, (const uint8_t *)info->dlpi_addr + ph->p_vaddr, ph->p_filesz,
                   getenv("DRDEBUG_SOAK") ? 60000 : 250);
    }
    return ((struct sweep *)arg)->wrong != NULL;
}

static void sweep_process(void)
{
    struct sweep s = {0};
    srand(11);
    dl_iterate_phdr(sweep_object, &s);
    if (s.wrong)
        fail_msg("%s", s.wrong);
    print_message("%zu superblocks, %zu loops, of %zu paths\n", s.superblocks, s.loops, s.tried);
    assert_true(s.superblocks > 500 && s.loops > 20);
}

static void paths_far_from_the_cache(void **state)
{
    (void)state;
    sweep_process();
}

static void paths_at_low_addresses(void **state)
{
    (void)state;
    options.region = LOW;
    sweep_process();
}

static void paths_with_exact_flags(void **state)
{
    (void)state;
    options.exact_flags = true;
    sweep_process();
}

/* ---- the verifier ---- */

/* A loop with everything: a call, a return, an indirect jump, a side exit, rcx, flags. */
static struct block *make_rich(gaddr pc)
{
    static const uint8_t code[] = {
        0x48, 0x8b, 0x0b,                /* 0: mov rcx, [rbx] */
        0xe8, 0x0c, 0,    0, 0,          /* 3: call 20 */
        0xd3, 0xe0,                      /* 8: shl eax, cl */
        0x72, 0x0a,                      /* 10: jc 22 */
        0x48, 0x8b, 0x0d, 0, 0x10, 0, 0, /* 12: mov rcx, [rip] */
        0x90,                            /* 19: nop */
        0xff, 0x26,                      /* 20: jmp [rsi] */
        0xc2, 0x08, 0x00,                /* 22: ret 8 */
        0xff, 0x16,                      /* 25: call [rsi] */
        0x0f, 0x92, 0xc1,                /* 27: setc cl */
        0x75, 0xe0,                      /* 30: jnz 0 */
        0xc3,
    };
    return make(pc, code, sizeof code, PATH(0, 20, 22, 8, 12, 25, 27, 0));
}

static int noticed(const struct block *t)
{
    return verify_superblock(t, &path, &support_source, &options) != NULL;
}

static void the_verifier_notices_changed_code(void **state)
{
    int changed = 0, seen = 0;

    (void)state;
    struct block *t = make_rich(HIGH);
    for (uint32_t i = 0; i < t->host_len + t->cold_len; i++)
        for (int bit = (int)i % 4; bit < 8; bit += 4) {
            uint8_t *byte = i < t->host_len ? t->host + i : t->cold + (i - t->host_len);
            if (i >= t->tick_off && i < t->plain_off && *byte == 0x66)
                continue; /* a no-op's prefix */
            *byte ^= (uint8_t)(1 << bit);
            changed++;
            seen += noticed(t);
            *byte ^= (uint8_t)(1 << bit);
        }
    print_message("%d of %d changes noticed\n", seen, changed);
    assert_true(seen * 100 >= changed * 95);
    assert_false(noticed(t));
}

static void the_verifier_notices_changed_metadata(void **state)
{
    int spills = 0;

    (void)state;
    struct block *t = make_rich(HIGH);
    for (int i = 0; i < t->point_count; i++) {
        struct fault_point *p = &t->point[i], good = *p;
        p->owed++;
        assert_true(noticed(t));
        *p = good;
        p->guest_off++;
        assert_true(noticed(t));
        *p = good;
        p->segment = (uint8_t)(p->segment ? p->segment - 1 : 1);
        assert_true(noticed(t));
        *p = good;
        p->spill ^= SPILL_RCX; /* where it is in both places, nobody can tell */
        spills += noticed(t);
        *p = good;
        p->host_off++;
        assert_true(noticed(t));
        *p = good;
    }
    print_message("%d of %d changed spills noticed\n", spills, t->point_count);
    assert_true(spills * 2 >= t->point_count);
    for (int i = 0; i < t->site_count; i++) {
        struct exit_site *s = &t->site[i], good = *s;
        s->pc++;
        assert_true(noticed(t));
        *s = good;
        s->target++;
        assert_true(noticed(t) || s->kind == EXIT_EXPIRED);
        *s = good;
        s->tick = !s->tick;
        assert_true(noticed(t) || s->kind != EXIT_DIRECT);
        *s = good;
        s->paid = !s->paid;
        assert_true(noticed(t) || s->kind != EXIT_DIRECT);
        *s = good;
        s->popped++;
        assert_true(noticed(t) || s->kind != EXIT_INDIRECT);
        *s = good;
    }
    assert_false(noticed(t));
}

static int init(void **state)
{
    (void)state;
    support_init(16 << 20);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(repeats_a_short_loop),
        TEST(predicts_returns),
        TEST(without_rorx_only_low_targets_are_compared),
        TEST(a_loop_without_a_tick_at_its_head_is_a_path),
        TEST(uses_of_rcx_behind_a_return),
        TEST(the_longest_path_fits),
        TEST(refuses_code_that_checks_itself),
        TEST(refuses_a_path_that_is_none),
        TEST(a_superblock_depends_on_all_its_pages),
        TEST(paths_far_from_the_cache),
        TEST(paths_at_low_addresses),
        TEST(paths_with_exact_flags),
        TEST(the_verifier_notices_changed_code),
        TEST(the_verifier_notices_changed_metadata),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
