/* names.c - a hash table of strings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct source_names {
    char **slot; /* open addressing; at most half full */
    size_t slots, count;
};

struct source_names *source_names_new(void)
{
    struct source_names *names = calloc(1, sizeof *names);

    if (!names)
        return NULL;
    names->slots = 1024;
    names->slot = calloc(names->slots, sizeof *names->slot);
    if (!names->slot) {
        free(names);
        return NULL;
    }
    return names;
}

void source_names_free(struct source_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->slots; i++)
        free(names->slot[i]);
    free(names->slot);
    free(names);
}

static uint64_t hash(const char *text)
{
    const uint64_t h = hash_bytes(HASH_BYTES, text, strlen(text));

    return h ^ h >> 29;
}

static char **find(struct source_names *names, const char *text)
{
    size_t i = hash(text) & (names->slots - 1);

    while (names->slot[i] && strcmp(names->slot[i], text) != 0)
        i = (i + 1) & (names->slots - 1);
    return &names->slot[i];
}

static void enlarge(struct source_names *names)
{
    struct source_names larger = {.slots = 2 * names->slots, .count = names->count};

    larger.slot = calloc(larger.slots, sizeof *larger.slot);
    if (!larger.slot)
        abort();
    for (size_t i = 0; i < names->slots; i++)
        if (names->slot[i])
            *find(&larger, names->slot[i]) = names->slot[i];
    free(names->slot);
    *names = larger;
}

const char *source_names_add(struct source_names *names, const char *text)
{
    char **slot = find(names, text);

    if (*slot)
        return *slot;
    if (2 * names->count >= names->slots) {
        enlarge(names);
        slot = find(names, text);
    }
    *slot = strdup(text);
    if (!*slot)
        abort();
    names->count++;
    return *slot;
}

const char *source_names_path(struct source_names *names, const char *path)
{
    char *copy = malloc(strlen(path) + 1), *to = copy;

    if (!copy)
        abort();
    for (const char *p = path; *p;) {
        bool boundary = p == path || p[-1] == '/';
        if (boundary && p[0] == '.' && p[1] == '/' && p[2])
            p += 2;
        else if (boundary && p != path && p[0] == '/')
            p++;
        else
            *to++ = *p++;
    }
    *to = 0;
    const char *name = source_names_add(names, copy);
    free(copy);
    return name;
}
