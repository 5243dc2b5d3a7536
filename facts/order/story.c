/* story.c - a race in words. SPDX-License-Identifier: MIT */
#include "facts/order/story.h"

#include <inttypes.h>
#include <stdio.h>

#include "facts/order/around.h"
#include "source/access.h"

enum { VALUE_MOST = 80 };

bool story_name(struct study *s, const struct races_side *side, char name[STORY_NAME],
                struct source_type *type)
{
    struct source_frame frame = {.cfa = side->cfa};
    *type = (struct source_type){.class = TYPE_NONE};
    return source_variable_typed(s->source, side->pc, &frame, side->addr, side->bytes, name,
                                 STORY_NAME, type) ||
           (!side->by_kernel &&
            source_access(s->source, side->pc, side->bytes, name, STORY_NAME, type));
}

/* As one of the two accesses has it. */
static void name_either(struct study *s, const struct races_side *a, const struct races_side *b,
                        char name[STORY_NAME])
{
    struct source_type type;
    if (!story_name(s, a, name, &type) && !story_name(s, b, name, &type))
        snprintf(name, STORY_NAME, "0x%" PRIx64, a->addr);
}

void story_variable(struct study *s, const struct races_pair *p, char name[STORY_NAME])
{
    name_either(s, &p->then, &p->first, name);
}

/* As the type says that some access knows. */
static void write_value(struct study *s, const struct races_around *a, unsigned i,
                        char text[VALUE_MOST])
{
    struct source_type type = {.class = TYPE_NONE};
    char unused[STORY_NAME];
    const struct races_side *side = &a->side[i];
    for (unsigned k = 0; k < a->sides && type.class == TYPE_NONE; k++)
        if (a->side[k].addr == side->addr)
            story_name(s, &a->side[k], unused, &type);
    source_value_write(&type, &side->value, side->bytes, text, VALUE_MOST);
}

void story_tell(struct study *s, const struct races_pair *p, char text[STORY_TEXT])
{
    const struct races_around *a = &p->around;
    char line[PATTERN_ACCESSES][STORY_NAME], value[PATTERN_ACCESSES][VALUE_MOST];
    char variable[STORY_NAME], other[STORY_NAME];
    struct around_words words = {.variable = variable, .other = other};
    *text = 0;
    if (!a->pattern)
        return;
    name_either(s, &a->side[1], &a->side[0], variable);
    name_either(s, &a->side[a->sides - 1], &a->side[a->sides - 2], other);
    for (unsigned i = 0; i < a->sides; i++) {
        const struct races_side *side = &a->side[i];
        study_place(s, side->line_pc ? side->line_pc : side->pc, line[i], sizeof line[i]);
        words.line[i] = line[i];
        if (side->known) {
            write_value(s, a, i, value[i]);
            words.value[i] = value[i];
        }
    }
    around_pattern(a, text, STORY_TEXT, &words);
}
