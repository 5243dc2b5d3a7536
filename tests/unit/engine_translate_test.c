/* engine_translate_test.c - engine/core/translate.h: blocks made of real and of hand-written code.
 *
 * SPDX-License-Identifier: MIT
 *
 * No translated code is run here: verify_block() follows it on paper. Real code is that of this
 * test, of libc and of whatever else is mapped into the process, read from the files. With
 * DRDEBUG_SOAK all of it, otherwise samples.
 */
#define _GNU_SOURCE
#include "engine/core/translate.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core/engine.h"
#include "tests/unit/engine_support.h"
#include "tests/unit/engine_verify.h"
#include "tests/unit/unit.h"

static const gaddr LOW = 0x401000, HIGH = 0x7ffff7dd5000;

static struct translate_options options; /* of the last block made */
static gaddr fault;

#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static struct block *make_unchecked(gaddr pc, const uint8_t *code, size_t n)
{
    cache_kill_all();
    support_code.pc = pc;
    support_code.bytes = code;
    support_code.size = n;
    return translate(pc, &support_source, &options, &fault);
}

static struct block *make(gaddr pc, const uint8_t *code, size_t n)
{
    struct block *b = make_unchecked(pc, code, n);
    assert_non_null(b);
    const char *wrong = verify_block(b, &support_source, &options);
    if (wrong)
        fail_msg("%s", wrong);
    return b;
}

static int start(void **state)
{
    (void)state;
    options = (struct translate_options){.region = 1};
    support_code.check = false;
    support_probe_all(0);
    return 0;
}

static bool emitted(const struct block *b, const uint8_t *bytes, size_t n)
{
    return memmem(b->host + b->plain_off, b->host_len - b->plain_off, bytes, n) != NULL;
}

static const struct exit_site *exit_of(const struct block *b, enum exit_kind kind)
{
    for (int i = 0; i < b->site_count; i++)
        if (b->site[i].kind == kind)
            return &b->site[i];
    fail_msg("no exit of kind %d", kind);
    return NULL;
}

/* ---- what a block is made of ---- */

static void ends_a_block_at_a_transfer(void **state)
{
    (void)state;
    struct block *b = make(LOW, CODE(0x90, 0x90, 0x74, 0x10, 0x90));
    assert_int_equal(b->len, 4);
    assert_int_equal(b->pc, LOW);
    b = make(LOW, CODE(0x90, 0x0f, 0x05, 0x90));
    assert_int_equal(b->len, 3);
    assert_int_equal(exit_of(b, EXIT_SYSCALL)->pc, LOW + 1);
    assert_int_equal(exit_of(b, EXIT_SYSCALL)->target, LOW + 3);
}

static void ends_a_block_at_the_end_of_its_page(void **state)
{
    static const uint8_t code[] = {0x90, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0x90};

    (void)state;
    assert_int_equal(make(LOW + 0xff5, code, sizeof code)->len, 11); /* ends there exactly */
    assert_int_equal(make(LOW + 0xffa, code, sizeof code)->len, 11); /* over the end */
    assert_int_equal(make(LOW + 0xfff, code, sizeof code)->len, 1);
}

static void keeps_blocks_short(void **state)
{
    static uint8_t nops[1000];

    (void)state;
    memset(nops, 0x90, sizeof nops);
    struct block *b = make(LOW, nops, sizeof nops);
    assert_in_range(b->len, 16, 256);
    assert_int_equal(exit_of(b, EXIT_DIRECT)->target, LOW + b->len);
    assert_false(exit_of(b, EXIT_DIRECT)->tick);
}

static void a_block_ends_before_code_that_cannot_be_read(void **state)
{
    (void)state;
    struct block *b = make(LOW, CODE(0x90, 0x90, 0x48, 0xb8, 1, 2));
    assert_int_equal(b->len, 2);
    assert_int_equal(exit_of(b, EXIT_DIRECT)->target, LOW + 2);
}

static void names_the_byte_that_cannot_be_read(void **state)
{
    (void)state;
    support_code.size = 0;
    assert_null(make_unchecked(LOW, CODE(0x48)));
    assert_int_equal(fault, LOW + 1);
    assert_null(make_unchecked(LOW + 0xffe, CODE(0x48, 0xb8)));
    assert_int_equal(fault, LOW + 0x1000);
    support_code.pc = HIGH;
    assert_null(translate(LOW, &support_source, &options, &fault));
    assert_int_equal(fault, LOW);
}

