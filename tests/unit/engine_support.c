/* engine_support.c - the engine's parts outside a target, for tests. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "tests/unit/engine_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/core/engine.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"

struct engine engine;
const struct instrument *instrument;
struct support_code support_code;
struct thread *support_thread;
static struct thread the_thread;
static unsigned probes;

static void say(const char *fmt, va_list ap)
{
    fputs("drdebug: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

void rt_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

void rt_die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    abort();
}

static size_t fetch(gaddr pc, uint8_t *out, size_t max)
{
    gaddr at = pc - support_code.pc, page_left = PAGE_BYTES - (pc & (PAGE_BYTES - 1));
    if (at >= support_code.size)
        return 0;
    if (max > support_code.size - at)
        max = support_code.size - at;
    if (max > page_left)
        max = page_left;
    memcpy(out, support_code.bytes + at, max);
    return max;
}

static bool watch(gaddr pc, size_t len)
{
    (void)pc;
    (void)len;
    return support_code.check;
}

static bool steady(gaddr pc)
{
    (void)pc;
    return !support_code.check;
}

const struct code_source support_source = {fetch, watch, steady};

/* The runtime allocates below its base: the base is the upper end of a hole that the kernel knows.
 */
static gaddr find_base(void)
{
    const size_t hole = 1ull << 30;
    uint8_t *p = mmap(NULL, hole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        rt_die("no address space for a test");
    munmap(p, hole);
    return (gaddr)p + hole - (64 << 10);
}

void support_init(uint64_t arena_bytes)
{
    engine.base = find_base();
    range_init(engine.base, PAGE_BYTES);
    insn_init();
    cache_init(arena_bytes);
    support_thread = &the_thread;
    engine.threads = support_thread;
    support_thread->lookup = engine.lookup;
}

static unsigned select_all(const struct insn *in, bool first)
{
    (void)in;
    return first ? probes : probes & ~(unsigned)PROBE_BLOCK;
}

void support_probe_all(unsigned wanted)
{
    static const struct instrument tool = {.select = select_all};
    probes = wanted;
    instrument = wanted ? &tool : NULL;
}

struct block *support_translate(gaddr pc, const void *code, size_t size)
{
    gaddr fault;
    struct translate_options opt = {.region = 1};
    support_code = (struct support_code){.pc = pc, .bytes = code, .size = size};
    return translate(pc, &support_source, &opt, &fault);
}
