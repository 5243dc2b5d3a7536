/* translate_fuzz.c - arbitrary bytes as target code: every block made of them must be right.
 *
 * SPDX-License-Identifier: MIT
 *
 * A libFuzzer target. Byte 0 of an input chooses how to translate, byte 1 where the code lies, the
 * rest is code. The block at its start is translated and verified (tests/unit/engine_verify.h),
 * then up to three more that direct exits lead to; these are linked, verified again, killed, and
 * must then be unlinked. Built without libFuzzer (-DFUZZ_MAIN), main() runs the files and folders
 * that it is given.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/engine_support.h"
#include "tests/unit/engine_verify.h"

enum { ONE = 1, EXACT = 2, CHECK = 4, PROBES = 8, FAR = 16, MAX_BLOCKS = 4, MAX_CODE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Page starts; the input adds an offset. The last but one is where a vsyscall page is. */
static const gaddr pages[] = {0,
                              0x401000,
                              0x7ffff000,
                              0x80000000,
                              0xfffff000,
                              0x555555555000,
                              0x7ffff7dd5000,
                              0x7fffffffe000,
                              0xffffffffff600000,
                              0xfffffffffffff000};

/* Bits 0-3 of `where` choose the page, bits 4-7 a distance: at its start, inside, or from its end.
 */
static gaddr place(uint8_t where)
{
    gaddr page = pages[(where & 15) % ARRAY_LEN(pages)];
    int k = where >> 4;
    return page + (k == 0 ? 0 : k < 3 ? (gaddr)k * 0x123 : PAGE_BYTES + 2 - (gaddr)k);
}

static void verify(const struct block *b, const struct translate_options *opt)
{
    const char *wrong = verify_block(b, &support_source, opt);
    if (!wrong)
        return;
    fprintf(stderr, "translate_fuzz: %s\n  target:", wrong);
    for (int i = 0; i < b->len; i++)
        fprintf(stderr, " %02x", support_code.bytes[b->pc - support_code.pc + (gaddr)i]);
    fputs("\n  host:", stderr);
    for (uint32_t i = 0; i < b->host_len && i < 400; i++)
        fprintf(stderr, " %02x", b->host[i]);
    fputc('\n', stderr);
    abort();
}

static void verify_all(struct block *const *b, int n, const struct translate_options *opt)
{
    for (int i = 0; i < n; i++)
        if (!b[i]->dead)
            verify(b[i], opt);
}

/* Follows direct exits; returns how many blocks there are now. */
static int translate_more(struct block **b, int n, const struct translate_options *opt)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < b[i]->site_count; k++) {
            struct exit_site *s = &b[i]->site[k];
            gaddr fault;
            if (s->kind != EXIT_DIRECT)
                continue;
            struct block *to = cache_find(s->target);
            if (!to && n < MAX_BLOCKS &&
                (to = translate(s->target, &support_source, opt, &fault)) != NULL)
                b[n++] = to;
            if (to)
                cache_link(s, to);
        }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    struct block *b[MAX_BLOCKS];
    gaddr fault;
    if (!ready)
        support_init(1 << 20);
    ready = true;
    if (size < 3 || size > MAX_CODE + 2)
        return -1;
    struct translate_options opt = {.one = data[0] & ONE, .exact_flags = data[0] & EXACT};
    gaddr pc = place(data[1]);
    /* 1: there is no arena near it, and looking for a place would only take time. */
    opt.region = data[0] & FAR || pc >> 47 ? 1 : PAGE_DOWN(pc);
    support_code = (struct support_code){pc, data + 2, size - 2, data[0] & CHECK};
    support_probe_all(data[0] & PROBES ? data[0] >> 4 | PROBE_BEFORE : 0);
    b[0] = translate(pc, &support_source, &opt, &fault);
    if (!b[0]) {
        if (fault - pc > support_code.size)
            abort();
        return 0;
    }
    verify(b[0], &opt);
    int n = opt.one ? 1 : translate_more(b, 1, &opt);
    if (n > 1) {
        verify_all(b, n, &opt);
        cache_kill(b[0]);
        verify_all(b, n, &opt);
    }
    cache_kill_all();
    return 0;
}
