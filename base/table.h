/* table.h - hash tables. SPDX-License-Identifier: MIT
 *
 * A table is an array of slots, structs of any type that begin with their key: one uint64_t, or
 * two. In a free slot all bytes are 0, and the first word of a key is never 0 (a key that may be 0
 * is stored plus one). A slot lies at the first free place from the one that its hash names.
 * Nothing is taken out; a slot may die, though, and is left out when the table grows.
 *
 *     TABLE(struct page) pages;                      zeroed: empty, no memory
 *
 *     if (table_reserve(&t->pages))                  before the first find, and before each add
 *         return err_set(err, "no memory");
 *     struct page *p = table_find(&t->pages, number + 1);
 *     if (!p->number) {                              it is free
 *         *p = (struct page){.number = number + 1};
 *         t->pages.used++;
 *     }
 *
 * The order of slots must never be seen outside. A slot moves when table_reserve() is called. Free
 * `slot` to end a table. These are macros, so that the compiler knows the types and sizes: finding
 * is inline and as fast as if it were written by hand. Arguments are evaluated more than once.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { TABLE_FIRST = 256 }; /* slots at first; like every room a power of two */

#define TABLE(type)                                                                                \
    struct {                                                                                       \
        type *slot;                                                                                \
        size_t room, used;                                                                         \
    }

/* The slot with the key, or the free one where it belongs. */
#define table_find(table, key)                                                                     \
    (&(table)->slot[table_place((table)->slot, (table)->room, sizeof *(table)->slot, (key))])
#define table_find_pair(table, first, second)                                                      \
    (&(table)->slot[table_place_pair((table)->slot, (table)->room, sizeof *(table)->slot, (first), \
                                     (second))])

/* Makes room for one more slot. 0, or -1: no memory, and the table is as it was. */
#define table_reserve(table)      table_reserve_words(table, 1, NULL, NULL)
#define table_reserve_pair(table) table_reserve_words(table, 2, NULL, NULL)
/* `words` of the key are hashed. A slot for which is_dead() is true is left out if there is no
 * room; drop() frees what it owns. NULL: none is dead; none owns anything. */
#define table_reserve_words(table, words, is_dead, drop)                                           \
    (2 * (table)->used < (table)->room                                                             \
         ? 0                                                                                       \
         : table_grow(&(table)->slot, &(table)->room, &(table)->used,                              \
                      (struct table_kind){sizeof *(table)->slot, (words), (is_dead), (drop)}))

/* ---- what the macros are made of ---- */

static inline uint64_t table_word(const void *slots, size_t at)
{
    uint64_t word;
    memcpy(&word, (const uint8_t *)slots + at, sizeof word);
    return word;
}

static inline size_t table_place(const void *slots, size_t room, size_t bytes, uint64_t key)
{
    size_t i = hash_word(key) & (room - 1);
    for (uint64_t is; (is = table_word(slots, i * bytes)) && is != key;)
        i = (i + 1) & (room - 1);
    return i;
}

static inline size_t table_place_pair(const void *slots, size_t room, size_t bytes, uint64_t first,
                                      uint64_t second)
{
    size_t i = hash_pair(first, second) & (room - 1);
    for (uint64_t is; (is = table_word(slots, i * bytes)) &&
                      (is != first || table_word(slots, i * bytes + sizeof is) != second);)
        i = (i + 1) & (room - 1);
    return i;
}

struct table_kind {
    size_t bytes; /* of a slot */
    unsigned words;
    bool (*is_dead)(const void *slot);
    void (*drop)(void *slot);
};

static inline bool table_lives(const void *slot, const struct table_kind *kind)
{
    return table_word(slot, 0) && !(kind->is_dead && kind->is_dead(slot));
}

/* A copy at the first free place. Keys are different, so none is compared. */
static inline void table_copy(uint8_t *slots, size_t room, const void *slot,
                              const struct table_kind *kind)
{
    uint64_t key = table_word(slot, 0);
    size_t i = kind->words == 1 ? hash_word(key) : hash_pair(key, table_word(slot, sizeof key));
    for (i &= room - 1; table_word(slots, i * kind->bytes);)
        i = (i + 1) & (room - 1);
    memcpy(slots + i * kind->bytes, slot, kind->bytes);
}

/* `table` is the address of the pointer to the slots. Afterwards a quarter is used at the most. */
__attribute__((cold)) static inline int table_grow(void *table, size_t *room, size_t *used,
                                                   struct table_kind kind)
{
    uint8_t *old, *slots;
    size_t live = 0, want = TABLE_FIRST;

    memcpy(&old, table, sizeof old);
    for (size_t i = 0; i < *room; i++)
        live += table_lives(old + i * kind.bytes, &kind);
    while (want < 4 * live)
        want *= 2;
    if (!(slots = calloc(want, kind.bytes)))
        return -1;
    live = 0; /* a slot may die of another one's being dropped */
    for (size_t i = 0; i < *room; i++) {
        uint8_t *slot = old + i * kind.bytes;
        if (table_lives(slot, &kind)) {
            table_copy(slots, want, slot, &kind);
            live++;
        } else if (kind.drop && table_word(slot, 0)) {
            kind.drop(slot);
        }
    }
    free(old);
    memcpy(table, &slots, sizeof slots);
    *room = want;
    *used = live;
    return 0;
}

#endif
