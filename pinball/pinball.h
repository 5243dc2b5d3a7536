/* pinball.h - read a pinball.
 *
 * SPDX-License-Identifier: MIT
 *
 * A pinball comes from anywhere: the reader trusts nothing in it. Opening reads the headers of all
 * chunks of events, so it is quick and finds what is missing; what a chunk holds is checked when it
 * is read. Errors name file and chunk: `a.pinball/events: chunk 12: checksum does not match`.
 *
 * A pinball belongs to one thread. What functions return belongs to it.
 */
#ifndef PINBALL_PINBALL_H
#define PINBALL_PINBALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/stat.h>

#include "base/err.h"
#include "pinball/kept.h"

struct pinball;
struct seal;
struct store;

/* Opens a directory or a packed file. If its recorder was killed, this first puts the directory in
 * order (recover.h); pinball_recovered() then tells. */
struct pinball *pinball_open(const char *path, struct err *err);
void pinball_close(struct pinball *pinball); /* NULL is allowed */

const char *pinball_path(const struct pinball *pinball);
bool pinball_recovered(const struct pinball *pinball);
/* ... but only in memory: its disk is full, or not ours. Such a pinball cannot be packed. */
bool pinball_in_memory(const struct pinball *pinball);
bool pinball_packed(const struct pinball *pinball);
uint64_t pinball_bytes(struct pinball *pinball);                   /* on disk */
bool pinball_has(const struct pinball *pinball, const char *name); /* in a directory */
int pinball_stat(const struct pinball *pinball, struct stat *st);  /* of `head`, in a directory */

/* This user made it here (seal.h). All others are strangers': nothing in a stranger's recording may
 * choose files of this machine to be read. Old recordings and those of other machines count as
 * strangers'. Contents of a kept file are our own only after pinball_file_check(). */
bool pinball_is_own(const struct pinball *pinball);
/* It begins in the middle of a run: made by `record --from` or `cut`. */
bool pinball_is_part(const struct pinball *pinball);

/* ---- head, end and notes: values by key, NULL if there is none; the last of several ---- */

const char *pinball_head_get(const struct pinball *pinball, const char *key);
const char *pinball_end_get(const struct pinball *pinball, const char *key);
const char *pinball_note_get(const struct pinball *pinball, const char *key);

/* A number, or `otherwise` if the key is missing or its value none. */
uint64_t pinball_end_number(const struct pinball *pinball, const char *key, uint64_t otherwise);

/* All lines of the head, in order: 1, or 0 after the last. *position starts as 0. */
int pinball_head_line(const struct pinball *pinball, size_t *position, const char **key,
                      const char **value);

/* The same of the end and the notes. */
int pinball_end_line(const struct pinball *pinball, size_t *position, const char **key,
                     const char **value);
int pinball_note_line(const struct pinball *pinball, size_t *position, const char **key,
                      const char **value);

/* Adds a note (text as text.h makes it) to a directory. Getters see it at the next opening. */
int pinball_note(struct pinball *pinball, const char *text, size_t bytes, struct err *err);

/* ---- events ---- */

/* The recorder could not keep a file that the program mapped: events are those before the first of
 * these mappings (of a program that begins with it, none), and this is the file. NULL: all files
 * are there. */
const struct kept_file *pinball_missing(const struct pinball *pinball);

uint64_t pinball_chunks(const struct pinball *pinball);
uint64_t pinball_records(const struct pinball *pinball); /* of all chunks */
/* For chunk i < pinball_chunks(). raw_bytes is at most CHUNK_MAX_BYTES. */
void pinball_chunk_info(const struct pinball *pinball, uint64_t i, uint64_t *raw_bytes,
                        uint64_t *records);
uint64_t pinball_chunk_sum(const struct pinball *pinball, uint64_t i); /* of its stored bytes */
/* Unpacks chunk i into `out`, 8-byte aligned, with room for its raw_bytes: whole, well-framed
 * records (records.h). */
int pinball_read_chunk(struct pinball *pinball, uint64_t i, void *out, size_t room,
                       struct err *err);

/* ---- kept files ---- */

/* Those that records refer to come first. */
uint32_t pinball_files(const struct pinball *pinball);
const struct kept_file *pinball_file(const struct pinball *pinball, uint32_t number);
/* Bytes of a kept file; what is not kept, or past the end, reads as zeros. */
int pinball_file_read(struct pinball *pinball, uint32_t number, uint64_t offset, void *buf,
                      size_t bytes, struct err *err);

/* Whether all of a kept file may be held at once. All files asked for so far may unpack to 256 MiB
 * and 64 times their size on disk: pages of zeros pack better, whole programs do not. */
bool pinball_may_unpack(struct pinball *pinball, uint32_t number);
/* Likewise, how many bytes may be held of what all events say. */
uint64_t pinball_gathers_most(const struct pinball *pinball);

/* Reads all of a kept file and checks that it holds what its entry says. Reading alone finds damage
 * but no forgery. */
int pinball_file_check(struct pinball *pinball, uint32_t number, struct err *err);

/* ---- all of it ---- */

/* Told how many bytes of `total` have been checked. */
typedef void pinball_progress(void *arg, uint64_t done, uint64_t total);

/* Reads everything, and checks every sum and that every record is whole. `progress` may be NULL. */
int pinball_check(struct pinball *pinball, pinball_progress *progress, void *arg, struct err *err);

/* For pack.h. */
struct store *pinball_store(struct pinball *pinball);
const struct seal *pinball_seal(const struct pinball *pinball);

#endif
