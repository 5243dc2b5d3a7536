/* index.h - what all who read a trace share: its scan, its functions, its memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * The scan (scan.h) is made when it is first wanted. The graphs of functions (graph/cfg.h) are made
 * from the pinball's files, which have the code that was not executed, too, and from what was. The
 * trace and the pinball outlive the index. Used by one thread.
 */
#ifndef TRACE_INDEX_H
#define TRACE_INDEX_H

#include "trace/access.h"
#include "trace/graph/cfg.h"
#include "trace/scan.h"

struct pinball;
struct source;

enum { TRACE_INDEX_WINDOW = 1 << 16, TRACE_INDEX_WINDOWS = 1024 };

struct trace_index_window {
    bool read;
    uint32_t map;    /* number of the mapping */
    uint64_t number; /* of the window in it */
    uint8_t *data;
};

/* Keeps bytes for the next time; see study/kept.h. */
struct trace_index_store {
    void *arg;
    void *(*get)(void *arg, unsigned max_save, size_t *bytes); /* to be freed; NULL: nothing */
    void (*put)(void *arg, unsigned max_save, const void *data, size_t bytes);
};

struct trace_index {
    struct trace *trace;
    struct code *code;
    struct pinball *pinball;
    struct source *source; /* NULL: saves are found by MaxSave alone */
    struct cfg *cfg;
    struct trace_index_window window[TRACE_INDEX_WINDOWS]; /* of mapped files, as they were read */
    struct scan scan;
    unsigned max_save;                          /* that the scan was made with; 0: not yet */
    struct defuse call[KINDS_ARGS];             /* for access_call_defuse() */
    bool (*no_return)(void *ctx, gaddr callee); /* may be NULL */
    void *no_return_ctx;
    struct trace_index_store store; /* of scans; {0}: none */
    struct scan_progress progress;
    uint32_t lately; /* so many chunks at the end are enough for now, if no scan was kept; 0: all */
};

struct trace_index *trace_index_new(struct trace *trace, struct pinball *pinball, struct err *err);
void trace_index_free(struct trace_index *index); /* NULL is allowed */

/* What knows the call frame information of the modules: saves that it names are found wherever they
 * are in a function. It outlives the index. NULL, which it is at first: only early ones are. */
void trace_index_set_source(struct trace_index *index, struct source *source);

/* Somebody who knows which functions never return, like source_is_noreturn(): calls of these have
 * no way on in their function's graph. To be said before the first use. */
void trace_index_no_return(struct trace_index *index, bool (*fn)(void *ctx, gaddr callee),
                           void *ctx);

/* Where scans are kept, from now on. */
void trace_index_set_store(struct trace_index *index, const struct trace_index_store *store);

/* Makes sure that there is a scan with so many saves of a function; 0: any will do. */
int trace_index_scan(struct trace_index *index, unsigned max_save, struct err *err);
/* The same if the scan that there is does not reach back to a chunk: then all is looked at. */
int trace_index_reach(struct trace_index *index, uint32_t chunk, struct err *err);

/* Copies code as the files that were mapped have it, or as it was executed. Returns how many bytes
 * there are, up to `bytes`. */
size_t trace_index_code(struct trace_index *index, gaddr pc, uint8_t *buf, size_t bytes);

/* Is all of it read-only when the trace ends? Such memory is the loader's: constants, tables of
 * virtual functions, addresses of other modules. */
bool trace_index_read_only(const struct trace_index *index, gaddr addr, uint64_t bytes);
/* Is nothing of it? */
bool trace_index_is_writable(const struct trace_index *index, gaddr addr, uint64_t bytes);

#endif
