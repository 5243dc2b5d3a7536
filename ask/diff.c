/* diff.c - `ask diff`: where two recordings of one program took different ways.
 *
 * SPDX-License-Identifier: MIT
 *
 * Parts (facts/diff/diff.h) whose branch the first recording's failure depends on come first, then
 * the others, each in the order of the first recording.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/location.h"
#include "facts/diff/diff.h"
#include "facts/heap/heap.h"
#include "slicer/criterion/criterion.h"
#include "source/access.h"

enum { AT, OTHER, PLACE, KIND, WHAT, HERE, THERE, INSNS, OTHER_INSNS, TIMES, DEPTH, SLICE };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},
    [OTHER] = {"other_at", ROWS_POSITION},
    [PLACE] = {"place", ROWS_PLACE},
    [KIND] = {"kind", ROWS_TEXT},
    [WHAT] = {"what", ROWS_TEXT},
    [HERE] = {"here", ROWS_TEXT},
    [THERE] = {"other", ROWS_TEXT},
    [INSNS] = {"insns", ROWS_NUMBER},
    [OTHER_INSNS] = {"other_insns", ROWS_NUMBER},
    [TIMES] = {"times", ROWS_NUMBER},
    [DEPTH] = {"depth", ROWS_NUMBER},
    [SLICE] = {"slice", ROWS_FLAG},
};

struct job {
    struct asking *q;
    struct diff diff;
    struct slice *slice; /* of the failure; NULL: there is none */
};

/* What the failure of the first recording depends on, if it failed. */
static int find_slice(struct job *j, struct err *err)
{
    struct study *s = j->q->study;
    struct criterion_options o = {.text = NULL};
    struct criterion c = {.want = NULL};
    struct err why = {.code = 0};
    if (criterion_find(s, &o, &c, &why))
        return 0; /* it ended well */
    struct slice_options so = {.edges = SLICE_ALL};
    j->slice = slice_backward(s->index, c.want, c.wants, &so, err);
    criterion_deinit(&c);
    return j->slice ? 0 : -1;
}

static bool is_in_slice(const struct job *j, const struct diff_part *p)
{
    return j->slice && p->side[0].at.thread && slice_has(j->slice, p->side[0].insn);
}

static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Where one of them went; of two on one line the address tells which. */
static void tell_way(struct job *j, const struct diff_part *p, gaddr pc, int side)
{
    struct source_line line, other, home;
    const struct diff_side *s = &p->side[side];
    const unsigned column = side ? THERE : HERE;
    const char *end = s->ended ? ", to its end" : "";
    if (!s->to) {
        rows_text(j->q->rows, column, "ended");
        return;
    }
    source_line(j->q->study->source, pc, &home);
    source_line(j->q->study->source, s->to, &line);
    source_line(j->q->study->source, p->side[!side].to, &other);
    if (line.line && line.file != home.file)
        rows_printf(j->q->rows, column, "to %s:%" PRIu32 "%s", file_name(line.file), line.line,
                    end);
    else if (line.line && (line.line != other.line || !p->side[!side].to))
        rows_printf(j->q->rows, column, "to line %" PRIu32 "%s", line.line, end);
    else
        rows_printf(j->q->rows, column, "to 0x%" PRIx64 "%s", s->to, end);
}

static void tell_ways(struct job *j, const struct diff_part *p, gaddr pc)
{
    struct rows *r = j->q->rows;
    struct source_line line;
    const char *text = NULL;
    if (source_line(j->q->study->source, pc, &line) && line.file)
        text = source_text(j->q->study->source, line.file, line.line);
    rows_text(r, WHAT, text ? text + strspn(text, " \t") : NULL);
    for (int i = 0; i < 2; i++)
        tell_way(j, p, pc, i);
    rows_number(r, INSNS, p->side[0].insns);
    rows_number(r, OTHER_INSNS, p->side[1].insns);
}

/* " (block #3+8)": as `ask heap` of that recording numbers them; else nothing. */
static int write_block(struct study *s, gaddr addr, uint64_t insn, char *buf, size_t room,
                       struct err *err)
{
    const struct heap *h = heap_of(s, NULL, err);
    if (!h)
        return -1;
    uint32_t block = heap_find(h, addr, insn, true);
    buf[0] = 0;
    if (block != HEAP_NONE)
        snprintf(buf, room, " (block #%" PRIu32 "+%" PRIu64 ")", block + 1,
                 addr - h->block[block].start);
    return 0;
}

