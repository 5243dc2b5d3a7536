/* mapped.h - files and shared memory that the target has mapped.
 *
 * SPDX-License-Identifier: MIT
 *
 * A replay has no files: the pinball keeps what was mapped. And it makes no system calls: when the
 * target writes to a file that it has also mapped, the recorder logs the bytes that changed in
 * memory.
 */
#ifndef LOGGER_TARGET_MAPPED_H
#define LOGGER_TARGET_MAPPED_H

#include "engine/core/thread.h"
#include "pinball/record.h"

/* After a system call, before its record is written. True: *map describes what it mapped. */
bool mapped_after(struct thread *t, long nr, const long a[6], long result, struct record_map *map);

/* ... and after its record is: what such a mapping holds, where that is not in a kept file. */
void mapped_contents(void);

/* Before a call that may make a child process. */
void mapped_forks(long nr, const struct thread *t);

/* After every call: what child processes have written to shared memory. */
void mapped_shared(void);
void mapped_ends(void); /* the program is about to end */

/* Bytes that the kernel copies from file to file by itself are in no memory: if they go to standard
 * output or error, a replay could not show them. */
bool mapped_unseen_output(long nr, const long a[6]);

/* A mapping of the initial state; size: of its file. */
void mapped_note(gaddr start, uint64_t bytes, uint64_t dev, uint64_t ino, uint64_t offset,
                 uint64_t size);

/* A part of the run begins: nothing is known of any mapping. */
void mapped_begin(void);
/* A shared mapping that was there before the recording: the size of the object that it shows goes
 * to the log, with its contents. */
struct maplist_entry;
void mapped_shared_before(const struct maplist_entry *l);
/* After all of these: true if the mapping is of such an object, with what *map says of it. */
bool mapped_before(const struct maplist_entry *l, struct record_map *map);

/* A descriptor that the program inherited, or received through a socket. */
void mapped_inherited(int fd);

/* Asks the recorder to keep the file behind `fd` (or `path`, when it is dev:ino). Returns its
 * number, MAP_FILE_NONE if it cannot be kept. */
uint32_t mapped_keep(int fd, const char *path, uint64_t dev, uint64_t ino, uint64_t offset,
                     uint64_t bytes, uint64_t *size);

#endif