static void an_illegal_instruction_over_an_unreadable_page_faults_there(void **state)
{
    (void)state;
    /* vmovups with an EVEX prefix that goes on in the next page */
    assert_null(make_unchecked(LOW + 0xffd, CODE(0x62, 0xf1, 0x7c)));
    assert_int_equal(fault, LOW + 0x1000);
}

/* ---- transfers ---- */

static void pushes_the_original_return_address(void **state)
{
    const gaddr ret = HIGH + 5;

    (void)state;
    struct block *b = make(LOW, CODE(0xe8, 0, 1, 0, 0));
    assert_true(emitted(b, CODE(0x68, 0x05, 0x10, 0x40, 0)));
    b = make(HIGH, CODE(0xe8, 0, 1, 0, 0));
    assert_memory_equal(b->cold + b->cold_len - 8, &ret, 8);
}

static void ticks_at_backward_transfers_and_calls_only(void **state)
{
    (void)state;
    assert_false(exit_of(make(LOW, CODE(0xeb, 0)), EXIT_DIRECT)->tick);
    assert_true(exit_of(make(LOW, CODE(0xeb, 0xfe)), EXIT_DIRECT)->tick); /* to itself */
    assert_false(exit_of(make(LOW, CODE(0xeb, 0xff)), EXIT_DIRECT)->tick);
    assert_true(exit_of(make(LOW, CODE(0xe8, 0, 0, 0, 0)), EXIT_DIRECT)->tick);
    struct block *b = make(LOW, CODE(0x90, 0x75, 0xfd));
    assert_int_equal(b->site_count, 3); /* expired, taken, not taken */
    assert_true(b->site[1].tick && b->site[1].target == LOW);
    assert_true(!b->site[2].tick && b->site[2].target == LOW + 3);
    b = make(LOW, CODE(0xe2, 0xfe));
    assert_true(b->site[1].tick && b->site[1].target == LOW);
    assert_true(!b->site[2].tick && b->site[2].target == LOW + 2);
}

static void a_return_tells_what_it_popped(void **state)
{
    (void)state;
    assert_int_equal(exit_of(make(LOW, CODE(0xc3)), EXIT_INDIRECT)->popped, 8);
    assert_int_equal(exit_of(make(LOW, CODE(0xc2, 0xff, 0xff)), EXIT_INDIRECT)->popped, 8 + 65535);
    assert_int_equal(exit_of(make(LOW, CODE(0xff, 0xe0)), EXIT_INDIRECT)->popped, 0);
}

static void leaves_for_what_the_engine_does_itself(void **state)
{
    uint8_t prefixes[15];

    (void)state;
    make(LOW, CODE(0x0f, 0xa2));
    assert_int_equal(exit_of(make(LOW, CODE(0x0f, 0xa2)), EXIT_EMULATE)->pc, LOW);
    assert_int_equal(exit_of(make(LOW, CODE(0x90, 0x0f, 0x34)), EXIT_UNSUPPORTED)->pc, LOW + 1);
    memset(prefixes, 0x66, sizeof prefixes);
    exit_of(make(LOW, prefixes, sizeof prefixes), EXIT_TOO_LONG);
    uint8_t bad[15] = {0x06};
    exit_of(make(LOW, bad, sizeof bad), EXIT_ILLEGAL);
}

/* ---- operands ---- */

static void reaches_low_operands_by_absolute_address(void **state)
{
    (void)state;
    struct block *b = make(LOW, CODE(0x8b, 0x05, 0x00, 0x10, 0, 0, 0xc3));
    assert_true(emitted(b, CODE(0x8b, 0x04, 0x25, 0x06, 0x20, 0x40, 0)));
}

static void reaches_far_operands_through_a_free_register(void **state)
{
    (void)state;
    /* mov eax, [rip]: rax is taken */
    struct block *b = make(HIGH, CODE(0x8b, 0x05, 0x00, 0x10, 0, 0, 0xc3));
    assert_true(emitted(b, CODE(0x8b, 0x01)));
    /* cmpxchg16b: most are */
    b = make(HIGH, CODE(0x48, 0x0f, 0xc7, 0x0d, 0, 0x10, 0, 0, 0xc3));
    assert_true(emitted(b, CODE(0x48, 0x0f, 0xc7, 0x0e)));
}

