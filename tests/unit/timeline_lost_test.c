/* timeline_lost_test.c - a timeline whose processes end at the worst moments.
 *
 * SPDX-License-Identifier: MIT
 *
 * The replaying processes are made up: a program of one thread that becomes another one halfway. A
 * walk in both directions is made once undisturbed; then again and again, and each time another one
 * of the copies, or of the runs, fails since a process has ended. It must lead to the same places.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "replayer/timeline.h"
#include "replayer/timeline_divert.h"
#include "replayer/timeline_private.h"
#include "tests/unit/unit.h"

enum { EXEC = 20, END = 60, BREAK_EVERY = 7, TICKS = 5000, CODE = 0x1000 };

struct replay {
    unsigned step;
    bool gone, breaks;
    struct mailbox_stop stop;
    struct mailbox_moment trail[MAILBOX_TRAIL];
    size_t trail_count;
};

/* What goes wrong: the n-th time; 0: never. */
enum loss { LOSE_COPY, LOSE_BOTH, LOSE_RUN, LOSSES };
static struct {
    enum loss loss;
    unsigned at, count, messages;
    int alive;
} world;

static bool is_lost(enum loss a, enum loss b)
{
    return (world.loss == a || world.loss == b) && ++world.count == world.at;
}

static int gone(struct err *err)
{
    err_set(err, "the replaying process ended by signal 9");
    err->code = REPLAY_GONE;
    return -1;
}

/* ---- processes ---- */

static struct mailbox_moment moment(unsigned step)
{
    return (struct mailbox_moment){step / 3, step, CODE + step, 1, STAGE_BEFORE};
}

static struct mailbox_what what(uint32_t reason, unsigned step)
{
    return (struct mailbox_what){
        .reason = reason, .at = moment(step), .ticks = (uint64_t)step * TICKS};
}

static struct replay *make(const struct replay *from)
{
    struct replay *r = calloc(1, sizeof *r);
    assert_non_null(r);
    if (from)
        *r = *from;
    else
        r->stop.what = what(STOP_BEGIN, 0);
    world.alive++;
    return r;
}

struct replay *replay_new(struct pinball *pinball, const struct replay_options *options,
                          struct err *err)
{
    (void)pinball, (void)options, (void)err;
    return make(NULL);
}

void replay_free(struct replay *r)
{
    world.alive -= r != NULL;
    free(r);
}

struct replay *replay_copy(struct replay *from, struct err *err)
{
    if (is_lost(LOSE_COPY, LOSE_BOTH)) {
        from->gone |= world.loss == LOSE_BOTH;
        gone(err);
        return NULL;
    }
    if (from->gone) {
        gone(err);
        return NULL;
    }
    return make(from);
}

static bool is_goal(const struct mailbox_moment *goal, unsigned step)
{
    return goal->thread && step >= goal->count && (!goal->pc || step == goal->count);
}

/* Why it stops where it is, before or behind an instruction; 0: it goes on. */
static uint32_t reason_here(struct replay *r, const struct mailbox_run *how, bool moved)
{
    if (is_goal(&how->goal, r->step))
        return STOP_POSITION;
    if (how->pause_ticks && (uint64_t)r->step * TICKS >= how->pause_ticks)
        return STOP_PAUSED;
    const bool scan = how->flags & RUN_SCAN; /* what is where it begins counts, too */
    if ((moved || scan) && r->breaks && r->step % BREAK_EVERY == 0) {
        if (!scan)
            return STOP_BREAK;
        r->stop.hit = what(STOP_BREAK, r->step);
    }
    if (moved && how->step_thread && !scan)
        return STOP_STEP;
    return r->step == END ? STOP_END : r->step == EXEC ? STOP_EXEC : 0;
}

