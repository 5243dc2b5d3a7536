/* debuggee.c - a program that a debugger looks into: calls the program's own functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/debuggee.h"

#include <string.h>

#include "debug/debuggee_ops.h"
#include "debug/messages.h"

void debuggee_close(struct debuggee *d)
{
    if (d->ops)
        d->ops->close(d->self);
    *d = (struct debuggee){0};
}

int debuggee_stops(struct debuggee *d, const struct debuggee_stops *stops, struct err *err)
{
    return d->ops->stops(d->self, stops, err);
}

const struct debuggee_stop *debuggee_now(const struct debuggee *d)
{
    return d->ops->now(d->self);
}

int debuggee_move(struct debuggee *d, const struct debuggee_move *move, struct debuggee_stop *stop,
                  struct err *err)
{
    return d->ops->move(d->self, move, stop, err);
}

int debuggee_compare(struct debuggee *d, const struct position *to, int *order, struct err *err)
{
    return d->ops->compare(d->self, to, order, err);
}

int debuggee_registers(struct debuggee *d, uint32_t thread, struct program_registers *out,
                       struct err *err)
{
    return d->ops->registers(d->self, thread, out, err);
}

size_t debuggee_read(struct debuggee *d, uint64_t addr, void *out, size_t bytes)
{
    return d->ops->read(d->self, addr, out, bytes);
}

size_t debuggee_threads(struct debuggee *d, struct program_thread *out, size_t room)
{
    return d->ops->threads(d->self, out, room);
}

size_t debuggee_maps(struct debuggee *d, struct program_map *out, size_t room)
{
    return d->ops->maps(d->self, out, room);
}

void debuggee_program(struct debuggee *d, struct debuggee_program *out)
{
    d->ops->program(d->self, out);
}

int debuggee_file_find(struct debuggee *d, const char *path, uint64_t *size)
{
    return d->ops->file_find(d->self, path, size);
}

int debuggee_file_read(struct debuggee *d, int file, uint64_t offset, void *out, size_t bytes,
                       struct err *err)
{
    return d->ops->file_read(d->self, file, offset, out, bytes, err);
}

const char *debuggee_file_path(struct debuggee *d, int file)
{
    return d->ops->file_path(d->self, file);
}

int debuggee_debug_file(struct debuggee *d, const char *path, uint64_t *size)
{
    return d->ops->debug_file(d->self, path, size);
}

int debuggee_event(struct debuggee *d, size_t *place, struct debuggee_event *event)
{
    return d->ops->event(d->self, place, event);
}

int debuggee_bookmark(struct debuggee *d, const struct position *at, const char *note,
                      struct err *err)
{
    return d->ops->bookmark(d->self, at, note, err);
}

int debuggee_statement(struct debuggee *d, size_t i, struct debuggee_statement *out)
{
    return d->ops->statement ? d->ops->statement(d->self, i, out) : 0;
}

int debuggee_statement_at(struct debuggee *d, const struct position *at, size_t *i)
{
    return d->ops->statement_at ? d->ops->statement_at(d->self, at, i) : 0;
}

int debuggee_statement_place(struct debuggee *d, size_t i, uint64_t *first, uint64_t *last)
{
    return d->ops->statement_place ? d->ops->statement_place(d->self, i, first, last) : 0;
}

int debuggee_bookmark_get(struct debuggee *d, size_t i, struct position *at, const char **note)
{
    return d->ops->bookmark_get(d->self, i, at, note);
}

bool debuggee_alive(const struct debuggee *d)
{
    return d->ops->alive && d->ops->alive(d->self);
}

int debuggee_settle(struct debuggee *d, struct err *err)
{
    return d->ops->settle ? d->ops->settle(d->self, err) : 0;
}

void debuggee_leave(struct debuggee *d, bool kills)
{
    if (d->ops->leave)
        d->ops->leave(d->self, kills);
}

int debuggee_record(struct debuggee *d, enum debuggee_record what, struct debuggee_recorded *out,
                    struct err *err)
{
    *out = (struct debuggee_recorded){0};
    if (d->ops->record)
        return d->ops->record(d->self, what, out, err);
    return what == RECORD_TOLD ? 0 : err_set(err, "this is a recording, and not a living program");
}

int debuggee_terminal(struct debuggee *d, const char *path, struct err *err)
{
    return d->ops->terminal ? d->ops->terminal(d->self, path, err)
                            : err_set(err, "this is a recording, and not a living program");
}

int debuggee_divert(struct debuggee *d, struct err *err)
{
    return d->ops->divert(d->self, err);
}

bool debuggee_diverted(const struct debuggee *d)
{
    return d->ops->diverted(d->self);
}

void debuggee_divert_end(struct debuggee *d)
{
    d->ops->divert_end(d->self);
}

void debuggee_park(struct debuggee *d)
{
    d->ops->park(d->self);
}

void debuggee_unpark(struct debuggee *d)
{
    d->ops->unpark(d->self);
}

void debuggee_park_end(struct debuggee *d)
{
    d->ops->park_end(d->self);
}

bool debuggee_parked(struct debuggee *d)
{
    return d->ops->parked(d->self);
}

size_t debuggee_read_parked(struct debuggee *d, uint64_t addr, void *out, size_t bytes)
{
    return d->ops->read_parked(d->self, addr, out, bytes);
}

size_t debuggee_write(struct debuggee *d, uint64_t addr, const void *bytes, size_t n)
{
    return d->ops->write(d->self, addr, bytes, n);
}

int debuggee_set_registers(struct debuggee *d, uint32_t thread,
                           const struct program_registers *registers, struct err *err)
{
    return d->ops->set_registers(d->self, thread, registers, err);
}

int debuggee_divert_run(struct debuggee *d, uint32_t thread, bool step, struct debuggee_stop *stop,
                        struct err *err)
{
    return d->ops->divert_run(d->self, thread, step, stop, err);
}

void debuggee_stopped(const struct mailbox_what *w, struct debuggee_stop *out)
{
    *out =
        (struct debuggee_stop){.at = {.thread = w->at.thread, .count = w->at.count, .pc = w->at.pc},
                               .ticks = w->ticks,
                               .events = w->at.events,
                               .addr = w->addr,
                               .watch_kind = (enum watch_kind)w->kind};
    /* A process that begins has arrived; and a log that was cut off ends like any other. */
    out->why = w->reason == STOP_BEGIN     ? STOP_POSITION
               : w->reason == STOP_LOG_END ? STOP_END
                                           : (enum stop_kind)w->reason;
    if (w->reason == STOP_SIGNAL)
        out->signal = (int)w->number;
    else
        out->call = (long)w->number;
    memcpy(out->siginfo, w->siginfo, sizeof out->siginfo);
}
