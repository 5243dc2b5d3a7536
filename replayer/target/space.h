/* space.h - the program's address space. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_SPACE_H
#define REPLAYER_TARGET_SPACE_H

#include "debug/mailbox.h"
#include "engine/core/thread.h"
#include "pinball/record_state.h"

void space_map(const struct record_map *m);
void space_gone(const struct record_map *m); /* nothing is mapped there */
void space_call(struct thread *t, long nr, const long a[6], int64_t result,
                const struct record_map *map);
void space_partly(long nr, const long a[6], const struct record_map *m);
void space_write(gaddr addr, const void *bytes, uint64_t n); /* as the kernel would */
void space_resize(const struct record_size *s);
void space_object(const struct record_object *o);
/* Around a copy of this process: before it is made, and in it. */
void space_before_copy(void);
void space_part(void);
void space_own_all(void); /* this process may write anywhere from here on */
void space_start(const struct record_start *s);
void space_begin(gaddr heap, gaddr heap_end);   /* it is complete; the heap is here */
bool space_area(int i, struct record_map *out); /* false: there are not so many */
/* Shared memory; *fd is -1 for a number that has none. False: no more numbers. */
bool space_object_get(uint32_t number, int *fd, uint64_t *bytes);
void space_object_make(const struct record_size *s);
void space_object_anew(const struct record_size *s); /* it holds nothing but zeros */
int space_list(int from, struct mailbox_map *out, int room);
void space_heap(gaddr *start, gaddr *end);
void space_heap_ends(gaddr end); /* its memory is mapped already */

#endif
