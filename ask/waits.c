/* waits.c - what each thread waits for at the end. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ask/location.h"
#include "ask/wording.h"
#include "engine/os/kinds.h"
#include "slicer/criterion/place.h"
#include "study/past.h"

enum { NAME = 256, STORY_MOST = 512, LIVE_MOST = 4096, NOT_KNOWN = -1 };

enum { THREAD, KIND, WHAT, AT, PLACE, HOLDER, SINCE, SINCE_PLACE, STORY };
static const struct rows_column columns[] = {
    [THREAD] = {"thread", ROWS_NUMBER}, [KIND] = {"kind", ROWS_TEXT},
    [WHAT] = {"what", ROWS_TEXT},       [AT] = {"at", ROWS_POSITION},
    [PLACE] = {"place", ROWS_PLACE},    [HOLDER] = {"holder", ROWS_NUMBER},
    [SINCE] = {"since", ROWS_POSITION}, [SINCE_PLACE] = {"since_place", ROWS_PLACE},
    [STORY] = {"story", ROWS_TEXT},
};

struct job {
    struct asking *q;
    const struct locks *locks;
    const struct locks_event **held; /* at the end */
    size_t helds;
    struct past *past; /* NULL: the end cannot be replayed */
    struct program_thread *live;
    size_t lives;
};

static bool is_live(const struct job *j, uint32_t thread)
{
    for (size_t i = 0; i < j->lives; i++)
        if (j->live[i].number == thread)
            return true;
    return !j->past;
}

static const struct locks_wait *wait_of(const struct job *j, uint32_t thread)
{
    for (size_t i = 0; i < j->locks->waits; i++)
        if (j->locks->wait[i].thread == thread && j->locks->wait[i].to == UINT64_MAX)
            return &j->locks->wait[i];
    return NULL;
}

static const struct locks_event *holder_of(const struct job *j, gaddr lock)
{
    for (size_t i = 0; i < j->helds; i++)
        if (j->held[i]->lock == lock)
            return j->held[i];
    return NULL;
}

/* A thread may hold what is waited for. */
static void tell_holder(struct job *j, const struct locks_wait *w)
{
    struct rows *r = j->q->rows;
    const struct locks_event *e = holder_of(j, w->object);
    char line[NAME];
    if (!e)
        return;
    study_place(j->q->study, e->line_pc, line, sizeof line);
    rows_number(r, HOLDER, e->at.thread);
    rows_position(r, SINCE, &e->at, e->insn);
    location_place(j->q, SINCE_PLACE, e->line_pc ? e->line_pc : e->at.pc);
    if (e->thread == w->thread)
        rows_printf(r, STORY, "held by itself since %s", line);
    else
        rows_printf(r, STORY, "held by T%u since %s%s", e->at.thread, line,
                    is_live(j, e->at.thread) ? "" : "; that thread has ended");
}

/* The number of the system call that the thread is in, and its first argument. */
static int64_t call_of(const struct job *j, const struct place_end *e, uint64_t *first)
{
    struct program_registers regs;
    struct err ignored;
    if (!j->past || e->insns >= e->block->insns ||
        e->block->insn[e->insns].in.kind != INSN_SYSCALL ||
        past_registers(j->past, e->place.position.thread, &regs, &ignored))
        return NOT_KNOWN;
    *first = regs.gpr[RDI];
    return (int64_t)regs.gpr[RAX];
}

/* 0 also if there is nothing to tell. */
static int tell(struct job *j, const struct place_end *e, struct err *err)
{
    struct rows *r = j->q->rows;
    const struct locks_wait *w = wait_of(j, e->place.thread);
    uint64_t first = 0;
    int64_t call = w ? NOT_KNOWN : call_of(j, e, &first);
    char name[NAME];
    if ((!w && call < 0) || !is_live(j, e->place.position.thread))
        return 0;
    rows_number(r, THREAD, e->place.position.thread);
    rows_position(r, AT, &e->place.position, e->executed);
    location_place(j->q, PLACE, e->place.line_pc);
    if (w) {
        wording_wait(j->q->study, w, name, sizeof name);
        rows_text(r, KIND, locks_kind_name(w->kind));
        rows_text(r, WHAT, name);
        tell_holder(j, w);
    } else {
        rows_text(r, KIND, kinds_name(call));
        if (kinds_of(call).message & MESSAGE_BY_DESCRIPTOR)
            rows_printf(r, WHAT, "descriptor %" PRIu64, first);
        else if (kinds_of(call).does == DOES_FUTEX)
            wording_lock(j->q->study, e->place.line_pc, first, name, sizeof name),
                rows_text(r, WHAT, name);
    }
    return rows_end(r, err);
}

static int tell_all(struct job *j, struct err *err)
{
    size_t ends;
    struct place_end *end = place_ends(j->q->study, &ends, err);
    int stop = end ? 0 : -1;
    for (size_t i = 0; !stop && i < ends; i++)
        stop = tell(j, &end[i], err);
    place_ends_free(end, ends);
    return stop;
}

int ask_waits(struct asking *q, struct err *err)
{
    struct job j = {.q = q, .live = calloc(LIVE_MOST, sizeof *j.live)};
    struct err ignored;
    const uint64_t at = trace_insns(q->study->trace);
    if (!j.live)
        return err_set(err, "no memory");
    int end = rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err);
    if (!end)
        end = (j.locks = locks_find(q->study, err)) &&
                      (j.held = locks_held(j.locks, at, &j.helds, err))
                  ? 0
                  : -1;
    if (!end) {
        j.past = study_past(q->study, at, NULL, &ignored);
        j.lives = j.past ? past_threads(j.past, j.live, LIVE_MOST) : 0;
        j.lives = j.lives < LIVE_MOST ? j.lives : LIVE_MOST;
        end = tell_all(&j, err);
    }
    past_free(j.past);
    free(j.held);
    free(j.live);
    return end;
}
