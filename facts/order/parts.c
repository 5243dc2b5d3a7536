/* parts.c - which code is the C library's or the dynamic loader's. SPDX-License-Identifier: MIT */
#include "facts/order/parts.h"

#include <string.h>

static const char *base_name(const char *module)
{
    const char *slash = module ? strrchr(module, '/') : NULL;
    return slash ? slash + 1 : module ? module : "";
}

/* The list ends with NULL. */
static bool begins(const char *name, const char *const *list)
{
    while (*list && strncmp(name, *list, strlen(*list)) != 0)
        list++;
    return *list;
}

enum part parts_module(const char *module)
{
    static const char *const library[] = {"libc.so", "libc-", "libpthread", "libc.musl", NULL};
    static const char *const loader[] = {"ld-", "ld.so", NULL};
    const char *name = base_name(module);
    return begins(name, loader) ? PART_LOADER : begins(name, library) ? PART_LIBRARY : PART_OTHER;
}

bool parts_allocates(const char *module)
{
    static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc", "libtbbmalloc",
                                        NULL};
    return begins(base_name(module), names);
}

enum part parts_code(struct study *s, gaddr pc)
{
    struct source_line l;
    bool own = study_own(s, pc, &l);
    enum part part = parts_module(l.module);
    /* In a static program the library is what has no lines, or what symbols say if nothing has. */
    bool linked =
        l.lines ? !own && !l.file && !strstr(l.module, ".so") : source_is_libc(s->source, pc);
    return part == PART_OTHER && linked ? PART_LIBRARY : part;
}

const char *parts_name(const char *symbol)
{
    static const char *const before[] = {"_", "new_", "libc_"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        while (strncmp(symbol, before[i], strlen(before[i])) == 0)
            symbol += strlen(before[i]);
    return symbol;
}
