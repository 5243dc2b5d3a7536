/* threads.c - threads and their ids.
 *
 * SPDX-License-Identifier: MIT
 *
 * An id is the thread's number, `2`, or with GDB's multiprocess extension `pPID.2`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "debug/gdbstub/server_private.h"

int32_t threads_pid(struct server *s)
{
    struct debuggee_program program;

    debuggee_program(&s->debuggee, &program);
    return program.pid;
}

void threads_format(struct server *s, struct reply *out, uint32_t thread)
{
    if (s->multiprocess)
        reply_addf(out, "p%x.", (unsigned)threads_pid(s));
    reply_addf(out, "%x", thread);
}

/* A number or -1. */
static bool parse_number(struct args *args, int64_t *number)
{
    uint64_t n;

    if (args_word(args, "-1")) {
        *number = -1;
        return true;
    }
    if (!args_hex(args, &n) || n > UINT32_MAX)
        return false;
    *number = (int64_t)n;
    return true;
}

bool threads_parse(struct server *s, struct args *args, int64_t *thread)
{
    int64_t pid;

    if (!args_take(args, 'p'))
        return parse_number(args, thread);
    if (!parse_number(args, &pid) || (pid > 0 && pid != threads_pid(s)))
        return false;
    *thread = -1;
    return !args_take(args, '.') || parse_number(args, thread);
}

/* Until it gets one of its own, a thread has its program's name. */
static void fill_names(struct server *s, struct program_thread *list, size_t count)
{
    struct debuggee_program program;

    debuggee_program(&s->debuggee, &program);
    const char *slash = strrchr(program.path, '/');
    for (size_t i = 0; i < count; i++)
        if (!list[i].name[0])
            snprintf(list[i].name, sizeof list[i].name, "%.15s", slash ? slash + 1 : program.path);
}

struct program_thread *threads_list(struct server *s, size_t *count)
{
    struct program_thread *list = NULL;
    size_t room = 0;

    *count = 64;
    while (array_reserve(&list, &room, *count) == 0) {
        *count = debuggee_threads(&s->debuggee, list, room);
        if (*count <= room) {
            fill_names(s, list, *count);
            return list;
        }
    }
    free(list);
    *count = 0;
    return NULL;
}

static bool find_thread(struct server *s, uint32_t number, struct program_thread *out)
{
    size_t count;
    struct program_thread *list = threads_list(s, &count);
    bool found = false;

    for (size_t i = 0; i < count && !found; i++)
        if (list[i].number == number) {
            *out = list[i];
            found = true;
        }
    free(list);
    return found;
}

/* ---- packets ---- */

/* Hg and Hc: whom registers, and steps, are about. */
void threads_select(struct server *s, struct args *args)
{
    bool general = args_take(args, 'g');
    struct program_thread found;
    int64_t thread;

    if (!general && !args_take(args, 'c'))
        return;
    if (general)
        forks_select(s, args);
    if (!threads_parse(s, args, &thread) || !args_empty(args) ||
        (thread > 0 && !find_thread(s, (uint32_t)thread, &found))) {
        server_refuse(s);
        return;
    }
    if (!general)
        s->resumed = thread > 0 ? (uint32_t)thread : 0;
    else if (thread > 0)
        s->general = (uint32_t)thread;
    server_ok(s);
}

/* GDB's `thread N` asks this, and perhaps nothing else, since it may know all of the thread. A step
 * back names none. */
void threads_alive(struct server *s, struct args *args)
{
    struct program_thread found;
    int64_t thread;

    if (s->alive && threads_parse(s, args, &thread) && thread > 0 &&
        find_thread(s, (uint32_t)thread, &found)) {
        s->selected = (uint32_t)thread;
        server_ok(s);
    } else {
        server_refuse(s);
    }
}

bool threads_user_selects(struct server *s, uint64_t number)
{
    struct program_thread found;

    if (number > UINT32_MAX || !find_thread(s, (uint32_t)number, &found))
        return false;
    s->selected = (uint32_t)number;
    return true;
}

void threads_current(struct server *s, struct args *args)
{
    (void)args;
    if (!s->alive)
        return;
    reply_text(&s->reply, "QC");
    threads_format(s, &s->reply, s->general ? s->general : s->stop.at.thread);
}

void threads_first(struct server *s, struct args *args)
{
    size_t count = 0;
    struct program_thread *list = s->alive ? threads_list(s, &count) : NULL;

    (void)args;
    if (!count)
        reply_text(&s->reply, "l");
    for (size_t i = 0; i < count; i++) {
        reply_text(&s->reply, i ? "," : "m");
        threads_format(s, &s->reply, list[i].number);
    }
    free(list);
}

/* The first answer had them all. */
void threads_next(struct server *s, struct args *args)
{
    (void)args;
    reply_text(&s->reply, "l");
}

static void describe(const struct program_thread *thread, struct reply *out)
{
    if (thread->tid)
        reply_addf(out, "tid %d", thread->tid);
    else
        reply_text(out, "not yet begun");
}

void threads_extra(struct server *s, struct args *args)
{
    struct program_thread found;
    struct reply text = {0};
    int64_t thread;

    if (!threads_parse(s, args, &thread) || thread <= 0 ||
        !find_thread(s, (uint32_t)thread, &found)) {
        server_refuse(s);
        return;
    }
    reply_addf(&text, "%.16s, ", found.name);
    describe(&found, &text);
    reply_hex(&s->reply, text.data, text.bytes);
    reply_deinit(&text);
}

void threads_xml(struct server *s, struct reply *out)
{
    size_t count = 0;
    struct program_thread *list = s->alive ? threads_list(s, &count) : NULL;
    char name[sizeof list->name + 1];

    forks_end_step(s);
    s->seen = true; /* that is what GDB asks for then */
    reply_text(out, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (size_t i = 0; i < count; i++) {
        reply_text(out, "<thread id=\"");
        threads_format(s, out, list[i].number);
        snprintf(name, sizeof name, "%.16s", list[i].name);
        if (name[0]) {
            reply_text(out, "\" name=\"");
            reply_xml(out, name);
        }
        reply_text(out, "\">");
        describe(&list[i], out);
        reply_text(out, "</thread>\n");
    }
    reply_text(out, "</threads>\n");
    free(list);
}
