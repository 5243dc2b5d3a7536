/* describer.c - what a program did, in words. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "debug/events/describer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debug/events/call.h"
#include "debug/events/forms.h"
#include "debug/messages.h"
#include "engine/os/kinds.h"
#include "pinball/end_reason.h"
#include "pinball/marks.h"

/* ---- a call ---- */

struct describer {
    struct descriptors *files;
    struct words text;
    char *path[DESCRIBED_PATHS]; /* the last event's */
};

struct describer *describer_new(void)
{
    struct describer *d = calloc(1, sizeof *d);
    if (d && !(d->files = descriptors_new())) {
        free(d);
        d = NULL;
    }
    return d;
}

static void forget_paths(struct describer *d)
{
    for (int i = 0; i < DESCRIBED_PATHS; i++) {
        free(d->path[i]);
        d->path[i] = NULL;
    }
}

void describer_free(struct describer *d)
{
    if (!d)
        return;
    forget_paths(d);
    descriptors_free(d->files);
    words_deinit(&d->text);
    free(d);
}

enum { ERRORS = 4096, RESTARTED = 512 };

static void put_error(struct words *out, int error)
{
    const char *name = strerrorname_np(error), *what = strerrordesc_np(error);
    if (error == RESTARTED)
        words_add(out, "? ERESTARTSYS (To be restarted if SA_RESTART is set)");
    else if (name && what)
        words_addf(out, "-1 %s (%s)", name, what);
    else
        words_addf(out, "-1 (errno %d)", error);
}

static void put_bits_of_result(struct call *c, const struct form *f)
{
    words_addf(c->out, "%#" PRIx64, (uint64_t)c->result);
    if (!c->result && names_find(f->names, 0) == NULL)
        return;
    words_add(c->out, " (flags ");
    names_put_bits(c->out, f->names, (uint64_t)c->result, "0");
    words_add(c->out, ")");
}

static void put_result(struct call *c, const struct form *f)
{
    const enum result_kind kind = f ? f->result : RESULT_NUMBER;
    if (c->failed) {
        put_error(c->out, c->about->error);
        return;
    }
    switch (kind) {
    case RESULT_ADDRESS:
        words_addf(c->out, "%#" PRIx64, (uint64_t)c->result);
        break;
    case RESULT_OCTAL:
        words_addf(c->out, "%#03o", (unsigned)c->result);
        break;
    case RESULT_NOTHING:
        words_add(c->out, "?");
        break;
    case RESULT_SHOWS:
        put_bits_of_result(c, f);
        break;
    case RESULT_OPENED:
    case RESULT_MAKES:
    case RESULT_COPIES:
        call_put_fd(c, c->result);
        break;
    case RESULT_NUMBER:
    case RESULT_PAIR:
        words_addf(c->out, "%" PRId64, c->result);
        break;
    }
    if (c->after.bytes)
        words_addf(c->out, " (%s)", c->after.data);
}

static void put_arguments(struct call *c, const struct form *f, int count)
{
    const char *between = "";
    for (int i = 0; i < count && !c->cut; i++) {
        const size_t before = c->out->bytes;
        if (f && !f->argument[i].show) {
            if (f->argument[i].none)
                continue;
            break;
        }
        words_add(c->out, between);
        if (f)
            f->argument[i].show(c, i);
        else
            argument_hex(c, i);
        if (c->cut && c->out->bytes == before + strlen(between)) { /* it showed nothing */
            c->out->bytes = before;
            words_add(c->out, i ? ", " : "");
        }
        between = ", ";
    }
}

/* What a descriptor is called that a call has made. */
static const char *made_name(const struct call *c, const struct form *f)
{
    if (f->makes)
        return f->makes;
    return c->about->paths ? c->about->path[c->about->paths - 1] : NULL;
}

/* Does one of its arguments say that what it makes is closed by execve? */
static bool closes_at_exec(const struct call *c, const struct form *f)
{
    for (int i = 0; i < CALL_ARGS; i++) {
        const struct name *n = f->argument[i].show == argument_bits32 ? f->argument[i].names : NULL;
        for (; n && n->text; n++)
            if (strstr(n->text, "CLOEXEC") && (c->arg[i] & n->mask))
                return true;
    }
    return false;
}

static void made(struct describer *d, const struct call *c, const struct form *f, int64_t fd)
{
    descriptors_set(d->files, c->thread, fd, made_name(c, f));
    descriptors_set_cloexec(d->files, c->thread, fd, closes_at_exec(c, f));
}

