/* recover.c - make a pinball of what a recorder that was killed left.
 *
 * SPDX-License-Identifier: MIT
 *
 * In this order, so that being killed on the way and starting over does no harm:
 * 1. `events` and `index` are read. A torn chunk at the end is cut off; damage anywhere else is an
 *    error, and nothing is touched: cutting there would lose what follows.
 * 2. Files whose contents the recorder had not written yet are kept now, if they are unchanged.
 * 3. The segments of the ring are appended to `events`, by sequence. Those below the number of
 *    chunks are there already. The first gap or malformed record ends it.
 * 4. `end` is written, `ring` removed.
 *
 * If the disk is still full, or is not ours to write, all of that is done in memory instead,
 * without the second step, and again at the next opening.
 */
#define _GNU_SOURCE /* SEEK_DATA */
#include "pinball/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/beneath.h"
#include "pinball/chunk.h"
#include "pinball/ends.h"
#include "pinball/kept.h"
#include "pinball/records.h"
#include "pinball/store.h"
#include "pinball/summary.h"
#include "pinball/writer.h"
#include "pinball/writer_private.h"
#include "pinball/xxh64.h"

struct rescue {
    const char *path;
    struct store *store;
    int ring; /* descriptor */
    uint64_t ring_bytes;
    struct ring head; /* all zeros: the ring was never set up */
    struct writer_resume whole;
    bool in_memory;
    struct writer *writer;
    struct summary summary;
    struct kept kept;
    struct seal seal; /* made: it is this user's recording */
    struct packer packer;
    char *room; /* CHUNK_MAX_BYTES */
    struct recovery done;
};

static int fail(const struct rescue *r, const char *name, struct err *err)
{
    int error = errno;

    return err_set_code(err, error, "%s/%s: cannot put the recording in order: %s", r->path, name,
                        beneath_error(error));
}

/* ---- what is on disk ---- */

static bool all_zeros(const struct span *span, uint64_t at)
{
    char data[4096];

    while (at < span->bytes) {
        off_t data_at = lseek(span->fd, (off_t)(span->offset + at), SEEK_DATA);
        if ((data_at < 0 && errno == ENXIO) ||
            (data_at >= 0 && (uint64_t)data_at - span->offset >= span->bytes))
            return true; /* a hole, which may have any size */
        at = data_at < 0 ? at : (uint64_t)data_at - span->offset;
        size_t n = span->bytes - at < sizeof data ? span->bytes - at : sizeof data;
        if (chunk_pread(span, at, data, n, NULL))
            return false;
        for (size_t i = 0; i < n; i++)
            if (data[i] != 0)
                return false;
        at += n;
    }
    return true;
}

/* Whether a bad chunk at `at` is what a write that was cut short leaves. */
static bool is_torn(const struct span *span, uint64_t at)
{
    struct chunk c;

    if (span->bytes - at < sizeof c)
        return true;
    if (chunk_pread(span, at, &c, sizeof c, NULL))
        return false;
    if (c.magic == CHUNK_MAGIC && c.header_sum == xxh64(&c, offsetof(struct chunk, header_sum), 0))
        return c.stored >= span->bytes - at - sizeof c;
    return all_zeros(span, at);
}

static int take_events(struct rescue *r, const struct span *span, const struct chunk *chunk,
                       struct err *err)
{
    uint64_t count;

    if (records_check(r->room, chunk->raw, &count) != chunk->raw || count != chunk->extra)
        return chunk_damaged(span, chunk->sequence, err, "its records are malformed");
    summary_add(&r->summary, r->room, chunk->raw);
    return 0;
}

static int take_entry(struct rescue *r, const struct span *span, const struct chunk *chunk,
                      struct err *err)
{
    struct err cause = {0};

    if (chunk->raw > KEPT_ENTRY_MAX_BYTES)
        return chunk_damaged(span, chunk->sequence, err, "too large");
    if (kept_add(&r->kept, r->room, chunk->raw, &cause))
        return chunk_damaged(span, chunk->sequence, err, "%s", cause.msg);
    if (!seal_check_entry(&r->seal, "index", chunk->sequence, r->room, chunk->raw))
        r->seal.made = false;
    return 0;
}

