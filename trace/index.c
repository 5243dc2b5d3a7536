/* index.c - what all who read a trace share. SPDX-License-Identifier: MIT */
#include "trace/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "pinball/pinball.h"
#include "trace/scan_pack.h"

/* Code that was executed: of blocks, where no file says it. */
static size_t read_executed(const struct trace_index *s, gaddr pc, uint8_t *buf, size_t bytes)
{
    for (uint32_t i = 0; i < code_count(s->code); i++) {
        const struct code_block *b = code_block(s->code, i);
        if (b->gap || pc < b->pc || pc >= b->end)
            continue;
        size_t n = 0;
        for (uint32_t k = 0; k < b->insns && n < bytes; k++)
            for (uint32_t j = 0; j < b->insn[k].in.len && n < bytes; j++)
                if (b->insn[k].in.pc + j >= pc)
                    buf[n++] = b->insn[k].in.bytes[j];
        return n;
    }
    return 0;
}

/* The window of a mapping of a kept file that has byte `at` of the mapping. Mappings may be of any
 * size, so as many windows are kept as fit. NULL: there is none. */
static const uint8_t *mapped(struct trace_index *s, const struct trace_map *map, uint32_t i,
                             uint64_t at)
{
    uint64_t number = at / TRACE_INDEX_WINDOW;
    struct trace_index_window *w = &s->window[(number + 61ull * i) % TRACE_INDEX_WINDOWS];
    struct err err;
    if (map->file < 0 || (!w->data && !(w->data = malloc(TRACE_INDEX_WINDOW))))
        return NULL;
    if (w->read && w->map == i && w->number == number)
        return w->data;
    w->read = !pinball_file_read(s->pinball, (uint32_t)map->file,
                                 map->offset + number * TRACE_INDEX_WINDOW, w->data,
                                 TRACE_INDEX_WINDOW, &err);
    w->map = i;
    w->number = number;
    return w->read ? w->data : NULL;
}

static size_t read_code(void *ctx, gaddr pc, uint8_t *buf, size_t bytes)
{
    struct trace_index *s = ctx;
    const struct trace_map *map;
    size_t maps = trace_maps(s->trace, &map);
    for (size_t i = 0; i < maps; i++) {
        if (pc < map[i].start || pc >= map[i].end)
            continue;
        if (bytes > map[i].end - pc)
            bytes = map[i].end - pc;
        size_t done = 0;
        while (done < bytes) {
            uint64_t at = pc + done - map[i].start, in = at % TRACE_INDEX_WINDOW;
            const uint8_t *contents = mapped(s, &map[i], (uint32_t)i, at);
            size_t n =
                bytes - done < TRACE_INDEX_WINDOW - in ? bytes - done : TRACE_INDEX_WINDOW - in;
            if (!contents)
                break;
            memcpy(buf + done, contents + in, n);
            done += n;
        }
        if (!done)
            break;
        return done;
    }
    return read_executed(s, pc, buf, bytes);
}

size_t trace_index_code(struct trace_index *s, gaddr pc, uint8_t *buf, size_t bytes)
{
    return read_code(s, pc, buf, bytes);
}

enum { MAP_WRITE = 2 };

/* The first mapping that ends behind addr; they are sorted. NULL: none. */
static const struct trace_map *map_at(const struct trace_index *s, gaddr addr)
{
    const struct trace_map *map;
    size_t maps = trace_maps(s->trace, &map), i = search_upto(map, maps, end, addr);
    return i < maps ? &map[i] : NULL;
}

bool trace_index_read_only(const struct trace_index *s, gaddr addr, uint64_t bytes)
{
    const struct trace_map *m = map_at(s, addr);
    return m && m->start <= addr && bytes <= m->end - addr && !(m->prot & MAP_WRITE);
}

bool trace_index_is_writable(const struct trace_index *s, gaddr addr, uint64_t bytes)
{
    const struct trace_map *m = map_at(s, addr);
    if (!m || m->start >= addr + bytes)
        return true; /* not mapped any more */
    return m->start <= addr && bytes <= m->end - addr && m->prot & MAP_WRITE;
}