static void reaches_near_operands_by_displacement(void **state)
{
    (void)state;
    struct block *b = make(LOW, CODE(0x90, 0xc3)); /* where the arena is */
    gaddr near = PAGE_DOWN(b->host) - (64 << 20);
    b = make(near, CODE(0x48, 0x8b, 0x05, 0x00, 0x10, 0, 0, 0xc3));
    assert_int_equal(b->point[0].spill, 0);
    assert_true(emitted(b, CODE(0x48, 0x8b, 0x05)));
}

/* ---- flags at entries ---- */

static bool saves_flags(const struct block *b)
{
    return memchr(b->host + b->tick_off, 0x9f, b->plain_off - b->tick_off) != NULL; /* lahf */
}

static void saves_flags_only_where_they_are_read(void **state)
{
    (void)state;
    assert_false(saves_flags(make(LOW, CODE(0x31, 0xc0, 0xc3)))); /* xor first */
    assert_true(saves_flags(make(LOW, CODE(0x11, 0xc0, 0xc3))));  /* adc first */
    assert_true(saves_flags(make(LOW, CODE(0x90, 0xc3))));        /* who knows */
    assert_true(saves_flags(make(LOW, CODE(0xff, 0xc0, 0xc3))));  /* inc keeps CF */
    /* read on behind a jump and a call */
    assert_false(saves_flags(make(LOW, CODE(0xeb, 0x00, 0x31, 0xc0, 0xc3))));
    assert_false(saves_flags(make(LOW, CODE(0xe8, 0, 0, 0, 0, 0x31, 0xc0, 0xc3))));
    assert_true(saves_flags(make(LOW, CODE(0xeb, 0x00, 0x74, 0x00))));
    assert_true(saves_flags(make(LOW, CODE(0xeb, 0xfe))));
}

static void a_block_depends_on_the_pages_it_read_on_to(void **state)
{
    static uint8_t code[2 * PAGE_BYTES] = {0xe9, 0xfb, 0x0f, 0, 0}; /* jmp to the next page */

    (void)state;
    code[PAGE_BYTES] = 0x31;
    code[PAGE_BYTES + 1] = 0xc0;
    struct block *b = make(LOW, code, sizeof code);
    assert_false(saves_flags(b));
    cache_kill_range(LOW + PAGE_BYTES, LOW + PAGE_BYTES + 1);
    assert_true(b->dead);
    support_code.check = true;
    assert_true(saves_flags(make(LOW, code, sizeof code)));
}

static void keeps_all_flags_when_asked(void **state)
{
    (void)state;
    options.exact_flags = true;
    assert_true(saves_flags(make(LOW, CODE(0x31, 0xc0, 0xc3))));
}

/* ---- options ---- */

static void steps_one_instruction(void **state)
{
    (void)state;
    options.one = true;
    struct block *b = make(LOW, CODE(0x31, 0xc0, 0x90, 0xc3));
    assert_int_equal(b->len, 2);
    assert_true(b->transient && saves_flags(b));
    assert_int_equal(exit_of(b, EXIT_DIRECT)->target, LOW + 2);
}

static void a_block_that_checks_itself_ends_at_a_store(void **state)
{
    (void)state;
    support_code.check = true;
    assert_int_equal(make(LOW, CODE(0x90, 0x8b, 0x03, 0x89, 0x03, 0x90, 0xc3))->len, 5);
    assert_int_equal(make(LOW, CODE(0x90, 0x50, 0x90, 0xc3))->len, 2); /* push */
    assert_int_equal(make(LOW, CODE(0x90, 0xa4, 0x90, 0xc3))->len, 2); /* movsb */
    options.one = true;
    make(LOW, CODE(0x90, 0xc3)); /* just translated: nothing to check */
}

static void the_longest_blocks_fit(void **state)
{
    static const struct {
        size_t n;
        uint8_t bytes[15];
    } row[] = {
        {15, {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84}}, /* nop */
        {10, {0x48, 0xb8}},                                                 /* mov rax, imm64 */
        {12, {0x65, 0x48, 0xc7, 0x84, 0xf3}}, /* mov qword gs:[rbx+rsi*8+0], 0 */
        {9, {0xf0, 0x48, 0x0f, 0xc7, 0x0d}},  /* too short: lock cmpxchg16b [rip] */
        {11, {0x48, 0x69, 0x0d}},             /* imul rcx, [rip], imm32 */
    };
    static uint8_t code[64 * 15 + 15];

    (void)state;
    for (unsigned mode = 0; mode < 8; mode++)
        for (size_t i = 0; i < ARRAY_LEN(row); i++) {
            for (int k = 0; k < 64; k++)
                memcpy(code + (size_t)k * row[i].n, row[i].bytes, row[i].n);
            support_code.check = mode & 1;
            support_probe_all(mode & 2 ? PROBE_BEFORE | PROBE_AFTER | PROBE_MEMORY : 0);
            make(mode & 4 ? HIGH : LOW, code, 64 * row[i].n);
        }
}

