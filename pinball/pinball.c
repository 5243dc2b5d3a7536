/* pinball.c - read a pinball: opening, texts, events.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/pinball.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/pinball_private.h"
#include "pinball/records.h"
#include "pinball/recover.h"

/* Opens a member that must be there. */
static int find(struct pinball *p, const char *name, struct member *member, struct err *err)
{
    int found = store_find(p->store, name, member, err);

    if (found == 0)
        return err_set_code(err, ENOENT, "%s: is missing", member->label);
    return found < 0 ? -1 : 0;
}

/* Reads a chunk of text; the caller frees *text. */
static int read_text(struct pinball *p, const struct span *span, uint64_t at,
                     const struct chunk *chunk, char **text, struct err *err)
{
    *text = malloc(chunk->raw + 1);
    if (!*text)
        return err_set(err, "%s: no memory", span->label);
    if (chunk_unpack(span, at, chunk, *text, &p->packer, err)) {
        free(*text);
        return -1;
    }
    return 0;
}

static int parse(const struct span *span, const char *text, size_t bytes, struct lines *lines,
                 struct err *err)
{
    if (text_parse(lines, text, bytes, err))
        return err_set(err, "%s: %s", span->label, err ? err->msg : "");
    return 0;
}

/* A member of one chunk of text. */
static int open_text(struct pinball *p, const char *name, enum chunk_kind kind, struct lines *lines,
                     struct err *err)
{
    struct chunk_want want = {.kind = kind};
    struct member member;
    struct chunk chunk;
    char *text;
    int bad = -1;

    if (find(p, name, &member, err))
        return -1;
    int got = chunk_read(&member.span, 0, want, &chunk, err);
    if (got == 0)
        err_set(err, "%s: is empty", member.label);
    else if (got > 0 && chunk_next(0, &chunk) != member.span.bytes)
        chunk_damaged(&member.span, 1, err, "should not be there");
    else if (got > 0 && read_text(p, &member.span, 0, &chunk, &text, err) == 0) {
        bad = parse(&member.span, text, chunk.raw, lines, err);
        free(text);
    }
    store_close_member(&member);
    return bad;
}

/* Texts of all chunks of a member, one behind the other. */
static int open_notes(struct pinball *p, struct err *err)
{
    struct chunk_want want = {.kind = CHUNK_NOTE};
    struct member member;
    struct chunk chunk;
    uint64_t at = 0;
    char *all = NULL;
    size_t bytes = 0;
    int more = store_find(p->store, "notes", &member, err);

    if (more <= 0)
        return more;
    while ((more = chunk_read(&member.span, at, want, &chunk, err)) > 0) {
        char *longer = realloc(all, bytes + chunk.raw + 1);
        if (!longer) {
            more = err_set(err, "%s: no memory", member.label);
            break;
        }
        all = longer;
        if ((more = chunk_unpack(&member.span, at, &chunk, all + bytes, &p->packer, err)))
            break;
        bytes += chunk.raw;
        at = chunk_next(at, &chunk);
        want.sequence++;
    }
    if (more == 0)
        more = parse(&member.span, all ? all : "", bytes, &p->notes, err);
    free(all);
    store_close_member(&member);
    return more;
}

/* ---- events ---- */

static int add_chunk(struct pinball *p, uint64_t at, const struct chunk *chunk, struct err *err)
{
    if ((p->chunks & (p->chunks - 1)) == 0) { /* a power of two: full */
        uint64_t room = p->chunks ? 2 * p->chunks : 1;
        void *more = realloc(p->chunk, room * sizeof *p->chunk);
        if (!more)
            return err_set(err, "%s: no memory", p->events.label);
        p->chunk = more;
    }
    p->chunk[p->chunks++] = (struct event_chunk){at, chunk->raw, chunk->extra};
    p->records += chunk->extra;
    return 0;
}