/* Descriptors that the call made, closed or changed: before its result is shown. */
static void follow(struct describer *d, const struct call *c, const struct form *f, int64_t nr)
{
    const struct call_kind k = kinds_of(nr);
    int32_t pair[2];
    if (c->failed || c->unfinished)
        return;
    if (f && (f->result == RESULT_OPENED || f->result == RESULT_MAKES))
        made(d, c, f, c->result);
    if (f && f->result == RESULT_COPIES) {
        descriptors_copy(d->files, c->thread, (int)c->arg[0], c->result);
        descriptors_set_cloexec(d->files, c->thread, c->result, closes_at_exec(c, f));
    }
    if (f && f->result == RESULT_PAIR && call_get(c, c->arg[k.arg], CALL_AFTER, pair, sizeof pair))
        for (int i = 0; i < 2; i++)
            made(d, c, f, pair[i]);
    if (k.does == DOES_CONTROLS && (int)c->arg[1] == F_SETFD)
        descriptors_set_cloexec(d->files, c->thread, (int)c->arg[0], c->arg[2] & FD_CLOEXEC);
    if (k.does == DOES_CONTROLS && (int)c->arg[1] == F_DUPFD_CLOEXEC)
        descriptors_set_cloexec(d->files, c->thread, c->result, true);
    if (k.does == DOES_CLOSES)
        descriptors_close(d->files, c->thread, (uint32_t)c->arg[0], (uint32_t)c->arg[0]);
    if (k.does == DOES_CLOSES_RANGE && !c->arg[2])
        descriptors_close(d->files, c->thread, (uint32_t)c->arg[0], (uint32_t)c->arg[1]);
}

struct called {
    int64_t nr, result;
    bool unfinished, waits; /* waits: only what it waits for is wanted */
};

static void put_call(struct describer *d, const struct debuggee_event *event,
                     const struct called *what, struct described *out)
{
    struct call c = {.out = &d->text,
                     .about = out,
                     .files = d->files,
                     .thread = event->at.thread,
                     .result = what->unfinished ? 0 : what->result,
                     .unfinished = what->unfinished};
    const bool told = event->text_bytes >= sizeof c.arg;
    if (told) {
        memcpy(c.arg, event->text, sizeof c.arg);
        c.pieces = event->text + sizeof c.arg;
        c.bytes = event->text_bytes - sizeof c.arg;
    }
    c.failed = !c.unfinished && c.result < 0 && c.result > -ERRORS;
    out->error = c.failed ? (int)-c.result : 0;
    const struct form *f = forms_find(what->nr, c.arg), *row = forms_row(what->nr);
    const char *name = kinds_name(what->nr);
    c.argument = f ? f->argument : NULL;
    out->call = name;
    out->class = row ? (enum call_class)row->class : CLASS_NONE;
    if (f && f->result == RESULT_NOTHING)
        c.failed = false;
    if (name)
        words_addf(c.out, "%s(", name);
    else
        words_addf(c.out, "syscall_%#llx(", (unsigned long long)what->nr);
    if (told)
        put_arguments(&c, f, f ? CALL_ARGS : kinds_of(what->nr).args);
    else
        words_add(c.out, "...");
    if (what->unfinished) {
        const size_t n = c.out->bytes;
        if (what->waits && n > 1 && c.out->data[n - 2] == ',') /* what follows is not known yet */
            c.out->bytes -= 2;
        words_add(c.out, what->waits ? ")" : " <unfinished ...>");
    } else {
        if (told)
            follow(d, &c, f, what->nr);
        words_add(c.out, ") = ");
        put_result(&c, f);
    }
    words_deinit(&c.after);
}

/* ---- events ---- */

static const char *const kind_names[] = {
    [EVENT_CALL] = "call",     [EVENT_SIGNAL] = "signal", [EVENT_THREAD] = "thread",
    [EVENT_OUTPUT] = "output", [EVENT_EXEC] = "exec",     [EVENT_EXIT] = "exit",
    [EVENT_END] = "end",       [EVENT_SWITCH] = "switch", [EVENT_MARK] = "mark",
};

const char *describer_kind(enum event_kind kind)
{
    return kind >= EVENT_CALL && kind <= EVENT_SWITCH ? kind_names[kind] : NULL;
}

static void put_signal(struct describer *d, const struct debuggee_event *event)
{
    uint8_t info[128] = {0};
    names_put_signal(&d->text, event->call);
    if (event->text_bytes < sizeof info)
        return;
    memcpy(info, event->text, sizeof info);
    words_add(&d->text, " ");
    signals_put_info(&d->text, info);
}

