/* writer.h - write a pinball while the program runs.
 *
 * SPDX-License-Identifier: MIT
 *
 * Belongs to one thread. Whenever the process dies, the directory holds whole chunks and at most
 * one torn one at the end of `events` or `index`; recover.h makes a pinball of it. Errors of the
 * disk carry their errno in err->code (ENOSPC, EFBIG, EDQUOT, EIO); what was written before stays
 * good, and the call may be repeated. The caller must ignore SIGXFSZ.
 *
 *     w = writer_new(dir, &err); writer_head(w, ...);
 *     writer_events(w, ...), writer_keep(w, ...), writer_keep_flush(w, ...) as they come
 *     writer_end(w, ...); writer_free(w);
 */
#ifndef PINBALL_WRITER_H
#define PINBALL_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct shelf;
struct writer;

/* Files up to this size are kept whole. */
enum { WRITER_WHOLE_BYTES = 64 << 20 };

/* Makes the directory, which must not be there (err->code EEXIST), and reserves room for `end`. */
struct writer *writer_new(const char *dir, struct err *err);
/* Closes files; removes nothing. NULL is allowed. */
void writer_free(struct writer *writer);
/* Removes the directory: nothing was recorded. */
void writer_undo(struct writer *writer);
/* Removes a recording that nobody wants, except files that somebody else put there. */
void writer_remove(const char *dir);

/* The directory, for what else goes there (`ring`). */
int writer_dir(const struct writer *writer);

/* Text as text.h makes it, to which the user's seal (seal.h) is added. Written under a temporary
 * name and renamed. */
int writer_head(struct writer *writer, const char *text, size_t bytes, struct err *err);

/* Appends a chunk of `count` whole records, at most CHUNK_MAX_BYTES. */
int writer_events(struct writer *writer, const void *records, size_t bytes, uint64_t count,
                  struct err *err);
uint64_t writer_chunks(const struct writer *writer); /* of events so far: the next one's sequence */

/* Keeps the file behind fd as it is now, at least [offset, offset + bytes) of it. A file that has
 * not changed since it was last kept gets the same *number. *size is the file's.
 *
 * A small file is only read here, so that the program can go on; writer_keep_flush() hashes,
 * compresses and writes it. (Too many that wait are flushed by the next writer_keep().) */
int writer_keep(struct writer *writer, int fd, uint64_t offset, uint64_t bytes, uint32_t *number,
                uint64_t *size, struct err *err);
int writer_keep_flush(struct writer *writer, struct err *err);
/* Files that another writer of this process has read are not read again: shelf.h. */
void writer_share(struct writer *writer, struct shelf *shelf);

/* Flushes, writes `end` (text as for the head; counts of chunks are added) and then removes `ring`.
 * Files that cannot be flushed stay `waiting` in the index: the log is read up to where the program
 * maps the first of them. */
int writer_end(struct writer *writer, const char *text, size_t bytes, struct err *err);

/* Opens what a recorder left behind, to go on with: recover.h's way in. `chunks` of events and
 * `entries` of index are whole, in so many bytes; what follows them is cut off. */
struct writer_resume {
    uint64_t chunks, events_bytes;
    uint64_t entries, index_bytes;
};
struct writer *writer_resume(const char *dir, const struct writer_resume *at, struct err *err);

/* The same where nothing can be written: what goes behind the whole chunks of events, all of the
 * index (read from a descriptor) and `end` are in memory. Afterwards they are the caller's. */
struct writer *writer_resume_in_memory(const char *dir, const struct writer_resume *at, int index,
                                       struct err *err);
void writer_take_memory(struct writer *writer, int *events, int *index, int *end);

#endif
