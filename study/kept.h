/* kept.h - what was found out about a trace, kept beside it for the next time.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each fact is a file of its own, TRACE.NAME, whose first chunk says what it is of: the trace, the
 * versions, and what else it depends on. A file that is of something else, damaged or of another
 * version is as good as none: the fact is found out again. Only a trace that is kept where drdebug
 * chose, of a recording of the user's own, has such files; a study that is confined opens nothing.
 */
#ifndef STUDY_KEPT_H
#define STUDY_KEPT_H

#include <stddef.h>
#include <stdint.h>

struct study;

struct kept_fact {
    const char *name; /* of a few letters */
    uint32_t version; /* add one with every change of what is in it, or of how it is found */
    uint64_t key;     /* whatever else it depends on, hashed */
};

/* What was kept, to be freed; NULL: nothing that can be used. */
void *kept_get(const struct study *s, const struct kept_fact *fact, size_t *bytes);
/* Failing to keep it is no error: it is found out again. */
void kept_put(const struct study *s, const struct kept_fact *fact, const void *data, size_t bytes);

/* A list among what is kept: its elements have whole words, and lie there as columns, byte by byte,
 * of differences to the element before, since neighbours are alike. Both give what is behind it.
 * `list` of the second is the address of a pointer: malloc()ed; NULL: no memory. */
enum { KEPT_WORD = 8 };
uint8_t *kept_put_list(uint8_t *to, const void *list, size_t count, size_t bytes);
const uint8_t *kept_get_list(const uint8_t *from, void *list, size_t count, size_t bytes);

#endif
