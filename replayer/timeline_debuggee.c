/* timeline_debuggee.c - a recording as a program that a debugger looks into.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each function is one of debug/debuggee_ops.h, on a struct timeline.
 */
#include "replayer/timeline_debuggee.h"

#include "debug/debuggee_ops.h"
#include "replayer/timeline.h"
#include "replayer/timeline_divert.h"

static void close_timeline(void *self)
{
    timeline_free(self);
}

static int stops(void *self, const struct debuggee_stops *stops, struct err *err)
{
    return timeline_stops(self, stops, err);
}

static const struct debuggee_stop *now(const void *self)
{
    return timeline_now(self);
}

static int move(void *self, const struct debuggee_move *m, struct debuggee_stop *stop,
                struct err *err)
{
    switch (m->way) {
    case MOVE_NONE:
        break;
    case MOVE_ON:
        return m->to.thread ? timeline_continue_to(self, &m->to, stop, err)
                            : timeline_continue(self, stop, err);
    case MOVE_STEP:
        return timeline_step(self, m->thread, m->low, m->high, stop, err);
    case MOVE_BACK:
        return timeline_back(self, stop, err);
    case MOVE_BACK_ONE:
        return timeline_step_back(self, m->thread, stop, err);
    case MOVE_BACK_LOOP:
        return timeline_loop_back(self, m->thread, m->edges, m->edge_count, stop, err);
    case MOVE_TO:
        return timeline_goto(self, &m->to, stop, err);
    case MOVE_TO_TICKS:
        return timeline_goto_ticks(self, m->ticks, stop, err);
    case MOVE_TO_BEGIN:
        return timeline_goto_begin(self, stop, err);
    case MOVE_TO_END:
        return timeline_goto_end(self, stop, err);
    case MOVE_TO_RECORDED:
        return err_set(err, "this is a recording, and not a living program");
    }
    return err_set(err, "there is nowhere to move to");
}

static int compare(void *self, const struct position *to, int *order, struct err *err)
{
    return timeline_compare(self, to, order, err);
}

static int registers(void *self, uint32_t thread, struct program_registers *out, struct err *err)
{
    return replay_registers(timeline_replay(self), thread, out, err);
}

static size_t read_memory(void *self, uint64_t addr, void *out, size_t bytes)
{
    return replay_read(timeline_replay(self), addr, out, bytes);
}

static size_t threads(void *self, struct program_thread *out, size_t room)
{
    return replay_threads(timeline_replay(self), out, room);
}

static size_t maps(void *self, struct program_map *out, size_t room)
{
    return replay_maps(timeline_replay(self), out, room);
}

static void program(void *self, struct debuggee_program *out)
{
    timeline_program(self, out);
}

static int file_find(void *self, const char *path, uint64_t *size)
{
    return timeline_file_find(self, path, size);
}

static int file_read(void *self, int file, uint64_t offset, void *out, size_t bytes,
                     struct err *err)
{
    return timeline_file_read(self, file, offset, out, bytes, err);
}

static const char *file_path(void *self, int file)
{
    return timeline_file_path(self, file);
}

static int debug_file(void *self, const char *path, uint64_t *size)
{
    return timeline_debug_file(self, path, size);
}

static int event(void *self, size_t *place, struct debuggee_event *event)
{
    return timeline_event(self, place, event);
}

static int bookmark(void *self, const struct position *at, const char *note, struct err *err)
{
    return timeline_bookmark(self, at, note, err);
}

static int statement(void *self, size_t i, struct debuggee_statement *out)
{
    return timeline_statement(self, i, out);
}

static int statement_at(void *self, const struct position *at, size_t *i)
{
    return timeline_statement_at(self, at, i);
}

static int statement_place(void *self, size_t i, uint64_t *first, uint64_t *last)
{
    return timeline_statement_place(self, i, first, last);
}

static int bookmark_get(void *self, size_t i, struct position *at, const char **note)
{
    return timeline_bookmark_get(self, i, at, note);
}

static int divert(void *self, struct err *err)
{
    return timeline_divert(self, err);
}

static bool diverted(const void *self)
{
    return timeline_diverted(self);
}

static void divert_end(void *self)
{
    timeline_divert_end(self);
}

static void park(void *self)
{
    timeline_divert_park(self);
}

static void unpark(void *self)
{
    timeline_divert_unpark(self);
}

static void park_end(void *self)
{
    timeline_divert_end_parked(self);
}

static bool parked(void *self)
{
    return timeline_divert_parked(self) != NULL;
}

static size_t read_parked(void *self, uint64_t addr, void *out, size_t bytes)
{
    struct replay *parked = timeline_divert_parked(self);
    return parked ? replay_read(parked, addr, out, bytes) : 0;
}

static size_t write_memory(void *self, uint64_t addr, const void *bytes, size_t n)
{
    return timeline_write(self, addr, bytes, n);
}

static int set_registers(void *self, uint32_t thread, const struct program_registers *registers,
                         struct err *err)
{
    return timeline_set_registers(self, thread, registers, err);
}

static int divert_run(void *self, uint32_t thread, bool step, struct debuggee_stop *stop,
                      struct err *err)
{
    return timeline_divert_run(self, thread, step, stop, err);
}

struct debuggee timeline_debuggee(struct timeline *timeline)
{
    static const struct debuggee_ops ops = {
        .close = close_timeline,
        .stops = stops,
        .now = now,
        .move = move,
        .compare = compare,
        .registers = registers,
        .read = read_memory,
        .threads = threads,
        .maps = maps,
        .program = program,
        .file_find = file_find,
        .file_read = file_read,
        .file_path = file_path,
        .debug_file = debug_file,
        .event = event,
        .bookmark = bookmark,
        .bookmark_get = bookmark_get,
        .statement = statement,
        .statement_at = statement_at,
        .statement_place = statement_place,
        .divert = divert,
        .diverted = diverted,
        .divert_end = divert_end,
        .park = park,
        .unpark = unpark,
        .park_end = park_end,
        .parked = parked,
        .read_parked = read_parked,
        .write = write_memory,
        .set_registers = set_registers,
        .divert_run = divert_run,
    };
    return (struct debuggee){&ops, timeline};
}
