/* collector.h - the streams of a traced replay become a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * What is handed over is as debug/flow.h says: words and notes, piece by piece. A trace of a
 * program that executed another one is of the last one: it begins again where the notes do.
 */
#ifndef TRACE_COLLECTOR_H
#define TRACE_COLLECTOR_H

#include "trace/collect.h"
#include "trace/trace.h"

struct collector;

/* The trace goes to `path`, or where the options say. They outlive it, as does the path. */
struct collector *collector_new(const char *path, const struct collect_options *options,
                                struct err *err);
void collector_free(struct collector *c); /* NULL is allowed; what is not finished is gone */

/* What the whole recording has shown of its code, of one that leaves something out: to be told
 * before all else. */
void collector_way(struct collector *c, enum trace_way kind, gaddr pc, gaddr to);

/* Takes a piece of both streams; the first argument is the collector. */
int collector_take(void *collector, const void *words, size_t words_bytes, const void *notes,
                   size_t notes_bytes, struct err *err);

/* Other streams come next, of a replay that is traced from here on: blocks and words are numbered
 * anew, and the thread that runs is named first. */
void collector_go_on(struct collector *c);

/* Nothing comes any more: the trace is whole. What was mapped then, and what it is a trace of. */
int collector_finish(struct collector *c, const struct trace_map *map, size_t maps,
                     const char *about, struct err *err);

/* Fills in what was counted. */
void collector_result(const struct collector *c, struct collect_result *out);

#endif
