/* debuggee_ops.h - the table that a kind of program fills to be a debuggee.
 *
 * SPDX-License-Identifier: MIT
 *
 * One function for each of debuggee.h, which says what it does; `self` is the debuggee's.
 */
#ifndef DEBUG_DEBUGGEE_OPS_H
#define DEBUG_DEBUGGEE_OPS_H

#include "debug/debuggee.h"

struct debuggee_ops {
    void (*close)(void *self);
    int (*stops)(void *self, const struct debuggee_stops *stops, struct err *err);
    const struct debuggee_stop *(*now)(const void *self);
    int (*move)(void *self, const struct debuggee_move *move, struct debuggee_stop *stop,
                struct err *err);
    int (*compare)(void *self, const struct position *to, int *order, struct err *err);
    int (*registers)(void *self, uint32_t thread, struct program_registers *out, struct err *err);
    size_t (*read)(void *self, uint64_t addr, void *out, size_t bytes);
    size_t (*threads)(void *self, struct program_thread *out, size_t room);
    size_t (*maps)(void *self, struct program_map *out, size_t room);
    void (*program)(void *self, struct debuggee_program *out);
    int (*file_find)(void *self, const char *path, uint64_t *size);
    int (*file_read)(void *self, int file, uint64_t offset, void *out, size_t bytes,
                     struct err *err);
    const char *(*file_path)(void *self, int file);
    int (*debug_file)(void *self, const char *path, uint64_t *size);
    int (*event)(void *self, size_t *place, struct debuggee_event *event);
    int (*bookmark)(void *self, const struct position *at, const char *note, struct err *err);
    int (*bookmark_get)(void *self, size_t i, struct position *at, const char **note);
    bool (*alive)(const void *self);            /* NULL: never */
    int (*settle)(void *self, struct err *err); /* NULL: it always is */
    void (*leave)(void *self, bool kills);
    int (*record)(void *self, enum debuggee_record what, struct debuggee_recorded *out,
                  struct err *err);                                 /* NULL: it is a recording */
    int (*terminal)(void *self, const char *path, struct err *err); /* NULL: the same */
    int (*statement)(void *self, size_t i, struct debuggee_statement *out); /* NULL: none */
    int (*statement_at)(void *self, const struct position *at, size_t *i);  /* likewise */
    int (*statement_place)(void *self, size_t i, uint64_t *first, uint64_t *last);
    int (*divert)(void *self, struct err *err);
    bool (*diverted)(const void *self);
    void (*divert_end)(void *self);
    void (*park)(void *self);
    void (*unpark)(void *self);
    void (*park_end)(void *self);
    bool (*parked)(void *self);
    size_t (*read_parked)(void *self, uint64_t addr, void *out, size_t bytes);
    size_t (*write)(void *self, uint64_t addr, const void *bytes, size_t n);
    int (*set_registers)(void *self, uint32_t thread, const struct program_registers *registers,
                         struct err *err);
    int (*divert_run)(void *self, uint32_t thread, bool step, struct debuggee_stop *stop,
                      struct err *err);
};

/* Why and where a process stopped, as it tells it. */
struct mailbox_what;
void debuggee_stopped(const struct mailbox_what *w, struct debuggee_stop *out);

#endif
