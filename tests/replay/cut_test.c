/* cut_test.c - parts of a recording at random moments: cut_test DIR SEED CUTS ROOM.
 *
 * SPDX-License-Identifier: MIT
 *
 * A part must begin with the state that the whole has there, come to the same states at positions
 * farther on, verify, and end as it should. The state is all registers of all threads and all
 * memory that can be read. What a program cannot be asked for (signal masks and handlers, lists for
 * the kernel, where descriptors lead) is compared, too: a part of the part has the very bytes of a
 * part of the whole. Seeded; failures name the seed and the positions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "pinball/record.h"
#include "replayer/cut.h"
#include "replayer/timeline.h"

enum { THREADS = 256, MAPS = 4096, LATER = 3, PAGE = 4096, PIECE = 1 << 20, NUDGES = 6 };

struct seen {
    struct position at;
    uint64_t ticks, state;
};

static uint64_t seed;
static char what[512];

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return below ? (seed >> 33) % below : 0;
}

static void die(const char *why, const char *more)
{
    printf("FAILED: %s: %s: %s\n", what, why, more);
    exit(1);
}

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;
    uint64_t word;
    for (; n >= 8; n -= 8, b += 8) {
        memcpy(&word, b, 8);
        h = (h ^ word) * 1099511628211ull;
        h ^= h >> 29;
    }
    for (; n; n--, b++)
        h = (h ^ *b) * 1099511628211ull;
    return h;
}

/* Pages of zeros count by not being there: most of every stack is some. */
static uint64_t mix_pages(uint64_t h, const uint8_t *piece, size_t n, uint64_t at)
{
    static const uint8_t zeros[PAGE];
    for (size_t i = 0; i < n; i += PAGE) {
        size_t bytes = n - i < PAGE ? n - i : PAGE;
        uint64_t page = at + i;
        if (memcmp(piece + i, zeros, bytes) != 0)
            h = mix(mix(h, &page, sizeof page), piece + i, bytes);
    }
    return mix(h, &n, sizeof n);
}

static uint64_t mix_memory(struct replay *r, uint64_t h)
{
    static struct program_map map[MAPS];
    static uint8_t piece[PIECE];
    size_t n = replay_maps(r, map, MAPS);
    for (size_t i = 0; i < n && i < MAPS; i++) {
        h = mix(h, &map[i].start, 16);
        h = mix(h, &map[i].prot, sizeof map[i].prot);
        for (uint64_t at = map[i].start; at < map[i].end && (map[i].prot & 1); at += PIECE) {
            size_t bytes = map[i].end - at < PIECE ? (size_t)(map[i].end - at) : PIECE;
            h = mix_pages(h, piece, replay_read(r, at, piece, bytes), at);
        }
    }
    return h;
}

static uint64_t state(struct timeline *t)
{
    static struct program_registers regs;
    struct program_thread thread[THREADS];
    struct replay *r = timeline_replay(t);
    struct err err;
    uint64_t h = 14695981039346656037ull;
    size_t n = replay_threads(r, thread, THREADS);
    for (size_t i = 0; i < n && i < THREADS; i++) {
        if (replay_registers(r, thread[i].number, &regs, &err))
            die("registers", err.msg);
        h = mix(h, &thread[i].number, 8);
        h = mix(h, thread[i].name, strnlen(thread[i].name, sizeof thread[i].name));
        h = mix(h, regs.gpr, sizeof regs.gpr);
        h = mix(h, &regs.rip, 16);
        h = mix(h, &regs.fs_base, 24);
        h = mix(h, regs.xsave, regs.xsave_bytes);
    }
    return mix_memory(r, h);
}

static struct pinball *open_pinball(const char *path)
{
    struct err err;
    struct pinball *p = pinball_open(path, &err);
    if (!p)
        die("open", err.msg);
    return p;
}

static struct timeline *open_timeline(struct pinball *p)
{
    struct err err;
    struct timeline *t = timeline_new(p, &(struct timeline_options){0}, &err);
    if (!t)
        die("timeline", err.msg);
    return t;
}

static void go(struct timeline *t, const struct position *to, const char *where)
{
    struct debuggee_stop stop;
    struct err err;
    if (timeline_goto(t, to, &stop, &err))
        die(where, err.msg);
}

/* A moment, mostly between two ticks, as its position names it. */
static struct seen look(struct timeline *t, uint64_t ticks)
{
    struct debuggee_stop stop;
    struct err err;
    struct seen s;
    if (timeline_goto_ticks(t, ticks, &stop, &err))
        die("ticks", err.msg);
    for (uint64_t n = draw(NUDGES); n && stop.why != STOP_END; n--)
        if (timeline_step(t, 0, 0, 0, &stop, &err))
            die("step", err.msg);
    s.at = stop.at;
    go(t, &s.at, "the whole");
    s.ticks = timeline_now(t)->ticks;
    s.state = state(t);
    return s;
}

static void verify(struct pinball *p, const struct seen *to, uint64_t ticks)
{
    struct err err;
    struct replay_stop stop;
    struct replay *r = replay_new(p, &(struct replay_options){.verify = true}, &err);
    if (!r || replay_run(r, NULL, &stop, &err))
        die("verify", err.msg);
    if (stop.why != STOP_END || (to && stop.reason != END_REGION) || (!to && stop.ticks != ticks))
        die("verify", "another end");
    if (to && (stop.at.thread != to->at.thread || stop.at.count != to->at.count ||
               stop.at.pc != to->at.pc))
        die("verify", "it ends elsewhere");
    replay_free(r);
}

