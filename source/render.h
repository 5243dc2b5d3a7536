/* render.h - values as text, as GDB's `print` has them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Scalars are value.c's; here are the rest: pointers with symbols and strings, arrays with
 * repetitions, records with bases and static members, references. GDB's default settings: 200
 * elements, repetitions from 10 on, no pretty-printers.
 *
 * What a value leads to (strings, static members) is asked for with render_wants()
 * before the value is there, and then looked up in what was read.
 */
#ifndef SOURCE_RENDER_H
#define SOURCE_RENDER_H

#include "source/types.h"

enum { RENDER_ELEMENTS = 200 };
#define RENDER_UNREAD SIZE_MAX /* nobody read there */

struct render {
    struct source *source;
    gaddr pc; /* decides the language */
    /* Memory that was read: how many of the bytes at addr there are, or RENDER_UNREAD. */
    size_t (*memory)(void *arg, gaddr addr, void *out, size_t bytes);
    void *arg;
};

struct render_value {
    struct source_type type;
    const uint8_t *bytes;
    const bool *missing;                 /* NULL, or which of the bytes are optimized out */
    size_t n;                            /* may be fewer than the type has: it was cut */
    uint32_t bit, bits;                  /* of a bit-field; bits 0: it is none */
    gaddr address;                       /* where it lies; 0: in no memory */
    const struct source_type *reference; /* NULL, or the reference that led there */
};

/* The value as `print` writes it, cut to fit. */
void render_write(const struct render *r, const struct render_value *value, char *buf, size_t room);

/* What the value of a type leads to: the string behind the pointer at `offset`, or from there on; a
 * static member, which is a variable. Not 0 ends it. */
enum render_want { RENDER_STRING, RENDER_TEXT, RENDER_STATIC };
typedef int render_want_fn(void *arg, enum render_want kind, uint64_t offset,
                           const struct source_type *type, const char *name);
int render_wants(const struct render *r, const struct source_type *type, uint64_t bytes,
                 render_want_fn *fn, void *arg);

/* The symbol that an address is in: `main+4`. False: there is none. */
bool render_symbol(struct source *s, gaddr addr, char *buf, size_t room);

#endif