/* The variable that was read, and its values. */
static int tell_values(struct job *j, const struct diff_part *p, struct err *err)
{
    struct source_type type = {0};
    struct source_frame frame = {.cfa = p->side[0].cfa};
    struct study *const study[] = {j->q->study, j->q->other};
    char text[LOCATION_TEXT], block[64] = "";
    if (source_variable_typed(study[0]->source, p->branch, &frame, p->side[0].addr, p->bytes, text,
                              sizeof text, &type))
        rows_text(j->q->rows, WHAT, text);
    else if (write_block(study[0], p->side[0].addr, p->side[0].insn, block, sizeof block, err))
        return -1;
    else if (source_access(study[0]->source, p->branch, p->bytes, text, sizeof text, &type))
        rows_printf(j->q->rows, WHAT, "%s%s", text, block);
    else
        rows_printf(j->q->rows, WHAT, "%u byte%s at 0x%" PRIx64 "%s", p->bytes,
                    p->bytes == 1 ? "" : "s", p->side[0].addr, block);
    for (int i = 0; i < 2; i++) {
        const struct diff_side *s = &p->side[i];
        block[0] = 0;
        if (p->bytes == 8 && write_block(study[i], s->value, s->insn, block, sizeof block, err))
            return -1;
        source_value_write(&type, &s->value, p->bytes, text, sizeof text);
        rows_printf(j->q->rows, i ? THERE : HERE, "%s%s", text, block);
    }
    return 0;
}

static int tell(struct job *j, const struct diff_part *p, bool in_slice, struct err *err)
{
    struct rows *r = j->q->rows;
    gaddr pc = p->branch ? p->branch : p->side[0].to ? p->side[0].to : p->side[1].to;
    if (p->side[0].at.thread)
        rows_position(r, AT, &p->side[0].at, p->side[0].insn);
    else
        rows_thread(r, trace_thread(j->q->study->trace, p->side[0].thread));
    if (p->side[1].at.thread)
        rows_position(r, OTHER, &p->side[1].at, p->side[1].insn);
    location_place(j->q, PLACE, pc);
    rows_text(r, KIND, p->kind == DIFF_VALUE ? "value" : "way");
    if (p->kind == DIFF_VALUE && tell_values(j, p, err))
        return -1;
    if (p->kind == DIFF_WAY)
        tell_ways(j, p, pc);
    rows_number(r, TIMES, p->times);
    rows_number(r, DEPTH, p->depth);
    rows_flag(r, SLICE, in_slice);
    return rows_end(r, err);
}

static int by_moment(const void *a, const void *b)
{
    const struct diff_part *x = a, *y = b;
    return x->side[0].insn < y->side[0].insn ? -1 : x->side[0].insn > y->side[0].insn;
}

static void tell_notes(struct job *j)
{
    static const char *const name[] = {"first", "second"};
    const struct diff *d = &j->diff;
    struct rows *r = j->q->rows;
    for (int i = 0; i < 2; i++) {
        if (d->alone[i])
            rows_note(r, "%" PRIu32 " thread%s of the %s recording %s no match", d->alone[i],
                      d->alone[i] == 1 ? "" : "s", name[i], d->alone[i] == 1 ? "has" : "have");
        if (d->cut[i])
            rows_note(r, "only the first %d stretches of code of the %s recording were compared",
                      PATHS_MOST, name[i]);
        if (d->cut_values[i])
            rows_note(r, "values were compared in the first %d stretches of the %s recording only",
                      PATHS_MOMENTS, name[i]);
    }
    if (d->lost)
        rows_note(r, "the values of %" PRIu32 " thread%s could not be followed to the end", d->lost,
                  d->lost == 1 ? "" : "s");
    if (!d->parts && !d->alone[0] && !d->alone[1])
        rows_note(r,
                  "no difference in own code: %" PRIu64 " stretches, %" PRIu64
                  " values; libraries are not compared",
                  d->together, d->values);
}

static int tell_all(struct job *j, struct err *err)
{
    const struct diff *d = &j->diff;
    int end = 0;
    if (d->parts)
        qsort(d->part, d->parts, sizeof *d->part, by_moment);
    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < d->parts && !end; i++)
            if (is_in_slice(j, &d->part[i]) == (wanted != 0))
                end = tell(j, &d->part[i], wanted != 0, err);
    if (end < 0)
        return -1;
    tell_notes(j);
    return end;
}

int ask_diff(struct asking *q, struct err *err)
{
    struct job j = {.q = q};
    if (rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    int end = diff_make(q->study, q->other, &j.diff, err);
    if (!end && j.diff.parts)
        end = find_slice(&j, err);
    if (!end)
        end = tell_all(&j, err);
    slice_free(j.slice);
    diff_deinit(&j.diff);
    return end;
}
