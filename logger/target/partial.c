/* partial.c - what memory calls did before they failed. SPDX-License-Identifier: MIT */
#include "logger/target/partial.h"

#include "engine/core/engine.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/log.h"
#include "pinball/record.h"

static void note(uint8_t what, gaddr start, gaddr end, int prot)
{
    if (start >= end || log_over() || range_overlaps(start, end))
        return;
    struct record_map *m = log_begin(RECORD_MAP, sizeof *m);
    m->r.flags = what;
    m->start = start;
    m->bytes = end - start;
    m->prot = (uint32_t)prot;
    m->flags = 0;
    m->file = MAP_FILE_NONE;
    m->object = 0;
    m->offset = m->size = 0;
    log_commit();
}

/* One pass over what is mapped now in [start, end), in order. */
struct pass {
    gaddr start, end;
    long advice;
    gaddr done; /* up to here it has been looked at */
    bool over;
};

static void look_for_holes(struct pass *p, struct region r)
{
    note(PARTLY_GONE, p->done, r.start, 0);
    p->done = r.end;
}

static void look_at_rights(struct pass *p, struct region r)
{
    (void)p;
    note(PARTLY_PROT, r.start, r.end, r.prot);
}

/* Done a second time, it does nothing more where it was done, and fails where it failed. */
static void advise_again(struct pass *p, struct region r)
{
    enum { DONTNEED = 4, FREE = 8 };
    long bytes = (long)(r.end - r.start);
    p->over = p->over || sys3(__NR_madvise, (long)r.start, bytes, p->advice);
    if (p->over)
        return;
    if (p->advice == FREE) /* as memory_madvise() does it */
        sys3(__NR_madvise, (long)r.start, bytes, DONTNEED);
    note(PARTLY_EMPTY, r.start, r.end, 0);
}

static struct {
    struct pass pass;
    void (*fn)(struct pass *p, struct region r);
} now;

static void clip(struct region r)
{
    struct pass *p = &now.pass;
    if (r.end <= p->start || r.start >= p->end)
        return;
    r.start = r.start > p->start ? r.start : p->start;
    r.end = r.end < p->end ? r.end : p->end;
    now.fn(p, r);
}

static void each(long start, long bytes, void (*fn)(struct pass *p, struct region r), long advice)
{
    gaddr from = (gaddr)start, to = from + PAGE_UP((uint64_t)bytes);
    if ((from & (PAGE_BYTES - 1)) || to <= from || from >> 47 || to >> 47)
        return;
    now.pass = (struct pass){.start = from, .end = to, .done = from, .advice = advice};
    now.fn = fn;
    if (!maps_all(clip)) {
        rt_say("/proc/self/maps cannot be read: what a memory call did before it failed is not "
               "recorded");
        return;
    }
    if (fn == look_for_holes)
        note(PARTLY_GONE, now.pass.done, to, 0);
}

void partial_note(long nr, const long a[6], long error)
{
    enum { DONTNEED = 4, FREE = 8, REMOVE = 9, DONTNEED_LOCKED = 24, TO_FIXED = 2 };
    switch (kinds_of(nr).does) {
    case DOES_PROTECTS:
        if (error != EINVAL)
            each(a[0], a[1], look_at_rights, 0);
        break;
    case DOES_ADVISES:
        if (a[2] == DONTNEED || a[2] == FREE || a[2] == REMOVE || a[2] == DONTNEED_LOCKED)
            each(a[0], a[1], advise_again, a[2]);
        break;
    case DOES_MAPS:
        if ((a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) == MAP_FIXED)
            each(a[0], a[1], look_for_holes, 0);
        break;
    case DOES_REMAPS:
        if (a[3] & TO_FIXED)
            each(a[4], a[2], look_for_holes, 0);
        if ((a[3] & TO_FIXED) || (uint64_t)a[2] < (uint64_t)a[1])
            each(a[0], a[1], look_for_holes, 0);
        break;
    default:
        break;
    }
}