static int take_head(struct rescue *r, const struct span *span, const struct chunk *chunk,
                     struct err *err)
{
    (void)span, (void)err;
    seal_check_head(&r->seal, r->room, chunk->raw);
    return 0;
}

typedef int take(struct rescue *r, const struct span *span, const struct chunk *chunk,
                 struct err *err);

/* Takes all whole chunks of a file: how many, in how many bytes. */
static int scan(struct rescue *r, const char *name, enum chunk_kind kind, take *take_chunk,
                uint64_t *chunks, uint64_t *bytes, struct err *err)
{
    struct chunk_want want = {.kind = kind};
    struct member member;
    struct chunk chunk;
    struct err cause = {0};
    uint64_t at = 0;
    int more = store_find(r->store, name, &member, err);

    if (more <= 0)
        return more;
    const struct span *span = &member.span;
    while ((more = chunk_read(span, at, want, &chunk, &cause)) > 0) {
        if ((more = chunk_unpack(span, at, &chunk, r->room, &r->packer, &cause)) ||
            (more = take_chunk(r, span, &chunk, &cause)))
            break;
        at = chunk_next(at, &chunk);
        want.sequence++;
    }
    if (more < 0 && cause.code == CHUNK_DAMAGED && is_torn(span, at)) {
        r->done.torn = true;
        more = 0;
    }
    if (more < 0)
        err_set_code(err, cause.code, "%s", cause.msg);
    store_close_member(&member);
    *chunks = want.sequence;
    *bytes = at;
    return more;
}

/* ---- files that wait ---- */

static int keep_waiting(struct rescue *r, const struct kept_file *file, struct err *err)
{
    char identity[IDENTITY_BYTES];
    struct stat st;
    int bad = 0, fd = beneath_open_plain(file->path, &st);

    if (fd < 0)
        return 0;
    if (st.st_size <= WRITER_WHOLE_BYTES) {
        keep_identity(&st, identity);
        if (strcmp(identity, file->waiting) == 0)
            bad = keep_again(r->writer, file, fd, err);
    }
    close(fd);
    return bad;
}

/* A stranger's recording does not choose which files of this machine are read. */
static int keep_files(struct rescue *r, struct err *err)
{
    if (!r->seal.made)
        return 0;
    for (size_t i = 0; i < r->kept.files; i++)
        if (r->kept.file[i]->waiting && keep_waiting(r, r->kept.file[i], err))
            return -1;
    return 0;
}

/* ---- the ring ---- */

static int open_ring(struct rescue *r, struct err *err)
{
    struct stat st;
    char label[STORE_NAME_BYTES + 256];
    struct span span = {.fd = r->ring, .label = label};

    snprintf(label, sizeof label, "%s/ring", r->path);
    if (fstat(r->ring, &st))
        return fail(r, "ring", err);
    r->ring_bytes = span.bytes = (uint64_t)st.st_size;
    if (r->ring_bytes < RING_HEAD_BYTES)
        return 0;
    if (chunk_pread(&span, 0, &r->head, sizeof r->head, err))
        return -1;
    if (r->head.magic == 0)
        return 0;
    if (r->head.magic != RING_MAGIC)
        return err_set(err, "%s: not a ring", label);
    if (r->head.version < PINBALL_OLDEST || r->head.version > PINBALL_VERSION)
        return err_set(err, "%s: is version %u, this drdebug reads versions %d to %d", label,
                       r->head.version, PINBALL_OLDEST, PINBALL_VERSION);
    if (r->head.segment_bytes > CHUNK_MAX_BYTES || r->head.segment_bytes % 8 ||
        r->head.segment_bytes > (r->ring_bytes - RING_HEAD_BYTES) / RING_SEGMENTS)
        return err_set(err, "%s: segments of %llu bytes do not fit", label,
                       (unsigned long long)r->head.segment_bytes);
    if (r->head.region.parts && r->head.memory.state != MEMORY_WRITTEN)
        return err_set(err, "%s: recording ended before %s", r->path,
                       r->head.memory.state == MEMORY_NONE ? "the part of the run began"
                                                           : "the begin of the part was written");
    return 0;
}

