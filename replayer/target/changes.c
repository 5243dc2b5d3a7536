/* changes.c - what the runtime and the program's calls change of its memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two sets of ranges: pages whose mapping was changed in any way, and memory that the runtime wrote
 * on the program's behalf: effects of calls, frames of signals, what a thread leaves when it ends.
 * A set may hold more than was changed, never less; so where it becomes too fine it is made coarse.
 */
#include "replayer/target/changes.h"

#include "base/search.h"
#include "debug/target/post.h"
#include "engine/core/engine.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "pinball/record_gap.h"
#include "pinball/sink.h"
#include "replayer/target/space.h"
#include "replayer/target/state.h"

enum { SPANS = 1 << 15, OBJECT_BITS = 4096, LINE = 64 };

struct span {
    gaddr start, end;
};

/* Sorted; none touches another. */
struct spans {
    struct span *list;
    uint32_t count;
    gaddr grain; /* they begin and end at multiples of it */
};

static bool on;
static struct spans mapped, written;
static uint8_t object[OBJECT_BITS / 8];

/* ---- sets ---- */

static uint32_t first_from(const struct spans *s, gaddr start) /* that does not end before it */
{
    return (uint32_t)search_below(s->list, s->count, end, start);
}

static void coarsen(struct spans *s)
{
    uint32_t n = 0;
    const gaddr grain = s->grain < LINE ? LINE : PAGE_BYTES;
    s->grain = grain;
    for (uint32_t i = 0; i < s->count; i++) {
        const gaddr start = s->list[i].start & ~(grain - 1),
                    end = (s->list[i].end + grain - 1) & ~(grain - 1);
        if (n && s->list[n - 1].end >= start)
            s->list[n - 1].end = end > s->list[n - 1].end ? end : s->list[n - 1].end;
        else
            s->list[n++] = (struct span){start, end};
    }
    s->count = n;
}

static void add(struct spans *s, gaddr start, gaddr end)
{
    start &= ~(s->grain - 1);
    end = (end + s->grain - 1) & ~(s->grain - 1);
    uint32_t at = first_from(s, start), past = at;
    for (; past < s->count && s->list[past].start <= end; past++) {
        start = s->list[past].start < start ? s->list[past].start : start;
        end = s->list[past].end > end ? s->list[past].end : end;
    }
    if (past == at && s->count == SPANS) {
        if (s->grain == PAGE_BYTES)
            post_failed("more than %d pieces of memory were changed", SPANS);
        coarsen(s);
        add(s, start, end);
        return;
    }
    memmove(&s->list[at + 1], &s->list[past], sizeof *s->list * (s->count - past));
    s->list[at] = (struct span){start, end};
    s->count -= past - at;
    s->count++;
}

static void note_written(gaddr addr, uint64_t bytes)
{
    if (bytes && addr + bytes > addr)
        add(&written, addr, addr + bytes);
}

void changes_mapped(gaddr start, gaddr end)
{
    if (on && start < end)
        add(&mapped, PAGE_DOWN(start), PAGE_UP(end));
}

void changes_object(uint32_t number)
{
    if (on && number < OBJECT_BITS)
        object[number / 8] |= (uint8_t)(1 << number % 8);
}

void changes_begin(void)
{
    if (!mapped.list) {
        mapped.list = range_alloc(SPANS * sizeof *mapped.list);
        written.list = range_alloc(SPANS * sizeof *written.list);
    }
    mapped.count = written.count = 0;
    mapped.grain = written.grain = 1;
    memset(object, 0, sizeof object);
    on = true;
    engine_wrote = note_written;
}

/* ---- telling ---- */

static void tell_map(struct sink_writer *out, const struct record_map *map)
{
    struct record_map *m = sink_begin(out, RECORD_MAP, sizeof *m);
    const struct record head = {.kind = RECORD_MAP, .flags = map->r.flags, .bytes = sizeof *m};
    *m = *map;
    m->r = head;
    sink_commit(out);
}

static void tell_gone(struct sink_writer *out, gaddr start, gaddr end)
{
    if (start < end)
        tell_map(out, &(struct record_map){.r = {.flags = PARTLY_GONE},
                                           .start = start,
                                           .bytes = end - start,
                                           .file = MAP_FILE_NONE});
}

/* What is in the span now, piece by piece; *i is the first area that may be. */
static void tell_span(struct sink_writer *out, const struct span *s, int *i)
{
    struct record_map m;
    gaddr at = s->start;
    for (; space_area(*i, &m) && m.start < s->end; ++*i) {
        const gaddr end = m.start + m.bytes;
        if (end <= at)
            continue;
        const gaddr from = m.start > at ? m.start : at, to = end < s->end ? end : s->end;
        tell_gone(out, at, from);
        if (m.object || m.file != MAP_FILE_NONE)
            m.offset += from - m.start;
        m.start = from;
        m.bytes = to - from;
        m.r.flags = MAP_AS_IS;
        tell_map(out, &m);
        at = to;
        if (end > s->end)
            break; /* the next span may be in it, too */
    }
    tell_gone(out, at, s->end);
}

/* Shared memory that was changed is told as a whole, and its mappings are made again. */
static void tell_objects(struct sink_writer *out)
{
    struct record_map m;
    uint64_t bytes;
    int fd;
    for (uint32_t n = 1; n < OBJECT_BITS && space_object_get(n, &fd, &bytes); n++)
        if (fd >= 0 && (object[n / 8] >> n % 8 & 1))
            state_tell_object(out, n, fd, bytes);
    for (int i = 0; space_area(i, &m); i++)
        if (m.object && (object[m.object / 8] >> m.object % 8 & 1))
            add(&mapped, m.start, m.start + m.bytes);
}

void changes_tell(struct sink_writer *out)
{
    int area = 0;
    on = false;
    engine_wrote = NULL;
    tell_objects(out);
    for (uint32_t i = 0; i < mapped.count; i++)
        tell_span(out, &mapped.list[i], &area);
    for (uint32_t i = 0; i < written.count; i++) {
        struct record_data *d = sink_begin(out, RECORD_DATA, sizeof *d);
        d->addr = written.list[i].start;
        d->bytes = written.list[i].end - written.list[i].start;
        sink_commit(out);
    }
}
