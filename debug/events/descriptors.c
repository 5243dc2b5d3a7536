/* descriptors.c - what descriptors lead to. SPDX-License-Identifier: MIT */
#include "debug/events/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FDS_MOST = 1 << 16 }; /* those above have no name */

struct open_file {
    char *name; /* NULL: not known */
    bool cloexec;
};

struct process {
    uint32_t thread; /* a child's only one; 0: the program */
    struct open_file *file;
    size_t files, room;
};

struct descriptors {
    struct process *process; /* the first one is the program */
    size_t processes, room;
};

struct descriptors *descriptors_new(void)
{
    static const char *const standard[] = {"stdin", "stdout", "stderr"};
    struct descriptors *d = calloc(1, sizeof *d);
    if (!d || array_push(&d->process, &d->processes, &d->room, (struct process){0})) {
        free(d);
        return NULL;
    }
    for (int fd = 0; fd < 3; fd++)
        descriptors_set(d, 0, fd, standard[fd]);
    return d;
}

static void forget(struct process *p)
{
    for (size_t i = 0; i < p->files; i++)
        free(p->file[i].name);
    free(p->file);
}

void descriptors_free(struct descriptors *d)
{
    for (size_t i = 0; d && i < d->processes; i++)
        forget(&d->process[i]);
    if (d)
        free(d->process);
    free(d);
}

static struct process *process_of(const struct descriptors *d, uint32_t thread)
{
    for (size_t i = 1; i < d->processes; i++)
        if (d->process[i].thread == thread)
            return &d->process[i];
    return &d->process[0];
}

const char *descriptors_name(const struct descriptors *d, uint32_t thread, int64_t fd)
{
    const struct process *p = process_of(d, thread);
    return fd >= 0 && (uint64_t)fd < p->files ? p->file[fd].name : NULL;
}

static struct open_file *file_at(struct process *p, int64_t fd)
{
    if (fd < 0 || fd >= FDS_MOST)
        return NULL;
    while (p->files <= (uint64_t)fd)
        if (array_push(&p->file, &p->files, &p->room, (struct open_file){0}))
            return NULL;
    return &p->file[fd];
}

static void name(struct process *p, int64_t fd, const char *text)
{
    struct open_file *f = file_at(p, fd);
    char *copy = f && text ? strdup(text) : NULL;
    if (!f)
        return;
    free(f->name);
    *f = (struct open_file){.name = copy};
}

void descriptors_set(struct descriptors *d, uint32_t thread, int64_t fd, const char *text)
{
    name(process_of(d, thread), fd, text);
}

void descriptors_set_cloexec(struct descriptors *d, uint32_t thread, int64_t fd, bool closes)
{
    struct open_file *f = file_at(process_of(d, thread), fd);
    if (f)
        f->cloexec = closes;
}

void descriptors_copy(struct descriptors *d, uint32_t thread, int64_t from, int64_t to)
{
    if (from != to)
        name(process_of(d, thread), to, descriptors_name(d, thread, from));
}

void descriptors_close(struct descriptors *d, uint32_t thread, uint64_t first, uint64_t last)
{
    struct process *p = process_of(d, thread);
    for (uint64_t fd = first; fd <= last && fd < p->files; fd++)
        name(p, (int64_t)fd, NULL);
}

void descriptors_fork(struct descriptors *d, uint32_t child, uint32_t maker)
{
    struct process p = {.thread = child};
    const struct process *from = process_of(d, maker);
    for (size_t i = 0; i < from->files; i++)
        if (from->file[i].name)
            name(&p, (int64_t)i, from->file[i].name);
    if (array_push(&d->process, &d->processes, &d->room, p))
        forget(&p);
}

void descriptors_exit(struct descriptors *d, uint32_t child)
{
    struct process *p = process_of(d, child);
    if (p == d->process)
        return;
    forget(p);
    *p = d->process[--d->processes];
}

void descriptors_exec(struct descriptors *d)
{
    struct process *p = d->process;
    for (size_t i = 0; i < p->files; i++)
        if (p->file[i].cloexec)
            name(p, (int64_t)i, NULL);
}
