/* cfg_real_test.c - trace/graph/cfg on the C library's code, and on functions of 100,000 blocks.
 *
 * SPDX-License-Identifier: MIT
 *
 * Built without sanitizers, since it says how long things take. What is checked of every graph:
 * post-dominators of small functions by definition; of large ones, that what post-dominates the
 * beginning of an edge strictly post-dominates its end.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/cfg_support.h"
#include "tests/unit/unit.h"

enum { SMALL = 300 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void check_by_definition(const struct cfg_function *f)
{
    struct cfg_naive g;
    uint32_t n = cfg_block_count(f);
    cfg_naive_init(&g, f);
    bool *postdom = malloc((size_t)n * n);
    assert_non_null(postdom);
    cfg_naive_postdominators(&g, postdom);
    for (uint32_t b = 0; b < n; b++) {
        int32_t ipdom = cfg_block(f, (int32_t)b)->ipdom;
        assert_true(ipdom == CFG_EXIT || postdom[(size_t)ipdom * n + b]);
        for (uint32_t m = 0; m < n; m++) {
            bool want = postdom[(size_t)m * n + b];
            if (cfg_postdominates(f, (int32_t)m, (int32_t)b) != want)
                fail_msg("%llx: %u and %u", (unsigned long long)cfg_entry(f), m, b);
            if (want && m != b) /* all others are above the immediate one */
                assert_true(ipdom != CFG_EXIT && postdom[(size_t)m * n + (uint32_t)ipdom]);
        }
    }
    free(postdom);
    cfg_naive_deinit(&g);
}

static void check_graph(const struct cfg_function *f)
{
    uint32_t insns = 0;
    for (int32_t b = 0; b < (int32_t)cfg_block_count(f); b++) {
        const struct cfg_block *block = cfg_block(f, b);
        const int32_t *succ = cfg_successors(f, b);
        insns += block->insns;
        assert_int_equal(cfg_block_of(f, block->first), b);
        assert_int_equal(cfg_block_of(f, block->last), b);
        assert_true(b == 0 || cfg_block(f, b - 1)->first < block->first);
        assert_true(block->succs || block->exits);
        assert_true(!block->exits || block->ipdom == CFG_EXIT);
        assert_int_not_equal(block->ipdom, b);
        for (uint32_t i = 0; i < block->succs; i++) {
            assert_in_range(succ[i], 0, cfg_block_count(f) - 1);
            assert_true(cfg_postdominates(f, block->ipdom, succ[i]));
        }
    }
    assert_int_equal(insns, cfg_insn_count(f));
    if (cfg_block_count(f) < SMALL)
        check_by_definition(f);
}

/* The C library's file. */
static struct {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Phdr *code;
    gaddr *entries; /* sorted */
    size_t entry_count;
    gaddr no_return[16];
} lib;

static int note_path(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    if (!strstr(info->dlpi_name, "/libc.so"))
        return 0;
    snprintf(path, 4096, "%s", info->dlpi_name);
    return 1;
}

static int by_value(const void *a, const void *b)
{
    gaddr x = *(const gaddr *)a, y = *(const gaddr *)b;
    return (x > y) - (x < y);
}

static void note_symbol(const Elf64_Sym *sym, const char *name)
{
    static const char *const leave[] = {
        "abort",   "exit",         "_exit",         "__assert_fail", "__stack_chk_fail",
        "longjmp", "pthread_exit", "__fortify_fail"};
    if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC && ELF64_ST_TYPE(sym->st_info) != STT_GNU_IFUNC)
        return;
    if (sym->st_shndx == SHN_UNDEF)
        return;
    lib.entries[lib.entry_count++] = sym->st_value;
    for (size_t i = 0; i < ARRAY_LEN(leave); i++)
        if (!strcmp(leave[i], name))
            lib.no_return[i] = sym->st_value;
}

