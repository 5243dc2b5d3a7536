/* places.c - where functions, lines and probes are in the modules of a program that runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "logger/trigger.h"
#include "pinball/ring.h"
#include "source/functions.h"
#include "source/sdt.h"
#include "source/source.h"

/* A question about one module. */
struct asked {
    struct source *source;
    const struct recording_module *module;
    uint32_t trigger;
    const char *name;
    struct ring_place *out;
    size_t room, count; /* the latter may be more */
};

static void put(struct asked *a, gaddr pc, gaddr semaphore, enum ring_place_kind kind)
{
    if (a->count < a->room)
        a->out[a->count] = (struct ring_place){
            .pc = pc, .semaphore = semaphore, .trigger = a->trigger, .kind = kind};
    a->count++;
}

static int find_function(struct asked *a, struct err *why)
{
    struct functions list = {0};
    if (functions_find(a->source, a->name, &list, why))
        return -1;
    for (size_t i = 0; i < list.count; i++)
        put(a, functions_entered(a->source, &list.at[i]), 0,
            list.at[i].kind == FUNCTIONS_STUB ? PLACE_STUB : PLACE_WHOLE);
    if (functions_chosen(a->source, a->name))
        put(a, 0, 0, PLACE_CHOSEN);
    functions_deinit(&list);
    return 0;
}

/* Like GDB, source_breaks_at() takes the next line with code where a line has none. Another module
 * may have the line itself. */
static bool is_exact(struct asked *a, const struct source_break *b, uint32_t line)
{
    struct source_line at;
    source_line(a->source, b->row ? b->row : b->pc, &at);
    return at.line == line || b->line == line;
}

static int find_line(struct asked *a, struct err *why)
{
    const uint32_t line = (uint32_t)strtoul(strrchr(a->name, ':') + 1, NULL, 10);
    struct source_breaks list = {0};
    if (source_breaks_at(a->source, a->name, &list, why))
        return -1;
    for (size_t i = 0; i < list.count; i++)
        put(a, list.at[i].pc, 0, is_exact(a, &list.at[i], line) ? PLACE_WHOLE : PLACE_NEAR);
    source_breaks_deinit(&list);
    return 0;
}

static bool is_named(const char *wanted, const struct sdt_probe *p)
{
    const size_t n = strlen(p->provider);
    return !strncmp(wanted, p->provider, n) && wanted[n] == ':' && !strcmp(wanted + n + 1, p->name);
}

static int take_probe(void *arg, const struct sdt_probe *p)
{
    struct asked *a = arg;
    if (!is_named(a->name, p))
        return 0;
    const gaddr bias = sdt_bias(a->module->fd, a->module->start, a->module->offset);
    put(a, p->pc + bias, p->semaphore ? p->semaphore + bias : 0, PLACE_WHOLE);
    return 0;
}

/* Those of the same provider, or all, as far as they fit. */
static int similar_probe(void *arg, const struct sdt_probe *p)
{
    char *text = arg;
    char one[200];
    const size_t have = strlen(text);
    snprintf(one, sizeof one, "%s%s:%s", have ? ", " : "", p->provider, p->name);
    if (strstr(text, have ? one + 2 : one))
        return 0;
    if (have + strlen(one) + 1 > 240)
        return 1;
    strcat(text, one);
    return 0;
}

static int find_probe(struct asked *a, struct err *why)
{
    const size_t before = a->count;
    char similar[256] = "";
    sdt_each(a->module->fd, take_probe, a);
    if (a->count > before)
        return 0;
    sdt_each(a->module->fd, similar_probe, similar);
    return err_set_code(why, similar[0] ? 0 : SOURCE_NO_FILE, "no such probe%s%s",
                        similar[0] ? "; there are " : "", similar);
}

/* The program itself comes first, so its answer is the one to tell; but one that knows the file of
 * a line, or has probes, knows better. */
static void keep_cause(struct err *best, const struct err *why)
{
    const bool better = best->code == SOURCE_NO_FILE && why->code != SOURCE_NO_FILE;
    if (!best->msg[0] || better)
        *best = *why;
}

static const char *label(const struct places *p, uint32_t trigger)
{
    return trigger % 2 ? p->to[trigger / 2] : p->from[trigger / 2];
}

size_t places_find(void *arg, const struct recording_module *module, struct ring_place *out,
                   size_t room)
{
    static int (*const find[])(struct asked * a,
                               struct err * why) = {[TRIGGER_FUNCTION] = find_function,
                                                    [TRIGGER_LINE] = find_line,
                                                    [TRIGGER_PROBE] = find_probe};
    struct places *p = arg;
    struct trigger_region region = *p->region;
    char file[64];
    const struct source_mapping mapping = {module->start, module->end, module->offset};
    snprintf(file, sizeof file, "/proc/self/fd/%d", module->fd);
    const struct source_module m = {
        .path = module->path, .file = file, .mapping = &mapping, .mappings = 1};
    struct err err;
    struct asked a = {.source = source_new(), .module = module, .out = out, .room = room};
    if (!a.source || source_add(a.source, &m, &err)) {
        source_free(a.source);
        return 0;
    }
    for (a.trigger = 0; a.trigger < 2 * region.parts; a.trigger++) {
        const struct trigger *t = trigger_of(&region, a.trigger);
        struct err why = {0};
        if (t->kind != TRIGGER_NAME)
            continue;
        a.name = t->text;
        if (find[t->number](&a, &why) == 0)
            p->trigger[a.trigger].found = true;
        else
            keep_cause(&p->trigger[a.trigger].why, &why);
    }
    source_free(a.source);
    return a.count;
}

void places_loaded(void *arg)
{
    struct places *p = arg;
    struct trigger_region region = *p->region;
    for (uint32_t i = 0; i < 2 * region.parts && !p->quiet; i++)
        if (trigger_of(&region, i)->kind == TRIGGER_NAME && !p->trigger[i].found)
            say_error(0, "record: --%s %s: %s; the program goes on, and may load it later",
                      i % 2 ? "to" : "from", label(p, i), p->trigger[i].why.msg);
}
