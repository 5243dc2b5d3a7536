/* collect.c - make a trace by replaying. SPDX-License-Identifier: MIT */
#include "trace/collect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pinball/pinball.h"
#include "pinball/sha256.h"
#include "pinball/statements.h"
#include "replayer/replay.h"
#include "trace/collector.h"
#include "trace/extend.h"

/* What is mapped at the end. NULL with *err set. */
static struct trace_map *maps_of(struct replay *replay, size_t *count, struct err *err)
{
    enum { MAPS = 65536 };
    struct program_map *list = malloc(sizeof *list * MAPS);
    size_t maps = list ? replay_maps(replay, list, MAPS) : 0;
    maps = maps < MAPS ? maps : MAPS;
    struct trace_map *map = list ? malloc(sizeof *map * (maps + 1)) : NULL;
    if (!map)
        err_set(err, "no memory");
    for (size_t i = 0; map && i < maps; i++)
        map[i] = (struct trace_map){list[i].start, list[i].end, list[i].offset, list[i].file,
                                    (uint32_t)list[i].prot};
    free(list);
    *count = maps;
    return map;
}

static int run(struct replay *replay, const struct position *from, const struct position *to,
               struct replay_stop *stop, struct err *err)
{
    if (from && replay_run(replay, from, stop, err))
        return -1;
    if (from && stop->why != STOP_POSITION)
        return err_set(err, "the recording ends before the window begins");
    return replay_tool(replay, "flow", err) || replay_run(replay, to, stop, err) ||
                   replay_tool(replay, NULL, err)
               ? -1
               : 0;
}

/* Two recordings of one program differ in their first events: addresses, random bytes, times. One
 * that somebody has changed differs in sums. */
static int identify(struct pinball *pinball, uint64_t chunks, char id[SHA256_HEX], struct err *err)
{
    struct sha256 sum;
    const char *key, *value;
    uint64_t bytes = 0, records = 0, n;
    for (uint64_t i = 0; i < chunks; i++) {
        pinball_chunk_info(pinball, i, &bytes, &n);
        records += n;
    }
    bytes = 0;
    sha256_init(&sum);
    for (size_t i = 0; pinball_head_line(pinball, &i, &key, &value);) {
        sha256_add(&sum, key, strlen(key) + 1);
        sha256_add(&sum, value, strlen(value) + 1);
    }
    sha256_add(&sum, &records, sizeof records);
    for (uint64_t i = 0; i < chunks; i++) {
        n = pinball_chunk_sum(pinball, i);
        sha256_add(&sum, &n, sizeof n);
    }
    if (chunks)
        pinball_chunk_info(pinball, 0, &bytes, &n);
    void *data = malloc(bytes + 8);
    if (!data)
        return err_set(err, "no memory");
    int bad = bytes && pinball_read_chunk(pinball, 0, data, bytes, err);
    if (!bad)
        sha256_add(&sum, data, bytes);
    free(data);
    sha256_hex(&sum, id);
    return bad ? -1 : 0;
}

int collect_about(struct pinball *pinball, const struct position *from, const struct position *to,
                  char about[COLLECT_ABOUT], struct err *err)
{
    char id[SHA256_HEX], token[2][POSITION_TEXT] = {"", ""};
    if (identify(pinball, pinball_chunks(pinball), id, err))
        return -1;
    if (from)
        position_format(from, token[0]);
    if (to)
        position_format(to, token[1]);
    snprintf(about, COLLECT_ABOUT, from || to ? "%.32s %s..%s" : "%.32s", id, token[0], token[1]);
    return 0;
}

bool collect_is_earlier(struct pinball *pinball, const char *about)
{
    char id[SHA256_HEX];
    struct err err;
    for (uint64_t chunks = pinball_chunks(pinball); chunks-- > 1;)
        if (!identify(pinball, chunks, id, &err) && !strncmp(about, id, 32) && !about[32])
            return true;
    return false;
}

static uint64_t size_of(const char *path, int unnamed)
{
    struct stat st;
    int bad =
        unnamed >= 0 ? fstat(unnamed, &st) : fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
    return bad ? 0 : (uint64_t)st.st_size;
}

static void take_way(void *arg, const struct code_way *way)
{
    if (way->kind <= WAY_STAYS)
        collector_way(arg, (enum trace_way)way->kind, way->pc, way->to);
}

int collect_more(struct pinball *pinball, struct trace *old, const char *path,
                 const struct collect_options *o, struct collect_result *result, struct err *err)
{
    struct replay *replay = NULL;
    struct replay_stop stop;
    struct trace_map *map = NULL;
    struct position seam;
    char about[COLLECT_ABOUT];
    size_t maps;
    int bad = -1;
    struct collector *c = collector_new(path, o, err);
    const int extends = c && old ? extend_begin(c, old, &seam, err) : 0;
    if (!c || extends < 0 || statements_ways(pinball, take_way, c, err) ||
        collect_about(pinball, o->from, o->to, about, err))
        goto done;
    struct replay_options ro = {.arg = c, .flow = collector_take};
    replay = replay_new(pinball, &ro, err);
    if (!replay || run(replay, extends ? &seam : o->from, o->to, &stop, err) ||
        !(map = maps_of(replay, &maps, err)) || collector_finish(c, map, maps, about, err))
        goto done;
    *result = (struct collect_result){.bytes = size_of(path, o->unnamed ? o->fd : -1),
                                      .ended = stop.why == STOP_END,
                                      .reason = stop.reason,
                                      .status = stop.status};
    collector_result(c, result);
    bad = 0;
done:
    replay_free(replay);
    collector_free(c);
    free(map);
    return bad;
}

int collect(struct pinball *pinball, const char *path, const struct collect_options *o,
            struct collect_result *result, struct err *err)
{
    return collect_more(pinball, NULL, path, o, result, err);
}
