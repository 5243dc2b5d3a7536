/* chain_test.c - one run in parts that follow one another: chain_test PART...
 *
 * SPDX-License-Identifier: MIT
 *
 * Where one part ends the next one begins, so both have the program's state at that moment of one
 * run: in the one a replay has come to it, in the other it is what the recorder saw. All that a
 * program can see must be equal: registers of all threads but for arithmetic flags, mappings, and
 * all memory that can be read. So must what it cannot be asked for: signal masks and handlers,
 * lists for the kernel, where descriptors lead. The first part begins with the program: it is what
 * a recording of the whole would be until there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/end_reason.h"
#include "pinball/pinball.h"
#include "pinball/record.h"
#include "pinball/record_state.h"
#include "pinball/records.h"
#include "replayer/replay_private.h"

enum { MAPS = 1 << 16, PIECE = 1 << 20, PAGE = 4096, STATE_MOST = 16 << 20, ARITHMETIC = 0x8d5 };

struct side {
    const char *name;
    struct pinball *pinball;
    struct replay *replay;
    struct replay_stop stop;
    uint8_t *state;
    size_t bytes, maps;
    struct program_map *map;
};

static char what[8192];
static uint64_t compared_bytes, compared_threads;

static void die(const char *why, const char *more)
{
    printf("FAILED: %s: %s: %s\n", what, why, more);
    exit(1);
}

static int take(void *arg, const void *records, size_t bytes, struct err *err)
{
    struct side *s = arg;
    if (s->bytes + bytes > STATE_MOST)
        return err_set(err, "the state is too large");
    memcpy(s->state + s->bytes, records, bytes);
    s->bytes += bytes;
    return 0;
}

static void open_side(struct side *s, const char *name)
{
    struct err err;
    const struct replay_options o = {.records = take, .arg = s, .engine = "exact=1"};
    *s = (struct side){
        .name = name, .state = malloc(STATE_MOST), .map = malloc(MAPS * sizeof *s->map)};
    if (!s->state || !s->map)
        die("no memory", name);
    s->pinball = pinball_open(name, &err);
    s->replay = s->pinball ? replay_new(s->pinball, &o, &err) : NULL;
    if (!s->replay)
        die(name, err.msg);
}

static void close_side(struct side *s)
{
    replay_free(s->replay);
    pinball_close(s->pinball);
    free(s->state);
    free(s->map);
}

static void look(struct side *s)
{
    struct err err;
    if (replay_state(s->replay, STATE_OF_THREADS, &err))
        die(s->name, err.msg);
    s->maps = replay_maps(s->replay, s->map, MAPS);
    if (s->maps > MAPS)
        die(s->name, "too many mappings");
}

/* The first difference of two structures, for people. */
static void same_bytes(const char *name, const void *a, const void *b, size_t bytes)
{
    const uint8_t *x = a, *y = b;
    char text[96];
    for (size_t i = 0; i < bytes; i++)
        if (x[i] != y[i]) {
            snprintf(text, sizeof text, "byte %zu: %02x before, %02x behind", i, x[i], y[i]);
            die(name, text);
        }
}

static void same_thread(const struct record_state *a, const struct record_state *b)
{
    struct record_state x = *a, y = *b;
    char name[64];
    snprintf(name, sizeof name, "thread %u", a->thread);
    x.rflags &= ~(uint64_t)ARITHMETIC; /* no instruction reads them again */
    y.rflags &= ~(uint64_t)ARITHMETIC;
    /* The engine's own: has the tick been looked at? And a call's mask, of which a replay hears
     * when a signal comes. */
    x.r.flags &= (uint8_t) ~(STATE_TICKED | STATE_WAITS);
    y.r.flags &= (uint8_t) ~(STATE_TICKED | STATE_WAITS);
    x.wait_mask = y.wait_mask = 0;
    if (x.r.flags & STATE_RUNS) { /* a replay meets an end before a call when it makes that */
        x.r.flags &= (uint8_t)~STATE_CALLING;
        y.r.flags &= (uint8_t)~STATE_CALLING;
    }
    if (!*x.name) /* behind an execve a replay does not know it */
        memset(y.name, 0, sizeof y.name);
    same_bytes(name, &x, &y, sizeof x);
    snprintf(name, sizeof name, "vector registers of thread %u", a->thread);
    same_bytes(name, a + 1, b + 1, a->r.bytes - sizeof *a);
    compared_threads++;
}

