/* array.h - arrays that grow. SPDX-License-Identifier: MIT
 *
 * An array is a pointer, a count and mostly its room, three variables wherever they are; room has
 * the type size_t, count any. The room doubles. All of these give 0, or -1 if there is no memory or
 * more is wanted than can be counted; then everything is as it was. free() ends an array.
 *
 *     if (array_push(&c->stop, &c->stops, &c->stop_room, (struct stop){pc, row}))
 *         return err_set(err, "no memory");
 *
 * They are macros, so that the compiler checks the types; their arguments are evaluated more than
 * once.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_FIRST = 16 }; /* elements there is room for at first */

/* Makes room for as many elements as that in all. */
#define array_reserve(list, room, need)                                                            \
    ((size_t)(need) <= *(room) ? 0 : array_grow((list), (room), (need), sizeof **(list)))

/* Appends an element, the last argument. */
#define array_push(list, count, room, ...)                                                         \
    (array_reserve((list), (room), (size_t) * (count) + 1)                                         \
         ? -1                                                                                      \
         : ((*(list))[*(count)] = (__VA_ARGS__), ++*(count), 0))

/* The same without a variable for the room: it is the power of two that the count does not exceed.
 * An array must be appended to by one of the two forms alone. */
#define array_append(list, count, ...)                                                             \
    (array_fit((list), *(count), sizeof **(list))                                                  \
         ? -1                                                                                      \
         : ((*(list))[*(count)] = (__VA_ARGS__), ++*(count), 0))

/* ---- what the macros are made of ---- */

/* `list` is the address of a pointer to whatever. */
static inline int array_resize(void *list, size_t room, size_t bytes)
{
    void *at, *larger;
    size_t total;

    memcpy(&at, list, sizeof at);
    if (__builtin_mul_overflow(room, bytes, &total) || !(larger = realloc(at, total)))
        return -1;
    memcpy(list, &larger, sizeof larger);
    return 0;
}

__attribute__((cold)) static inline int array_grow(void *list, size_t *room, size_t need,
                                                   size_t bytes)
{
    size_t more = *room > SIZE_MAX / 2 ? need : 2 * *room;

    more = more < ARRAY_FIRST ? ARRAY_FIRST : more;
    more = more < need ? need : more;
    if (array_resize(list, more, bytes))
        return -1;
    *room = more;
    return 0;
}

/* Makes room for one more than `count` where that is a power of two, or nothing. */
static inline int array_fit(void *list, size_t count, size_t bytes)
{
    if (count & (count - 1))
        return 0;
    return count > SIZE_MAX / 2 ? -1 : array_resize(list, count ? 2 * count : 1, bytes);
}

#endif
