/* inbox.c - the supervisor's side of a mailbox. SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. Nothing in the mailbox is read twice. Words are read by one atomic load each, everything else
 *    by read_once(), into private memory; only private memory is looked at.
 * 2. A length is checked before it is used to copy, a value before it is given out.
 */
#define _GNU_SOURCE
#include "debug/inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "debug/flow_note.h"
#include "debug/mailbox.h"
#include "debug/probe_check.h"
#include "debug/program.h"
#include "pinball/marks.h"
#include "pinball/records.h"

enum { ARGS = 3, SIGNALS = 64, LINE = 1024, WAIT_NS = 20000000, SPINS = 200, XSAVE_LEAST = 512 };
#define ADDRESSES (1ull << 47)

/* The mailboxes of a process and its copies: a descriptor that all of them have. */
struct boxes {
    int fd;
    unsigned users;
    uint8_t used[MAILBOXES];
};

struct inbox {
    struct boxes *boxes;
    unsigned number;
    struct mailbox *box; /* shared */
    /* Private copies of what was said last. */
    uint64_t arg[ARGS];
    uint8_t data[MAILBOX_JOURNAL_BYTES] __attribute__((aligned(8)));
    struct mailbox_stop stop;
    uint8_t *flow;    /* words, then notes; NULL: none came yet */
    uint8_t *records; /* likewise */
    uint8_t *rows;    /* likewise */
};

static int nonsense(struct err *err, const char *what)
{
    return err_set(err, "the replaying process talks nonsense: %s", what);
}

/* The compiler must not look at `from` again in place of `to`. */
static void read_once(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory");
}

/* ---- making ---- */

