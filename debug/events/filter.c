/* filter.c - which events a user wants to see. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "debug/events/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "engine/os/kinds.h"

static const char *const classes[] = {
    [CLASS_FILE] = "file",       [CLASS_NET] = "net", [CLASS_MEMORY] = "memory",
    [CLASS_PROCESS] = "process", [CLASS_IPC] = "ipc", [CLASS_SIGNAL] = "signal",
    [CLASS_TIME] = "time",
};

static bool number_of(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool is_kind(const char *word, struct filter *out)
{
    for (enum event_kind k = EVENT_CALL; k <= EVENT_END; k++)
        if (!strcmp(word, describer_kind(k))) {
            *out = (struct filter){.by = FILTER_KIND, .name = describer_kind(k)};
            return true;
        }
    return false;
}

static bool is_call(const char *word, struct filter *out)
{
    int64_t nr = -1;
    if (!number_of(word, &nr))
        for (nr = 0; nr < KINDS_CALLS; nr++)
            if (kinds_name(nr) && !strcmp(word, kinds_name(nr)))
                break;
    *out = (struct filter){.by = FILTER_CALL, .name = kinds_name(nr)};
    return out->name != NULL;
}

static bool is_class(const char *word, struct filter *out)
{
    for (size_t i = CLASS_FILE; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(word, classes[i])) {
            *out = (struct filter){.by = FILTER_CLASS, .number = (int64_t)i};
            return true;
        }
    return false;
}

static bool is_error(const char *word, struct filter *out)
{
    enum { ERRORS = 4096 };
    out->by = FILTER_ERROR;
    if (number_of(word, &out->number))
        return true;
    for (int e = 1; e < ERRORS; e++) {
        const char *name = strerrorname_np(e);
        out->number = e;
        if (name && !strcmp(name, word))
            return true;
    }
    return false;
}

static bool has_head(const char *word, const char *head, const char **rest)
{
    *rest = word + strlen(head);
    return !strncmp(word, head, strlen(head));
}

int filter_parse(const char *word, struct filter *out, struct err *err)
{
    const char *rest;
    *out = (struct filter){.by = FILTER_ALL};
    if (!*word || is_kind(word, out))
        return 0;
    if (has_head(word, "errno=", &rest))
        return is_error(rest, out) ? 0 : err_set(err, "%s: there is no such error", rest);
    if (has_head(word, "fd=", &rest)) {
        out->by = FILTER_FD;
        return number_of(rest, &out->number) ? 0 : err_set(err, "%s: not a descriptor", rest);
    }
    if (has_head(word, "%", &rest))
        return is_class(rest, out) ? 0 : err_set(err, "%s: there is no such class of calls", rest);
    if (!strcmp(word, "failed")) {
        out->by = FILTER_FAILED;
        return 0;
    }
    if (is_call(word, out) || is_class(word, out))
        return 0;
    if (strpbrk(word, "/*?[")) {
        *out = (struct filter){.by = FILTER_PATH, .name = word};
        return 0;
    }
    return err_set(err,
                   "%s: not a kind of event, a system call or a class of them, fd=N, errno=NAME, "
                   "failed, or a path with / or *",
                   word);
}

bool filter_takes(const struct filter *f, const struct described *event)
{
    bool found = false;
    switch (f->by) {
    case FILTER_ALL:
        return true;
    case FILTER_KIND:
        return event->kind && (!strcmp(event->kind, f->name) ||
                               (!strcmp(f->name, "exit") && !strcmp(event->kind, "end")));
    case FILTER_CALL:
        return event->call && !strcmp(event->call, f->name);
    case FILTER_CLASS:
        return (int64_t)event->class == f->number;
    case FILTER_FD:
        for (unsigned i = 0; i < event->fds; i++)
            found |= event->fd[i] == f->number;
        return found;
    case FILTER_ERROR:
        return event->error == f->number && event->error;
    case FILTER_FAILED:
        return event->error != 0;
    case FILTER_PATH:
        for (unsigned i = 0; i < event->paths; i++)
            found |= event->path[i] && !fnmatch(f->name, event->path[i], 0);
        return found;
    }
    return false;
}
