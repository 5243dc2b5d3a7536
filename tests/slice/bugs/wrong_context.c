/* wrong_context.c - a callback is registered with the context of another one, and is called much
 * later.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counter {
    long count;
    char unit[8];
};

struct logger {
    char *lines[16];
    int used;
};

struct hook {
    const char *event;
    void (*call)(void *, const char *);
    void *context;
};

static struct {
    struct counter in, out;
    struct logger errors;
} app = {.in = {0, "bytes"}, .out = {0, "bytes"}};
static struct hook hooks[8];
static int hook_count;

static void on(const char *event, void (*call)(void *, const char *), void *context)
{
    hooks[hook_count++] = (struct hook){event, call, context};
}

static void count_it(void *context, const char *text)
{
    struct counter *c = context;
    c->count += (long)strlen(text);
}

static void log_it(void *context, const char *text)
{
    struct logger *l = context;
    free(l->lines[l->used % 16]);
    l->lines[l->used++ % 16] = strdup(text);
}

static void set_up(struct counter *in, struct counter *out, struct logger *errors)
{
    on("in", count_it, in);
    on("out", count_it, out);
#ifdef FIXED
    on("error", log_it, errors);
#else
    (void)errors;
    on("error", log_it, out); /* ROOT CAUSE */
#endif
}

static void emit(const char *event, const char *text)
{
    for (int i = 0; i < hook_count; i++)
        if (strcmp(hooks[i].event, event) == 0)
            hooks[i].call(hooks[i].context, text);
}

int main(void)
{
    set_up(&app.in, &app.out, &app.errors);
    for (int i = 0; i < 30; i++) {
        emit("in", "a request");
        emit("out", "the answer to it");
    }
    emit("error", "no such file");
    printf("%ld in, %ld out, %d errors\n", app.in.count, app.out.count, app.errors.used);
    return 0;
}
