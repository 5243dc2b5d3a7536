/* mapped_others.c - shared memory that other processes write.
 *
 * SPDX-License-Identifier: MIT
 *
 * A child has the shared memory that was mapped before it was forked, and may map the same file on
 * its own later, as any process may that finds it by name. It may write at any time. The runtime
 * looks for what it wrote after each system call of ours, since well-made processes wait for each
 * other by system calls; a program that spins on such memory instead diverges, and the recorder
 * warns of that if there is somebody else who can write.
 */
#include "engine/core/engine.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/log.h"
#include "logger/target/mapped_int.h"

enum { SHADOW_LIMIT = 4 << 20 };
enum { LOOK_CYCLES = 200 << 20 }; /* 0.1 s */

struct shadow *mapped_shadow_of(const struct mapping *n)
{
    for (size_t i = 0; i < mapped.shadows; i++)
        if (mapped.shadow[i].start == n->start && mapped.shadow[i].end == n->end)
            return &mapped.shadow[i];
    uint64_t bytes = n->end - n->start;
    if (mapped.shadows == SHADOWS || bytes > SHADOW_LIMIT)
        return NULL;
    struct shadow *s = &mapped.shadow[mapped.shadows++];
    *s = (struct shadow){n->start, n->end, range_alloc(bytes)};
    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) /* some may be guards that nobody reads */
        engine_copy(s->copy + at, (const void *)(n->start + at), PAGE_BYTES);
    return s;
}

void mapped_others_write(void)
{
    mapped.others = true;
    log_ring()->warnings |= WARN_SHARED_MEMORY;
}

void mapped_anybody_may_map(bool likely)
{
    enum { AT_ONCE = 8 };
    if (!mapped.named)
        mapped.asked = __builtin_ia32_rdtsc();
    mapped.pause = mapped.pause ? mapped.pause : LOOK_CYCLES;
    mapped.named = true;
    if (likely && mapped.at_once++ < AT_ONCE)
        mapped.asked = 0;
}

void mapped_forks(long nr, const struct thread *t)
{
    enum { CLONE_VM_ = 0x100 };
    const enum call_does does = kinds_of(nr).does;
    uint64_t flags = does == DOES_CLONES ? t->cpu.gpr[RDI] : 0;
    if (does == DOES_CLONES_BY && !engine_read(&flags, t->cpu.gpr[RDI], 8))
        return;
    if (flags & CLONE_VM_)
        return;
    mapped.forked = true;
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping n = mapped.list[i];
        if (!n.object || n.private)
            continue;
        mapped.sharing = true;
        if (n.writable)
            mapped_others_write();
        mapped_shadow_of(&n);
    }
}

/* Another process that is no child has some of it. Copies are made here before the present contents
 * are logged, and later writes are found by comparing with them: nothing is lost in between. */
static void share_with_others(void)
{
    mapped_others_write();
    for (size_t i = 0; i < mapped.count && !mapped.sharing; i++) {
        const struct mapping n = mapped.list[i];
        if (n.object && !n.private && mapped_shadow_of(&n))
            log_data(n.start, n.end - n.start, DATA_AFTER);
    }
    mapped.sharing = true;
}

/* Whether another process has one of these mappings and may write it: only the recorder can look.
 * That takes a millisecond or more, so it is asked less and less often. */
static void look_for_others(void)
{
    uint64_t now = __builtin_ia32_rdtsc();
    if (mapped.others || (mapped.asked && now - mapped.asked < mapped.pause))
        return;
    mapped.pause = mapped.asked ? 2 * mapped.pause : LOOK_CYCLES;
    mapped.asked = now;
    log_ask(KEEP_SHARED);
    if (!log_over() && log_ring()->keep.size)
        share_with_others();
}

/* Once more at the end, so that record warns of a process that came after the last look. */
void mapped_ends(void)
{
    if (!mapped.named || mapped.others)
        return;
    log_ask(KEEP_SHARED);
    if (!log_over() && log_ring()->keep.size)
        mapped_others_write();
}

/* Logs the words that changed in a page. */
static void compare_page(gaddr page, uint8_t *copy)
{
    uint64_t now[PAGE_BYTES / 8], *old = (uint64_t *)copy;
    if (!engine_read(now, page, sizeof now) || !memcmp(now, old, sizeof now))
        return;
    for (size_t i = 0, from; i < PAGE_BYTES / 8; i++) {
        for (from = i; i < PAGE_BYTES / 8 && now[i] != old[i]; i++)
            old[i] = now[i];
        if (i > from)
            log_data(page + from * 8, (i - from) * 8, DATA_AFTER);
    }
}

void mapped_shared(void)
{
    if (!mapped.sharing && !mapped.named)
        return;
    for (size_t i = 0; i < mapped.count && mapped.sharing; i++) {
        const struct mapping n = mapped.list[i];
        struct shadow *s = n.object && !n.private ? mapped_shadow_of(&n) : NULL;
        for (gaddr a = n.start; s && a < n.end; a += PAGE_BYTES)
            compare_page(a, s->copy + (a - n.start));
    }
    look_for_others();
}