static bool is_filled(const struct ring_segment *segment)
{
    return (segment->state == SEGMENT_FILLING || segment->state == SEGMENT_FULL) &&
           segment->committed > 0;
}

/* Memory where a part begins is in chunks that come from no segment. If not all of them are there,
 * no segment follows. */
static bool memory_is_whole(const struct rescue *r)
{
    return writer_chunks(r->writer) >= r->head.memory.chunks;
}

/* The sequence of the segment that becomes the next chunk. */
static uint64_t next_sequence(const struct rescue *r)
{
    return writer_chunks(r->writer) - r->head.memory.chunks;
}

/* The segment that becomes the next chunk, or -1. */
static int find_segment(const struct rescue *r)
{
    for (int i = 0; i < RING_SEGMENTS && memory_is_whole(r); i++)
        if (is_filled(&r->head.segment[i]) && r->head.segment[i].sequence == next_sequence(r))
            return i;
    return -1;
}

/* Whether something is left that should have followed. */
static bool is_gap(const struct rescue *r)
{
    for (int i = 0; i < RING_SEGMENTS; i++)
        if (is_filled(&r->head.segment[i]) &&
            (!memory_is_whole(r) || r->head.segment[i].sequence > next_sequence(r)))
            return true;
    return false;
}

/* 1: and on to the next; 0: here the records end; -1. */
static int move_segment(struct rescue *r, int i, struct err *err)
{
    struct span span = {.fd = r->ring, .bytes = r->ring_bytes, .label = r->path};
    uint64_t bytes = r->head.segment[i].committed, count;
    bool torn = bytes > r->head.segment_bytes;

    if (torn)
        bytes = r->head.segment_bytes;
    if (chunk_pread(&span, RING_HEAD_BYTES + (uint64_t)i * r->head.segment_bytes, r->room, bytes,
                    err))
        return -1;
    size_t good = records_check(r->room, bytes, &count);
    if (good > 0) {
        if (writer_events(r->writer, r->room, good, count, err))
            return -1;
        summary_add(&r->summary, r->room, good);
        r->done.chunks++;
        r->done.records += count;
    }
    torn |= good < bytes;
    r->done.torn |= torn;
    return !torn;
}

static int move_segments(struct rescue *r, struct err *err)
{
    int more = 1;

    while (more > 0) {
        int i = find_segment(r);
        if (i < 0)
            break;
        more = move_segment(r, i, err);
    }
    r->done.torn |= more >= 0 && is_gap(r);
    return more < 0 ? -1 : 0;
}

/* ---- all of it ---- */

static int write_end(struct rescue *r, struct err *err)
{
    struct text text = {0};

    bool stopped = ends_reason(ends_name(r->head.stop)) != 0;
    bool missing = false;

    for (size_t i = 0; i < r->kept.files; i++)
        missing |= r->in_memory && r->kept.file[i]->waiting;
    if (!r->summary.ended || (stopped && missing)) {
        r->summary.reason = stopped ? r->head.stop : END_LOST;
        r->summary.status = stopped ? r->head.stop_status : 0;
    }
    if (!r->done.torn)
        summary_last(&r->summary, &r->head.last);
    r->summary.isa = r->head.isa;
    summary_text(&r->summary, &text);
    int bad = writer_end(r->writer, text.data, text.bytes, err);
    text_deinit(&text);
    return bad;
}

static struct writer *resume_in_memory(struct rescue *r, struct err *err)
{
    struct member index;
    struct writer *w = NULL;

    if (store_find(r->store, "index", &index, err) >= 0)
        w = writer_resume_in_memory(r->path, &r->whole, index.span.fd, err);
    store_close_member(&index);
    return w;
}

