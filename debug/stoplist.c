/* stoplist.c - what to stop at, for a process. SPDX-License-Identifier: MIT */
#include "debug/stoplist.h"

#include <stdlib.h>
#include <string.h>

#include "debug/messages.h"

enum { BREAKS = 10000, CONDITION_BYTES = 1 << 20 };

static int by_pc(const void *a, const void *b)
{
    const struct debuggee_break *x = a, *y = b;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int check(const struct debuggee_stops *s, struct err *err)
{
    if (s->break_count > BREAKS)
        return err_set(err, "more than %d breakpoints", BREAKS);
    if (s->watch_count > STOP_MAX_WATCHES)
        return err_set(err, "more than %d watchpoints", STOP_MAX_WATCHES);
    size_t bytes = 0;
    for (size_t i = 0; i < s->break_count; i++)
        bytes += s->breaks[i].condition_bytes;
    if (bytes > CONDITION_BYTES)
        return err_set(err, "the conditions of breakpoints are too long");
    for (size_t i = 0; i < s->watch_count; i++)
        if (!s->watches[i].bytes || s->watches[i].bytes > 4096)
            return err_set(err, "a watchpoint of %u bytes", s->watches[i].bytes);
    return 0;
}

static void fill(struct mailbox_stops *out, const struct debuggee_stops *s,
                 const struct debuggee_break *sorted)
{
    struct mailbox_break *b = (struct mailbox_break *)(out + 1);
    uint8_t *conditions = (uint8_t *)(b + s->break_count);
    uint32_t at = 0;
    out->breaks = (uint32_t)s->break_count;
    out->watches = (uint32_t)s->watch_count;
    out->only = s->only;
    for (size_t i = 0; i < s->watch_count; i++)
        out->watch[i] = (struct mailbox_watch){
            .addr = s->watches[i].addr, .bytes = s->watches[i].bytes, .kind = s->watches[i].kind};
    if (s->calls)
        memcpy(out->call_wanted, s->call_wanted, sizeof out->call_wanted);
    memcpy(out->signal_wanted, s->signal_wanted, sizeof s->signal_wanted);
    for (size_t i = 0; i < s->break_count; i++) {
        b[i] = (struct mailbox_break){
            .pc = sorted[i].pc, .condition_at = at, .condition_bytes = sorted[i].condition_bytes};
        if (sorted[i].condition_bytes)
            memcpy(conditions + at, sorted[i].conditions, sorted[i].condition_bytes);
        at += sorted[i].condition_bytes;
    }
    out->condition_bytes = at;
}

static void take(struct stoplist *l, uint8_t *bytes, size_t count)
{
    if (l->count == count && !memcmp(l->bytes, bytes, count)) {
        free(bytes);
        return;
    }
    free(l->bytes);
    l->bytes = bytes;
    l->count = count;
    l->serial++;
}

int stoplist_set(struct stoplist *l, const struct debuggee_stops *s, struct err *err)
{
    if (check(s, err))
        return -1;
    size_t bytes = sizeof(struct mailbox_stops) + s->break_count * sizeof(struct mailbox_break);
    for (size_t i = 0; i < s->break_count; i++)
        bytes += s->breaks[i].condition_bytes;
    struct mailbox_stops *new = calloc(1, bytes);
    struct debuggee_break *sorted = calloc(s->break_count + 1, sizeof *sorted);
    if (!new || !sorted) {
        free(new);
        free(sorted);
        return err_set(err, "no memory");
    }
    if (s->break_count)
        memcpy(sorted, s->breaks, s->break_count * sizeof *sorted);
    qsort(sorted, s->break_count, sizeof *sorted, by_pc);
    fill(new, s, sorted);
    free(sorted);
    take(l, (uint8_t *)new, bytes);
    return 0;
}

int stoplist_copy(struct stoplist *to, const struct stoplist *from, struct err *err)
{
    uint8_t *copy = from->count ? malloc(from->count) : NULL;
    if (!from->count)
        return 0; /* {0} */
    if (!copy)
        return err_set(err, "no memory");
    memcpy(copy, from->bytes, from->count);
    take(to, copy, from->count);
    return 0;
}

void stoplist_deinit(struct stoplist *l)
{
    free(l->bytes);
    *l = (struct stoplist){0};
}