static void probes_see_every_instruction(void **state)
{
    int probes = 0;

    (void)state;
    support_probe_all(PROBE_BEFORE | PROBE_BLOCK);
    struct block *b = make(LOW, CODE(0x90, 0x8b, 0x03, 0x74, 0x00));
    for (int i = 0; i < b->site_count; i++)
        if (b->site[i].kind == EXIT_PROBE) {
            unsigned want = probes++ ? PROBE_BEFORE : PROBE_BEFORE | PROBE_BLOCK;
            assert_int_equal(b->site[i].probe, want);
        }
    assert_int_equal(probes, 3);
}

/* How many of the block's exits ask for a probe after an instruction. */
static int probes_after(const uint8_t *code, size_t n)
{
    int count = 0;
    support_probe_all(PROBE_AFTER);
    struct block *b = make(LOW, code, n);
    for (int i = 0; i < b->site_count; i++)
        count += (b->site[i].probe & PROBE_AFTER) != 0;
    return count;
}

static void probes_come_after_what_falls_through(void **state)
{
    (void)state;
    assert_int_equal(probes_after(CODE(0x90, 0x90)), 2);
    assert_int_equal(probes_after(CODE(0x90, 0x74, 0x00)), 2); /* jz, not taken */
    assert_int_equal(probes_after(CODE(0xe3, 0x00)), 1);       /* jrcxz, not taken */
    assert_int_equal(probes_after(CODE(0xe2, 0xfe)), 1);       /* loop, at its end */
    assert_int_equal(probes_after(CODE(0x0f, 0x05)), 1);       /* syscall */
    assert_int_equal(probes_after(CODE(0x0f, 0xa2)), 1);       /* cpuid */
    assert_int_equal(probes_after(CODE(0xeb, 0x00)), 0);       /* jmp to the next */
    assert_int_equal(probes_after(CODE(0xe8, 0, 0, 0, 0)), 0);
    assert_int_equal(probes_after(CODE(0xc3)), 0);
    assert_int_equal(probes_after(CODE(0x48, 0xcf)), 0); /* iretq */
    assert_int_equal(probes_after(CODE(0x48, 0xcb)), 0); /* lretq */
    assert_int_equal(probes_after(CODE(0xff, 0x28)), 0); /* ljmp [rax] */
    assert_int_equal(probes_after(CODE(0x0f, 0x0b)), 0); /* ud2 */
}

/* ---- odd forms, at every place ---- */

