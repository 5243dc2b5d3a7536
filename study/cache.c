/* cache.c - traces in the user's cache.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace can be collected again, so those that were not used for long, and the oldest of too many,
 * are removed when one is added. It touches only plain files whose names are made as
 * study_cache_place() makes them. A process that uses a trace holds a shared lock on it.
 */
#define _GNU_SOURCE /* asprintf */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "study/study_private.h"

enum { ID = 32 }; /* digits that a trace's name begins with, see collect_about() */
#define SUFFIX ".trace"

/* The folder, made if it is missing. NULL: there is none. */
static char *folder_of_user(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (cache && cache[0] == '/') {
        mkdir(cache, 0700);
        if (asprintf(&path, "%s/drdebug", cache) < 0)
            return NULL;
    } else if (home && home[0] == '/') {
        if (asprintf(&path, "%s/.cache", home) < 0)
            return NULL;
        mkdir(path, 0700);
        free(path);
        if (asprintf(&path, "%s/.cache/drdebug", home) < 0)
            return NULL;
    }
    if (path)
        mkdir(path, 0700);
    if (path && access(path, W_OK | X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *study_cache_place(const char *about)
{
    char *path = NULL, *folder = folder_of_user();
    if (!folder)
        return NULL;
    size_t at = strlen(folder);
    if (asprintf(&path, "%s/%s" SUFFIX, folder, about) < 0)
        path = NULL;
    free(folder);
    for (char *p = path ? path + at : NULL; p && *p; p++)
        if (*p == ' ' || *p == ':')
            *p = '-';
    return path;
}

int study_cache_hold(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        flock(fd, LOCK_SH | LOCK_NB);
        futimens(fd, NULL); /* used now */
    }
    return fd;
}

/* ---- removing ---- */

struct found {
    char *name;
    uint64_t bytes;
    time_t used;
};

struct list {
    struct found *at;
    size_t count, room;
};

/* A trace, or something that belongs to one: NAME.trace, NAME.trace.*. */
static bool is_ours(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    const char *end = strstr(name, SUFFIX);
    return digits == ID && (name[ID] == '-' || name[ID] == '.') && end &&
           (!end[strlen(SUFFIX)] || end[strlen(SUFFIX)] == '.');
}

static void add(struct list *l, const char *name, const struct stat *st)
{
    char *copy = strdup(name);
    const struct found new = {copy, (uint64_t)st->st_blocks * 512, st->st_mtime};
    if (!copy || array_push(&l->at, &l->count, &l->room, new))
        free(copy);
}

static int by_use(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->used != y->used ? (x->used < y->used ? -1 : 1) : strcmp(x->name, y->name);
}

/* Does somebody hold the trace that the file is, or belongs to? */
static bool is_held(int folder, const char *name)
{
    char trace[256];
    const char *end = strstr(name, SUFFIX);
    snprintf(trace, sizeof trace, "%.*s" SUFFIX, (int)(end - name), name);
    int fd = openat(folder, trace, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    return held;
}

static void remove_some(int folder, struct list *l, const struct study_cache_limits *limits)
{
    uint64_t bytes = 0;
    time_t now = time(NULL);
    for (size_t i = 0; i < l->count; i++)
        bytes += l->at[i].bytes;
    for (size_t i = 0; i < l->count; i++) {
        const struct found *f = &l->at[i];
        bool old = f->used < now && (uint64_t)(now - f->used) > limits->seconds;
        if ((!old && bytes <= limits->bytes) || is_held(folder, f->name))
            continue;
        if (unlinkat(folder, f->name, 0) == 0)
            bytes -= f->bytes;
    }
}

void study_cache_tidy(const char *path, const struct study_cache_limits *limits)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : NULL;
    DIR *dir = folder ? opendir(folder) : NULL;
    struct list l = {0};
    struct stat st;
    free(folder);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));)
        if (is_ours(e->d_name) && !fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(st.st_mode) && strcmp(e->d_name, slash + 1) != 0)
            add(&l, e->d_name, &st);
    if (l.count)
        qsort(l.at, l.count, sizeof *l.at, by_use);
    if (stat(path, &st) == 0) {
        uint64_t own = (uint64_t)st.st_blocks * 512;
        struct study_cache_limits left = *limits;
        left.bytes = own < left.bytes ? left.bytes - own : 0;
        remove_some(dirfd(dir), &l, &left);
    }
    for (size_t i = 0; i < l.count; i++)
        free(l.at[i].name);
    free(l.at);
    closedir(dir);
}
