/* mapped_others.c - shared memory that other processes write.
 *
 * SPDX-License-Identifier: MIT
 *
 * A child has the shared memory that was mapped before it was forked, and may map the same file on
 * its own later, as any process may that finds it by name, or write to it by calls. It may write at
 * any time. The runtime looks for what it wrote after each system call of ours, since well-made
 * processes wait for each other by system calls; a program that spins on such memory instead
 * diverges, and the recorder warns of that if there is somebody else who can write.
 */
#include "engine/core/engine.h"
#include "engine/rt/maplist.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/filestat.h"
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

void mapped_own_writes(uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < mapped.count; i++)
        if (mapped.list[i].dev == dev && mapped.list[i].ino == ino)
            mapped.list[i].modified = 0;
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

/* Can others change what it shows? */
static bool is_seen(const struct mapping *n)
{
    return n->shows || (n->object && !n->private);
}

/* posix_spawn: what the child executes has none of the program's memory, but the files. */
static void spawns(void)
{
    mapped.spawned = true;
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping n = mapped.list[i];
        if (is_seen(&n) && n.fresh)
            mapped.sharing = mapped_shadow_of(&n) || mapped.sharing;
    }
}

void mapped_forks(long nr, const struct thread *t)
{
    enum { CLONE_VM_ = 0x100, CLONE_THREAD_ = 0x10000 };
    const enum call_does does = kinds_of(nr).does;
    uint64_t flags = does == DOES_CLONES ? t->cpu.gpr[RDI] : 0;
    if (does == DOES_CLONES_BY && !engine_read(&flags, t->cpu.gpr[RDI], 8))
        return;
    if (flags & CLONE_THREAD_)
        return;
    if (flags & CLONE_VM_) {
        spawns();
        return;
    }
    mapped.forked = true;
    for (size_t i = 0; i < mapped.count; i++) {
        const struct mapping n = mapped.list[i];
        if (!is_seen(&n))
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
        if (is_seen(&n) && mapped_shadow_of(&n))
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

/* Nobody compares private mappings, nor files that were not thought to be shared. */
static bool was_written(const struct mapping *n, const struct filestat *st)
{
    return n->modified && n->dev == st->dev && n->ino == st->ino &&
           filestat_modified_ns(st) != n->modified &&
           (!mapped.sharing || (!n->shows && !n->object));
}

static void look_for_written(void)
{
    struct maplist maps;
    struct maplist_entry e;
    struct filestat st;
    uint64_t before = 0;
    char lines[4096];
    bool found = false;
    if (maplist_open(&maps, 0, lines, sizeof lines))
        return;
    while (!found && maplist_next(&maps, &e)) {
        if (!e.ino || e.ino == before || e.path[0] != '/')
            continue;
        before = e.ino; /* a library has several mappings, one behind the other */
        if (sys4(__NR_newfstatat, -100, (long)e.path, (long)&st, 0) != 0)
            continue;
        for (size_t i = 0; i < mapped.count && !found; i++)
            found = was_written(&mapped.list[i], &st);
    }
    maplist_close(&maps);
    if (found)
        log_ring()->warnings |= WARN_UNSEEN_WRITE;
}

/* Once more at the end, so that record warns of a process that came after the last look. */
void mapped_ends(void)
{
    look_for_written();
    if (!mapped.named || mapped.others)
        return;
    log_ask(KEEP_SHARED);
    if (!log_over() && log_ring()->keep.size)
        mapped_others_write();
}

/* Logs the words that changed in a page. Whether there are any. */
static bool compare_page(gaddr page, uint8_t *copy)
{
    uint64_t now[PAGE_BYTES / 8], *old = (uint64_t *)copy;
    if (!engine_read(now, page, sizeof now) || !memcmp(now, old, sizeof now))
        return false;
    for (size_t i = 0, from; i < PAGE_BYTES / 8; i++) {
        for (from = i; i < PAGE_BYTES / 8 && now[i] != old[i]; i++)
            old[i] = now[i];
        if (i > from)
            log_data(page + from * 8, (i - from) * 8, DATA_AFTER);
    }
    return true;
}

void mapped_shared(void)
{
    if (!mapped.sharing && !mapped.named)
        return;
    for (size_t i = 0; i < mapped.count && mapped.sharing; i++) {
        const struct mapping n = mapped.list[i];
        struct shadow *s = is_seen(&n) ? mapped_shadow_of(&n) : NULL;
        bool changed = false;
        for (gaddr a = n.start; s && a < n.end; a += PAGE_BYTES)
            changed |= compare_page(a, s->copy + (a - n.start));
        if (changed && n.modified && !n.stores) /* not by the program */
            mapped_others_write();
        mapped.list[i].changed |= changed && !n.object;
    }
    look_for_others();
}