static int open_events(struct pinball *p, struct err *err)
{
    struct chunk_want want = {.kind = CHUNK_EVENTS};
    struct chunk chunk;
    uint64_t at = 0;
    int more;

    if (find(p, "events", &p->events, err))
        return -1;
    while ((more = chunk_read(&p->events.span, at, want, &chunk, err)) > 0) {
        if (chunk.extra > chunk.raw / sizeof(struct record))
            return chunk_damaged(&p->events.span, want.sequence, err, "too small for its records");
        if (add_chunk(p, at, &chunk, err))
            return -1;
        at = chunk_next(at, &chunk);
        want.sequence++;
    }
    return more;
}

uint64_t pinball_chunks(const struct pinball *pinball)
{
    return pinball->chunks;
}

uint64_t pinball_records(const struct pinball *pinball)
{
    return pinball->records;
}

void pinball_chunk_info(const struct pinball *pinball, uint64_t i, uint64_t *raw_bytes,
                        uint64_t *records)
{
    *raw_bytes = pinball->chunk[i].raw;
    *records = pinball->chunk[i].records;
}

int pinball_read_chunk(struct pinball *pinball, uint64_t i, void *out, size_t room, struct err *err)
{
    struct chunk_want want = {.kind = CHUNK_EVENTS, .sequence = i};
    const struct span *span = &pinball->events.span;
    struct chunk chunk;
    uint64_t records;

    if (i >= pinball->chunks)
        return err_set(err, "%s: chunk %llu: is not there", span->label, (unsigned long long)i);
    uint64_t at = pinball->chunk[i].at;
    if (chunk_read(span, at, want, &chunk, err) <= 0)
        return -1;
    if (chunk.raw != pinball->chunk[i].raw || chunk.extra != pinball->chunk[i].records)
        return chunk_damaged(span, i, err, "changed after it was opened");
    if (chunk.raw > room)
        return err_set(err, "%s: chunk %llu: no room for %llu bytes", span->label,
                       (unsigned long long)i, (unsigned long long)chunk.raw);
    if (chunk_unpack(span, at, &chunk, out, &pinball->packer, err))
        return -1;
    size_t good = records_check(out, chunk.raw, &records);
    if (good != chunk.raw)
        return chunk_damaged(span, i, err, "record %llu, at byte %zu, is malformed",
                             (unsigned long long)records, good);
    if (records != chunk.extra)
        return chunk_damaged(span, i, err, "holds %llu records, not %llu",
                             (unsigned long long)records, (unsigned long long)chunk.extra);
    return 0;
}

/* ---- the list of kept files ---- */

static int read_entry(struct pinball *p, const struct span *span, uint64_t at,
                      const struct chunk *chunk, struct err *err)
{
    char *text;

    if (chunk->raw > KEPT_ENTRY_MAX_BYTES)
        return chunk_damaged(span, chunk->sequence, err, "too large");
    if (read_text(p, span, at, chunk, &text, err))
        return -1;
    int bad = kept_add(&p->kept, text, chunk->raw, err);
    free(text);
    return bad ? chunk_damaged(span, chunk->sequence, err, "%s", err ? err->msg : "") : 0;
}

/* `index`, or `extras`, which pack adds. */
static int open_index(struct pinball *p, const char *name, struct err *err)
{
    struct chunk_want want = {.kind = CHUNK_INDEX};
    struct member member;
    struct chunk chunk;
    uint64_t at = 0;
    int more = store_find(p->store, name, &member, err);

    if (more <= 0)
        return more;
    while ((more = chunk_read(&member.span, at, want, &chunk, err)) > 0) {
        if ((more = read_entry(p, &member.span, at, &chunk, err)))
            break;
        at = chunk_next(at, &chunk);
        want.sequence++;
    }
    store_close_member(&member);
    return more;
}

static int open_kept(struct pinball *p, struct err *err)
{
    if (open_index(p, "index", err))
        return -1;
    uint64_t entries = p->kept.entries, said = pinball_end_number(p, "entries", UINT64_MAX);
    if (entries != said)
        return err_set(err, "%s/index: holds %llu entries, not %llu", pinball_path(p),
                       (unsigned long long)entries, (unsigned long long)said);
    if (open_index(p, "extras", err))
        return -1;
    if (kept_sort(&p->kept, err))
        return err_set(err, "%s/index: %s", pinball_path(p), err ? err->msg : "");
    return 0;
}

