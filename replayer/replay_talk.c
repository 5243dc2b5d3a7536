/* replay_talk.c - the conversation with the replaying process. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "replayer/replay_int.h"
#include "replayer/replay_private.h"
#include "replayer/warden.h"

enum { FILES_MAX = 65536, PAGE = 4096, PIECE = 1 << 20 };

/* ---- files ---- */

struct replay_files {
    int fd;
    unsigned users;
    uint64_t end;
    uint64_t held; /* bytes in pages that are not all zero: holes take no memory */
    uint64_t *at;  /* offset plus one */
};

struct replay_files *replay_files_new(struct err *err)
{
    struct replay_files *f = calloc(1, sizeof *f);
    if (!f || !(f->at = calloc(FILES_MAX, sizeof *f->at)) ||
        (f->fd = memfd_create("files", MFD_CLOEXEC)) < 0) {
        err_set(err, "memory for the replay: %m");
        if (f)
            free(f->at);
        free(f);
        return NULL;
    }
    f->users = 1;
    return f;
}

void replay_files_join(struct replay_files *f)
{
    f->users++;
}

void replay_files_leave(struct replay_files *f)
{
    if (!f || --f->users)
        return;
    close(f->fd);
    free(f->at);
    free(f);
}

int replay_files_fd(const struct replay_files *f)
{
    return f->fd;
}

/* How much of it are pages that are all zero, or are not. The first may be a part of one. */
static size_t stretch(const uint8_t *from, size_t bytes, uint64_t at, bool zero)
{
    size_t done = 0;
    while (done < bytes) {
        size_t n = PAGE - (at + done) % PAGE;
        n = n < bytes - done ? n : bytes - done;
        if ((!from[done] && !memcmp(from + done, from + done + 1, n - 1)) != zero)
            break;
        done += n;
    }
    return done;
}

/* A few bytes of a pinball may say gigabytes: of what they take there is a limit. */
static int put_bytes(struct replay_files *f, const uint8_t *from, size_t bytes, uint64_t at,
                     struct err *err)
{
    for (size_t done = stretch(from, bytes, at, true); done < bytes;) {
        size_t n = stretch(from + done, bytes - done, at + done, false);
        f->held += n;
        if (warden_allow(f->held, err))
            return -1;
        if (pwrite(f->fd, from + done, n, (off_t)(at + done)) != (ssize_t)n)
            return err_set(err, "memory for the recording's files: %m");
        done += n;
        done += stretch(from + done, bytes - done, at + done, true);
    }
    return 0;
}

static int fill_file(struct replay *r, const struct kept_file *f, uint64_t at, struct err *err)
{
    uint8_t *buf = malloc(PIECE);
    int result = buf ? 0 : err_set(err, "no memory");
    for (size_t i = 0; i < f->ranges && !result; i++)
        for (uint64_t done = 0; done < f->range[i].bytes && !result;) {
            uint64_t left = f->range[i].bytes - done, off = f->range[i].offset + done;
            size_t n = left < PIECE ? (size_t)left : PIECE;
            result = pinball_file_read(r->pinball, f->number, off, buf, n, err);
            if (!result)
                result = put_bytes(r->files, buf, n, at + off, err);
            done += n;
        }
    free(buf);
    return result;
}

static int give_file(struct replay *r, uint64_t number, struct err *err)
{
    const struct kept_file *f =
        number < pinball_files(r->pinball) ? pinball_file(r->pinball, (uint32_t)number) : NULL;
    if (!f || number >= FILES_MAX) {
        inbox_answer(r->inbox, 0, 0, NULL, 0);
        return 0;
    }
    if (!r->files->at[number]) {
        uint64_t at = r->files->end, bytes = (f->size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        if (f->size > 1ull << 42 || ftruncate(r->files->fd, (off_t)(at + bytes)))
            return err_set(err, "memory for %s: %m", f->path);
        if (fill_file(r, f, at, err))
            return -1;
        r->files->at[number] = at + 1;
        r->files->end = at + bytes;
    }
    inbox_answer(r->inbox, r->files->at[number] - 1, 1, NULL, 0);
    return 0;
}

/* ---- the conversation ---- */

/* Unpacked in memory of our own: what is unpacked refers to what was unpacked before. */
static int give_chunk(struct replay *r, uint64_t number, struct err *err)
{
    uint64_t bytes, records;
    if (number >= pinball_chunks(r->pinball)) {
        inbox_answer(r->inbox, 0, 0, NULL, 0);
        return 0;
    }
    pinball_chunk_info(r->pinball, number, &bytes, &records);
    if (bytes > inbox_room())
        return err_set(err, "%s: a chunk of its log is too large", pinball_path(r->pinball));
    uint8_t *chunk = malloc(bytes + 1);
    int result = chunk ? pinball_read_chunk(r->pinball, number, chunk, bytes, err)
                       : err_set(err, "no memory");
    if (!result)
        inbox_answer(r->inbox, bytes, 0, chunk, bytes);
    free(chunk);
    return result;
}

static void take_journal(struct replay *r, const struct inbox_message *m)
{
    struct mailbox_entry e;
    const void *text;
    for (size_t at = 0; inbox_entry(m, &at, &e, &text);) {
        bool new = !r->options.entry || r->options.entry(r->options.arg, &e, text);
        if (new &&e.kind == EVENT_OUTPUT && e.a != OUTPUT_TERMINAL && r->options.output)
            r->options.output(r->options.arg, (int)e.a, text, e.text_bytes);
    }
    if (r->options.pause && r->options.pause(r->options.arg))
        inbox_pause(r->inbox, true);
}

/* On its turn a replaying process runs, or waits for the disk: it does not sleep. One that sleeps,
 * and has used no processor time since it was last looked at, waits for us as we wait for it. */
static bool sleeps(const struct replay *r, unsigned long *used)
{
    char path[64], state = 0;
    unsigned long user = 0, system = 0, before = *used;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)warden_pid(r->ward));
    FILE *f = fopen(path, "re");
    int got = f ? fscanf(f, "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                         &state, &user, &system)
                : 0;
    if (f)
        fclose(f);
    *used = user + system;
    return got == 3 && state == 'S' && *used == before;
}

