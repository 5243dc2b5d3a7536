/* session.c - where a session is. SPDX-License-Identifier: MIT */
#include "gui/model/session.h"

#include <string.h>

#include "gui/model/text.h"

static void set(char **field, const char *text)
{
    char *copy = g_strdup(text);
    g_free(*field);
    *field = copy;
}

void session_frame_deinit(struct session_frame *f)
{
    g_free(f->function);
    g_free(f->file);
    g_free(f->fullname);
    g_free(f->module);
    *f = (struct session_frame){0};
}

static void recording_deinit(struct session_recording *r)
{
    g_free(r->path);
    g_free(r->name);
    g_free(r->program);
    g_free(r->end);
    g_free(r->reason);
    *r = (struct session_recording){0};
}

void session_deinit(struct session *s)
{
    recording_deinit(&s->recording);
    session_frame_deinit(&s->frame);
    g_free(s->position);
    g_free(s->why);
    *s = (struct session){0};
}

void session_take_info(struct session *s, const char *path, const struct value *info)
{
    struct session_recording *r = &s->recording;
    recording_deinit(r);
    r->path = g_strdup(path);
    const char *colon = *path == '/' ? NULL : strrchr(path, ':'), *base = text_base(path);
    r->name = text_line(colon && colon >= base ? colon + 1 : base); /* HOST:DIR */
    r->program = g_strdup(value_say(info, "program"));
    r->end = g_strdup(value_say(info, "end"));
    r->reason = g_strdup(value_say(info, "reason"));
    r->threads = value_number(info, "threads", 0);
    r->ticks = value_number(info, "ticks", 0);
    r->instructions = value_number(info, "instructions", 0);
    r->bytes = value_number(info, "size", 0);
    r->own = value_is_true(info, "own");
    r->status = (int)value_number(info, "status", 0);
    r->failed = strcmp(r->reason, "signal") == 0 || strcmp(r->reason, "fatal") == 0 ||
                (strcmp(r->reason, "exit") == 0 && r->status != 0);
}

void session_take_live(struct session *s, const char *path, const char *program)
{
    struct session_recording *r = &s->recording;
    recording_deinit(r);
    r->path = g_strdup(path);
    r->name = text_line(text_base(path));
    r->program = text_line(program);
    r->end = g_strdup("live");
    r->reason = g_strdup("");
    r->own = r->live = true;
}

void session_take_frame(struct session_frame *f, const struct value *frame)
{
    session_frame_deinit(f);
    f->level = (unsigned)value_number(frame, "level", 0);
    f->pc = value_number(frame, "addr", 0);
    set(&f->function, value_text(frame, "func"));
    set(&f->file, value_text(frame, "file"));
    set(&f->fullname, value_text(frame, "fullname"));
    set(&f->module, value_text(frame, "from"));
    f->line = (unsigned)value_number(frame, "line", 0);
}

/* reason of *stopped -> words; a step and its kind need none. */
static const struct {
    const char *reason, *words;
} reasons[] = {
    {"watchpoint-trigger", "a watched value changed"},
    {"read-watchpoint-trigger", "a watched value was read"},
    {"access-watchpoint-trigger", "a watched value was touched"},
    {"watchpoint-scope", "a watched variable is gone"},
    {"syscall-entry", "a system call begins"},
    {"syscall-return", "a system call ends"},
    {"no-history", "no more history this way"},
    {"exited-normally", "the program ended"},
    {"exited", "the program ended"},
    {"fork", "a child process was made"},
    {"vfork", "a child process was made"},
    {"exec", "the program replaced itself"},
    {"solib-event", "a library came or went"},
};

char *session_why(const struct value *stop)
{
    const char *reason = value_say(stop, "reason");
    if (strcmp(reason, "signal-received") == 0 && strcmp(value_say(stop, "signal-name"), "0") == 0)
        return NULL; /* where a jump has ended */
    if (strcmp(reason, "signal-received") == 0)
        return g_strdup_printf("%s, %s", value_say(stop, "signal-name"),
                               value_say(stop, "signal-meaning"));
    if (strcmp(reason, "breakpoint-hit") == 0) {
        bool temporary = strcmp(value_say(stop, "disp"), "del") == 0;
        return temporary ? NULL : g_strdup_printf("breakpoint %s", value_say(stop, "bkptno"));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
        if (strcmp(reason, reasons[i].reason) == 0)
            return g_strdup(reasons[i].words);
    return NULL;
}

void session_take_stop(struct session *s, const struct value *stop)
{
    char *why = session_why(stop);
    s->state = SESSION_STOPPED;
    if (value_get(stop, "frame"))
        session_take_frame(&s->frame, value_get(stop, "frame"));
    s->gdb_thread = (unsigned)value_number(stop, "thread-id", s->gdb_thread);
    g_free(s->why);
    s->why = why;
    /* Where this is in the recording is asked for next. */
    g_clear_pointer(&s->position, g_free);
    s->at_begin = s->at_end = s->now = false;
}

void session_take_place(struct session *s, const struct value *place)
{
    set(&s->position, value_text(place, "position"));
    s->thread = value_number(place, "thread", 0);
    s->ticks = value_number(place, "ticks", 0);
    s->events = value_number(place, "events", 0);
    s->now = value_is_true(place, "alive");
    s->at_begin = value_is_true(place, "at_begin");
    s->at_end = value_is_true(place, "at_end");
}

char *session_words(const struct session *s)
{
    static const char *const states[] = {
        [SESSION_NONE] = "No recording is open",
        [SESSION_LOADING] = "Opening the recording …",
        [SESSION_RUNNING] = "Running …",
        [SESSION_LOST] = "GDB has ended",
        [SESSION_STOPPED] = "",
    };
    const struct session_frame *f = &s->frame;
    if (s->state != SESSION_STOPPED)
        return g_strdup(states[s->state]);
    GString *out = g_string_new(NULL);
    if (s->thread)
        g_string_append_printf(out, "T%" G_GUINT64_FORMAT " in ", s->thread);
    if (f->function)
        g_string_append_printf(out, "%s%s", f->function, strchr(f->function, '(') ? "" : " ()");
    else
        g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", f->pc);
    if (f->line)
        g_string_append_printf(out, " at %s:%u", text_base(f->file), f->line);
    else if (f->module)
        g_string_append_printf(out, " of %s, without source", text_base(f->module));
    if (s->recording.live && s->position && !s->now)
        g_string_append(out, ", in the past");
    if (s->at_end)
        g_string_append(out, ", the end of the recording");
    else if (s->at_begin)
        g_string_append(out, ", the begin of the recording");
    else if (s->why)
        g_string_append_printf(out, ", %s", s->why);
    char *line = text_line(out->str);
    g_string_free(out, TRUE);
    return line;
}
