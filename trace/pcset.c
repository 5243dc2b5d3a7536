/* pcset.c - a set of addresses. SPDX-License-Identifier: MIT */
#include "trace/pcset.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

struct pair {
    gaddr key, value; /* key 0: free; zero itself is in no set */
};

struct pcset {
    TABLE(struct pair) pairs;
    gaddr (*sorted)[2];
    bool failed;
};

struct pcset *pcset_new(void)
{
    struct pcset *s = calloc(1, sizeof *s);
    if (s && table_reserve_pair(&s->pairs)) {
        free(s);
        return NULL;
    }
    return s;
}

void pcset_free(struct pcset *s)
{
    if (!s)
        return;
    free(s->pairs.slot);
    free(s->sorted);
    free(s);
}

void pcset_add(struct pcset *s, gaddr key, gaddr value)
{
    struct pair *p = table_find_pair(&s->pairs, key, value);
    if (p->key || !key)
        return;
    if (table_reserve_pair(&s->pairs)) {
        s->failed = true;
        return;
    }
    *table_find_pair(&s->pairs, key, value) = (struct pair){key, value};
    s->pairs.used++;
}

bool pcset_failed(const struct pcset *s)
{
    return s->failed;
}

bool pcset_has(const struct pcset *s, gaddr key)
{
    return key && table_find_pair(&s->pairs, key, 0)->key;
}

bool pcset_next(const struct pcset *s, size_t *place, gaddr *key, gaddr *value)
{
    const struct pair *slot = s->pairs.slot;
    while (*place < s->pairs.room && !slot[*place].key)
        ++*place;
    if (*place == s->pairs.room)
        return false;
    *key = slot[*place].key;
    *value = slot[(*place)++].value;
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
    s->sorted = malloc(sizeof *s->sorted * (s->pairs.used + 1));
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
