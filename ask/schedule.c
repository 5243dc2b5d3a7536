/* schedule.c - who ran when, and why a turn was over.
 *
 * SPDX-License-Identifier: MIT
 *
 * One thread runs at a time, so that time is the ticks of all threads: a turn begins and ends at
 * such a number. Wall time is known where records of the log have it (pinball/record.h). In between
 * it is taken to pass evenly with ticks, which is why it is shown with `~`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/entries.h"
#include "ask/wall.h"
#include "base/array.h"
#include "debug/events/describer.h"

struct turn {
    struct position at;
    uint64_t from, to; /* ticks of all threads */
    uint64_t number;   /* of the record that it begins with */
};

struct job {
    struct rows *rows;
    struct wall *wall;
    struct describer *describer;
    uint64_t begin;             /* of the recording: of a part of a run it is not 0 */
    uint64_t from, to, buckets; /* a part of it, in ticks; 0 buckets: turns are wanted */
    struct turn now;
    struct turn *list; /* for buckets */
    size_t turns;
    struct position *place; /* by thread: where its last turn ended; thread 0: it had none */
    size_t places;
};

enum { S_AT, S_THREAD, S_FROM, S_TO, S_TICKS, S_TIME, S_NEXT, S_WHY };
static const struct rows_column turn_columns[] = {
    [S_AT] = {"at", ROWS_POSITION},     [S_THREAD] = {"thread", ROWS_NUMBER},
    [S_FROM] = {"from", ROWS_NUMBER},   [S_TO] = {"to", ROWS_NUMBER},
    [S_TICKS] = {"ticks", ROWS_NUMBER}, [S_TIME] = {"time", ROWS_TEXT},
    [S_NEXT] = {"next", ROWS_NUMBER},   [S_WHY] = {"why", ROWS_TEXT},
};

enum { B_BUCKET, B_FROM, B_TO, B_TIME, B_THREAD, B_TICKS, B_SHARE };
static const struct rows_column bucket_columns[] = {
    [B_BUCKET] = {"bucket", ROWS_NUMBER}, [B_FROM] = {"from", ROWS_NUMBER},
    [B_TO] = {"to", ROWS_NUMBER},         [B_TIME] = {"time", ROWS_TEXT},
    [B_THREAD] = {"thread", ROWS_NUMBER}, [B_TICKS] = {"ticks", ROWS_NUMBER},
    [B_SHARE] = {"share", ROWS_TEXT},
};

static void put_time(struct job *j, unsigned column, uint64_t ticks)
{
    uint64_t ns;
    if (wall_at(j->wall, ticks, &ns))
        rows_printf(j->rows, column, "~%" PRIu64 ".%06" PRIu64 " s", ns / 1000000000,
                    ns / 1000 % 1000000);
}

/* ---- turns ---- */

static int end_turn(struct job *j, uint64_t next, const char *why, struct err *err)
{
    const struct turn *t = &j->now;
    if (!t->at.thread || t->to < j->from || t->from > j->to)
        return 0;
    if (j->buckets)
        return array_append(&j->list, &j->turns, *t) ? err_set(err, "no memory") : 0;
    rows_position(j->rows, S_AT, &t->at, t->from);
    rows_number(j->rows, S_THREAD, t->at.thread);
    rows_number(j->rows, S_FROM, t->from);
    rows_number(j->rows, S_TO, t->to);
    rows_number(j->rows, S_TICKS, t->to - t->from);
    put_time(j, S_TIME, t->from);
    if (next)
        rows_number(j->rows, S_NEXT, next);
    rows_text(j->rows, S_WHY, why);
    return rows_end(j->rows, err);
}

/* NULL: no memory. */
static struct position *place_of(struct job *j, uint32_t thread)
{
    while (j->places <= thread)
        if (array_append(&j->place, &j->places, (struct position){0}))
            return NULL;
    return &j->place[thread];
}

static int over(struct job *j, const struct debuggee_event *event, struct err *err)
{
    struct described words;
    const uint32_t next = event->kind == EVENT_SWITCH ? (uint32_t)event->call : 0;
    const struct wall_turn turn = {.first = j->now.number,
                                   .last = event->number + !next,
                                   .count = j->now.at.count,
                                   .ticks = j->now.from};
    struct position *from = place_of(j, event->at.thread), *to = place_of(j, next);
    if (!from || !to)
        return err_set(err, "no memory");
    describer_event(j->describer, event, &words);
    j->now.to = event->ticks;
    if (wall_add(j->wall, &turn, err))
        return -1;
    int end = end_turn(j, next, words.text, err);
    *place_of(j, event->at.thread) = event->at;
    j->now = (struct turn){.from = event->ticks, .number = event->number};
    j->now.at = to->thread ? *to : (struct position){.thread = next};
    return end ? end : event->ticks > j->to;
}

static int tell(void *arg, const struct debuggee_event *event, struct err *err)
{
    struct job *j = arg;
    if (event->kind == EVENT_THREAD && event->at.thread == j->now.at.thread)
        j->now.at = event->at; /* its first turn */
    if (event->kind == EVENT_SWITCH || event->kind == EVENT_END)
        return over(j, event, err);
    describer_follow(j->describer, event);
    return 0;
}

static int begin(void *arg, struct past *past, struct err *err)
{
    struct job *j = arg;
    struct program_registers r;
    if (past_registers(past, 0, &r, err))
        return -1;
    j->now =
        (struct turn){.at = {.thread = r.thread, .count = r.count, .pc = r.rip}, .from = j->begin};
    return 0;
}

