/* races_kept.c - races as words of a file. SPDX-License-Identifier: MIT */
#include "facts/order/races_kept.h"

#include <stdlib.h>

#include "base/hash.h"
#include "study/kept.h"

enum {
    HEAD_WORDS = 2,
    SIDE_WORDS = 9,
    SIDES = 2 + PATTERN_ACCESSES,
    PAIR_WORDS = SIDES * SIDE_WORDS + HEAD_WORDS
};

/* ---- one side ---- */

enum { SIDE_WRITE = 1, SIDE_BY_KERNEL = 2, SIDE_KNOWN = 4 };

static void put_side(uint64_t *to, const struct races_side *s)
{
    to[0] = s->at.thread;
    to[1] = s->at.count;
    to[2] = s->pc;
    to[3] = s->insn;
    to[4] = s->line_pc;
    to[5] = s->cfa;
    to[6] = (uint64_t)s->thread << 32 | (uint64_t)s->bytes << 8 | (s->known ? SIDE_KNOWN : 0u) |
            (s->by_kernel ? SIDE_BY_KERNEL : 0u) | (s->write ? SIDE_WRITE : 0u);
    to[7] = s->addr;
    to[8] = s->value;
}

static struct races_side get_side(const uint64_t *from)
{
    return (struct races_side){
        .at = {.thread = (uint32_t)from[0], .count = from[1], .pc = from[2]},
        .pc = from[2],
        .insn = from[3],
        .line_pc = from[4],
        .cfa = from[5],
        .thread = (uint32_t)(from[6] >> 32),
        .bytes = (uint8_t)(from[6] >> 8),
        .write = from[6] & SIDE_WRITE,
        .by_kernel = from[6] & SIDE_BY_KERNEL,
        .known = from[6] & SIDE_KNOWN,
        .addr = from[7],
        .value = from[8],
    };
}

/* ---- one pair ---- */

/* Small numbers, a byte each, in this order from the lowest on. */
enum { RACE, KIND, KINDS, FLAGS, PATTERN, AROUND_SIDES };
enum { UNSET = 1, UNLOCKED = 2, ONE_FRAME = 4, UPDATES = 8, AROUND_UNSET = 16 };

static void put_pair(uint64_t *to, const struct races_pair *p)
{
    const struct races_around *a = &p->around;
    unsigned flags = (p->unset ? UNSET : 0) | (p->unlocked ? UNLOCKED : 0) |
                     (a->one_frame ? ONE_FRAME : 0) | (a->updates ? UPDATES : 0) |
                     (a->unset ? AROUND_UNSET : 0);
    const unsigned small[] = {[RACE] = p->race, [KIND] = p->kind,       [KINDS] = p->kinds,
                              [FLAGS] = flags,  [PATTERN] = a->pattern, [AROUND_SIDES] = a->sides};
    to[0] = p->instances;
    for (unsigned i = 0; i < sizeof small / sizeof *small; i++)
        to[1] |= (uint64_t)small[i] << 8 * i;
    put_side(to + HEAD_WORDS, &p->first);
    put_side(to + HEAD_WORDS + SIDE_WORDS, &p->then);
    for (unsigned i = 0; i < PATTERN_ACCESSES; i++)
        put_side(to + HEAD_WORDS + (2 + i) * SIDE_WORDS, &a->side[i]);
}

static bool get_pair(const uint64_t *from, struct races_pair *p)
{
    uint8_t small[8];
    for (unsigned i = 0; i < sizeof small; i++)
        small[i] = (uint8_t)(from[1] >> 8 * i);
    *p = (struct races_pair){.first = get_side(from + HEAD_WORDS),
                             .then = get_side(from + HEAD_WORDS + SIDE_WORDS),
                             .instances = from[0],
                             .race = small[RACE],
                             .kind = small[KIND],
                             .kinds = small[KINDS],
                             .unset = small[FLAGS] & UNSET,
                             .unlocked = small[FLAGS] & UNLOCKED};
    p->around = (struct races_around){.pattern = small[PATTERN],
                                      .sides = small[AROUND_SIDES],
                                      .one_frame = small[FLAGS] & ONE_FRAME,
                                      .updates = small[FLAGS] & UPDATES,
                                      .unset = small[FLAGS] & AROUND_UNSET};
    for (unsigned i = 0; i < PATTERN_ACCESSES; i++)
        p->around.side[i] = get_side(from + HEAD_WORDS + (2 + i) * SIDE_WORDS);
    return small[RACE] <= RACE_CERTAIN && small[PATTERN] < PATTERNS &&
           small[AROUND_SIDES] <= PATTERN_ACCESSES;
}

/* ---- all: how many, then each ---- */

/* Lines, names and the user's own code are the debug information's. */
static struct kept_fact fact_of(struct study *s, bool locksets)
{
    return (struct kept_fact){locksets ? "locksets" : "races", RACES_VERSION,
                              hash_fold(source_identity(s->source), 0)};
}

bool races_kept_get(struct study *s, bool locksets, struct races *out)
{
    const struct kept_fact fact = fact_of(s, locksets);
    size_t bytes;
    uint64_t *words = kept_get(s, &fact, &bytes);
    size_t count = words && bytes >= sizeof *words ? words[0] : 0;
    bool good = words && bytes / sizeof *words / PAIR_WORDS >= count &&
                bytes == (1 + count * PAIR_WORDS) * sizeof *words;
    struct races_pair *pair = good ? malloc(sizeof *pair * (count + 1)) : NULL;
    good = pair;
    for (size_t i = 0; good && i < count; i++)
        good = get_pair(words + 1 + i * PAIR_WORDS, &pair[i]);
    free(words);
    if (good)
        *out = (struct races){.pair = pair, .pairs = count};
    else
        free(pair);
    return good;
}

void races_kept_put(struct study *s, bool locksets, const struct races *r)
{
    const struct kept_fact fact = fact_of(s, locksets);
    uint64_t *words = calloc(r->pairs + 1, PAIR_WORDS * sizeof *words);
    if (!words)
        return;
    words[0] = r->pairs;
    for (size_t i = 0; i < r->pairs; i++)
        put_pair(words + 1 + i * PAIR_WORDS, &r->pair[i]);
    kept_put(s, &fact, words, (1 + r->pairs * PAIR_WORDS) * sizeof *words);
    free(words);
}