static int rescue(struct rescue *r, struct err *err)
{
    struct writer_resume *w = &r->whole;

    r->room = malloc(CHUNK_MAX_BYTES);
    if (!r->room)
        return err_set(err, "%s: no memory", r->path);
    uint64_t heads, head_bytes;
    if (open_ring(r, err) || scan(r, "head", CHUNK_HEAD, take_head, &heads, &head_bytes, err) ||
        scan(r, "events", CHUNK_EVENTS, take_events, &w->chunks, &w->events_bytes, err) ||
        scan(r, "index", CHUNK_INDEX, take_entry, &w->entries, &w->index_bytes, err))
        return -1;
    r->writer = r->in_memory ? resume_in_memory(r, err) : writer_resume(r->path, w, err);
    if (!r->writer)
        return -1;
    r->writer->seal = r->seal;
    if (!r->in_memory) {
        unlinkat(r->writer->files, KEEP_TEMPORARY, 0);
        if (keep_files(r, err))
            return -1;
    }
    return move_segments(r, err) || write_end(r, err) ? -1 : 0;
}

/* The program's mapping holds the lock, too. A program that has outlived its recorder notices that
 * in time; recovery takes what it has written up to now. */
static bool recorder_lives(int ring)
{
    int32_t pid = 0;
    if (pread(ring, &pid, sizeof pid, offsetof(struct ring, recorder)) != (ssize_t)sizeof pid)
        return true;
    return pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH;
}

/* 1 with the lock held, 0 if there is nothing to do. */
static int lock_ring(struct rescue *r, struct err *err)
{
    int dir = store_fd(r->store);

    r->ring = beneath_open(dir, "ring", O_RDONLY);
    if (r->ring < 0)
        return errno == ENOENT ? 0 : fail(r, "ring", err);
    if (flock(r->ring, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK)
            return fail(r, "ring", err);
        if (recorder_lives(r->ring))
            return err_set_code(err, EBUSY, "%s: is being recorded right now", r->path);
    }
    /* The process that had the lock before may have done it all. */
    return !beneath_exists(dir, "end");
}

static void give_up(struct rescue *r)
{
    writer_free(r->writer);
    summary_deinit(&r->summary);
    kept_deinit(&r->kept);
    chunk_deinit_packer(&r->packer);
    free(r->room);
    *r = (struct rescue){.path = r->path, .store = r->store, .ring = r->ring};
}

/* Whether it fails for want of a disk that takes what is written. */
static bool is_disk(int error)
{
    static const int disk[] = {ENOSPC, EDQUOT, EFBIG, EIO, EROFS, EACCES, EPERM};

    for (size_t i = 0; i < sizeof disk / sizeof disk[0]; i++)
        if (disk[i] == error)
            return true;
    return false;
}

/* A limit of file sizes is an error as any other, not the end of this process. */
static int rescue_quietly(struct rescue *r, struct err *err)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

    sigaction(SIGXFSZ, &ignore, &old);
    int bad = rescue(r, err);
    sigaction(SIGXFSZ, &old, NULL);
    return bad;
}

static int rescue_somehow(struct rescue *r, struct recovery *what, struct err *err)
{
    struct err cause = {0};

    if (rescue_quietly(r, &cause) == 0)
        return 0;
    if (what && is_disk(cause.code)) {
        give_up(r);
        r->in_memory = true;
        if (rescue_quietly(r, err)) /* files of memory have sizes, too */
            return -1;
        r->done.in_memory = true;
        r->done.whole_bytes = r->whole.events_bytes;
        writer_take_memory(r->writer, &r->done.events, &r->done.index, &r->done.end);
        return 0;
    }
    return err_set_code(err, cause.code, "%s", cause.msg);
}

int recover(const char *dir, struct recovery *what, struct err *err)
{
    struct rescue r = {.path = dir, .ring = -1};
    int more = -1;

    r.store = store_open(dir, err);
    if (!r.store)
        return -1;
    if (store_is_packed(r.store))
        more = 0;
    else if ((more = lock_ring(&r, err)) > 0)
        more = rescue_somehow(&r, what, err);
    if (what)
        *what = r.done;
    give_up(&r);
    if (r.ring >= 0)
        close(r.ring);
    store_close(r.store);
    return more;
}
