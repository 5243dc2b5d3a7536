/* errors_int.h - what the files that look for errors share. SPDX-License-Identifier: MIT */
#ifndef FACTS_HEAP_ERRORS_INT_H
#define FACTS_HEAP_ERRORS_INT_H

#include "facts/heap/errors.h"
#include "facts/heap/machine.h"
#include "facts/heap/objects.h"
#include "trace/pass.h"

struct told {
    uint64_t place, of; /* place: pc and kind, never 0; of: who allocated the block, or a site */
    uint64_t error;
};

struct saved { /* by a signal */
    gaddr frame;
    struct machine_thread state;
};

struct watcher {
    struct heap *h;
    struct study *s;
    struct heap_errors *out;
    struct machine m;
    struct objects objects;
    struct ops **ops;             /* by block; NULL: not compiled yet */
    uint32_t (*open)[HEAP_POOLS]; /* by thread: the call it is in; HEAP_NONE */
    size_t next;                  /* call that begins next */
    struct {
        struct saved *list;
        size_t count, room;
    } * saved; /* by thread */
    TABLE(struct told) told;
    bool *begun; /* by thread: it was made by another, or has done something */
    bool any;    /* one has */
    gaddr brk;
    bool failed;
    size_t latest; /* error that was met: told, or once more */
};

/* errors_tell.c: an error, if it is one of the program's and was not told before; else NULL. */
struct heap_error *errors_tell(struct watcher *w, const struct machine_at *at,
                               enum heap_error_kind kind, uint32_t block);
/* What the machine finds odd. */
void errors_touched(void *arg, const struct machine_at *at, const struct machine_access *a);
void errors_used(void *arg, const struct machine_at *at, enum machine_use use,
                 const struct machine_origin *origin);
/* Is it the C library, or the loader? */
bool errors_is_libc(const char *module);
bool errors_is_loader(const char *module);
/* Does the text begin with one of the list, which ends with NULL? */
bool errors_begins(const char *text, const char *const *list);

/* errors_kernel.c: what the kernel does; the visitor of notes. */
int errors_note(void *arg, const struct pass *p, struct err *err);

#endif
