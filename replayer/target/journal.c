/* journal.c - what the program did, told to the supervisor. SPDX-License-Identifier: MIT
 *
 * Entries are collected and told when there are many of them, or when the replay stops. What was
 * told by an earlier execution of the same stretch is not told again: output appears once.
 */
#include "replayer/target/journal.h"

#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/rt/rt.h"
#include "replayer/target/cursor.h"

enum { ROOM = MAILBOX_JOURNAL_BYTES, TEXT = 16 << 10 };
#define PADDED(bytes) (((bytes) + 7) & ~7ull)

static struct {
    uint64_t bytes;
    uint8_t entry[ROOM] __attribute__((aligned(8)));
} journal;
static uint64_t wanted, told;

void journal_run(uint64_t flags, uint64_t told_events)
{
    wanted = flags & (RUN_OUTPUT | RUN_EVENTS | RUN_SWITCHES);
    told = told_events;
}

void journal_flush(void)
{
    struct mailbox *box = post_box();
    if (!journal.bytes)
        return;
    memcpy(box->data, journal.entry, journal.bytes);
    box->arg[1] = journal.bytes;
    journal.bytes = 0;
    post_ask(TELL_JOURNAL);
}

static bool wants(uint64_t what, uint64_t number)
{
    return (wanted & what) && number >= told;
}

bool journal_wants_calls(void)
{
    return wanted & (RUN_EVENTS | RUN_SWITCHES);
}

static struct mailbox_entry *new_entry(const struct thread *t, enum event_kind kind, uint64_t text)
{
    uint64_t bytes = sizeof(struct mailbox_entry) + PADDED(text);
    if (ROOM - journal.bytes < bytes)
        journal_flush();
    struct mailbox_entry *e = (struct mailbox_entry *)(journal.entry + journal.bytes);
    *e = (struct mailbox_entry){.kind = kind,
                                .text_bytes = (uint32_t)text,
                                .ticks = stops_ticks(),
                                .at = {.events = cursor_number(),
                                       .count = thread_count(t),
                                       .pc = t->cpu.rip,
                                       .thread = t->number,
                                       .stage = STAGE_BEFORE}};
    journal.bytes += bytes;
    return e;
}

/* By whom each kind is wanted. */
static const uint8_t wanted_by[] = {
    [EVENT_CALL] = RUN_EVENTS,
    [EVENT_SIGNAL] = RUN_EVENTS,
    [EVENT_THREAD] = RUN_EVENTS | RUN_SWITCHES,
    [EVENT_EXEC] = RUN_EVENTS,
    [EVENT_MARK] = RUN_EVENTS,
    [EVENT_EXIT] = RUN_EVENTS | RUN_SWITCHES,
    [EVENT_END] = RUN_EVENTS | RUN_SWITCHES,
    [EVENT_SWITCH] = RUN_SWITCHES,
};

void journal_tell(const struct thread *t, const struct journal_entry *from)
{
    if (!wants(wanted_by[from->kind], from->number))
        return;
    struct mailbox_entry *e = new_entry(t, from->kind, from->bytes);
    e->at.events = from->number;
    e->at.pc = from->pc;
    e->at.stage = from->unfinished ? STAGE_ENTERED : STAGE_BEFORE;
    e->a = from->a;
    e->b = from->b;
    memcpy(e + 1, from->text, from->bytes);
}

void journal_event(const struct thread *t, enum event_kind kind, int64_t a, int64_t b)
{
    const struct journal_entry e = {
        .kind = kind, .number = cursor_number(), .pc = t->cpu.rip, .a = a, .b = b};
    journal_tell(t, &e);
}

void journal_signal(const struct thread *t, const struct siginfo_raw *info)
{
    const struct journal_entry e = {.kind = EVENT_SIGNAL,
                                    .number = cursor_number(),
                                    .pc = t->cpu.rip,
                                    .a = info->sig,
                                    .text = info,
                                    .bytes = sizeof *info};
    journal_tell(t, &e);
}

void journal_exit(const struct thread *t, int status, bool killed)
{
    const struct journal_entry e = {.kind = EVENT_EXIT,
                                    .number = cursor_number(),
                                    .pc = t->cpu.rip,
                                    .a = status,
                                    .b = killed,
                                    .text = t->name,
                                    .bytes = sizeof t->name};
    journal_tell(t, &e);
}

void journal_mark(const struct thread *t, int64_t kind, const char *text, uint64_t bytes)
{
    const struct journal_entry e = {.kind = EVENT_MARK,
                                    .number = cursor_number(),
                                    .pc = t->cpu.rip,
                                    .a = kind,
                                    .text = text,
                                    .bytes = bytes};
    journal_tell(t, &e);
}

void journal_switch(const struct thread *t, uint32_t to, int64_t why, const void *text,
                    uint64_t bytes)
{
    const struct journal_entry e = {.kind = EVENT_SWITCH,
                                    .number = cursor_number(),
                                    .pc = t->cpu.rip,
                                    .a = to,
                                    .b = why,
                                    .text = text,
                                    .bytes = bytes};
    journal_tell(t, &e);
}

bool journal_output(const struct thread *t, int to, int fd, gaddr from, uint64_t bytes)
{
    while (bytes && wants(RUN_OUTPUT, cursor_number())) {
        uint64_t n = bytes < TEXT ? bytes : TEXT;
        struct mailbox_entry *e = new_entry(t, EVENT_OUTPUT, n);
        uint64_t missing = engine_copy(e + 1, (const void *)from, n);
        e->a = to;
        e->b = fd;
        if (missing) { /* more than is there cannot have been written, whatever the log says */
            journal.bytes -= PADDED(n) - PADDED(n - missing);
            e->text_bytes = (uint32_t)(n - missing);
            return false;
        }
        from += n;
        bytes -= n;
    }
    return true;
}