static void same_state(const struct side *a, const struct side *b)
{
    const struct record *x = records_first(a->state, a->bytes),
                        *y = records_first(b->state, b->bytes);
    for (; x && y;
         x = records_next(x, a->state + a->bytes), y = records_next(y, b->state + b->bytes)) {
        if (x->kind != y->kind || x->bytes != y->bytes)
            die("the threads", "they are others");
        if (x->kind == RECORD_STATE)
            same_thread((const void *)x, (const void *)y);
        else
            same_bytes("the process", x, y, x->bytes);
    }
    if (x || y)
        die("the threads", "there is one more");
}

static void same_piece(const struct side *a, const struct side *b, uint64_t at, size_t bytes)
{
    static uint8_t x[PIECE], y[PIECE];
    char text[128];
    const size_t n = replay_read(a->replay, at, x, bytes), m = replay_read(b->replay, at, y, bytes);
    for (size_t i = 0; i < n && i < m; i++)
        if (x[i] != y[i]) {
            snprintf(text, sizeof text, "%llx: %02x before, %02x behind",
                     (unsigned long long)(at + i), x[i], y[i]);
            die("memory", text);
        }
    snprintf(text, sizeof text, "%llx: %zu and %zu bytes can be read", (unsigned long long)at, n,
             m);
    if (n != m)
        die("memory", text);
    compared_bytes += n;
}

static void same_memory(const struct side *a, const struct side *b)
{
    char text[160];
    for (size_t i = 0; i < a->maps && i < b->maps; i++) {
        const struct program_map *x = &a->map[i], *y = &b->map[i];
        snprintf(text, sizeof text, "%llx-%llx %x before, %llx-%llx %x behind",
                 (unsigned long long)x->start, (unsigned long long)x->end, x->prot,
                 (unsigned long long)y->start, (unsigned long long)y->end, y->prot);
        if (x->start != y->start || x->end != y->end || x->prot != y->prot)
            die("mappings", text);
        for (uint64_t at = x->start; (x->prot & 1) && at < x->end; at += PIECE)
            same_piece(a, b, at, x->end - at < PIECE ? (size_t)(x->end - at) : PIECE);
    }
    if (a->maps != b->maps)
        die("mappings", "there is one more");
}

/* `before` has come to its end, `behind` is where it begins. */
static void compare(struct side *before, struct side *behind)
{
    look(before);
    look(behind);
    same_state(before, behind); /* which thread runs, and where, too */
    same_memory(before, behind);
}

static void to_end(struct side *s)
{
    struct err err;
    if (replay_run(s->replay, NULL, &s->stop, &err))
        die(s->name, err.msg);
    if (s->stop.why != STOP_END || s->stop.reason != END_REGION)
        die(s->name, "another end");
}

int main(int argc, char *argv[])
{
    struct side before, behind;
    for (int i = 1; i + 1 < argc; i++) {
        snprintf(what, sizeof what, "%s, %s", argv[i], argv[i + 1]);
        open_side(&before, argv[i]);
        open_side(&behind, argv[i + 1]);
        to_end(&before);
        compare(&before, &behind);
        close_side(&before);
        close_side(&behind);
    }
    printf("good: %d moments, %llu threads, %llu MB\n", argc - 2,
           (unsigned long long)compared_threads, (unsigned long long)compared_bytes >> 20);
    return 0;
}