static void odd_forms_are_right_everywhere(void **state)
{
    static const struct {
        uint8_t n, bytes[15];
    } row[] = {
        {3, {0x65, 0xff, 0x30}},                            /* push gs:[rax] */
        {4, {0x65, 0x41, 0xff, 0x30}},                      /* push gs:[r8] */
        {4, {0x67, 0x65, 0xff, 0x33}},                      /* push gs:[ebx]: rsp is not cut */
        {5, {0x65, 0x8f, 0x44, 0x24, 0x08}},                /* pop gs:[rsp+8] */
        {4, {0x8f, 0x44, 0x24, 0x08}},                      /* pop [rsp+8] */
        {6, {0x65, 0x48, 0x0f, 0xc7, 0x0c, 0x3e}},          /* cmpxchg16b gs:[rsi+rdi] */
        {5, {0x65, 0x66, 0x0f, 0xf7, 0xc1}},                /* maskmovdqu through gs */
        {5, {0x65, 0x48, 0x8d, 0x43, 0x08}},                /* lea knows no segment */
        {5, {0x65, 0x0f, 0x1f, 0x43, 0x08}},                /* nop neither */
        {5, {0x65, 0x0f, 0x1a, 0x04, 0x03}},                /* nor does bndldx */
        {6, {0x65, 0x66, 0x0f, 0x38, 0xf8, 0x03}},          /* movdir64b: the source alone */
        {8, {0x65, 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x43, 1}}, /* disp8 times 64 */
        {7, {0x65, 0xc4, 0xe2, 0x79, 0x90, 0x14, 0x8b}},    /* gather through gs */
        {5, {0x48, 0x65, 0x8b, 0x43, 0x08}},                /* a REX that does not count */
        {5, {0x64, 0x65, 0x8b, 0x43, 0x08}},                /* two segments */
        {5, {0x65, 0x64, 0x8b, 0x43, 0x08}},
        {8, {0x64, 0x48, 0x8b, 0x05, 0x00, 0x10, 0, 0}}, /* fs and rip */
        {8, {0x65, 0x48, 0x8b, 0x05, 0x00, 0x10, 0, 0}}, /* gs and rip */
        {15,
         {0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0x67, 0xff,
          0x20}},                /* jmp [eax] */
        {3, {0x65, 0xff, 0x20}}, /* jmp gs:[rax] */
        {4, {0x48, 0x65, 0xff, 0x20}},
        {4, {0x65, 0xff, 0x24, 0x24}},                          /* jmp gs:[rsp] */
        {4, {0xff, 0x54, 0x24, 0x08}},                          /* call [rsp+8] */
        {2, {0xff, 0xd1}},                                      /* call rcx */
        {2, {0xff, 0xd4}},                                      /* call rsp */
        {10, {0x66, 0x0f, 0x3a, 0x61, 0x0d, 0, 0x10, 0, 0, 1}}, /* pcmpestri [rip] */
    };
    static const gaddr place[] = {0x401000, 0x401ffe, 0x7ffff7dd5000, 0x7ffff7dd5ffd};
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++)
        for (size_t k = 0; k < ARRAY_LEN(place); k++) {
            const uint8_t *code = row[i].bytes;
            struct block *b = make_unchecked(place[k], code, row[i].n);
            const char *why = b ? verify_block(b, &support_source, &options) : "no block";
            if (why)
                print_error("form %zu: %s\n", i, why);
            wrong += why != NULL;
        }
    assert_int_equal(wrong, 0);
}

/* ---- real code ---- */

struct sweep {
    size_t blocks, bytes;
    size_t pages_between; /* samples: so many pages are left out after each */
    const char *wrong;    /* the first block that is not right */
};

/* All blocks of [code, code+n) as if it were at pc, one after the other; up to a wrong one. */
static void sweep_code(struct sweep *s, gaddr pc, const uint8_t *code, size_t n)
{
    cache_kill_all();
    support_code.pc = pc;
    support_code.bytes = code;
    support_code.size = n;
    for (gaddr at = pc; at < pc + n && !s->wrong;) {
        struct block *b = translate(at, &support_source, &options, &fault);
        if (!b) { /* cut off at the end */
            s->wrong = fault < pc + n ? "a fault in the middle" : NULL;
            break;
        }
        s->wrong = verify_block(b, &support_source, &options);
        s->blocks++;
        s->bytes += b->len;
        gaddr next = at + b->len;
        if (PAGE_DOWN(next) != PAGE_DOWN(at))
            next += s->pages_between * PAGE_BYTES;
        at = next;
    }
}

static uint8_t *read_segment(const char *path, const ElfW(Phdr) * ph)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(ph->p_filesz);
    bool ok = f && bytes && fseek(f, (long)ph->p_offset, SEEK_SET) == 0 &&
              fread(bytes, 1, ph->p_filesz, f) == ph->p_filesz;
    if (f)
        fclose(f);
    if (!ok) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

static int sweep_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
            continue;
        uint8_t *bytes = read_segment(path, ph); /* the vDSO is no file */
        if (bytes)
            sweep_code(arg, (options.region == 1 ? HIGH : LOW) + ph->p_vaddr % PAGE_BYTES, bytes,
                       ph->p_filesz);
        free(bytes);
    }
    return ((struct sweep *)arg)->wrong != NULL;
}

static void check_sweep(const struct sweep *s)
{
    if (s->wrong)
        fail_msg("%s", s->wrong);
}

static void sweep_process(size_t pages_between)
{
    struct sweep s = {.pages_between = getenv("DRDEBUG_SOAK") ? 0 : pages_between};
    dl_iterate_phdr(sweep_object, &s);
    check_sweep(&s);
    assert_true(s.blocks > 1000);
    print_message("%zu blocks, %zu bytes\n", s.blocks, s.bytes);
}