static struct boxes *boxes_new(unsigned count, struct err *err)
{
    struct boxes *b = calloc(1, sizeof *b);
    if (!b) {
        err_set(err, "no memory");
        return NULL;
    }
    b->fd = memfd_create("mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (b->fd < 0 || ftruncate(b->fd, (off_t)sizeof(struct mailbox) * count) < 0 ||
        fcntl(b->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        err_set(err, "memory for the replay: %m");
        if (b->fd >= 0)
            close(b->fd);
        free(b);
        return NULL;
    }
    memset(b->used + count, 1, sizeof b->used - count);
    return b;
}

/* A mailbox that nobody uses any more; its memory is given back. The last one stays as it is: a
 * living program that was left to itself still reads its last order there. */
static void boxes_leave(struct boxes *b, unsigned number)
{
    b->used[number] = 0;
    if (--b->users) {
        fallocate(b->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(number * sizeof(struct mailbox)), sizeof(struct mailbox));
        return;
    }
    close(b->fd);
    free(b);
}

/* Takes the first mailbox that is free. */
static struct inbox *join(struct boxes *b, struct err *err)
{
    unsigned number = 0;
    while (number < MAILBOXES && b->used[number])
        number++;
    struct inbox *in = number < MAILBOXES ? calloc(1, sizeof *in) : NULL;
    if (!in) {
        err_set(err,
                number < MAILBOXES ? "no memory" : "no more copies of this replay can be made");
        return NULL;
    }
    void *p = mmap(NULL, sizeof *in->box, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd,
                   (off_t)(number * sizeof *in->box));
    if (p == MAP_FAILED) {
        err_set(err, "memory for the replay: %m");
        free(in);
        return NULL;
    }
    in->boxes = b;
    in->number = number;
    in->box = p;
    b->users++;
    b->used[number] = 1;
    return in;
}

struct inbox *inbox_new(bool copies, struct err *err)
{
    struct boxes *b = boxes_new(copies ? MAILBOXES : 1, err);
    struct inbox *in = b ? join(b, err) : NULL;
    if (b && !in) {
        close(b->fd);
        free(b);
    }
    return in;
}

struct inbox *inbox_beside(struct inbox *other, struct err *err)
{
    return join(other->boxes, err);
}

void inbox_free(struct inbox *in)
{
    if (!in)
        return;
    munmap(in->box, sizeof *in->box);
    boxes_leave(in->boxes, in->number);
    free(in->flow);
    free(in->records);
    free(in->rows);
    free(in);
}

int inbox_fd(const struct inbox *in)
{
    return in->boxes->fd;
}

unsigned inbox_number(const struct inbox *in)
{
    return in->number;
}

uint64_t inbox_bytes(void)
{
    return sizeof(struct mailbox);
}

void inbox_set(struct inbox *in, const struct inbox_settings *s)
{
    struct mailbox *box = in->box;
    box->reserved_bytes = s->reserved_bytes;
    box->files_fd = s->files_fd;
    box->box_fd = s->box_fd;
    box->turn = TURN_TARGET;
    box->chunk = s->chunk;
    box->offset = s->offset;
    box->records = s->records;
    box->ticks = s->ticks;
    if (s->leads_to)
        memcpy(box->leads_to, s->leads_to, sizeof box->leads_to);
}

/* ---- whose turn it is ---- */

bool inbox_ours(const struct inbox *in)
{
    return __atomic_load_n(&in->box->turn, __ATOMIC_ACQUIRE) == TURN_HOST;
}

static bool wait_for_turn(struct inbox *in, long ns)
{
    const struct timespec wait = {0, ns};
    for (int spins = 0; spins < SPINS; spins++) {
        if (inbox_ours(in))
            return true;
        __builtin_ia32_pause();
    }
    syscall(SYS_futex, &in->box->turn, FUTEX_WAIT, TURN_TARGET, &wait, NULL, 0);
    return inbox_ours(in);
}

bool inbox_wait(struct inbox *in)
{
    return wait_for_turn(in, WAIT_NS);
}

bool inbox_wait_briefly(struct inbox *in)
{
    return wait_for_turn(in, WAIT_NS / 10);
}

void inbox_pause(struct inbox *in, bool wish)
{
    __atomic_store_n(&in->box->pause, wish, __ATOMIC_RELEASE);
    if (wish) /* a living program has a thread that sleeps until then */
        syscall(SYS_futex, &in->box->pause, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void inbox_flush(struct inbox *in)
{
    __atomic_store_n(&in->box->flush, 1, __ATOMIC_RELEASE);
}

void inbox_go_on(struct inbox *in)
{
    __atomic_store_n(&in->box->turn, TURN_TARGET, __ATOMIC_RELEASE);
    syscall(SYS_futex, &in->box->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- saying something ---- */

static void put(struct inbox *in, uint64_t arg0, uint64_t arg1, const void *data, size_t bytes)
{
    in->box->arg[0] = arg0;
    in->box->arg[1] = arg1;
    if (bytes && bytes <= sizeof in->box->data)
        memcpy(in->box->data, data, bytes);
}

void inbox_answer(struct inbox *in, uint64_t arg0, uint64_t arg1, const void *data, size_t bytes)
{
    put(in, arg0, arg1, data, bytes);
    inbox_go_on(in);
}

size_t inbox_room(void)
{
    return sizeof((struct mailbox *)0)->data;
}

void inbox_order(struct inbox *in, const struct inbox_order *o)
{
    put(in, o->arg[0], o->arg[1], o->data, o->bytes);
    in->box->op = o->what;
    inbox_go_on(in);
}

/* ---- what was said ---- */

/* Is this a moment, a stop, an entry? NULL if so, else what is wrong. */
static const char *check_moment(const struct mailbox_moment *m)
{
    return m->stage > STAGE_SIGNAL ? "an unknown stage" : NULL;
}

static const char *check_what(const struct mailbox_what *w)
{
    if (!w->reason || w->reason >= STOP_KINDS)
        return "an unknown reason to stop";
    if (w->kind > WATCH_ACCESS)
        return "an unknown kind of watchpoint";
    if (w->reason == STOP_SIGNAL && (w->number < 1 || w->number > SIGNALS))
        return "an unknown signal";
    return check_moment(&w->at);
}

static const char *check_stop(const struct mailbox_stop *s)
{
    const char *bad = check_what(&s->what);
    if (!bad && s->hit.reason)
        bad = check_what(&s->hit);
    for (int i = 0; i < MAILBOX_FDS; i++)
        if (s->leads_to[i] > OUTPUT_TERMINAL)
            return "a descriptor that leads nowhere";
    return bad;
}

static const char *check_entry(const struct mailbox_entry *e, size_t room)
{
    if (e->kind < EVENT_CALL || e->kind > EVENT_SWITCH)
        return "an unknown event";
    if (e->text_bytes > room)
        return "an event that is longer than the journal";
    if (e->kind == EVENT_OUTPUT && (e->a < OUTPUT_OUT || e->a > OUTPUT_TERMINAL))
        return "output to nowhere";
    if (e->kind == EVENT_SIGNAL && (e->a < 1 || e->a > SIGNALS))
        return "an unknown signal";
    if (e->kind == EVENT_MARK && (e->a < MARKS_PLACE || e->a > MARKS_END))
        return "an unknown mark";
    return check_moment(&e->at);
}

/* Pieces of memory, each whole, to the end. */
static const char *check_call(const uint8_t *text, size_t bytes)
{
    struct mailbox_piece p;
    size_t at = sizeof(struct mailbox_call);
    if (bytes < at)
        return "a system call without arguments";
    for (; at < bytes; at += ((size_t)p.bytes + 7) & ~(size_t)7) {
        if (bytes - at < sizeof p)
            return "a piece of a system call's memory";
        memcpy(&p, text + at, sizeof p);
        at += sizeof p;
        if (p.bytes > bytes - at || p.bytes > p.total)
            return "a system call's memory that is longer than itself";
    }
    return NULL;
}

static const char *check_text(const struct mailbox_entry *e, const uint8_t *text)
{
    const bool waits = e->kind == EVENT_SWITCH && (e->b & 0xff) == SWITCH_CALL;
    if (e->kind == EVENT_CALL || e->kind == EVENT_EXEC || waits)
        return check_call(text, e->text_bytes);
    return NULL;
}

int inbox_entry(const struct inbox_message *m, size_t *at, struct mailbox_entry *e,
                const void **text)
{
    if (m->bytes - *at < sizeof *e)
        return 0;
    memcpy(e, m->data + *at, sizeof *e);
    *text = m->data + *at + sizeof *e;
    *at += sizeof *e + (((size_t)e->text_bytes + 7) & ~(size_t)7);
    return 1;
}

static int take_journal(struct inbox *in, struct inbox_message *out, struct err *err)
{
    const size_t bytes = in->arg[1];
    struct mailbox_entry e;
    if (bytes > sizeof in->data || bytes % 8)
        return nonsense(err, "the length of a journal");
    read_once(in->data, in->box->data, bytes);
    for (size_t at = 0; at < bytes; at += (e.text_bytes + 7ull) & ~7ull) {
        if (bytes - at < sizeof e)
            return nonsense(err, "a piece of an event");
        memcpy(&e, in->data + at, sizeof e);
        at += sizeof e;
        const char *bad = check_entry(&e, bytes - at);
        if (!bad)
            bad = check_text(&e, in->data + at);
        if (bad)
            return nonsense(err, bad);
    }
    out->data = in->data;
    out->bytes = bytes;
    return 0;
}

static void take_line(struct inbox *in, struct inbox_message *out)
{
    out->bytes = in->arg[1] < LINE ? in->arg[1] : LINE - 1;
    read_once(in->data, in->box->data, out->bytes);
    in->data[out->bytes] = 0;
    out->data = in->data;
}

static int take_stop(struct inbox *in, struct inbox_message *out, struct err *err)
{
    read_once(&in->stop, in->box->data, sizeof in->stop);
    in->stop.text[sizeof in->stop.text - 1] = 0;
    out->stop = &in->stop;
    const char *bad = check_stop(&in->stop);
    return bad ? nonsense(err, bad) : 0;
}

static int take_flow(struct inbox *in, struct inbox_message *out, struct err *err)
{
    enum { WORDS = sizeof in->box->flow_words, NOTES = sizeof in->box->flow_notes };
    const uint64_t words = in->arg[0], notes = in->arg[1];
    if (words > WORDS || words % 8 || notes > NOTES || notes % 8)
        return nonsense(err, "the length of a trace");
    if (!in->flow && !(in->flow = malloc(WORDS + NOTES)))
        return err_set(err, "no memory");
    read_once(in->flow, in->box->flow_words, words);
    read_once(in->flow + WORDS, in->box->flow_notes, notes);
    for (uint64_t at = 0; at < notes;) {
        const struct flow_note *n = (const struct flow_note *)(in->flow + WORDS + at);
        const char *bad = flow_note_check(n, notes - at);
        if (bad)
            return nonsense(err, bad);
        at += n->bytes;
    }
    out->words = (const uint64_t *)in->flow;
    out->words_bytes = words;
    out->notes = in->flow + WORDS;
    out->notes_bytes = notes;
    return 0;
}

static int take_records(struct inbox *in, struct inbox_message *out, struct err *err)
{
    uint64_t count;
    const uint64_t bytes = in->arg[1];
    if (bytes > MAILBOX_RECORDS_BYTES || bytes % 8)
        return nonsense(err, "the length of a state");
    if (!in->records && !(in->records = malloc(MAILBOX_RECORDS_BYTES)))
        return err_set(err, "no memory");
    read_once(in->records, in->box->data, bytes);
    if (records_check(in->records, bytes, &count) != bytes)
        return nonsense(err, "a state that is no records");
    out->data = in->records;
    out->bytes = bytes;
    return 0;
}

static int take_rows(struct inbox *in, struct inbox_message *out, struct err *err)
{
    const uint64_t bytes = in->arg[1];
    if (bytes > PROBE_ROWS_BYTES || bytes % 8)
        return nonsense(err, "the length of rows");
    if (!in->rows && !(in->rows = malloc(PROBE_ROWS_BYTES)))
        return err_set(err, "no memory");
    read_once(in->rows, in->box->rows, bytes);
    for (uint64_t at = 0; at < bytes;) {
        const struct probe_taken *row = (const struct probe_taken *)(in->rows + at);
        const char *bad = probe_check_row(row, bytes - at);
        if (bad)
            return nonsense(err, bad);
        at += row->bytes;
    }
    out->rows = in->rows;
    out->rows_bytes = bytes;
    return 0;
}

int inbox_take(struct inbox *in, struct inbox_message *out, struct err *err)
{
    const uint32_t op = __atomic_load_n(&in->box->op, __ATOMIC_RELAXED);
    for (int i = 0; i < ARGS; i++)
        in->arg[i] = __atomic_load_n(&in->box->arg[i], __ATOMIC_RELAXED);
    *out = (struct inbox_message){.ask = (enum mailbox_ask)op, .number = in->arg[0]};
    switch (op) {
    case ASK_CHUNK:
    case ASK_FILE:
    case TELL_DONE:
        return 0;
    case TELL_JOURNAL:
        return take_journal(in, out, err);
    case TELL_MESSAGE:
        take_line(in, out);
        return 0;
    case TELL_STOP:
        return take_stop(in, out, err);
    case TELL_FLOW:
        return take_flow(in, out, err);
    case TELL_RECORDS:
        return take_records(in, out, err);
    case TELL_ROWS:
        return take_rows(in, out, err);
    default:
        return nonsense(err, "an unknown word");
    }
}

/* ---- answers to orders ---- */

uint64_t inbox_result(const struct inbox *in, unsigned i)
{
    return in->arg[i];
}

int inbox_done(const struct inbox *in, bool *done, struct err *err)
{
    *done = in->arg[0] == 1;
    return in->arg[0] > 1 ? nonsense(err, "neither yes nor no") : 0;
}

int inbox_written(struct inbox *in, size_t asked, size_t *put_bytes, struct err *err)
{
    *put_bytes = 0;
    if (in->arg[0] > asked)
        return nonsense(err, "more bytes than were asked for");
    *put_bytes = in->arg[0];
    return 0;
}

int inbox_read(struct inbox *in, void *out, size_t asked, size_t *got, struct err *err)
{
    if (asked > sizeof in->box->data || inbox_written(in, asked, got, err))
        return -1;
    read_once(out, in->box->data, *got);
    return 0;
}

int inbox_registers(struct inbox *in, uint32_t thread, struct program_registers *out,
                    struct err *err)
{
    struct mailbox_registers m;
    bool there;
    if (inbox_done(in, &there, err))
        return -1;
    if (!there)
        return 0;
    read_once(&m, in->box->data, sizeof m);
    if (!m.thread || (thread && m.thread != thread))
        return nonsense(err, "registers of another thread");
    if (m.xsave_bytes < XSAVE_LEAST || m.xsave_bytes > sizeof out->xsave)
        return nonsense(err, "the size of the vector registers");
    *out = (struct program_registers){.rip = m.rip,
                                      .rflags = m.rflags,
                                      .fs_base = m.fs_base,
                                      .gs_base = m.gs_base,
                                      .count = m.count,
                                      .thread = m.thread,
                                      .tid = m.tid,
                                      .pid = m.pid,
                                      .xsave_bytes = m.xsave_bytes};
    memcpy(out->gpr, m.gpr, sizeof out->gpr);
    memcpy(out->xsave, m.xsave, out->xsave_bytes);
    return 1;
}

int inbox_threads(struct inbox *in, struct program_thread *out, size_t room, size_t *count,
                  uint32_t *made, struct err *err)
{
    const struct mailbox_thread *list = (const struct mailbox_thread *)in->box->data;
    const uint64_t n = in->arg[0];
    *count = 0;
    if (n > sizeof in->box->data / sizeof *list || n > in->arg[1] || in->arg[1] > UINT32_MAX)
        return nonsense(err, "the number of threads");
    for (size_t i = 0; i < n && i < room; i++) {
        struct mailbox_thread m;
        read_once(&m, &list[n - 1 - i], sizeof m); /* the newest comes first there */
        if (!m.number || m.number > in->arg[1] || (i && m.number <= out[i - 1].number))
            return nonsense(err, "the number of a thread");
        out[i].number = m.number;
        out[i].tid = m.tid;
        memcpy(out[i].name, m.name, sizeof out[i].name);
        out[i].name[sizeof out[i].name - 1] = 0;
    }
    *count = n;
    *made = (uint32_t)in->arg[1];
    return 0;
}

int inbox_trail(struct inbox *in, struct mailbox_moment *out, size_t *count, struct err *err)
{
    *count = 0;
    if (in->arg[0] > MAILBOX_TRAIL)
        return nonsense(err, "the length of a trail");
    read_once(out, in->box->data, in->arg[0] * sizeof *out);
    for (size_t i = 0; i < in->arg[0]; i++)
        if (check_moment(&out[i]))
            return nonsense(err, check_moment(&out[i]));
    *count = in->arg[0];
    return 0;
}

int inbox_maps(struct inbox *in, uint64_t above, struct program_map *out, size_t *count,
               struct err *err)
{
    const struct mailbox_map *list = (const struct mailbox_map *)in->box->data;
    *count = 0;
    if (in->arg[0] > INBOX_MAPS)
        return nonsense(err, "the number of mappings");
    for (size_t i = 0; i < in->arg[0]; i++) {
        struct mailbox_map m;
        read_once(&m, &list[i], sizeof m);
        if (m.start < above || m.start >= m.end || m.end > ADDRESSES)
            return nonsense(err, "the addresses of a mapping");
        if (m.file < -1 || m.file > INT32_MAX)
            return nonsense(err, "the file of a mapping");
        out[i] = (struct program_map){.start = m.start,
                                      .end = m.end,
                                      .prot = (int)(m.prot & (PROT_READ | PROT_WRITE | PROT_EXEC)),
                                      .shared = m.shared != 0,
                                      .file = (int)m.file,
                                      .offset = m.offset};
        above = m.end;
    }
    *count = in->arg[0];
    return 0;
}
