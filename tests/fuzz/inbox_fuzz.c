/* inbox_fuzz.c - arbitrary contents of a mailbox, rewritten while they are read: what comes through
 * has passed all checks.
 *
 * SPDX-License-Identifier: MIT
 *
 * An input is a list of words: a byte that says which order was given, the op, two arguments of 8
 * bytes, and so many bytes (2) for the data, the notes and the rows. A second thread changes bytes
 * of the mailbox to and fro all the time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "debug/inbox.h"
#include "debug/mailbox.h"
#include "replayer/replay.h"

enum { MAX_BYTES = 1 << 16, SPAN = 4096, THREADS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct inbox *inbox;
static struct mailbox *box; /* as the process sees it */

static void check(bool good)
{
    if (!good)
        abort();
}

static void *rewrite(void *arg)
{
    uint64_t state = 88172645463325252ull;
    (void)arg;
    for (;;) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        size_t at = state >> 8 & (SPAN - 8);
        volatile uint64_t *word = (state & 3) == 0   ? &box->arg[state >> 4 & 1]
                                  : (state & 3) == 1 ? (uint64_t *)(box->flow_notes + at)
                                  : (state & 3) == 2 ? (uint64_t *)(box->rows + at)
                                                     : (uint64_t *)(box->data + at);
        uint64_t was = *word;
        for (int i = 0; i < 100; i++) {
            *word = was ^ (state & 8 ? 1ull << (state >> 32 & 63) : state);
            *word = was;
        }
    }
    return NULL;
}

static void begin(void)
{
    struct err err;
    pthread_t thread;
    inbox = inbox_new(false, &err);
    check(inbox != NULL);
    box = mmap(NULL, sizeof *box, PROT_READ | PROT_WRITE, MAP_SHARED, inbox_fd(inbox), 0);
    check(box != MAP_FAILED && !pthread_create(&thread, NULL, rewrite, NULL));
}

/* ---- what came through ---- */

static void look_at_journal(const struct inbox_message *m)
{
    struct mailbox_entry e;
    const void *text;
    static uint8_t copy[MAILBOX_JOURNAL_BYTES];
    for (size_t at = 0; inbox_entry(m, &at, &e, &text);) {
        check(e.kind >= EVENT_CALL && e.kind <= EVENT_EXIT && at <= m->bytes);
        memcpy(copy, text, e.text_bytes);
    }
}

static void look_at_flow(const struct inbox_message *m)
{
    check(m->words_bytes % 8 == 0);
    for (size_t at = 0; at < m->notes_bytes;) {
        const struct flow_note *n = (const void *)((const uint8_t *)m->notes + at);
        check(n->bytes >= sizeof *n && n->bytes <= m->notes_bytes - at);
        at += n->bytes;
    }
}

static void look_at_rows(const struct inbox_message *m)
{
    static uint8_t copy[PROBE_ROW_BYTES];
    for (size_t at = 0; at < m->rows_bytes;) {
        const struct probe_taken *row = (const void *)((const uint8_t *)m->rows + at);
        check(row->thread && row->bytes % 8 == 0 && row->bytes <= m->rows_bytes - at);
        for (size_t i = sizeof *row; i < row->bytes;) {
            const struct probe_piece *p = (const void *)((const uint8_t *)row + i);
            i += sizeof *p + ((p->bytes + 7ull) & ~7ull);
            check(p->kind >= PIECE_MEMORY && p->kind <= PIECE_FAILED && i <= row->bytes);
            memcpy(copy, p + 1, p->bytes);
        }
        at += row->bytes;
    }
}

static void look_at(const struct inbox_message *m)
{
    if (m->ask == TELL_ROWS)
        look_at_rows(m);
    if (m->ask == TELL_JOURNAL)
        look_at_journal(m);
    if (m->ask == TELL_MESSAGE)
        check(strlen((const char *)m->data) <= m->bytes);
    if (m->ask == TELL_FLOW)
        look_at_flow(m);
    if (m->ask == TELL_STOP) {
        check(m->stop->what.reason && m->stop->what.reason < STOP_KINDS);
        check(strlen(m->stop->text) < sizeof m->stop->text);
    }
}

static void look_at_answer(unsigned order)
{
    static uint8_t bytes[SPAN];
    static struct mailbox_moment trail[MAILBOX_TRAIL];
    static struct program_map map[INBOX_MAPS];
    struct program_thread thread[THREADS];
    struct program_registers regs;
    struct err err;
    size_t n;
    uint32_t made;
    bool done;
    switch (order % 7) {
    case 0:
        if (!inbox_read(inbox, bytes, sizeof bytes, &n, &err))
            check(n <= sizeof bytes);
        break;
    case 1:
        if (inbox_registers(inbox, order / 7 % 3, &regs, &err) > 0)
            check(regs.thread && regs.xsave_bytes <= sizeof regs.xsave);
        break;
    case 2:
        if (!inbox_threads(inbox, thread, THREADS, &n, &made, &err))
            for (size_t i = 0; i < n && i < THREADS; i++)
                check(thread[i].number <= made && memchr(thread[i].name, 0, 16));
        break;
    case 3:
        if (!inbox_trail(inbox, trail, &n, &err))
            for (size_t i = 0; i < n; i++)
                check(trail[i].stage <= STAGE_SIGNAL);
        break;
    case 4:
        if (!inbox_maps(inbox, 4096, map, &n, &err))
            for (size_t i = 0; i < n; i++)
                check(map[i].start < map[i].end && (!i || map[i].start >= map[i - 1].end));
        break;
    case 5:
        if (!inbox_written(inbox, order, &n, &err))
            check(n <= order);
        break;
    default:
        inbox_done(inbox, &done, &err);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 20 };
    struct inbox_message m;
    struct err err;
    uint16_t bytes;
    if (size > MAX_BYTES)
        return -1;
    if (!inbox)
        begin();
    while (size >= HEAD) {
        box->op = data[1];
        memcpy(box->arg, data + 2, 16);
        memcpy(&bytes, data + 18, 2);
        bytes = bytes < size - HEAD ? bytes : (uint16_t)(size - HEAD);
        memcpy(box->data, data + HEAD, bytes);
        memcpy(box->flow_notes, data + HEAD, bytes);
        memcpy(box->rows, data + HEAD, bytes);
        if (!inbox_take(inbox, &m, &err)) {
            look_at(&m);
            if (m.ask == TELL_DONE)
                look_at_answer(data[0]);
        }
        data += HEAD + bytes;
        size -= HEAD + (size_t)bytes;
    }
    return 0;
}
