/* trace.c - a trace on disk.
 *
 * SPDX-License-Identifier: MIT
 *
 * The file is a sequence of the pinball's chunks (pinball/chunk.h) of kind CHUNK_TRACE. The payload
 * of each begins with a word that says what it holds: the version, which is first, blocks, steps,
 * or the rest, which is last. Blocks come before the steps that use them. A file is written under
 * another name until it is whole.
 */
#define _GNU_SOURCE /* mempcpy */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/search.h"
#include "pinball/beneath.h"
#include "pinball/chunk.h"
#include "trace/ahead.h"
#include "trace/pack.h"

enum section { SECTION_BLOCKS = 1, SECTION_STEPS, SECTION_REST, SECTION_VERSION };

enum { LEVEL = 1, PIECE = 4 << 20 };

struct place {
    uint64_t at;         /* in the file */
    uint64_t first_insn; /* of all before it */
    uint64_t sequence;
};

/* What reading needs, once for each thread that reads. */
struct reader {
    struct packer packer;
    struct trace_pack *pack;
    uint8_t *raw;
    size_t raw_room;
};

struct trace {
    char *path;
    int fd;
    struct span span;
    struct reader reader, second;
    struct trace_ahead *ahead;
    struct code *code;
    struct place *place;
    uint32_t chunks;
    size_t room;
    uint64_t insns;
    uint32_t *thread;
    uint32_t threads;
    gaddr *entry, *stay, *targets_of;
    gaddr (*target)[2];
    size_t entries, stays, targets;
    struct trace_map *map;
    size_t maps;
    char *about;
    trace_watch_fn *watch;
    void *watch_arg;
};

/* ---- reading ---- */

static void reader_deinit(struct reader *r)
{
    chunk_deinit_packer(&r->packer);
    trace_pack_free(r->pack);
    free(r->raw);
}

void trace_close(struct trace *t)
{
    if (!t)
        return;
    trace_ahead_free(t->ahead);
    reader_deinit(&t->reader);
    reader_deinit(&t->second);
    if (t->fd >= 0)
        close(t->fd);
    code_free(t->code);
    free(t->path);
    free(t->place);
    free(t->thread);
    free(t->entry);
    free(t->stay);
    free(t->target);
    free(t->targets_of);
    free(t->map);
    free(t->about);
    free(t);
}

void trace_chunk_deinit(struct trace_chunk *c)
{
    free(c->step);
    free(c->value);
    free(c->note);
    free(c->bytes);
    free(c->state);
    *c = (struct trace_chunk){0};
}

static int load(struct trace *t, struct reader *r, uint64_t at, const struct chunk *c,
                struct err *err)
{
    if (c->raw > r->raw_room) {
        free(r->raw);
        r->raw_room = c->raw;
        r->raw = malloc(r->raw_room);
        if (!r->raw) {
            r->raw_room = 0;
            return err_set(err, "no memory");
        }
    }
    return chunk_unpack(&t->span, at, c, r->raw, &r->packer, err);
}

static int read_blocks(struct trace *t, const uint8_t *at, size_t bytes, struct err *err)
{
    struct err why;
    while (bytes) {
        struct {
            gaddr pc;
            uint32_t insns, code;
        } b;
        if (bytes < sizeof b)
            return err_set(err, "%s: not a block", t->path);
        memcpy(&b, at, sizeof b);
        at += sizeof b;
        bytes -= sizeof b;
        if (b.insns > bytes || b.code > bytes - b.insns)
            return err_set(err, "%s: not a block", t->path);
        if (!code_add(t->code, b.pc, b.insns, at, at + b.insns, b.code, &why))
            return err_set(err, "%s: %s", t->path, why.msg);
        at += b.insns + b.code;
        bytes -= b.insns + b.code;
    }
    return 0;
}

struct rest_head {
    uint64_t insns, chunks, threads, entries, targets, stays, maps, about;
};

static void *take(const uint8_t **at, const uint8_t *end, uint64_t n, size_t size)
{
    if (n > (uint64_t)(end - *at) / size)
        return NULL;
    void *p = malloc(n * size + 1);
    if (p)
        memcpy(p, *at, n * size);
    *at += n * size;
    return p;
}