static bool is_entry(void *ctx, gaddr pc)
{
    return trace_is_entry(((struct trace_index *)ctx)->trace, pc);
}

static size_t targets(void *ctx, gaddr pc, const gaddr **list)
{
    return trace_targets(((struct trace_index *)ctx)->trace, pc, list);
}

static bool stays(void *ctx, gaddr pc)
{
    return trace_stays(((struct trace_index *)ctx)->trace, pc);
}

static bool no_return(void *ctx, gaddr callee)
{
    const struct trace_index *s = ctx;
    return s->no_return && s->no_return(s->no_return_ctx, callee);
}

void trace_index_no_return(struct trace_index *s, bool (*fn)(void *ctx, gaddr callee), void *ctx)
{
    s->no_return = fn;
    s->no_return_ctx = ctx;
}

struct trace_index *trace_index_new(struct trace *trace, struct pinball *pinball, struct err *err)
{
    struct trace_index *s = calloc(1, sizeof *s);
    if (!s) {
        err_set(err, "no memory");
        return NULL;
    }
    s->trace = trace;
    s->code = trace_code(trace);
    s->pinball = pinball;
    struct cfg_program program = {.ctx = s,
                                  .read = read_code,
                                  .is_entry = is_entry,
                                  .targets = targets,
                                  .stays = stays,
                                  .no_return = no_return};
    s->cfg = cfg_new(&program, err);
    if (!s->cfg) {
        trace_index_free(s);
        return NULL;
    }
    return s;
}

void trace_index_set_source(struct trace_index *s, struct source *source)
{
    if (s->source != source) {
        scan_deinit(&s->scan);
        s->max_save = 0;
    }
    s->source = source;
}

void trace_index_free(struct trace_index *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < TRACE_INDEX_WINDOWS; i++)
        free(s->window[i].data);
    cfg_free(s->cfg);
    scan_deinit(&s->scan);
    free(s);
}

void trace_index_set_store(struct trace_index *s, const struct trace_index_store *store)
{
    s->store = *store;
}

static bool load_scan(struct trace_index *s, unsigned max_save)
{
    size_t bytes;
    uint8_t *data = s->store.get ? s->store.get(s->store.arg, max_save, &bytes) : NULL;
    bool good = data && !scan_unpack_all(data, bytes, s->trace, s->code, &s->scan);
    free(data);
    return good;
}

static void keep_scan(struct trace_index *s, unsigned max_save)
{
    size_t bytes;
    uint8_t *data = s->store.put ? scan_pack(&s->scan, &bytes) : NULL;
    if (data)
        s->store.put(s->store.arg, max_save, data, bytes);
    free(data);
}

int trace_index_scan(struct trace_index *s, unsigned max_save, struct err *err)
{
    uint32_t chunks = trace_chunks(s->trace);
    if (s->max_save && (!max_save || max_save == s->max_save) && (!s->scan.first || s->lately))
        return 0;
    max_save = max_save ? max_save : SCAN_MAX_SAVE;
    scan_deinit(&s->scan);
    s->max_save = 0;
    if (!load_scan(s, max_save)) {
        struct scan_options o = {.max_save = max_save,
                                 .source = s->source,
                                 .first = s->lately && chunks > s->lately ? chunks - s->lately : 0,
                                 .progress = s->progress};
        if (scan_init(&s->scan, s->trace, &o, err))
            return -1;
        if (!o.first)
            keep_scan(s, max_save);
    }
    s->max_save = max_save;
    return 0;
}

int trace_index_reach(struct trace_index *s, uint32_t chunk, struct err *err)
{
    if (trace_index_scan(s, 0, err))
        return -1;
    if (chunk >= s->scan.first)
        return 0;
    s->lately = 0;
    return trace_index_scan(s, s->max_save, err);
}