static void put_output(struct describer *d, const struct debuggee_event *event)
{
    static const char *const to[] = {"", "stdout", "stderr", "terminal"};
    size_t n = event->text_bytes < CALL_SHOWN ? event->text_bytes : CALL_SHOWN;
    words_addf(&d->text, "%s: ",
               to[event->call >= OUTPUT_OUT && event->call <= OUTPUT_TERMINAL ? event->call : 0]);
    words_quote(&d->text, event->text, n, WORDS_PLAIN);
    if (n < event->text_bytes)
        words_add(&d->text, "...");
}

static void put_end(struct describer *d, const struct debuggee_event *event)
{
    if (event->call == END_SIGNAL) {
        words_add(&d->text, "killed by ");
        names_put_signal(&d->text, event->result);
    } else if (event->call == END_EXIT) {
        words_addf(&d->text, "exited with %" PRId64, event->result);
    } else {
        words_add(&d->text, "the recording ends");
    }
}

static void put_mark(struct describer *d, const struct debuggee_event *event)
{
    words_addf(&d->text, "%s ", marks_name((unsigned)event->call));
    words_quote(&d->text, event->text, event->text_bytes, WORDS_PLAIN);
}

static void put_exec(struct describer *d, const struct debuggee_event *event, struct described *out)
{
    put_call(d, event, &(struct called){.nr = event->call}, out);
    descriptors_exec(d->files);
}

static void put_thread(struct describer *d, const struct debuggee_event *event)
{
    const uint32_t maker = (uint32_t)event->result;
    const bool process = event->result >> 32;
    words_addf(&d->text, "a %s begins (tid %" PRId64 ")", process ? "child process" : "thread",
               event->call);
    if (maker)
        words_addf(&d->text, ", made by thread %u", maker);
    if (process)
        descriptors_fork(d->files, event->at.thread, maker);
}

static void put_exit(struct describer *d, const struct debuggee_event *event)
{
    if (event->result)
        words_add(&d->text, "the thread was killed");
    else
        words_addf(&d->text, "the thread ends with %" PRId64, event->call);
    descriptors_exit(d->files, event->at.thread);
}

static void put_switch(struct describer *d, const struct debuggee_event *event,
                       struct described *out)
{
    static const char *const why[] = {
        [SWITCH_SLICE] = "end of its slice", [SWITCH_SPINS] = "spins", [SWITCH_EXIT] = "ended"};
    const int64_t w = event->result & 0xff;
    if (w == SWITCH_CALL)
        put_call(d, event,
                 &(struct called){.nr = event->result >> 8, .unfinished = true, .waits = true},
                 out);
    else
        words_add(&d->text, w >= SWITCH_SLICE && w <= SWITCH_EXIT ? why[w] : "?");
}

/* Does it make, close or change descriptors? */
static bool is_about_descriptors(const struct debuggee_event *event)
{
    uint64_t arg[CALL_ARGS];
    if (event->kind != EVENT_CALL || event->text_bytes < sizeof arg)
        return event->kind != EVENT_CALL;
    memcpy(arg, event->text, sizeof arg);
    const struct form *f = forms_find(event->call, arg);
    const enum call_does does = kinds_of(event->call).does;
    return (f && f->result >= RESULT_OPENED) || does == DOES_CLOSES || does == DOES_CLOSES_RANGE ||
           does == DOES_CONTROLS;
}

void describer_follow(struct describer *d, const struct debuggee_event *event)
{
    struct described words;
    if (is_about_descriptors(event))
        describer_event(d, event, &words);
}

void describer_event(struct describer *d, const struct debuggee_event *event, struct described *out)
{
    forget_paths(d);
    words_clear(&d->text);
    *out = (struct described){.kind = describer_kind(event->kind)};
    const struct called called = {event->call, event->result, event->unfinished, false};
    switch (event->kind) {
    case EVENT_CALL:
        put_call(d, event, &called, out);
        break;
    case EVENT_SIGNAL:
        put_signal(d, event);
        break;
    case EVENT_THREAD:
        put_thread(d, event);
        break;
    case EVENT_OUTPUT:
        put_output(d, event);
        break;
    case EVENT_EXEC:
        put_exec(d, event, out);
        break;
    case EVENT_MARK:
        put_mark(d, event);
        break;
    case EVENT_EXIT:
        put_exit(d, event);
        break;
    case EVENT_END:
        put_end(d, event);
        break;
    case EVENT_SWITCH:
        put_switch(d, event, out);
        break;
    default:
        words_add(&d->text, "?");
    }
    for (unsigned i = 0; i < out->paths; i++)
        d->path[i] = (char *)out->path[i];
    out->text = d->text.data ? d->text.data : "";
}
