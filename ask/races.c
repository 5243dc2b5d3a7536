/* races.c - all races, each pair of lines once. SPDX-License-Identifier: MIT */
#include "facts/order/races.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ask/location.h"
#include "ask/wording.h"
#include "facts/order/around.h"

enum { NAME = 256, SENTENCE = 1024 };

enum { RACE, KIND, WHAT, FIRST, FIRST_PLACE, THEN, THEN_PLACE, INSTANCES, PATTERN, STORY };
static const struct rows_column columns[] = {
    [RACE] = {"race", ROWS_TEXT},
    [KIND] = {"kind", ROWS_TEXT},
    [WHAT] = {"what", ROWS_TEXT},
    [FIRST] = {"first", ROWS_POSITION},
    [FIRST_PLACE] = {"first_place", ROWS_PLACE},
    [THEN] = {"then", ROWS_POSITION},
    [THEN_PLACE] = {"then_place", ROWS_PLACE},
    [INSTANCES] = {"instances", ROWS_NUMBER},
    [PATTERN] = {"pattern", ROWS_TEXT},
    [STORY] = {"story", ROWS_TEXT},
};

static bool name_from(struct study *s, const struct races_pair *p, const struct races_side *side,
                      char name[NAME])
{
    struct source_frame frame = {.cfa = side->cfa};
    return source_variable(s->source, side->pc, &frame, p->addr, p->bytes, name, NAME);
}

static void name_of(struct study *s, const struct races_pair *p, char name[NAME])
{
    if (!name_from(s, p, &p->then, name) && !name_from(s, p, &p->first, name))
        snprintf(name, NAME, "0x%" PRIx64, p->addr);
}

/* The kind of the first instance first. */
static void tell_kinds(struct rows *r, const struct races_pair *p)
{
    char text[64];
    snprintf(text, sizeof text, "%s", races_kind_name(p->kind));
    for (unsigned k = RACES_WRITE_WRITE; k <= RACES_READ_WRITE; k <<= 1)
        if ((p->kinds & k) && k != (unsigned)p->kind) {
            size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, ", %s", races_kind_name((enum races_kind)k));
        }
    rows_text(r, KIND, text);
}

static void tell_pattern(struct asking *q, const struct races_around *a, const char *variable)
{
    char line[PATTERN_ACCESSES][NAME], sentence[SENTENCE];
    struct around_words words = {.variable = variable};
    for (unsigned i = 0; i < a->sides; i++) {
        const struct races_side *s = &a->side[i];
        wording_line(q->study, s->line_pc ? s->line_pc : s->pc, line[i], sizeof line[i]);
        words.line[i] = line[i];
    }
    rows_text(q->rows, PATTERN, pattern_name(around_pattern(a, sentence, sizeof sentence, &words)));
    rows_text(q->rows, STORY, sentence);
}

static int tell(struct asking *q, const struct races_pair *p, struct err *err)
{
    struct rows *r = q->rows;
    char name[NAME];
    name_of(q->study, p, name);
    rows_text(r, RACE, p->unlocked ? "no common lock" : race_name(p->race));
    tell_kinds(r, p);
    rows_text(r, WHAT, name);
    rows_position(r, FIRST, &p->first.at, p->first.insn);
    location_place(q, FIRST_PLACE, p->first.line_pc ? p->first.line_pc : p->first.pc);
    rows_position(r, THEN, &p->then.at, p->then.insn);
    location_place(q, THEN_PLACE, p->then.line_pc ? p->then.line_pc : p->then.pc);
    rows_number(r, INSTANCES, p->instances);
    if (p->around.pattern)
        tell_pattern(q, &p->around, name);
    return rows_end(r, err);
}

int ask_races(struct asking *q, struct err *err)
{
    if (rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    const struct races *list = races_find(q->study, q->given->locksets, err);
    int end = list ? 0 : -1;
    /* What is certain, and then what may be meant to be so. */
    for (int race = RACE_CERTAIN; !end && race >= RACE_MAYBE; race--)
        for (size_t i = 0; !end && i < list->pairs; i++)
            if (list->pair[i].race == (enum race)race)
                end = tell(q, &list->pair[i], err);
    return end;
}
