/* stale_config.c - a worker keeps its own copy of the settings, and a reload changes the original.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    int columns, tab;
    char name[16];
};

struct worker {
    struct settings settings;
    int lines, used;
    char *row;
};

static struct settings global;
static struct worker pool[3];

static void parse(struct settings *s, const char *text)
{
    char *save = NULL, *copy = strdup(text);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        sscanf(word, "columns=%d", &s->columns);
        sscanf(word, "tab=%d", &s->tab);
        sscanf(word, "name=%15s", s->name);
    }
    free(copy);
}

static void start(struct worker *w)
{
    w->settings = global; /* ROOT CAUSE */
    w->row = calloc(1, (size_t)w->settings.columns + 1);
}

static void reload(const char *text)
{
    parse(&global, text);
    for (int i = 0; i < 3; i++) {
        pool[i].row = realloc(pool[i].row, (size_t)global.columns + 1);
#ifdef FIXED
        pool[i].settings = global;
#else
        pool[i].settings.tab = global.tab; /* ROOT CAUSE */
#endif
    }
}

static void put(struct worker *w, char c)
{
    if (c == '\n' || w->used == w->settings.columns) {
        w->row[w->used] = 0;
        w->used = 0;
        w->lines++;
        if (c == '\n')
            return;
    }
    w->row[w->used++] = c;
}

static void format(struct worker *w, const char *text)
{
    for (; *text; text++)
        if (*text == '\t')
            do
                put(w, ' ');
            while (w->used % w->settings.tab);
        else
            put(w, *text);
    put(w, '\n');
}

int main(void)
{
    static const char *const text =
        "one\ttwo\tthree\tfour\tfive\tsix\tseven\teight\tnine\tten\televen\ttwelve";
    parse(&global, "columns=120 tab=8 name=first");
    for (int i = 0; i < 3; i++)
        start(&pool[i]);
    for (int i = 0; i < 6; i++)
        format(&pool[i % 3], text);
    reload("columns=24 tab=4");
    for (int i = 0; i < 6; i++)
        format(&pool[i % 3], text);
    int lines = 0;
    for (int i = 0; i < 3; i++) {
        lines += pool[i].lines;
        free(pool[i].row);
    }
    printf("%d lines\n", lines);
    assert(lines == 30);
    return 0;
}