static int read_rest(struct trace *t, const uint8_t *at, size_t bytes, struct err *err)
{
    const uint8_t *end = at + bytes;
    struct rest_head h;
    if (bytes < sizeof h)
        return err_set(err, "%s: cut off", t->path);
    memcpy(&h, at, sizeof h);
    at += sizeof h;
    if (h.insns != t->insns || h.chunks != t->chunks)
        return err_set(err, "%s: something is missing", t->path);
    if (h.threads > UINT16_MAX || (uint64_t)(end - at) / 8 < (h.threads + 1) / 2)
        return err_set(err, "%s: not a trace", t->path);
    t->threads = (uint32_t)h.threads;
    t->entries = h.entries;
    t->targets = h.targets;
    t->stays = h.stays;
    t->maps = h.maps;
    t->thread = take(&at, end, h.threads, sizeof *t->thread);
    if (h.threads % 2)
        at += 4;
    t->entry = t->thread ? take(&at, end, h.entries, sizeof *t->entry) : NULL;
    t->target = t->entry ? take(&at, end, h.targets, sizeof *t->target) : NULL;
    t->stay = t->target ? take(&at, end, h.stays, sizeof *t->stay) : NULL;
    t->map = t->stay ? take(&at, end, h.maps, sizeof *t->map) : NULL;
    t->about = t->map ? take(&at, end, h.about, 1) : NULL;
    if (!t->about || at != end || !(t->targets_of = malloc(sizeof(gaddr) * (h.targets + 1))))
        return err_set(err, "%s: not a trace", t->path);
    t->about[h.about] = 0;
    for (size_t i = 0; i < t->targets; i++)
        t->targets_of[i] = t->target[i][1];
    return 0;
}

static int add_place(struct trace *t, struct place place, uint64_t insns, struct err *err)
{
    if (array_push(&t->place, &t->chunks, &t->room, place))
        return err_set(err, "no memory");
    t->insns += insns;
    return 0;
}

/* The first chunk, and where the second one is. */
static int read_version(struct trace *t, uint64_t *at, struct err *err)
{
    struct chunk c;
    uint64_t version = 1;
    int more = chunk_read(&t->span, 0, (struct chunk_want){CHUNK_TRACE, 0}, &c, err);
    if (more != 1)
        return more ? -1 : err_set(err, "%s: not a trace", t->path);
    if ((c.extra & 0xff) == SECTION_VERSION) {
        if (c.raw != sizeof version)
            return err_set(err, "%s: not a trace", t->path);
        if (load(t, &t->reader, 0, &c, err))
            return -1;
        memcpy(&version, t->reader.raw, sizeof version);
    }
    *at = chunk_next(0, &c);
    return version == TRACE_VERSION
               ? 0
               : err_set_code(err, TRACE_OTHER_VERSION,
                              "%s: a trace of version %llu, this drdebug reads version %d", t->path,
                              (unsigned long long)version, TRACE_VERSION);
}

static int read_all(struct trace *t, struct err *err)
{
    uint64_t at = 0, n = 1;
    struct chunk c;
    int more;
    bool whole = false;
    if (read_version(t, &at, err))
        return -1;
    for (; (more = chunk_read(&t->span, at, (struct chunk_want){CHUNK_TRACE, n}, &c, err)) == 1;
         at = chunk_next(at, &c), n++) {
        uint64_t section = c.extra & 0xff;
        if (whole || c.raw < 8)
            return err_set(err, "%s: not a trace", t->path);
        if (section == SECTION_STEPS) {
            /* A step takes a byte at least, and a block has an end. */
            uint64_t steps = c.raw < TRACE_STEPS ? c.raw : TRACE_STEPS;
            if (c.extra >> 8 > steps * PLAN_INSNS)
                return err_set(err, "%s: not a trace", t->path);
            if (add_place(t, (struct place){at, t->insns, n}, c.extra >> 8, err))
                return -1;
            continue;
        }
        if (load(t, &t->reader, at, &c, err))
            return -1;
        int bad = section == SECTION_BLOCKS ? read_blocks(t, t->reader.raw, c.raw, err)
                  : section == SECTION_REST ? read_rest(t, t->reader.raw, c.raw, err)
                                            : err_set(err, "%s: not a trace", t->path);
        if (bad)
            return -1;
        whole = section == SECTION_REST;
    }
    if (more < 0)
        return -1;
    return whole ? 0 : err_set(err, "%s: cut off", t->path);
}

static int read_chunk(struct trace *t, struct reader *r, uint32_t n, bool values,
                      struct trace_chunk *out, struct err *err)
{
    struct chunk c;
    const struct place *p = &t->place[n];
    if (!r->pack && !(r->pack = trace_pack_new()))
        return err_set(err, "no memory");
    if (chunk_read(&t->span, p->at, (struct chunk_want){CHUNK_TRACE, p->sequence}, &c, err) != 1 ||
        load(t, r, p->at, &c, err))
        return -1;
    out->number = n;
    out->first_insn = p->first_insn;
    struct err why;
    if (trace_unpack(r->pack, r->raw, c.raw, t->code, values, out, &why))
        return err_set(err, "%s: chunk %u: %s", t->path, n, why.msg);
    if (out->threads > t->threads || out->insns != trace_chunk_first(t, n + 1) - p->first_insn)
        return err_set(err, "%s: chunk %u: it is of another trace", t->path, n);
    return 0;
}