int replay_go(struct replay *r, const struct mailbox_run *how, struct err *err)
{
    if (is_lost(LOSE_RUN, LOSE_RUN)) {
        r->gone = true;
        r->step++; /* it was on its way */
    }
    if (r->gone)
        return gone(err);
    if (!(how->flags & RUN_ON)) {
        r->stop.hit = (struct mailbox_what){0};
        r->trail_count = 0;
    }
    uint32_t reason = reason_here(r, how, false);
    while (!reason) {
        assert_true(r->trail_count < MAILBOX_TRAIL);
        r->trail[r->trail_count++] = moment(r->step);
        r->step++;
        reason = reason_here(r, how, true);
    }
    r->stop.what = what(reason, r->step);
    r->stop.end = reason == STOP_END;
    return 0;
}

const struct mailbox_stop *replay_stopped(const struct replay *r)
{
    return &r->stop;
}

int replay_exec(struct replay *r, struct err *err)
{
    if (r->gone)
        return gone(err);
    r->step++;
    r->stop.what = what(STOP_BEGIN, r->step);
    return 0;
}

int replay_failure(struct replay *r, struct err *err)
{
    return r->gone ? gone(err) : 0;
}

int replay_trail(struct replay *r, struct mailbox_moment *out, size_t *count, struct err *err)
{
    memcpy(out, r->trail, r->trail_count * sizeof *out);
    *count = r->trail_count;
    return r->gone ? gone(err) : 0;
}

int replay_thread_state(struct replay *r, uint32_t thread, struct program_registers *registers,
                        int *state, struct err *err)
{
    (void)thread;
    memset(registers, 0, sizeof *registers);
    registers->count = r->step;
    registers->rip = CODE + r->step;
    *state = 0;
    return r->gone ? gone(err) : 0;
}

int replay_registers(struct replay *r, uint32_t thread, struct program_registers *registers,
                     struct err *err)
{
    int state;
    return replay_thread_state(r, thread, registers, &state, err);
}

pid_t replay_pid(const struct replay *r)
{
    (void)r;
    return 0;
}

bool replay_gone(struct replay *r)
{
    return r->gone;
}

/* ---- what else a timeline has ---- */

int stoplist_set(struct stoplist *l, const struct debuggee_stops *stops, struct err *err)
{
    (void)err;
    l->count = stops->break_count;
    l->serial++;
    return 0;
}

int replay_set_stops(struct replay *to, const void *stops, size_t bytes, struct err *err)
{
    (void)stops;
    to->breaks = bytes > 0;
    return to->gone ? gone(err) : 0;
}

int stoplist_copy(struct stoplist *to, const struct stoplist *from, struct err *err)
{
    (void)err;
    to->count = from->count;
    to->serial++;
    return 0;
}

void stoplist_deinit(struct stoplist *l)
{
    (void)l;
}

int programs_note(struct programs *p, unsigned number, struct replay *replay,
                  struct pinball *pinball, struct err *err)
{
    (void)p, (void)number, (void)pinball;
    return replay->gone ? gone(err) : 0;
}

void programs_get(const struct programs *p, unsigned number, struct debuggee_program *out)
{
    (void)p, (void)number, (void)out;
}

void programs_deinit(struct programs *p)
{
    (void)p;
}

int bookmarks_read(struct bookmarks *b, const struct pinball *pinball, struct err *err)
{
    (void)b, (void)pinball, (void)err;
    return 0;
}

int bookmarks_add(struct bookmarks *b, struct pinball *pinball, const struct position *at,
                  const char *note, struct err *err)
{
    (void)b, (void)pinball, (void)at, (void)note, (void)err;
    return 0;
}

void bookmarks_deinit(struct bookmarks *b)
{
    (void)b;
}

const char *pinball_note_get(const struct pinball *pinball, const char *key)
{
    (void)pinball, (void)key;
    return NULL;
}

int replay_goal(const struct position *at, struct mailbox_moment *goal, struct err *err)
{
    (void)at, (void)err;
    *goal = (struct mailbox_moment){0};
    return 0;
}

int statements_read(struct pinball *pinball, struct statements *out, struct err *err)
{
    (void)pinball, (void)err;
    *out = (struct statements){0};
    return 0;
}

void statements_deinit(struct statements *s)
{
    (void)s;
}

