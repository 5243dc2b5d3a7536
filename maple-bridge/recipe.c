/* recipe.c - what makes one run of a search. SPDX-License-Identifier: MIT */
#include "maple-bridge/recipe.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define TACTIC(name, help) #name,
#include "maple-bridge/tactics.def"
#undef TACTIC
};

const char *recipe_name(enum agenda_tactic tactic)
{
    return tactic < AGENDA_TACTICS ? names[tactic] : "?";
}

static bool has_steps(const struct recipe *r)
{
    return r->tactic == AGENDA_idiom || r->tactic == AGENDA_hold;
}

void recipe_text(const struct recipe *r, char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room, "%s:%" PRIu32, recipe_name(r->tactic), r->depth);
    if (r->tactic == AGENDA_pct)
        n += (size_t)snprintf(out + n, room - n, "/%" PRIu64, r->length);
    n += (size_t)snprintf(out + n, room - n, ":%" PRIu64, r->seed);
    if (r->tactic == AGENDA_surw && n < room)
        n += (size_t)snprintf(out + n, room - n, "/%" PRIu32, r->group);
    for (uint32_t i = 0; r->tactic == AGENDA_rff && i < r->orders && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, ",%u%c%u", r->order[i].write,
                              r->order[i].negated ? '!' : '>', r->order[i].read);
    for (uint32_t i = 0; r->tactic == AGENDA_script && i < r->switches && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, ",%" PRIu32 "@%" PRIu64 ">%" PRIu32,
                              r->script[i].thread, r->script[i].event, r->script[i].next);
    for (uint32_t i = 0; has_steps(r) && i < r->steps && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, ",%u.%u.%u", r->step[i].site, r->step[i].actor,
                              r->step[i].place);
}

/* What follows the seed. Returns where it ends, or NULL. */
static const char *parse_rest(const char *at, struct recipe *r)
{
    unsigned a, b, c;
    unsigned long long event;
    char how;
    int n;
    if (r->tactic == AGENDA_surw && sscanf(at, "/%u%n", &a, &n) == 1) {
        r->group = a < AGENDA_GROUPS ? a : AGENDA_GROUPS - 1;
        at += n;
    }
    while (*at == ',') {
        if (has_steps(r) && r->steps < AGENDA_STEPS &&
            sscanf(at, ",%u.%u.%u%n", &a, &b, &c, &n) == 3 && a < AGENDA_SITES)
            r->step[r->steps++] = (struct agenda_step){(uint16_t)a, (uint8_t)b, (uint8_t)c};
        else if (r->tactic == AGENDA_rff && r->orders < AGENDA_ORDERS &&
                 sscanf(at, ",%u%c%u%n", &a, &how, &b, &n) == 3 && a < AGENDA_SITES &&
                 b < AGENDA_SITES)
            r->order[r->orders++] = (struct agenda_order){(uint16_t)a, (uint16_t)b, how == '!'};
        else if (r->tactic == AGENDA_script && r->switches < RECIPE_SWITCHES &&
                 sscanf(at, ",%u@%llu>%u%n", &a, &event, &b, &n) == 3)
            r->script[r->switches++] = (struct agenda_switch){a, b, event};
        else
            return NULL;
        at += n;
    }
    return at;
}

int recipe_parse(const char *text, struct recipe *out, struct err *err)
{
    char name[16];
    int n = 0, m = 0;
    *out = (struct recipe){.tactic = AGENDA_TACTICS};
    if (sscanf(text, "%15[a-z]:%" SCNu32 "%n", name, &out->depth, &n) == 2)
        for (unsigned i = 0; i < AGENDA_TACTICS; i++)
            if (strcmp(name, names[i]) == 0)
                out->tactic = (enum agenda_tactic)i;
    if (text[n] == '/' && sscanf(text + n, "/%" SCNu64 "%n", &out->length, &m) == 1)
        n += m;
    if (sscanf(text + n, ":%" SCNu64 "%n", &out->seed, &m) == 1)
        n += m;
    else
        out->tactic = AGENDA_TACTICS;
    const char *end = out->tactic < AGENDA_TACTICS ? parse_rest(text + n, out) : NULL;
    if (!end || *end)
        return err_set(err, "'%s' is no recipe: TACTIC:DEPTH:SEED, as in pct:3:17", text);
    return 0;
}

void recipe_tell(const struct recipe *r, struct agenda *agenda)
{
    agenda->magic = AGENDA_MAGIC;
    agenda->pid = 0;
    agenda->tactic = r->tactic;
    agenda->depth = r->depth;
    agenda->group = r->group;
    agenda->seed = r->seed;
    agenda->steps = r->steps;
    agenda->orders = r->orders;
    memcpy(agenda->step, r->step, sizeof agenda->step);
    memcpy(agenda->order, r->order, sizeof agenda->order);
    memcpy(agenda->script, r->script, sizeof r->script);
    memset(&agenda->done, 0, offsetof(struct agenda_done, log));
    agenda->done.trails = 0;
    agenda->switches = r->switches;
}