static int read_ahead(void *arg, uint32_t n, struct trace_chunk *out, struct err *err)
{
    struct trace *t = arg;
    return read_chunk(t, &t->second, n, true, out, err);
}

/* Opens the trace behind a descriptor, which it takes over; -1: errno says why not. */
static struct trace *open_file(int fd, const char *path, struct err *err)
{
    int error = errno;
    struct stat st;
    struct trace *t = calloc(1, sizeof *t);
    if (!t) {
        err_set(err, "no memory");
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    t->fd = fd;
    t->path = strdup(path);
    t->code = code_new();
    if (!t->path || !t->code) {
        err_set(err, "no memory");
        goto fail;
    }
    if (t->fd < 0 || (fstat(t->fd, &st) < 0 && (error = errno))) {
        err_set_code(err, error, "%s: %s", path, beneath_error(error));
        goto fail;
    }
    t->span = (struct span){t->fd, 0, (uint64_t)st.st_size, t->path};
    uint32_t magic = 0;
    if (pread(t->fd, &magic, sizeof magic, 0) != sizeof magic || magic != CHUNK_MAGIC) {
        err_set(err, "%s: not a trace", path);
        goto fail;
    }
    if (read_all(t, err))
        goto fail;
    for (uint32_t i = 0; i < code_count(t->code); i++)
        if (trace_is_entry(t, code_block(t->code, i)->pc))
            code_mark_entry(t->code, i);
    t->ahead = trace_ahead_new(read_ahead, t, t->chunks);
    return t;
fail:
    trace_close(t);
    return NULL;
}

struct trace *trace_open(const char *path, struct err *err)
{
    const char *name;
    int folder = beneath_folder_of(path, &name);
    int fd = folder < 0 ? -1 : beneath_open(folder, name, O_RDONLY), error = errno;
    if (folder >= 0)
        close(folder);
    errno = error;
    return open_file(fd, path, err);
}

struct trace *trace_open_unnamed(int fd, struct err *err)
{
    return open_file(fcntl(fd, F_DUPFD_CLOEXEC, 0), "the temporary trace", err);
}

void trace_watch(struct trace *t, trace_watch_fn *fn, void *arg)
{
    t->watch = fn;
    t->watch_arg = arg;
}

/* May the chunk be read? */
static int begin(const struct trace *t, uint32_t n, struct err *err)
{
    if (n >= t->chunks)
        return err_set(err, "%s: has no chunk %u", t->path, n);
    if (t->watch && t->watch(t->watch_arg, t->place[n].first_insn, t->insns))
        return err_set_code(err, TRACE_STOPPED, "interrupted");
    return 0;
}

int trace_read(struct trace *t, uint32_t n, struct trace_chunk *out, struct err *err)
{
    if (begin(t, n, err))
        return -1;
    int taken = t->ahead ? trace_ahead_take(t->ahead, n, out, err) : 0;
    return taken ? (taken < 0 ? -1 : 0) : read_chunk(t, &t->reader, n, true, out, err);
}

int trace_read_steps(struct trace *t, uint32_t n, struct trace_chunk *out, struct err *err)
{
    return begin(t, n, err) ? -1 : read_chunk(t, &t->reader, n, false, out, err);
}

struct code *trace_code(struct trace *t)
{
    return t->code;
}

uint64_t trace_insns(const struct trace *t)
{
    return t->insns;
}

uint32_t trace_chunks(const struct trace *t)
{
    return t->chunks;
}

uint64_t trace_chunk_first(const struct trace *t, uint32_t chunk)
{
    return chunk < t->chunks ? t->place[chunk].first_insn : t->insns;
}

uint64_t trace_chunk_bytes(const struct trace *t, uint32_t chunk)
{
    uint64_t end = chunk + 1 < t->chunks ? t->place[chunk + 1].at : t->span.bytes;
    return chunk < t->chunks ? end - t->place[chunk].at : 0;
}

uint32_t trace_threads(const struct trace *t)
{
    return t->threads;
}

uint32_t trace_thread(const struct trace *t, uint32_t i)
{
    return i < t->threads ? t->thread[i] : 0;
}

uint32_t trace_thread_find(const struct trace *t, uint32_t number)
{
    for (uint32_t i = 0; i < t->threads; i++)
        if (t->thread[i] == number)
            return i;
    return 0;
}

static bool has(const gaddr *list, size_t n, gaddr pc)
{
    const size_t at = search_first(n, i, list[i] < pc);
    return at < n && list[at] == pc;
}

bool trace_is_entry(const struct trace *t, gaddr pc)
{
    return has(t->entry, t->entries, pc);
}

int trace_each_way(const struct trace *t, trace_way_fn *fn, void *arg, struct err *err)
{
    int bad = 0;
    for (size_t i = 0; i < t->entries && !bad; i++)
        bad = fn(arg, TRACE_ENTRY, t->entry[i], 0, err);
    for (size_t i = 0; i < t->targets && !bad; i++)
        bad = fn(arg, TRACE_TARGET, t->target[i][0], t->target[i][1], err);
    for (size_t i = 0; i < t->stays && !bad; i++)
        bad = fn(arg, TRACE_STAYS, t->stay[i], 0, err);
    return bad;
}

bool trace_stays(const struct trace *t, gaddr pc)
{
    return has(t->stay, t->stays, pc);
}

size_t trace_targets(const struct trace *t, gaddr pc, const gaddr **list)
{
    const size_t first = search_first(t->targets, i, t->target[i][0] < pc);
    size_t n = 0;
    while (first + n < t->targets && t->target[first + n][0] == pc)
        n++;
    *list = t->targets_of + first;
    return n;
}

size_t trace_maps(const struct trace *t, const struct trace_map **list)
{
    *list = t->map;
    return t->maps;
}

const char *trace_about(const struct trace *t)
{
    return t->about;
}

/* ---- ticks ---- */

void trace_state_note(struct trace_state *s, const struct flow_note *note)
{
    bool signal = note->kind == FLOW_SIGNAL; /* the delivery's own tick comes behind its note */
    if (!signal && note->count == s->count)
        return;
    s->count = note->count + signal;
    s->settled = 1;
}

/* As collector.c counts. */
void trace_state_take(struct trace_state *s, bool *seen, const struct code *code,
                      const struct trace_chunk *c, uint32_t step, uint32_t thread,
                      const struct flow_note *n)
{
    if (n->kind == FLOW_CUT && step) {
        const struct trace_step *last = &c->step[step - 1];
        if (last->thread == thread && last->insns < code_block(code, last->block)->insns)
            s->settled = 1;
    }
    if (n->kind == FLOW_THREAD && !*seen)
        *s = (struct trace_state){n->count, 0, 0};
    *seen = true;
    trace_state_note(s, n);
}

/* ---- writing ---- */

struct trace_writer {
    char *path;
    int folder;
    struct beneath_new new; /* fd -1: the file needs no name */
    struct chunk_file file;
    struct packer packer;
    struct trace_pack *pack;
    uint64_t sequence, insns, chunks;
    uint32_t blocks; /* that are written */
    uint8_t *buffer;
};

void trace_abandon(struct trace_writer *w)
{
    if (!w)
        return;
    beneath_abandon(&w->new);
    if (w->folder >= 0)
        close(w->folder);
    chunk_deinit_packer(&w->packer);
    trace_pack_free(w->pack);
    free(w->path);
    free(w->buffer);
    free(w);
}

static int begin_file(struct trace_writer *w, int unnamed, struct err *err)
{
    const char *name;
    w->file.label = w->path;
    w->file.fd = unnamed;
    if (unnamed >= 0)
        return ftruncate(unnamed, 0) ? err_set_code(err, errno, "%s", strerror(errno)) : 0;
    w->folder = beneath_folder_of(w->path, &name);
    if (w->folder < 0 || beneath_begin(&w->new, w->folder, name))
        return err_set_code(err, errno, "%s: %s", w->path, beneath_error(errno));
    w->file.fd = w->new.fd;
    return 0;
}

/* A replay that a stranger made may go on for ever, and so may its trace: some of the disk stays
 * free. Small ones do not matter. */
static int check_room(const struct trace_writer *w, struct err *err)
{
    static const uint64_t SMALL = 8 << 20, RESERVE = 512 << 20;
    struct statvfs disk;
    if (w->file.bytes < SMALL || fstatvfs(w->file.fd, &disk))
        return 0;
    const uint64_t share = (uint64_t)disk.f_blocks * disk.f_frsize / 16;
    const uint64_t reserve = share < RESERVE ? share : RESERVE;
    if ((uint64_t)disk.f_bavail * disk.f_frsize >= reserve)
        return 0;
    return err_set_code(err, ENOSPC, "%s: the trace has %llu MB, and %llu MB of the disk stay free",
                        w->path[0] ? w->path : "a temporary trace",
                        (unsigned long long)(w->file.bytes >> 20),
                        (unsigned long long)(reserve >> 20));
}

static int put(struct trace_writer *w, enum section section, uint64_t extra, const void *data,
               size_t bytes, struct err *err)
{
    struct chunk_new what = {CHUNK_TRACE, LEVEL, w->sequence++, (uint64_t)section | extra << 8};
    if (check_room(w, err))
        return -1;
    return chunk_append(&w->file, what, data, bytes, &w->packer, err);
}

struct trace_writer *trace_create(const char *path, int unnamed, struct err *err)
{
    struct trace_writer *w = calloc(1, sizeof *w);
    if (!w) {
        err_set(err, "no memory");
        return NULL;
    }
    w->new.fd = w->folder = -1;
    w->path = strdup(path);
    w->pack = trace_pack_new();
    w->buffer = malloc(PIECE);
    if (!w->path || !w->pack || !w->buffer) {
        err_set(err, "no memory");
        goto fail;
    }
    const uint64_t version = TRACE_VERSION;
    if (begin_file(w, unnamed, err) || put(w, SECTION_VERSION, 0, &version, sizeof version, err))
        goto fail;
    return w;
fail:
    trace_abandon(w);
    return NULL;
}

/* Blocks that are not in the file yet. */
static int put_blocks(struct trace_writer *w, const struct code *code, struct err *err)
{
    size_t used = 0;
    for (; w->blocks < code_count(code); w->blocks++) {
        const struct code_block *b = code_block(code, w->blocks);
        struct {
            gaddr pc;
            uint32_t insns, code;
        } h = {b->pc, b->insns, (uint32_t)(b->end - b->pc)};
        if (used + sizeof h + 16u * b->insns > PIECE) {
            if (put(w, SECTION_BLOCKS, 0, w->buffer, used, err))
                return -1;
            used = 0;
        }
        memcpy(w->buffer + used, &h, sizeof h);
        used += sizeof h;
        for (uint32_t i = 0; i < b->insns; i++)
            w->buffer[used++] = b->insn[i].in.len;
        for (uint32_t i = 0; i < b->insns; used += b->insn[i++].in.len)
            memcpy(w->buffer + used, b->insn[i].in.bytes, b->insn[i].in.len);
    }
    return used ? put(w, SECTION_BLOCKS, 0, w->buffer, used, err) : 0;
}

int trace_put(struct trace_writer *w, const struct trace_chunk *c, const struct code *code,
              struct err *err)
{
    size_t bytes;
    if (put_blocks(w, code, err))
        return -1;
    const void *data = trace_pack(w->pack, c, code, &bytes, err);
    if (!data || put(w, SECTION_STEPS, c->insns, data, bytes, err))
        return -1;
    w->insns += c->insns;
    w->chunks++;
    return 0;
}

int trace_finish(struct trace_writer *w, const struct trace_rest *r, struct err *err)
{
    struct rest_head h = {w->insns,   w->chunks, r->threads, r->entries,
                          r->targets, r->stays,  r->maps,    strlen(r->about)};
    size_t odd = r->threads % 2 ? 4 : 0;
    size_t bytes = sizeof h + sizeof *r->thread * r->threads + odd + sizeof *r->entry * r->entries +
                   sizeof *r->target * r->targets + sizeof *r->stay * r->stays +
                   sizeof *r->map * r->maps + h.about;
    uint8_t *data = calloc(1, bytes), *at = data;
    if (!data)
        return err_set(err, "no memory");
    at = mempcpy(at, &h, sizeof h);
    at = mempcpy(at, r->thread, sizeof *r->thread * r->threads);
    at += odd;
    at = mempcpy(at, r->entry, sizeof *r->entry * r->entries);
    at = mempcpy(at, r->target, sizeof *r->target * r->targets);
    at = mempcpy(at, r->stay, sizeof *r->stay * r->stays);
    at = mempcpy(at, r->map, sizeof *r->map * r->maps);
    memcpy(at, r->about, h.about);
    int bad = put_blocks(w, r->code, err) || put(w, SECTION_REST, 0, data, bytes, err);
    free(data);
    if (bad)
        return -1;
    const char *slash = strrchr(w->path, '/');
    if (w->new.fd >= 0 && beneath_finish(&w->new, slash ? slash + 1 : w->path, false))
        return err_set_code(err, errno, "%s: %s", w->path, strerror(errno));
    trace_abandon(w);
    return 0;
}
