/* parts.c - which code is the C library's or the dynamic loader's. SPDX-License-Identifier: MIT */
#include "facts/order/parts.h"

#include <string.h>

enum part parts_module(const char *module)
{
    static const char *const library[] = {"libc.so", "libc-", "libpthread", "libc.musl"};
    const char *slash = module ? strrchr(module, '/') : NULL;
    const char *name = slash ? slash + 1 : module ? module : "";
    if (strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0)
        return PART_LOADER;
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        if (strncmp(name, library[i], strlen(library[i])) == 0)
            return PART_LIBRARY;
    return PART_OTHER;
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
