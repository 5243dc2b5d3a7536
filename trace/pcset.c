/* pcset.c - a set of addresses. SPDX-License-Identifier: MIT */
#include "trace/pcset.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    gaddr key, value;
};

struct pcset {
    struct pair *slot; /* key 0: free; zero itself is kept apart */
    size_t room, used;
    gaddr (*sorted)[2];
    bool failed;
};

struct pcset *pcset_new(void)
{
    struct pcset *s = calloc(1, sizeof *s);
    if (s) {
        s->room = 1024;
        s->slot = calloc(s->room, sizeof *s->slot);
    }
    if (s && !s->slot) {
        free(s);
        return NULL;
    }
    return s;
}

void pcset_free(struct pcset *s)
{
    if (!s)
        return;
    free(s->slot);
    free(s->sorted);
    free(s);
}

static struct pair *find(const struct pcset *s, gaddr key, gaddr value)
{
    size_t i = ((key + value * 31) * 0x9e3779b97f4a7c15ull >> 24) & (s->room - 1);
    while (s->slot[i].key && (s->slot[i].key != key || s->slot[i].value != value))
        i = (i + 1) & (s->room - 1);
    return &s->slot[i];
}

static bool grow(struct pcset *s)
{
    struct pcset bigger = {.room = s->room * 2, .used = s->used};
    bigger.slot = calloc(bigger.room, sizeof *bigger.slot);
    if (!bigger.slot)
        return false;
    for (size_t i = 0; i < s->room; i++)
        if (s->slot[i].key)
            *find(&bigger, s->slot[i].key, s->slot[i].value) = s->slot[i];
    free(s->slot);
    s->slot = bigger.slot;
    s->room = bigger.room;
    return true;
}

void pcset_add(struct pcset *s, gaddr key, gaddr value)
{
    struct pair *p = find(s, key, value);
    if (p->key || !key)
        return;
    if (2 * s->used >= s->room && !grow(s)) {
        s->failed = true;
        return;
    }
    *find(s, key, value) = (struct pair){key, value};
    s->used++;
}

bool pcset_failed(const struct pcset *s)
{
    return s->failed;
}

bool pcset_has(const struct pcset *s, gaddr key)
{
    return key && find(s, key, 0)->key;
}

bool pcset_next(const struct pcset *s, size_t *place, gaddr *key, gaddr *value)
{
    while (*place < s->room && !s->slot[*place].key)
        ++*place;
    if (*place == s->room)
        return false;
    *key = s->slot[*place].key;
    *value = s->slot[(*place)++].value;
    return true;
}

static int compare(const void *a, const void *b)
{
    const gaddr *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

const gaddr (*pcset_pairs(struct pcset *s, size_t *count))[2]
{
    size_t place = 0, n = 0;
    free(s->sorted);
    s->sorted = malloc(sizeof *s->sorted * (s->used + 1));
    while (s->sorted && pcset_next(s, &place, &s->sorted[n][0], &s->sorted[n][1]))
        n++;
    if (s->sorted)
        qsort(s->sorted, n, sizeof *s->sorted, compare);
    *count = n;
    return (const gaddr(*)[2])s->sorted;
}

const gaddr *pcset_keys(struct pcset *s, size_t *count)
{
    pcset_pairs(s, count);
    gaddr *list = s->sorted ? &s->sorted[0][0] : NULL;
    for (size_t i = 0; i < *count; i++)
        list[i] = s->sorted[i][0];
    return list;
}
