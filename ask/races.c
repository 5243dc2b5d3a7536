/* races.c - all races, each pair of lines once. SPDX-License-Identifier: MIT */
#include "facts/order/races.h"

#include <stdio.h>
#include <string.h>

#include "ask/location.h"
#include "facts/order/story.h"

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

static int tell(struct asking *q, const struct races_pair *p, struct err *err)
{
    struct rows *r = q->rows;
    char name[STORY_NAME], story[STORY_TEXT];
    story_variable(q->study, p, name);
    rows_text(r, RACE, p->unlocked ? "no common lock" : race_name(p->race));
    tell_kinds(r, p);
    rows_text(r, WHAT, name);
    rows_position(r, FIRST, &p->first.at, p->first.insn);
    location_place(q, FIRST_PLACE, p->first.line_pc ? p->first.line_pc : p->first.pc);
    rows_position(r, THEN, &p->then.at, p->then.insn);
    rows_also(r, p->then.at.thread);
    location_place(q, THEN_PLACE, p->then.line_pc ? p->then.line_pc : p->then.pc);
    rows_number(r, INSTANCES, p->instances);
    if (p->around.pattern) {
        story_tell(q->study, p, story);
        rows_text(r, PATTERN, pattern_name(p->around.pattern));
        rows_text(r, STORY, story);
    }
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