static void compare(struct timeline *t, const struct seen *s, const char *where)
{
    char text[POSITION_TEXT];
    go(t, &s->at, where);
    position_format(&s->at, text);
    if (timeline_now(t)->ticks != s->ticks)
        die(where, "other ticks");
    if (state(t) != s->state)
        die(where, text);
}

/* `later`: by ticks, and up to `to`, where the part ends. */
static void check_part(const char *dir, const struct seen *from, const struct seen *to,
                       const struct seen *later, uint64_t ticks)
{
    struct pinball *p = open_pinball(dir);
    verify(p, to, ticks);
    struct timeline *t = open_timeline(p);
    const struct debuggee_stop *now = timeline_now(t);
    if (now->at.thread != from->at.thread || now->at.count != from->at.count ||
        now->at.pc != from->at.pc || now->ticks != from->ticks)
        die("begin", "another position");
    if (state(t) != from->state)
        die("begin", "another state");
    for (int i = 0; i < LATER; i++)
        if (later[i].ticks > from->ticks) /* at the same tick it may be before it */
            compare(t, &later[i], "farther on");
    compare(t, from, "back at the begin");
    timeline_free(t);
    pinball_close(p);
}

/* All records of a pinball, in a row. */
static uint8_t *events(struct pinball *p, size_t *bytes)
{
    struct err err;
    uint8_t *all = NULL;
    *bytes = 0;
    for (uint64_t i = 0; i < pinball_chunks(p); i++) {
        uint64_t raw, records;
        pinball_chunk_info(p, i, &raw, &records);
        all = realloc(all, *bytes + raw);
        if (!all || pinball_read_chunk(p, i, all + *bytes, raw, &err))
            die("events", all ? err.msg : "no memory");
        *bytes += raw;
    }
    return all;
}

/* Where two logs differ, by record. */
static void same_events(const char *one, const char *other)
{
    struct pinball *p = open_pinball(one), *q = open_pinball(other);
    size_t n, m, i = 0;
    uint8_t *a = events(p, &n), *b = events(q, &m);
    char text[160];
    while (i < n && i < m) {
        const struct record *x = (const void *)(a + i), *y = (const void *)(b + i);
        if (x->bytes != y->bytes || memcmp(x, y, x->bytes) != 0) {
            size_t at = 0;
            while (at < x->bytes && at < y->bytes && a[i + at] == b[i + at])
                at++;
            snprintf(text, sizeof text, "byte %zu: kinds %u and %u, %u and %u bytes, at %zu: %u %u",
                     i, x->kind, y->kind, x->bytes, y->bytes, at, a[i + at], b[i + at]);
            die("a part of the part", text);
        }
        i += x->bytes;
    }
    if (n != m)
        die("a part of the part", "another number of records");
    free(a);
    free(b);
    pinball_close(p);
    pinball_close(q);
}

/* A part of the part is what the whole gives there. */
static void cut_again(struct pinball *whole, const char *dir, const struct seen *from,
                      const struct seen *to)
{
    char direct[4096 + 8], twice[4096 + 8];
    struct err err;
    struct cut_options o = {.from = &from->at, .to = to ? &to->at : NULL};
    struct pinball *part = open_pinball(dir);
    snprintf(direct, sizeof direct, "%s.direct", dir);
    snprintf(twice, sizeof twice, "%s.twice", dir);
    if (cut(whole, direct, &o, &err) || cut(part, twice, &o, &err))
        die("cut again", err.msg);
    pinball_close(part);
    same_events(direct, twice);
}

static int by_ticks(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

static void one_cut(struct pinball *whole, uint64_t ticks, const char *room, unsigned number)
{
    struct timeline *t = open_timeline(whole);
    struct seen from = look(t, draw(ticks)), later[LATER], *to = NULL;
    char dir[4096], a[POSITION_TEXT], b[POSITION_TEXT] = "the end";
    struct err err;
    for (int i = 0; i < LATER; i++)
        later[i] = look(t, from.ticks + draw(ticks - from.ticks));
    timeline_free(t);
    qsort(later, LATER, sizeof *later, by_ticks);
    struct seen *last = &later[LATER - 1];
    if (number % 2 && last->ticks > from.ticks && last->ticks > later[LATER - 2].ticks)
        to = last;
    position_format(&from.at, a);
    if (to)
        position_format(&to->at, b);
    snprintf(what, sizeof what, "cut %u from %s to %s", number, a, b);
    snprintf(dir, sizeof dir, "%s/part.%u", room, number);
    struct cut_options o = {.from = &from.at, .to = to ? &to->at : NULL};
    if (cut(whole, dir, &o, &err))
        die("cut", err.msg);
    check_part(dir, &from, to, later, ticks);
    if (later[0].ticks > from.ticks)
        cut_again(whole, dir, &later[0], to);
}

int main(int argc, char *argv[])
{
    struct err err;
    struct debuggee_stop stop;
    if (argc != 5)
        return 2;
    seed = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    snprintf(what, sizeof what, "seed %s", argv[2]);
    struct pinball *p = open_pinball(argv[1]);
    struct timeline *t = open_timeline(p);
    if (timeline_goto_end(t, &stop, &err))
        die("the whole", err.msg);
    timeline_free(t);
    for (unsigned i = 0; i < strtoul(argv[3], NULL, 10); i++)
        one_cut(p, stop.ticks, argv[4], i);
    pinball_close(p);
    printf("good: %s parts\n", argv[3]);
    return 0;
}