bool statements_have(const struct statements *s, const struct position *at)
{
    (void)s, (void)at;
    return false;
}

bool statements_hush(const struct statements *s, const struct position *at)
{
    (void)s, (void)at;
    return false;
}

bool statements_get(const struct statements *s, size_t i, struct kept_statement *out)
{
    (void)s, (void)i, (void)out;
    return false;
}

bool statements_begun(const struct statements *s, const struct position *at, size_t *i)
{
    (void)s, (void)at, (void)i;
    return false;
}

bool statements_place(const struct statements *s, size_t i, uint64_t *first, uint64_t *last)
{
    (void)s, (void)i, (void)first, (void)last;
    return false;
}

bool statements_next(const struct statements *s, const struct position *from,
                     const struct position *at, struct kept_statement *out)
{
    (void)s, (void)from, (void)at, (void)out;
    return false;
}

bool statements_before(const struct statements *s, const struct position *at,
                       struct kept_statement *out)
{
    (void)s, (void)at, (void)out;
    return false;
}

void timeline_divert_end(struct timeline *t)
{
    (void)t;
}

/* ---- the walk ---- */

enum { MOVES = 24 };

static int move(struct timeline *t, unsigned i, struct debuggee_stop *stop, struct err *err)
{
    static const char moves[MOVES + 1] = "scccgbbbbibbBcceiiibtbbe";
    const struct position to = {.thread = 1, .count = 33, .pc = CODE + 33};

    switch (moves[i]) {
    case 's':
        return timeline_step(t, 0, 0, 0, stop, err);
    case 'c':
        return timeline_continue(t, stop, err);
    case 'b':
        return timeline_back(t, stop, err);
    case 'i':
        return timeline_step_back(t, 0, stop, err);
    case 'g':
        return timeline_goto(t, &to, stop, err);
    case 't':
        return timeline_goto_ticks(t, 50 * TICKS, stop, err);
    case 'B':
        return timeline_goto_begin(t, stop, err);
    default:
        return timeline_goto_end(t, stop, err);
    }
}

static void count_message(void *arg, const char *line)
{
    (void)arg, (void)line;
    world.messages++;
}

static void walk(enum loss loss, unsigned at, struct debuggee_stop seen[MOVES])
{
    const struct debuggee_break breaks = {.pc = CODE};
    const struct debuggee_stops stops = {.breaks = &breaks, .break_count = 1};
    const struct timeline_options options = {.listener.message = count_message};
    struct err err;

    memset(&world, 0, sizeof world);
    world.loss = loss;
    world.at = at;
    struct timeline *t = timeline_new(NULL, &options, &err);
    assert_non_null(t);
    assert_int_equal(timeline_stops(t, &stops, &err), 0);
    for (unsigned i = 0; i < MOVES; i++)
        if (move(t, i, &seen[i], &err))
            fail_msg("loss %d, %u: move %u: %s", (int)loss, at, i, err.msg);
    timeline_free(t);
    assert_int_equal(world.alive, 0);
}

static void comes_to_the_same_places_whatever_ends(void **state)
{
    struct debuggee_stop plain[MOVES], seen[MOVES];

    (void)state;
    walk(LOSE_COPY, 0, plain);
    assert_int_equal(plain[4].at.count, 33);
    assert_int_equal(plain[5].at.count, 28);
    assert_int_equal(plain[MOVES - 1].why, STOP_END);
    for (enum loss loss = 0; loss < LOSSES; loss++)
        for (unsigned at = 1;; at++) {
            walk(loss, at, seen);
            if (world.count < at) {
                assert_true(at > MOVES); /* there was something to lose */
                break;
            }
            for (unsigned i = 0; i < MOVES; i++)
                if (seen[i].why != plain[i].why || seen[i].at.count != plain[i].at.count)
                    fail_msg("loss %d, %u: move %u: %d at %llu, not %d at %llu", (int)loss, at, i,
                             (int)seen[i].why, (unsigned long long)seen[i].at.count,
                             (int)plain[i].why, (unsigned long long)plain[i].at.count);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_to_the_same_places_whatever_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
