/* pinball_support.h - small pinballs for tests, and ways to spoil them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_PINBALL_SUPPORT_H
#define TESTS_UNIT_PINBALL_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "pinball/format.h"

/* A directory of the test's own; everything here is named from it. Setup and teardown for cmocka.
 */
int support_enter(void **state);
int support_leave(void **state);

enum { SUPPORT_CHUNKS = 3, SUPPORT_RECORDS = 4 }; /* of support_make(); records per chunk */

/* A pinball with a head, events, two kept files (`first`, `second` with 300 bytes each), notes and
 * an end. */
void support_make(const char *dir);

/* Chunk i's records, as support_make() writes them; *bytes of it. */
const void *support_records(uint64_t i, size_t *bytes);

/* Opens and reads all of it: 0, or -1 with *err set. */
int support_read_all(const char *path, struct err *err);

/* Fails the test unless reading fails with a message that contains `cause`. */
void support_refuses(const char *path, const char *cause);

/* A version that no reader knows, and the words in which the file `path` is refused for it; in
 * memory that the next call uses again. */
enum { SUPPORT_VERSION = PINBALL_VERSION + 5 };
const char *support_unread(const char *path);

struct bytes {
    unsigned char *data;
    size_t bytes;
};

struct bytes support_load(const char *path); /* data is the caller's to free */
void support_store(const char *path, const void *data, size_t bytes);
void support_remove(const char *path); /* a directory with all in it */

/* Where chunk i begins; the file's end behind the last. */
size_t support_chunk_at(struct bytes file, uint64_t i);

/* Changes chunk i of a file and makes the sums right again. */
typedef void support_change(struct chunk *chunk, unsigned char *payload);
void support_edit(const char *path, uint64_t i, support_change *change);

#endif