uint32_t pinball_files(const struct pinball *pinball)
{
    return (uint32_t)pinball->kept.files;
}

const struct kept_file *pinball_file(const struct pinball *pinball, uint32_t number)
{
    return number < pinball->kept.files ? pinball->kept.file[number] : NULL;
}

/* ---- opening ---- */

static bool is_there(const struct pinball *p, const char *name)
{
    return faccessat(store_fd(p->store), name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int put_in_order(struct pinball *p, struct err *err)
{
    if (store_is_packed(p->store) || is_there(p, "end"))
        return 0;
    if (!is_there(p, "head"))
        return err_set_code(err, ENOENT, "%s: not a pinball", pinball_path(p));
    if (!is_there(p, "ring"))
        return 0;
    p->recovered = true;
    return recover(pinball_path(p), NULL, err);
}

struct pinball *pinball_open(const char *path, struct err *err)
{
    struct pinball *p = calloc(1, sizeof *p);

    if (!p) {
        err_set(err, "%s: no memory", path);
        return NULL;
    }
    p->events.span.fd = p->contents.member.span.fd = -1;
    p->store = store_open(path, err);
    if (!p->store || put_in_order(p, err) || open_text(p, "head", CHUNK_HEAD, &p->head, err) ||
        open_text(p, "end", CHUNK_END, &p->end, err) || open_events(p, err))
        goto fail;
    uint64_t said = pinball_end_number(p, "chunks", UINT64_MAX);
    if (p->chunks != said) {
        err_set(err, "%s: holds %llu chunks, not %llu", p->events.label,
                (unsigned long long)p->chunks, (unsigned long long)said);
        goto fail;
    }
    if (open_kept(p, err) || open_notes(p, err))
        goto fail;
    return p;
fail:
    pinball_close(p);
    return NULL;
}

void pinball_close(struct pinball *pinball)
{
    if (!pinball)
        return;
    contents_close(&pinball->contents);
    store_close_member(&pinball->events);
    text_free_lines(&pinball->head);
    text_free_lines(&pinball->end);
    text_free_lines(&pinball->notes);
    kept_deinit(&pinball->kept);
    free(pinball->chunk);
    chunk_deinit_packer(&pinball->packer);
    store_close(pinball->store);
    free(pinball);
}

/* ---- small answers ---- */

const char *pinball_path(const struct pinball *pinball)
{
    return store_path(pinball->store);
}

bool pinball_recovered(const struct pinball *pinball)
{
    return pinball->recovered;
}

bool pinball_packed(const struct pinball *pinball)
{
    return store_is_packed(pinball->store);
}

struct store *pinball_store(struct pinball *pinball)
{
    return pinball->store;
}

const char *pinball_head_get(const struct pinball *pinball, const char *key)
{
    return text_get(&pinball->head, key);
}

const char *pinball_end_get(const struct pinball *pinball, const char *key)
{
    return text_get(&pinball->end, key);
}

const char *pinball_note_get(const struct pinball *pinball, const char *key)
{
    return text_get(&pinball->notes, key);
}

uint64_t pinball_end_number(const struct pinball *pinball, const char *key, uint64_t otherwise)
{
    const char *value = pinball_end_get(pinball, key);
    uint64_t number;

    return value && text_number(value, &number) == 0 ? number : otherwise;
}

static int next_line(const struct lines *lines, size_t *position, const char **key,
                     const char **value)
{
    if (*position >= lines->count)
        return 0;
    *key = lines->line[*position].key;
    *value = lines->line[*position].value;
    ++*position;
    return 1;
}

int pinball_head_line(const struct pinball *pinball, size_t *position, const char **key,
                      const char **value)
{
    return next_line(&pinball->head, position, key, value);
}

int pinball_note_line(const struct pinball *pinball, size_t *position, const char **key,
                      const char **value)
{
    return next_line(&pinball->notes, position, key, value);
}
