/* chance.c - calls whose synchronisation orders threads by chance alone.
 *
 * SPDX-License-Identifier: MIT
 *
 * A frame is somewhere by its function and by what its caller's frame is in. Somebody's own code
 * that a library calls (a thread's function, a comparison for qsort) is his own again; but what an
 * allocator calls is the allocator's as long as it is in the same module or in the C library.
 */
#include "facts/order/chance.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/order/numbers.h"
#include "facts/order/parts.h"
#include "trace/frames.h"

/* What a frame is in: frame->mark. */
enum inside { NOT_KNOWN, IN_PROGRAM, IN_SYNC, IN_LIBRARY, IN_ALLOCATOR };

enum kind { PLAIN, ALLOCATES, SYNCHRONISES };

struct function {
    const char *module;
    enum kind kind;
    bool library;
};

struct chance {
    struct study *study;
    struct numbers entries;
    struct function *function; /* by number */
    size_t functions;
};

/* As parts_name() has them. A star stands for the rest. */
static const struct {
    const char *name;
    enum kind kind;
} known[] = {
    {"malloc", ALLOCATES},
    {"malloc_*", ALLOCATES},
    {"free", ALLOCATES},
    {"cfree", ALLOCATES},
    {"calloc", ALLOCATES},
    {"realloc", ALLOCATES},
    {"reallocarray", ALLOCATES},
    {"memalign", ALLOCATES},
    {"aligned_alloc", ALLOCATES},
    {"posix_memalign", ALLOCATES},
    {"valloc", ALLOCATES},
    {"pvalloc", ALLOCATES},
    {"Znw*", ALLOCATES}, /* operator new, new[], delete, delete[] */
    {"Zna*", ALLOCATES},
    {"ZdlPv*", ALLOCATES},
    {"ZdaPv*", ALLOCATES},
    {"pthread_mutex_*", SYNCHRONISES},
    {"pthread_rwlock_*", SYNCHRONISES},
    {"pthread_cond_*", SYNCHRONISES},
    {"pthread_spin_*", SYNCHRONISES},
    {"pthread_barrier_*", SYNCHRONISES},
    {"pthread_once", SYNCHRONISES},
    {"sem_*", SYNCHRONISES},
    {"mtx_*", SYNCHRONISES},
    {"cnd_*", SYNCHRONISES},
    {"call_once", SYNCHRONISES},
    {"flockfile", SYNCHRONISES},
    {"ftrylockfile", SYNCHRONISES},
    {"funlockfile", SYNCHRONISES},
    {"aio_*", SYNCHRONISES},
    {"lio_listio*", SYNCHRONISES},
    {"syscall", SYNCHRONISES},
};

static bool matches(const char *name, size_t length, const char *pattern)
{
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*')
        return length >= n - 1 && memcmp(name, pattern, n - 1) == 0;
    return length == n && memcmp(name, pattern, n) == 0;
}

static enum kind kind_of(const char *name)
{
    name = parts_name(name);
    size_t length = strcspn(name, "@"); /* a stub's name ends in @plt */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (matches(name, length, known[i].name))
            return known[i].kind;
    return PLAIN;
}

bool chance_allocates(const char *name)
{
    return kind_of(name) == ALLOCATES;
}

struct chance *chance_new(struct study *s, struct err *err)
{
    struct chance *c = calloc(1, sizeof *c);
    if (c)
        c->study = s;
    else
        err_set(err, "no memory");
    return c;
}

void chance_free(struct chance *c)
{
    if (!c)
        return;
    numbers_deinit(&c->entries);
    free(c->function);
    free(c);
}

static struct function look_at(struct study *s, gaddr entry)
{
    struct source_line l;
    source_line(s->source, entry, &l);
    return (struct function){.module = l.module,
                             .kind = l.outer && l.offset == 0 ? kind_of(l.outer) : PLAIN,
                             .library = parts_code(s, entry) != PART_OTHER};
}

/* Without memory for it, it is the program's. */
static struct function function_at(struct chance *c, gaddr entry)
{
    uint32_t i = numbers_add(&c->entries, entry, 0);
    if (i == c->functions && array_append(&c->function, &c->functions, look_at(c->study, entry)))
        return (struct function){0};
    return i < c->functions ? c->function[i] : (struct function){0};
}

static enum inside inside_of(struct chance *c, const struct frame *f, enum inside caller)
{
    const struct function own = function_at(c, f->entry);
    if (own.kind == ALLOCATES)
        return IN_ALLOCATOR;
    if (f->kind != FRAME_CALL)
        return own.library ? IN_LIBRARY : IN_PROGRAM;
    if (caller == IN_ALLOCATOR &&
        (own.library || own.module == function_at(c, f->parent->entry).module))
        return IN_ALLOCATOR;
    if (!own.library)
        return IN_PROGRAM;
    if (caller != IN_PROGRAM)
        return caller;
    return own.kind == SYNCHRONISES ? IN_SYNC : IN_LIBRARY;
}

static enum inside where(struct chance *c, struct frame *f)
{
    enum { DEEP = 64 }; /* calls that a library makes until it has a lock */
    struct frame *path[DEEP];
    unsigned n = 0;
    for (; f && !f->mark && n < DEEP; f = f->parent)
        path[n++] = f;
    enum inside in = f && f->mark ? (enum inside)f->mark : IN_PROGRAM;
    while (n) {
        f = path[--n];
        f->mark = in = inside_of(c, f, in);
    }
    return in;
}

bool chance_is(struct chance *c, struct frame *f)
{
    const enum inside in = where(c, f);
    return in == IN_LIBRARY || in == IN_ALLOCATOR;
}

bool chance_synchronises(struct chance *c, struct frame *f)
{
    return where(c, f) == IN_SYNC;
}
