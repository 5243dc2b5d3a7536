/* missing.c - read a pinball: the log ends where a file that could not be kept is mapped.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recorder gives a file its number before it has written the contents. If it is killed then, or
 * its disk is full, the entry goes on to say `waiting`. A replay can go up to where the program
 * maps such a file, and no further.
 */
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball_private.h"
#include "pinball/record.h"
#include "pinball/records.h"

/* The number of the file that a record maps, or MAP_FILE_NONE. */
static uint32_t file_of(const struct record *r)
{
    const size_t skip = sizeof r[0];
    struct record_map map;

    if (r->kind == RECORD_MAP && r->bytes >= records_least(r->kind)) {
        memcpy(&map, r, sizeof map);
        return map.file;
    }
    if (r->kind == RECORD_CALL && r->flags & CALL_MAP &&
        r->bytes >= records_least(r->kind) + sizeof map - skip) {
        memcpy((char *)&map + skip, (const char *)r + sizeof(struct record_call),
               sizeof map - skip);
        return map.file;
    }
    return MAP_FILE_NONE;
}

static const struct kept_file *waits(const struct pinball *p, uint32_t number)
{
    const struct kept_file *file = pinball_file(p, number);

    return file && file->waiting ? file : NULL;
}

/* A place in the log: that many bytes and records of a chunk, the last one. */
struct place {
    uint64_t chunk, bytes, records;
};

static void cut(struct pinball *p, struct place at)
{
    p->chunks = at.chunk + (at.bytes > 0);
    if (at.bytes > 0) {
        p->chunk[at.chunk].raw = at.bytes;
        p->chunk[at.chunk].records = at.records;
    }
    p->records = 0;
    for (uint64_t i = 0; i < p->chunks; i++)
        p->records += p->chunk[i].records;
}

/* If a part of a program's initial state is missing, it cannot be started: all of it goes. */
static bool look(struct pinball *p, uint64_t i, const char *data, struct place *image,
                 bool *in_image)
{
    const char *stop = data + p->chunk[i].raw;
    struct place here = {.chunk = i};

    for (const struct record *r = records_first(data, p->chunk[i].raw); r;
         r = records_next(r, stop)) {
        here.bytes = (uint64_t)((const char *)r - data);
        if (r->kind == RECORD_IMAGE) {
            *image = here;
            *in_image = true;
        }
        p->missing = waits(p, file_of(r));
        if (p->missing) {
            cut(p, *in_image ? *image : here);
            return true;
        }
        if (r->kind == RECORD_START)
            *in_image = false;
        here.records++;
    }
    return false;
}

int missing_cut(struct pinball *pinball, struct err *err)
{
    struct place image = {0};
    bool any = false, in_image = false;
    int bad = 0;

    for (uint32_t i = 0; i < pinball_files(pinball); i++)
        any |= waits(pinball, i) != NULL;
    char *data = any ? malloc(CHUNK_MAX_BYTES) : NULL;
    if (any && !data)
        return err_set(err, "%s: no memory", pinball_path(pinball));
    for (uint64_t i = 0; any && i < pinball->chunks; i++) {
        bad = pinball_read_chunk(pinball, i, data, CHUNK_MAX_BYTES, err);
        if (bad || look(pinball, i, data, &image, &in_image))
            break;
    }
    free(data);
    return bad;
}
