/* part.h - the recorder's work for a recording of a part of the run.
 *
 * SPDX-License-Identifier: MIT
 *
 * Where the part begins the program makes a twin (engine/os/twin.h) and goes on. The recorder reads
 * the twin's memory a piece at a time, between its other work; segments of the log that come
 * meanwhile are held back, since memory comes first on disk. If the kernel refused a twin, the
 * program waits until its own memory is written.
 */
#ifndef LOGGER_PART_H
#define LOGGER_PART_H

#include <stddef.h>

#include "logger/recorder_int.h"

/* The program has met --from, and its mappings are on the way. */
bool part_begins(const struct recorder *r);

/* Records that were written before the memory: what is mapped. */
int part_state(struct recorder *r, const void *records, size_t bytes, struct err *err);

/* KEEP_MEMORY: the mappings are all there. */
void part_serve_memory(struct recorder *r);

/* Memory is being written, and segments have to wait; so many that no more are taken. */
bool part_holds(const struct recorder *r);
bool part_holds_most(const struct recorder *r);
int part_hold(struct recorder *r, const void *records, size_t bytes, uint64_t count,
              struct err *err);

/* Writes some memory. True: there is more. */
bool part_step(struct recorder *r);
/* Writes all of it, and what was held back. */
void part_finish(struct recorder *r);
/* What the part begins with is not all written. */
bool part_lacks_begin(const struct recorder *r);
void part_deinit(struct recorder *r);
void part_reset(struct recorder *r); /* for the next one */

/* What the pinball's head says about it. */
struct text;
void part_head(const struct recorder *r, struct text *text);

/* KEEP_PLACES and KEEP_LOADED: what names mean. */
void part_serve_places(struct recorder *r);
void part_serve_loaded(struct recorder *r);

/* Triggers that come from outside the program: time, a key. Returns how long nothing will fire, in
 * nanoseconds: at most a second. */
uint64_t part_fire(struct recorder *r, uint64_t since_ns);
/* The program is gone. */
void part_end_sentry(struct recorder *r);
bool part_uses_key(const struct trigger_region *g);

#endif