static int open_lib(void **state)
{
    (void)state;
    char path[4096];
    struct stat st;
    assert_int_equal(dl_iterate_phdr(note_path, path), 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    lib.size = (size_t)st.st_size;
    lib.bytes = mmap(NULL, lib.size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_ptr_not_equal(lib.bytes, MAP_FAILED);
    const Elf64_Ehdr *header = (const void *)lib.bytes;
    const Elf64_Phdr *segment = (const void *)(lib.bytes + header->e_phoff);
    const Elf64_Shdr *section = (const void *)(lib.bytes + header->e_shoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X))
            lib.code = &segment[i];
    for (int i = 0; i < header->e_shnum; i++) {
        if (section[i].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *sym = (const void *)(lib.bytes + section[i].sh_offset);
        const char *names = (const char *)lib.bytes + section[section[i].sh_link].sh_offset;
        size_t count = section[i].sh_size / sizeof(*sym);
        lib.entries = malloc(count * sizeof(lib.entries[0]));
        for (size_t k = 0; k < count; k++)
            note_symbol(&sym[k], names + sym[k].st_name);
    }
    qsort(lib.entries, lib.entry_count, sizeof(lib.entries[0]), by_value);
    return 0;
}

static int close_lib(void **state)
{
    (void)state;
    munmap((void *)lib.bytes, lib.size);
    free(lib.entries);
    return 0;
}

static size_t read_lib(void *ctx, gaddr pc, uint8_t *buf, size_t bytes)
{
    (void)ctx;
    gaddr at = pc - lib.code->p_vaddr;
    if (at >= lib.code->p_filesz)
        return 0;
    if (bytes > lib.code->p_filesz - at)
        bytes = lib.code->p_filesz - at;
    memcpy(buf, lib.bytes + lib.code->p_offset + at, bytes);
    return bytes;
}

static bool is_entry(void *ctx, gaddr pc)
{
    (void)ctx;
    return bsearch(&pc, lib.entries, lib.entry_count, sizeof pc, by_value);
}

static size_t no_targets(void *ctx, gaddr pc, const gaddr **list)
{
    (void)ctx, (void)pc, (void)list;
    return 0;
}

static bool never_stays(void *ctx, gaddr pc)
{
    (void)ctx, (void)pc;
    return false;
}

static bool no_return(void *ctx, gaddr callee)
{
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(lib.no_return); i++)
        if (lib.no_return[i] == callee)
            return true;
    return false;
}

/* What decoding alone costs, when it remembers as much as in the test. */
static double decode_ns(void)
{
    uint64_t count = 0, start = now_ns();
    const uint8_t *code = lib.bytes + lib.code->p_offset;
    for (gaddr at = 0; at < lib.code->p_filesz; count++) {
        struct insn in;
        if (insn_decode(&in, at, code + at, lib.code->p_filesz - at) < 0)
            break;
        at += in.len;
    }
    return (double)(now_ns() - start) / (double)count;
}

static void the_c_library(void **state)
{
    (void)state;
    struct err err;
    const struct cfg_program program = {.read = read_lib,
                                        .is_entry = is_entry,
                                        .targets = no_targets,
                                        .stays = never_stays,
                                        .no_return = no_return};
    struct cfg *cfg = cfg_new(&program, &err);
    assert_non_null(cfg);
    uint64_t insns = 0, blocks = 0, largest = 0, frames = 0, small = 0, functions = 0;
    uint64_t start = now_ns();
    for (size_t i = 0; i < lib.entry_count; i++)
        assert_non_null(cfg_function(cfg, lib.entries[i], &err));
    double ns = (double)(now_ns() - start);
    for (size_t i = 0; i < lib.entry_count; i++) {
        const struct cfg_function *f = cfg_function(cfg, lib.entries[i], &err);
        check_graph(f);
        if (i > 0 && lib.entries[i] == lib.entries[i - 1])
            continue; /* a second name */
        functions++;
        insns += cfg_insn_count(f);
        blocks += cfg_block_count(f);
        frames += cfg_frame_pointer(f);
        small += cfg_block_count(f) < SMALL;
        if (cfg_block_count(f) > largest)
            largest = cfg_block_count(f);
    }
    printf(
        "%llu functions, %llu with fewer than %d blocks, %llu with a frame "
        "pointer; %llu instructions, %llu blocks, the largest has %llu; %.0f ns per instruction, "
        "decoding costs %.0f\n",
        (unsigned long long)functions, (unsigned long long)small, SMALL, (unsigned long long)frames,
        (unsigned long long)insns, (unsigned long long)blocks, (unsigned long long)largest,
        ns / (double)insns, decode_ns());
    cfg_free(cfg);
}

/* Large functions are made of `LARGE` cells of 8 bytes: a jcc with a long displacement, a 2-byte
 * nop. Shapes say where the jccs go. */
enum { LARGE = 100000, CELL = 8, BASE = 0x10000000 };

static unsigned goes_to_the_end(unsigned i)
{
    (void)i;
    return LARGE;
}

static unsigned nested_ifs(unsigned i)
{
    return i < LARGE / 2 ? LARGE - i : i + 1;
}

static unsigned nested_loops(unsigned i)
{
    return i < LARGE / 2 ? i + 1 : LARGE - 1 - i;
}

static unsigned skips_one(unsigned i)
{
    return i + 2 < LARGE ? i + 2 : LARGE;
}

static unsigned anywhere(unsigned i)
{
    return (unsigned)((i + 1) * 0x9e3779b97f4a7c15ull >> 33) % (LARGE + 1);
}

static unsigned back_to_the_beginning(unsigned i)
{
    return i / 1000;
}

/* ifs that are left in the middle, and entered there: the tree is deep and changes all the time */
static unsigned crossing(unsigned i)
{
    return i % 2 ? (i > 1000 ? i - 1000 : 0) : (i + 997 < LARGE ? i + 997 : LARGE);
}

static const struct shape {
    const char *name;
    unsigned (*target)(unsigned i);
} shapes[] = {
    {"all to the end", goes_to_the_end},
    {"nested ifs", nested_ifs},
    {"nested loops", nested_loops},
    {"ladder", skips_one},
    {"random", anywhere},
    {"loops with many ends", back_to_the_beginning},
    {"crossing", crossing},
};

static void large_functions(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(LARGE * CELL + 1);
    struct cfg_code code = {.base = BASE, .bytes = bytes, .size = LARGE * CELL + 1};
    assert_non_null(bytes);
    for (size_t k = 0; k < ARRAY_LEN(shapes); k++) {
        for (unsigned i = 0; i < LARGE; i++) {
            int32_t distance = ((int32_t)shapes[k].target(i) - (int32_t)i) * CELL - 6;
            memcpy(bytes + i * CELL, "\x0f\x84", 2);
            memcpy(bytes + i * CELL + 2, &distance, 4);
            memcpy(bytes + i * CELL + 6, "\x66\x90", 2);
        }
        bytes[LARGE * CELL] = 0xc3;
        struct cfg *cfg = cfg_support_new(&code);
        uint64_t start = now_ns();
        const struct cfg_function *f = cfg_support_function(cfg, BASE);
        uint64_t ns = now_ns() - start;
        check_graph(f);
        printf("%s: %u blocks, %llu ms, %llu ns per instruction\n", shapes[k].name,
               cfg_block_count(f), (unsigned long long)ns / 1000000,
               (unsigned long long)ns / cfg_insn_count(f));
        cfg_free(cfg);
    }
    free(bytes);
}

static void a_switch_of_many_cases(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(LARGE * CELL + 1);
    gaddr *targets = malloc(LARGE * sizeof(*targets));
    assert_true(bytes && targets);
    memset(bytes, 0x90, LARGE * CELL);
    memcpy(bytes, "\xff\xe0", 2);
    for (unsigned i = 1; i < LARGE; i++) {
        int32_t distance = (LARGE - (int32_t)i) * CELL - 5;
        bytes[i * CELL] = 0xe9;
        memcpy(bytes + i * CELL + 1, &distance, 4);
        targets[i - 1] = BASE + i * CELL;
    }
    bytes[LARGE * CELL] = 0xc3;
    const struct cfg_jump jumps[] = {{BASE, LARGE - 1, targets}, {.pc = 0}};
    struct cfg_code code = {.base = BASE, .bytes = bytes, .size = LARGE * CELL + 1, .jumps = jumps};
    struct cfg *cfg = cfg_support_new(&code);
    uint64_t start = now_ns();
    const struct cfg_function *f = cfg_support_function(cfg, BASE);
    printf("%u blocks, %llu ms\n", cfg_block_count(f),
           (unsigned long long)(now_ns() - start) / 1000000);
    check_graph(f);
    assert_int_equal(cfg_block_count(f), LARGE + 1);
    assert_int_equal(cfg_block(f, 0)->ipdom, LARGE);
    assert_int_equal(cfg_block(f, 0)->succs, LARGE - 1);
    cfg_free(cfg);
    free(targets);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_c_library, open_lib, close_lib),
        cmocka_unit_test(large_functions),
        cmocka_unit_test(a_switch_of_many_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
