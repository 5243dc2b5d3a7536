/* tls.c - where a library's thread-local variables are.
 *
 * SPDX-License-Identifier: MIT
 *
 * fs:8 leads to a vector of blocks, by the module's number, two words each. The loader's list of
 * modules (_r_debug) has that number, in a field whose offset glibc tells debuggers:
 * _thread_db_link_map_l_tls_modid, three numbers, the last of which it is.
 */
#include <string.h>

#include "source/place.h"

enum { MAPS_MOST = 10000 };

static bool word_at(const struct source_frame *f, gaddr addr, uint64_t *out)
{
    return f->memory(f->arg, addr, out, sizeof *out) == sizeof *out;
}

/* The address of a symbol, of whichever module; 0: there is none. */
static gaddr symbol_named(struct source *s, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < s->modules; i++) {
        struct source_mod *m = s->module[i];
        source_symbols_all(s, m);
        for (size_t k = 0; k < m->symbols; k++)
            if (strncmp(m->symbol[k].name, name, length) == 0 &&
                (!m->symbol[k].name[length] || m->symbol[k].name[length] == '@'))
                return m->symbol[k].addr + m->bias;
    }
    return 0;
}

/* The loader's entry for a module: difference of addresses, name, dynamic section, next. */
static gaddr map_of(struct source *s, const struct source_mod *m, const struct source_frame *f)
{
    gaddr debug = symbol_named(s, "_r_debug"), map;
    uint64_t base;

    if (!debug || !word_at(f, debug + 8, &map))
        return 0;
    for (int i = 0; map && i < MAPS_MOST; i++) {
        if (!word_at(f, map, &base))
            return 0;
        if (base == m->bias)
            return map;
        if (!word_at(f, map + 24, &map))
            return 0;
    }
    return 0;
}

gaddr source_tls_base(struct source *s, const struct source_mod *m, const struct source_frame *f)
{
    gaddr field, map, dtv;
    uint64_t module, count, block;
    uint32_t told[3]; /* bits, how many, offset */

    if (!f || !f->memory || !f->fs_base || m->executable)
        return 0;
    field = symbol_named(s, "_thread_db_link_map_l_tls_modid");
    map = field ? map_of(s, m, f) : 0;
    if (!map || f->memory(f->arg, field, told, sizeof told) != sizeof told ||
        !word_at(f, map + told[2], &module) || !word_at(f, f->fs_base + 8, &dtv) ||
        !word_at(f, dtv - 16, &count) || !module || module > count ||
        !word_at(f, dtv + 16 * module, &block))
        return 0;
    return block == UINT64_MAX ? 0 : block; /* not used by the thread yet */
}