static void real_code_far_from_the_cache(void **state)
{
    (void)state;
    sweep_process(20);
}

static void real_code_at_low_addresses(void **state)
{
    (void)state;
    options.region = LOW;
    sweep_process(20);
}

static void real_code_with_exact_flags_and_probes(void **state)
{
    (void)state;
    options.exact_flags = true;
    support_probe_all(PROBE_BEFORE | PROBE_AFTER | PROBE_BLOCK | PROBE_MEMORY);
    sweep_process(40);
}

static void real_code_that_checks_itself(void **state)
{
    (void)state;
    support_code.check = true;
    sweep_process(40);
}

static void real_code_without_entries(void **state)
{
    (void)state;
    options.bare = true;
    sweep_process(30);
}

static void real_code_one_instruction_at_a_time(void **state)
{
    (void)state;
    options.one = true;
    sweep_process(100);
}

static void random_bytes(void **state)
{
    static uint8_t bytes[64 << 10];
    struct sweep s = {0};

    (void)state;
    srand(7);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(rand() >> 8);
    for (size_t i = 0; i < sizeof bytes; i++) /* gs has a test of its own */
        bytes[i] = bytes[i] == 0x65 ? 0x64 : bytes[i];
    sweep_code(&s, HIGH, bytes, sizeof bytes);
    sweep_code(&s, LOW, bytes, sizeof bytes);
    check_sweep(&s);
}

/* ---- the verifier ---- */

/* Turns single bits of emitted code. What may go unnoticed means the same: a REX bit or a scale
 * that nothing uses, another segment prefix without effect. */
static void the_verifier_notices_changed_code(void **state)
{
    int changed = 0, noticed = 0;

    (void)state;
    support_code.check = true;
    struct block *b = make(HIGH, CODE(0x48, 0x8b, 0x0d, 0, 0x10, 0, 0, 0x65, 0x8b, 0x03, 0x01, 0xd8,
                                      0xff, 0x54, 0x24, 0x08));
    for (uint32_t i = 0; i < b->host_len + b->cold_len; i++)
        for (int bit = 0; bit < 8; bit++) {
            uint8_t *byte = i < b->host_len ? b->host + i : b->cold + (i - b->host_len);
            *byte ^= (uint8_t)(1 << bit);
            changed++;
            noticed += verify_block(b, &support_source, &options) != NULL;
            *byte ^= (uint8_t)(1 << bit);
        }
    print_message("%d of %d changes noticed\n", noticed, changed);
    assert_true(noticed * 100 >= changed * 96);
    assert_null(verify_block(b, &support_source, &options));
}

static int init(void **state)
{
    (void)state;
    support_init(4 << 20);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends_a_block_at_a_transfer),
        TEST(ends_a_block_at_the_end_of_its_page),
        TEST(keeps_blocks_short),
        TEST(a_block_ends_before_code_that_cannot_be_read),
        TEST(names_the_byte_that_cannot_be_read),
        TEST(an_illegal_instruction_over_an_unreadable_page_faults_there),
        TEST(pushes_the_original_return_address),
        TEST(ticks_at_backward_transfers_and_calls_only),
        TEST(a_return_tells_what_it_popped),
        TEST(leaves_for_what_the_engine_does_itself),
        TEST(reaches_low_operands_by_absolute_address),
        TEST(reaches_far_operands_through_a_free_register),
        TEST(reaches_near_operands_by_displacement),
        TEST(saves_flags_only_where_they_are_read),
        TEST(a_block_depends_on_the_pages_it_read_on_to),
        TEST(keeps_all_flags_when_asked),
        TEST(steps_one_instruction),
        TEST(a_block_that_checks_itself_ends_at_a_store),
        TEST(the_longest_blocks_fit),
        TEST(probes_see_every_instruction),
        TEST(probes_come_after_what_falls_through),
        TEST(odd_forms_are_right_everywhere),
        TEST(real_code_far_from_the_cache),
        TEST(real_code_at_low_addresses),
        TEST(real_code_with_exact_flags_and_probes),
        TEST(real_code_that_checks_itself),
        TEST(real_code_without_entries),
        TEST(real_code_one_instruction_at_a_time),
        TEST(random_bytes),
        TEST(the_verifier_notices_changed_code),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
