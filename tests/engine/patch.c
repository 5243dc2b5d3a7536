/* patch.c - hot loops whose code changes under them: by themselves, by their caller, in the page
 * that they leave for, at page ends, at low and high addresses. Prints what differs from what C
 * computes.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, RWX = PROT_READ | PROT_WRITE | PROT_EXEC };

typedef uint32_t function(uint32_t);

static int wrong;

static void expect(const char *what, unsigned detail, uint32_t got, uint32_t want)
{
    if (got != want) {
        printf("%s %u: %x instead of %x\n", what, detail, got, want);
        wrong++;
    }
}

static uint8_t *map(uint64_t where, size_t size)
{
    void *p = mmap((void *)where, size, RWX, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static uint32_t call(const uint8_t *code, uint32_t x)
{
    return ((function *)(uintptr_t)code)(x);
}

/* Adds an immediate that grows by one on each turn whose number is a multiple of eight. */
static void patches_itself(uint8_t *code, uint32_t turns)
{
    static const uint8_t loop[] = {
        0x31, 0xc0,                   /*    xor eax, eax */
        0x48, 0x8d, 0x15, 1, 0, 0, 0, /*    lea rdx, [imm] */
        0x05, 1,    0,    0, 0,       /* 9: add eax, 1 */
        0xf7, 0xc7, 7,    0, 0, 0,    /*    test edi, 7 */
        0x75, 0x02,                   /*    jnz 24 */
        0xff, 0x02,                   /*    inc dword [rdx] */
        0xff, 0xcf,                   /* 24: dec edi */
        0x75, 0xed,                   /*    jnz 9 */
        0xc3,
    };
    uint32_t want = 0, add = 1;
    memcpy(code, loop, sizeof loop);
    for (uint32_t i = turns; i; i--) {
        want += add;
        add += i % 8 == 0;
    }
    expect("patches itself", turns, call(code, turns), want);
}

/* lea eax, [rdi + n]; ret, after `pad` no-ops */
static void write_callee(uint8_t *code, uint32_t n, size_t pad)
{
    memset(code, 0x90, pad);
    memcpy(code + pad, (const uint8_t[]){0x8d, 0x87}, 2);
    memcpy(code + pad + 2, &n, 4);
    code[pad + 6] = 0xc3;
}

/* The caller is hot and stays; the callee, in the middle of what may be a superblock, changes. */
static void callee_changes(uint8_t *code, unsigned often)
{
    uint32_t sum = 0, want = 0, n = 1;
    write_callee(code, n, 3);
    for (uint32_t i = 1; i < 3000; i++) {
        sum = call(code, sum);
        want += n;
        if (i % often)
            continue;
        n = i;
        write_callee(code, n, i / often % 5);
    }
    expect("callee changes each", often, sum, want);
}

/* The same with a page that is never writable and executable at once. */
static void callee_is_protected(uint8_t *code, unsigned often)
{
    uint32_t sum = 0, want = 0, n = 1;
    uint8_t *page = (uint8_t *)((uintptr_t)code & ~(uintptr_t)(PAGE - 1));
    for (uint32_t i = 0; i < 1500; i++) {
        if (i % often == 0) {
            n = i + 5;
            mprotect(page, PAGE, PROT_READ | PROT_WRITE);
            write_callee(code, n, 2);
            mprotect(page, PAGE, PROT_READ | PROT_EXEC);
        }
        sum = call(code, sum);
        want += n;
    }
    mprotect(page, PAGE, RWX);
    expect("protected callee changes each", often, sum, want);
}

/* The loop calls into the next page with the carry flag set. There it is overwritten at first, and
 * then read. */
static void flags_come_alive(uint8_t *code)
{
    static const uint8_t loop[] = {
        0x31, 0xd2,             /*    xor edx, edx */
        0xf9,                   /* 2: stc */
        0xe8, 0xf8, 0x0f, 0, 0, /*    call code + 0x1000 */
        0x01, 0xc2,             /*    add edx, eax */
        0xff, 0xcf,             /*    dec edi */
        0x75, 0xf4,             /*    jnz 2 */
        0x89, 0xd0, 0xc3,       /*    mov eax, edx; ret */
    };
    static const uint8_t overwrites[] = {0x31, 0xc0, 0x0f,
                                         0x92, 0xc0, 0xc3}; /* xor eax, eax; setc al */
    static const uint8_t reads[] = {0x19, 0xc0, 0xf7, 0xd8,
                                    0xff, 0xc0, 0xc3}; /* sbb, neg, inc eax */
    memcpy(code, loop, sizeof loop);
    for (int i = 0; i < 6; i++) {
        mprotect(code, 2 * PAGE, PROT_READ | PROT_WRITE);
        memcpy(code + PAGE, i % 2 ? reads : overwrites, i % 2 ? sizeof reads : sizeof overwrites);
        mprotect(code, 2 * PAGE, PROT_READ | PROT_EXEC);
        expect("flags come alive", (unsigned)i, call(code, 2000), i % 2 ? 4000 : 0);
    }
    mprotect(code, 2 * PAGE, RWX);
}

/* A loop over the end of a page; its second page changes. */
static void crosses_a_page(uint8_t *two_pages, unsigned before)
{
    static const uint8_t loop[] = {
        0x31, 0xc0,             /*    xor eax, eax */
        0x05, 1,    0,    0, 0, /* 2: add eax, imm32 */
        0x8d, 0x40, 0x10,       /*    lea eax, [rax + imm8] */
        0xff, 0xcf,             /*    dec edi */
        0x75, 0xf4,             /*    jnz 2 */
        0xc3,
    };
    uint8_t *code = two_pages + PAGE - before;
    memcpy(code, loop, sizeof loop);
    expect("crosses a page", before, call(code, 500), 500 * 0x11);
    code[6] = 1; /* the high byte of the first */
    expect("crosses a page, patched", before, call(code, 500), 500 * 0x1000011u);
    code[9] = 0x20;
    expect("crosses a page, patched again", before, call(code, 500), 500 * 0x1000021u);
}

int main(void)
{
    static const uint64_t place[] = {0x10000000,     0x7ffe0000, 0x80000000,
                                     0x555500000000, 0,          0x7e0000000000};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        uint8_t *code = map(place[i], 4 * PAGE);
        if (!code)
            return 1;
        patches_itself(code, 1000);
        patches_itself(code + 100, 3000);
        callee_changes(code + PAGE, 700);
        callee_changes(code + PAGE + 80, 50);
        callee_changes(code + 2 * PAGE, 3);
        munmap(code, 4 * PAGE);
        code = map(place[i], 4 * PAGE);
        flags_come_alive(code);
        callee_is_protected(code + PAGE, 100);
        callee_is_protected(code + PAGE + 7, 7);
        for (unsigned before = 1; before < 15; before++)
            crosses_a_page(code + 2 * PAGE, before);
        munmap(code, 4 * PAGE);
    }
    puts(wrong ? "wrong" : "right");
    return wrong;
}
