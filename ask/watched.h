/* watched.h - what some memory held around each access to it.
 *
 * SPDX-License-Identifier: MIT
 *
 * What an access left is there when the next one comes (touching.h). So a single replay tells what
 * was there before and after each, in the order of the execution.
 */
#ifndef ASK_WATCHED_H
#define ASK_WATCHED_H

#include "ask/location.h"
#include "source/render.h"

enum { WATCHED_MOST = 1024 }; /* bytes of all ranges together; of more, the first are taken */

/* The bytes of the ranges, one behind the other. */
struct watched_value {
    uint8_t bytes[WATCHED_MOST];
    size_t known; /* 0: they could not be read */
    struct watched_string {
        gaddr addr;
        uint32_t bytes;
        uint8_t text[RENDER_ELEMENTS];
    } string[LOCATION_LEADS]; /* that pointers in it lead to */
    size_t strings;
};

/* Accesses first to behind, without that, are those of one instruction. 0: go on; 1: enough. */
typedef int watched_fn(void *arg, size_t first, size_t behind, const struct watched_value *before,
                       const struct watched_value *after, struct err *err);

/* The accesses are a part of what touch_pass() told of these ranges, in its order; what is left out
 * has not written. */
int watched_run(struct asking *q, const struct location *l, const struct touch *list, size_t count,
                watched_fn *fn, void *arg, struct err *err);

/* The value of all of the location as GDB's `print` writes it. */
void watched_text(struct asking *q, const struct location *l, const struct watched_value *v,
                  char *buf, size_t room);
/* The bytes of an access, which are in one of the ranges; NULL: not known. */
const uint8_t *watched_bytes(const struct location *l, const struct watched_value *v,
                             const struct touch *t);

#endif