/* A recording that was cut off, or given up, ends within a turn. */
static int finish(void *arg, struct past *past, const struct replay_stop *stop, struct err *err)
{
    struct job *j = arg;
    (void)past;
    if (stop->why == STOP_END || !j->now.at.thread)
        return 0;
    j->now.to = stop->ticks;
    return end_turn(j, 0, stop->why == STOP_LOG_END ? "the recording ends" : "", err) < 0 ? -1 : 0;
}

/* ---- buckets ---- */

static int put_bucket(struct job *j, uint64_t bucket, const uint64_t *used, struct err *err)
{
    const uint64_t wide = j->to - j->from;
    const uint64_t from = j->from + (uint64_t)((__uint128_t)wide * bucket / j->buckets);
    const uint64_t to = j->from + (uint64_t)((__uint128_t)wide * (bucket + 1) / j->buckets);
    int end = 0;
    for (size_t thread = 1; !end && thread < j->places; thread++) {
        if (!used[thread])
            continue;
        rows_thread(j->rows, (uint32_t)thread);
        rows_order(j->rows, to ? to - 1 : 0);
        rows_number(j->rows, B_BUCKET, bucket + 1);
        rows_number(j->rows, B_FROM, from);
        rows_number(j->rows, B_TO, to);
        put_time(j, B_TIME, from);
        rows_number(j->rows, B_THREAD, thread);
        rows_number(j->rows, B_TICKS, used[thread]);
        rows_printf(j->rows, B_SHARE, "%.1f%%", 100.0 * (double)used[thread] / (double)(to - from));
        end = rows_end(j->rows, err);
    }
    return end;
}

static int put_buckets(struct job *j, struct err *err)
{
    const uint64_t wide = j->to - j->from;
    uint64_t *used = calloc(j->places + 1, sizeof *used);
    size_t first = 0;
    int end = used ? 0 : err_set(err, "no memory");
    for (uint64_t b = 0; !end && b < j->buckets; b++) {
        const uint64_t from = j->from + (uint64_t)((__uint128_t)wide * b / j->buckets);
        const uint64_t to = j->from + (uint64_t)((__uint128_t)wide * (b + 1) / j->buckets);
        memset(used, 0, sizeof *used * j->places);
        while (first < j->turns && j->list[first].to <= from)
            first++;
        for (size_t i = first; i < j->turns && j->list[i].from < to; i++) {
            const struct turn *t = &j->list[i];
            const uint64_t low = t->from > from ? t->from : from, high = t->to < to ? t->to : to;
            used[t->at.thread] += high > low ? high - low : 0;
        }
        end = put_bucket(j, b, used, err);
    }
    free(used);
    return end;
}

/* ---- the question ---- */

/* A number of ticks, a position, or nothing: then it stays. */
static int parse_end(struct asking *q, const char *text, uint64_t *out, struct err *err)
{
    struct position at;
    char *end;
    if (!*text)
        return 0;
    const uint64_t n = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end) {
        *out = n;
        return 0;
    }
    if (!position_parse(text, &at, err))
        return entries_ticks(q, &at, out, err);
    return err_set_code(err, ASK_USAGE, "%s: neither a position nor a number of ticks", text);
}

static int parse(struct asking *q, struct job *j, struct err *err)
{
    char *word = q->given->words ? strdup(q->given->word[0]) : NULL;
    char *dots = word ? strstr(word, "..") : NULL;
    int bad = 0;
    if (q->given->words && !word)
        return err_set(err, "no memory");
    if (word && !dots)
        bad = err_set_code(err, ASK_USAGE, "%s: not FROM..TO", word);
    if (dots) {
        *dots = 0;
        bad = parse_end(q, word, &j->from, err) || parse_end(q, dots + 2, &j->to, err);
        if (!bad && j->from >= j->to)
            bad = err_set_code(err, ASK_USAGE, "%s..%s: ends before it begins", word, dots + 2);
    }
    free(word);
    return bad ? -1 : 0;
}

static int run(struct asking *q, struct job *j, struct err *err)
{
    const struct entries_options o = {
        .tell = RUN_EVENTS | RUN_SWITCHES, .fn = tell, .begin = begin, .end = finish, .arg = j};
    int end = entries_replay(q, &o, err);
    if (end >= 0 && j->buckets) {
        if (j->turns && j->to > j->list[j->turns - 1].to)
            j->to = j->list[j->turns - 1].to;
        const int enough = j->to > j->from ? put_buckets(j, err) : 0;
        end = enough ? enough : end;
    }
    return end;
}

int ask_schedule(struct asking *q, struct err *err)
{
    struct job j = {.rows = q->rows, .to = UINT64_MAX, .buckets = q->given->buckets};
    const bool buckets = j.buckets;
    j.begin = pinball_end_number(q->study->pinball, "begin_ticks", 0);
    int end = parse(q, &j, err);
    if (j.from < j.begin)
        j.from = j.begin;
    if (!end)
        end = buckets ? rows_begin(q->rows, bucket_columns,
                                   sizeof bucket_columns / sizeof *bucket_columns, err)
                      : rows_begin(q->rows, turn_columns,
                                   sizeof turn_columns / sizeof *turn_columns, err);
    if (!end && !(j.wall = wall_new(q->study->pinball, err)))
        end = -1;
    if (!end && !(j.describer = describer_new()))
        end = err_set(err, "no memory");
    if (!end)
        end = run(q, &j, err);
    describer_free(j.describer);
    wall_free(j.wall);
    free(j.list);
    free(j.place);
    return end;
}