/* The caller is asked whether it is to pause every 2 ms. */
static bool wait_some(struct replay *r)
{
    enum { TIMES = 10 };
    if (!r->options.pause)
        return inbox_wait(r->inbox);
    for (int i = 0; i < TIMES; i++) {
        if (inbox_wait_briefly(r->inbox))
            return true;
        if (r->options.pause(r->options.arg))
            inbox_pause(r->inbox, true);
    }
    return false;
}

/* Waits until it is our turn. */
static int wait_turn(struct replay *r, struct err *err)
{
    enum { LOOK_EVERY = 64, LOOKS = 20 }; /* waits of 20 ms: so it may sleep for some 25 s */
    unsigned waits = 0, asleep = 0;
    unsigned long used = 0;
    while (!wait_some(r)) {
        if (++waits % LOOK_EVERY == 0)
            asleep = sleeps(r, &used) ? asleep + 1 : 0;
        if (asleep == LOOKS)
            return warden_condemn("the replayed program does not answer; it was stopped", err);
        if (replay_gone(r) && !inbox_ours(r->inbox))
            return warden_why(r->ward, err);
    }
    return 0;
}

/* What is over with the answer. 1: it is what was wanted. */
static int answer(struct replay *r, const struct inbox_message *m, struct err *err)
{
    switch (m->ask) {
    case ASK_CHUNK:
        return give_chunk(r, m->number, err);
    case ASK_FILE:
        return give_file(r, m->number, err);
    case TELL_JOURNAL:
        take_journal(r, m);
        break;
    case TELL_MESSAGE:
        if (r->options.message)
            r->options.message(r->options.arg, (const char *)m->data);
        break;
    case TELL_FLOW:
        if (r->options.flow && r->options.flow(r->options.arg, m->words, m->words_bytes, m->notes,
                                               m->notes_bytes, err))
            return -1;
        break;
    case TELL_RECORDS:
        if (r->options.records && r->options.records(r->options.arg, m->data, m->bytes, err))
            return -1;
        break;
    case TELL_ROWS:
        if (!r->probes)
            return err_set(err, "the replaying process talks nonsense: rows without a probe");
        if (r->options.rows && r->options.rows(r->options.arg, m->rows, m->rows_bytes, err))
            return -1;
        break;
    case TELL_STOP:
        r->stop = *m->stop;
        return 1;
    case TELL_DONE:
        return 1;
    }
    inbox_go_on(r->inbox);
    return 0;
}

int replay_serve(struct replay *r, enum mailbox_ask wanted, struct err *err)
{
    struct inbox_message m;
    int over = 0;
    while (!over) {
        if (wait_turn(r, err) || inbox_take(r->inbox, &m, err))
            return -1;
        over = answer(r, &m, err);
    }
    if (over < 0 || m.ask == wanted)
        return over < 0 ? -1 : 0;
    if (m.ask == TELL_STOP && replay_take_stop(r, NULL, err))
        return -1;
    return err_set(err, "the replaying process talks nonsense: %s",
                   m.ask == TELL_STOP ? "a stop that nobody asked for" : "it runs and does not");
}

int replay_command(struct replay *r, const struct inbox_order *order, struct err *err)
{
    if (r->over)
        return warden_why(r->ward, err);
    inbox_order(r->inbox, order);
    return replay_serve(r, order->what == DO_RUN ? TELL_STOP : TELL_DONE, err);
}
