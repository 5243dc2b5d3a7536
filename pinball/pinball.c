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

#include "base/array.h"
#include "pinball/beneath.h"
#include "pinball/pinball_private.h"
#include "pinball/records.h"

/* Holes of a file are read as bytes, so that its size bounds nothing. */
enum { NOTES_MAX_BYTES = 64 << 20 };

/* As store_find(), but first among what a recovery has in memory. */
static int find_any(struct pinball *p, const char *name, struct member *member, struct err *err)
{
    const struct recovery *r = &p->rescued;
    int fd = !r->in_memory                ? -1
             : strcmp(name, "index") == 0 ? r->index
             : strcmp(name, "end") == 0   ? r->end
                                          : -1;
    struct stat st;

    if (fd < 0)
        return store_find(p->store, name, member, err);
    *member = (struct member){.span.fd = fd};
    snprintf(member->label, sizeof member->label, "%s/%s", pinball_path(p), name);
    member->span.label = member->label;
    if (fstat(fd, &st))
        return err_set_code(err, errno, "%s: %s", member->label, strerror(errno));
    member->span.bytes = (uint64_t)st.st_size;
    return 1;
}

/* Opens a member that must be there. */
static int find(struct pinball *p, const char *name, struct member *member, struct err *err)
{
    int found = find_any(p, name, member, err);

    if (found == 0)
        return err_set_code(err, ENOENT, "%s: is missing%s", member->label,
                            strcmp(name, "end") ? "" : ": whoever wrote the recording was stopped");
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
        if (kind == CHUNK_HEAD)
            seal_check_head(&p->seal, text, chunk.raw);
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
    size_t bytes = 0, room = 0;
    int more = store_find(p->store, "notes", &member, err);

    if (more <= 0)
        return more;
    while ((more = chunk_read(&member.span, at, want, &chunk, err)) > 0) {
        if (chunk.raw > NOTES_MAX_BYTES - bytes) {
            more = err_set(err, "%s: too large", member.label);
            break;
        }
        if (array_reserve(&all, &room, bytes + chunk.raw + 1)) {
            more = err_set(err, "%s: no memory", member.label);
            break;
        }
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

static int add_chunk(struct pinball *p, const struct span *span, uint64_t at,
                     const struct chunk *chunk, struct err *err)
{
    const struct event_chunk new = {span,         at,           chunk->raw, chunk->raw,
                                    chunk->extra, chunk->extra, chunk->sum};
    if (array_append(&p->chunk, &p->chunks, new))
        return err_set(err, "%s: no memory", p->events.label);
    p->records += chunk->extra;
    return 0;
}

static int open_span(struct pinball *p, const struct span *span, struct err *err)
{
    struct chunk_want want = {.kind = CHUNK_EVENTS, .sequence = p->chunks};
    struct chunk chunk;
    uint64_t at = 0;
    int more;

    while ((more = chunk_read(span, at, want, &chunk, err)) > 0) {
        if (chunk.extra > chunk.raw / sizeof(struct record))
            return chunk_damaged(span, want.sequence, err, "too small for its records");
        if (add_chunk(p, span, at, &chunk, err))
            return -1;
        at = chunk_next(at, &chunk);
        want.sequence++;
    }
    return more;
}

static int open_events(struct pinball *p, struct err *err)
{
    struct stat st;

    if (find(p, "events", &p->events, err))
        return -1;
    if (p->growing)
        follow_trim(&p->events.span);
    if (!p->rescued.in_memory)
        return open_span(p, &p->events.span, err);
    p->events.span.bytes = p->rescued.whole_bytes;
    p->rest = (struct span){.fd = p->rescued.events, .label = p->events.label};
    if (fstat(p->rest.fd, &st))
        return err_set_code(err, errno, "%s: %s", p->rest.label, strerror(errno));
    p->rest.bytes = (uint64_t)st.st_size;
    return open_span(p, &p->events.span, err) || open_span(p, &p->rest, err) ? -1 : 0;
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

uint64_t pinball_chunk_sum(const struct pinball *pinball, uint64_t i)
{
    return pinball->chunk[i].sum;
}

/* The one behind `records` good ones. */
static int refuse_record(const struct span *span, uint64_t i, const uint8_t *at, size_t byte,
                         uint64_t records, struct err *err)
{
    unsigned long long number = records;

    if (*at && !records_known(*at))
        return chunk_damaged(span, i, err,
                             "record %llu, at byte %zu, is of kind %u, which is unknown to this "
                             "version of drdebug",
                             number, byte, *at);
    return chunk_damaged(span, i, err, "record %llu, at byte %zu, is malformed", number, byte);
}

static int read_whole_chunk(struct pinball *pinball, uint64_t i, void *out, struct err *err)
{
    const struct event_chunk *want = &pinball->chunk[i];
    const struct span *span = want->span;
    struct chunk chunk;
    uint64_t records;

    if (chunk_read(span, want->at, (struct chunk_want){.kind = CHUNK_EVENTS, .sequence = i}, &chunk,
                   err) <= 0)
        return -1;
    if (chunk.raw != want->stored || chunk.extra != want->held)
        return chunk_damaged(span, i, err, "changed after it was opened");
    if (chunk_unpack(span, want->at, &chunk, out, &pinball->packer, err))
        return -1;
    size_t good = records_check(out, chunk.raw, &records);
    if (good != chunk.raw)
        return refuse_record(span, i, (const uint8_t *)out + good, good, records, err);
    if (records != chunk.extra)
        return chunk_damaged(span, i, err, "holds %llu records, not %llu",
                             (unsigned long long)records, (unsigned long long)chunk.extra);
    return 0;
}

int pinball_read_chunk(struct pinball *pinball, uint64_t i, void *out, size_t room, struct err *err)
{
    const char *label = pinball->events.label;

    if (i >= pinball->chunks)
        return err_set(err, "%s: chunk %llu: is not there", label, (unsigned long long)i);
    const struct event_chunk *chunk = &pinball->chunk[i];
    if (chunk->raw > room)
        return err_set(err, "%s: chunk %llu: no room for %llu bytes", label, (unsigned long long)i,
                       (unsigned long long)chunk->raw);
    if (chunk->raw == chunk->stored)
        return read_whole_chunk(pinball, i, out, err);
    char *whole = malloc(chunk->stored);
    if (!whole)
        return err_set(err, "%s: no memory", label);
    int bad = read_whole_chunk(pinball, i, whole, err);
    if (!bad)
        memcpy(out, whole, chunk->raw);
    free(whole);
    return bad;
}

/* ---- the list of kept files ---- */

static int read_entry(struct pinball *p, const char *name, const struct span *span, uint64_t at,
                      const struct chunk *chunk, struct err *err)
{
    char *text;

    if (chunk->raw > KEPT_ENTRY_MAX_BYTES)
        return chunk_damaged(span, chunk->sequence, err, "too large");
    if (read_text(p, span, at, chunk, &text, err))
        return -1;
    int bad = kept_add(&p->kept, text, chunk->raw, err);
    if (!seal_check_entry(&p->seal, name, chunk->sequence, text, chunk->raw))
        p->seal.made = false; /* one that is not ours, and the recording is not */
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
    int more = find_any(p, name, &member, err);

    if (more <= 0)
        return more;
    if (p->growing)
        follow_trim(&member.span);
    while ((more = chunk_read(&member.span, at, want, &chunk, err)) > 0) {
        if ((more = read_entry(p, name, &member.span, at, &chunk, err)))
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
    if (entries != said && !p->growing)
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
    return beneath_exists(store_fd(p->store), name);
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
    return recover(pinball_path(p), &p->rescued, err);
}

int pinball_take_all(struct pinball *p, struct err *err)
{
    if (!p->growing && open_text(p, "end", CHUNK_END, &p->end, err))
        return -1;
    if (open_events(p, err))
        return -1;
    uint64_t said = pinball_end_number(p, "chunks", UINT64_MAX);
    if (p->chunks != said && !p->growing)
        return err_set(err, "%s: holds %llu chunks, not %llu", p->events.label,
                       (unsigned long long)p->chunks, (unsigned long long)said);
    return open_kept(p, err) || open_notes(p, err) || missing_cut(p, err) ? -1 : 0;
}

void pinball_drop_all(struct pinball *p)
{
    contents_close(&p->contents);
    store_close_member(&p->events);
    text_free_lines(&p->end);
    text_free_lines(&p->notes);
    kept_deinit(&p->kept);
    free(p->chunk);
    p->chunk = NULL;
    p->chunks = p->records = 0;
    p->missing = NULL;
}

struct pinball *pinball_open_as(const char *path, bool growing, struct err *err)
{
    struct pinball *p = calloc(1, sizeof *p);

    if (!p) {
        err_set(err, "%s: no memory", path);
        return NULL;
    }
    p->events.span.fd = p->contents.member.span.fd = -1;
    p->store = store_open(path, err);
    if (!p->store)
        goto fail;
    p->growing = growing && !store_is_packed(p->store) && !is_there(p, "end");
    if ((!p->growing && put_in_order(p, err)) || open_text(p, "head", CHUNK_HEAD, &p->head, err) ||
        pinball_take_all(p, err))
        goto fail;
    return p;
fail:
    pinball_close(p);
    return NULL;
}

struct pinball *pinball_open(const char *path, struct err *err)
{
    return pinball_open_as(path, false, err);
}

void pinball_close(struct pinball *pinball)
{
    if (!pinball)
        return;
    pinball_drop_all(pinball);
    if (pinball->rescued.in_memory) {
        close(pinball->rescued.events);
        close(pinball->rescued.index);
        close(pinball->rescued.end);
    }
    text_free_lines(&pinball->head);
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

bool pinball_in_memory(const struct pinball *pinball)
{
    return pinball->rescued.in_memory;
}

const struct kept_file *pinball_missing(const struct pinball *pinball)
{
    return pinball->missing;
}

bool pinball_packed(const struct pinball *pinball)
{
    return store_is_packed(pinball->store);
}

bool pinball_has(const struct pinball *pinball, const char *name)
{
    return !pinball_packed(pinball) && beneath_exists(store_fd(pinball->store), name);
}

int pinball_stat(const struct pinball *pinball, struct stat *st)
{
    return fstatat(store_fd(pinball->store), "head", st, AT_SYMLINK_NOFOLLOW);
}

bool pinball_is_part(const struct pinball *pinball)
{
    return pinball_head_get(pinball, "part_of") || pinball_end_get(pinball, "begin");
}

bool pinball_is_own(const struct pinball *pinball)
{
    return pinball->seal.made;
}

const struct seal *pinball_seal(const struct pinball *pinball)
{
    return &pinball->seal;
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

int pinball_end_line(const struct pinball *pinball, size_t *position, const char **key,
                     const char **value)
{
    return next_line(&pinball->end, position, key, value);
}

int pinball_note_line(const struct pinball *pinball, size_t *position, const char **key,
                      const char **value)
{
    return next_line(&pinball->notes, position, key, value);
}
