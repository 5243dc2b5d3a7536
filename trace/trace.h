/* trace.h - what a recording executed, instruction by instruction, on disk.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace is a sequence of *steps* in the order of the execution, of all threads: a step is one
 * execution of a block (code.h) with the values of its slots, from which all its addresses follow.
 * Between steps there are notes: system calls, signals, threads (debug/flow.h). Steps come in
 * chunks, each of which can be read by itself. Instructions are numbered through, from 0.
 *
 * On disk: a header, chunks of predicted and compressed columns, the blocks, and an index; see
 * docs/pinball.md. A file that ends early, is damaged or of another version is named and not used.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "base/position.h"
#include "debug/flow.h"
#include "trace/code.h"

/* Add one to it with every change of what is in the file or of what that means: of the notes
 * (debug/flow.h), of which slots a block has (engine/x86/plan.h), of how steps are packed
 * (pack.h), of what is counted as an instruction, an entry or a target. Traces of other versions
 * are made again. unit.trace.version fails if it was forgotten. Version 1 did not say what it was.
 */
enum { TRACE_VERSION = 3 };
enum { TRACE_OTHER_VERSION = -1001 }; /* err->code of trace_open() */

/* A chunk is full with so many steps, values, or bytes of notes. */
enum { TRACE_STEPS = 1 << 16, TRACE_VALUES = 1 << 18, TRACE_BYTES = 1 << 20 };

struct trace_step {
    uint32_t block;    /* its number */
    uint32_t value_at; /* in chunk->value */
    uint32_t insn_at;  /* instructions of the chunk before it */
    uint16_t insns;    /* executed: all of the block, or those before a fault */
    uint16_t thread;   /* number in trace_thread() */
};

/* Where a thread is, between two of its steps. */
struct trace_state {
    uint64_t count;   /* ticks */
    uint32_t last;    /* the block it has left, plus one; 0: none */
    uint32_t settled; /* the tick of leaving it is counted */
};

/* It happened after `step` steps of the chunk: a call belongs to the step before it. */
struct trace_note {
    uint32_t step;
    uint32_t at; /* in chunk->bytes: a struct flow_note, then what its kind has */
};

struct trace_chunk {
    uint32_t number;
    uint64_t first_insn;
    uint32_t steps, values, notes, bytes_used, insns, threads;
    struct trace_step *step;
    uint64_t *value;
    struct trace_note *note;
    uint8_t *bytes;
    struct trace_state *state; /* of each thread, when the chunk begins */
    size_t value_room, note_room, bytes_room, thread_room; /* for the code that fills it */
};

struct trace;

/* ---- reading ---- */

/* The last part of the path must not be a link. */
struct trace *trace_open(const char *path, struct err *err);
/* One that has no name; the descriptor is the caller's. */
struct trace *trace_open_unnamed(int fd, struct err *err);
void trace_close(struct trace *trace); /* NULL is allowed */

struct code *trace_code(struct trace *trace);
uint64_t trace_insns(const struct trace *trace);
uint32_t trace_chunks(const struct trace *trace);
uint64_t trace_chunk_first(const struct trace *trace, uint32_t chunk); /* insns before it */

uint64_t trace_chunk_bytes(const struct trace *trace, uint32_t chunk); /* in the file, about */

/* Told of each chunk before it is read; true: -1 with TRACE_STOPPED instead. NULL: nobody is. */
enum { TRACE_STOPPED = 360 };
typedef bool trace_watch_fn(void *arg, uint64_t done, uint64_t total); /* instructions */
void trace_watch(struct trace *trace, trace_watch_fn *fn, void *arg);

/* Reads a chunk into *out, which is {0} or was read before. */
int trace_read(struct trace *trace, uint32_t chunk, struct trace_chunk *out, struct err *err);
/* The same without values, in a fraction of the time. */
int trace_read_steps(struct trace *trace, uint32_t chunk, struct trace_chunk *out, struct err *err);
void trace_chunk_deinit(struct trace_chunk *chunk);

static inline const struct flow_note *trace_note(const struct trace_chunk *c, uint32_t i)
{
    return (const struct flow_note *)(c->bytes + c->note[i].at);
}

/* Threads, in order of appearance: their numbers in positions. */
uint32_t trace_threads(const struct trace *trace);
uint32_t trace_thread(const struct trace *trace, uint32_t i);
uint32_t trace_thread_find(const struct trace *trace, uint32_t number); /* 0 if there is none */

/* The thread goes on at pc; or a note says how many ticks it has had. */
static inline void trace_state_enter(struct trace_state *s, const struct code *code, gaddr pc)
{
    const struct code_block *last = s->last && !s->settled ? code_block(code, s->last - 1) : NULL;
    s->count += last && (last->ticks_to == CODE_ANYWHERE || last->ticks_to == pc);
    s->settled = 0;
}
void trace_state_note(struct trace_state *s, const struct flow_note *note);
/* A note of `thread`, as number trace_step.thread, behind `step` steps of the chunk. *seen: that
 * something was told of the thread before. */
void trace_state_take(struct trace_state *s, bool *seen, const struct code *code,
                      const struct trace_chunk *chunk, uint32_t step, uint32_t thread,
                      const struct flow_note *note);

/* ---- what all of it has shown ---- */

/* Addresses that were called, or where a thread or a signal handler began; and targets of indirect
 * jumps that are no switches: through [rip + x], or right behind pop, leave, add rsp, lea rsp. */
bool trace_is_entry(const struct trace *trace, gaddr pc);
/* Where the indirect jump at pc went, sorted. */
size_t trace_targets(const struct trace *trace, gaddr pc, const gaddr **list);
/* The call at pc was executed and never returned. */
bool trace_stays(const struct trace *trace, gaddr pc);

/* All that, one by one: what is at pc; the kinds are those of enum way_kind. Ends with what `fn`
 * returns if that is not 0. */
enum trace_way { TRACE_ENTRY, TRACE_TARGET, TRACE_STAYS };
typedef int trace_way_fn(void *arg, enum trace_way kind, gaddr pc, gaddr to, struct err *err);
int trace_each_way(const struct trace *trace, trace_way_fn *fn, void *arg, struct err *err);

/* ---- the recording's memory of code and files ---- */

struct trace_map {
    gaddr start, end;
    uint64_t offset;
    int32_t file; /* of the pinball; -1: none */
    uint32_t prot;
};
size_t trace_maps(const struct trace *trace, const struct trace_map **list);

/* What it is a trace of, see collect_about(). */
const char *trace_about(const struct trace *trace);

/* ---- writing ---- */

struct trace_writer;

/* A file beside others, which must be in a folder; what has its name may be a link, and is then not
 * followed. With `unnamed`, an open file that needs no name: it stays the caller's. */
struct trace_writer *trace_create(const char *path, int unnamed, struct err *err);
int trace_put(struct trace_writer *w, const struct trace_chunk *chunk, const struct code *code,
              struct err *err);
/* The rest. What the lists hold is copied. The file appears under its name only now. */
struct trace_rest {
    const struct code *code;
    const uint32_t *thread;
    uint32_t threads;
    const gaddr *entry; /* sorted */
    size_t entries;
    const gaddr (*target)[2]; /* jump, where to; sorted */
    size_t targets;
    const gaddr *stay; /* sorted */
    size_t stays;
    const struct trace_map *map;
    size_t maps;
    const char *about;
};
int trace_finish(struct trace_writer *w, const struct trace_rest *rest, struct err *err);
void trace_abandon(struct trace_writer *w); /* NULL is allowed */

#endif
