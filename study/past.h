/* past.h - registers and memory at points of a recording, by replaying as far as there.
 *
 * SPDX-License-Identifier: MIT
 *
 * The study's own way to a replay: a study that is confined asks the broker, which has the replay
 * (broker.h). A past goes forwards only.
 */
#ifndef STUDY_PAST_H
#define STUDY_PAST_H

#include "replayer/replay.h"

enum { PAST_MAPS = 65536, PAST_THREADS = 65536 }; /* that are looked at */

struct past;
struct study;
struct mailbox_entry;

/* What it is for: BROKER_NEW says it in these numbers. */
enum past_kind { PAST_PLAIN, PAST_TRYING, PAST_TELLING };

struct past *past_new(struct study *s, struct err *err); /* at the begin; NULL with *err set */
struct past *past_new_trying(struct study *s, struct err *err); /* for past_try() */
/* For past_tell(). tell: RUN_OUTPUT, RUN_EVENTS, RUN_SWITCHES (debug/messages.h). */
struct past *past_new_telling(struct study *s, uint64_t tell, struct err *err);
void past_free(struct past *p); /* NULL is allowed */

/* Goes on to instruction `insn`, at this position; trace_insns(), or a study without a trace:
 * to the end, when everything is as all threads left it. */
int past_go(struct past *p, uint64_t insn, const struct position *at, struct err *err);

int past_registers(struct past *p, uint32_t thread, struct program_registers *out, struct err *err);
/* Returns how many bytes could be read, from the first on. */
size_t past_read(struct past *p, uint64_t addr, void *out, size_t bytes);
/* As replay_threads() and replay_maps(). */
size_t past_threads(struct past *p, struct program_thread *out, size_t room);
size_t past_maps(struct past *p, struct program_map *out, size_t room);

/* Goes on to this position (NULL: to the end), and tells what the program does as it comes: entries
 * were checked (debug/inbox.h), but their words and bytes are the program's. */
struct past_telling {
    void (*entry)(void *arg, const struct mailbox_entry *entry, const void *text);
    bool (*enough)(void *arg); /* asked now and then; if so, stop->why is STOP_PAUSED */
    void *arg;
};
int past_tell(struct past *p, const struct position *until, const struct past_telling *how,
              struct replay_stop *stop, struct err *err);

/* As replay_attempt(). */
int past_try(struct past *p, const struct replay_attempt *a, uint64_t *next, struct err *err);

#endif
