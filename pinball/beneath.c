/* beneath.c - files beneath a folder, and nothing else.
 *
 * SPDX-License-Identifier: MIT
 *
 * openat2(2) does it. Where the kernel lacks it (before 5.6) or a sandbox forbids it, a name is
 * walked folder by folder, following no link at all.
 */
#define _GNU_SOURCE /* O_PATH, O_TMPFILE, mkostemp */
#include "pinball/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names a thing that is neither a file nor a folder. */
enum { NOT_A_FILE = EMEDIUMTYPE, TRIES = 16 };

/* No FIFO makes us wait, no terminal becomes ours. */
enum { ALWAYS = O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static beneath_opener *opener;
static void *opener_arg;

void beneath_set_opener(beneath_opener *now, void *arg)
{
    opener = now;
    opener_arg = arg;
}

static int close_with(int fd, int error)
{
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* ---- finding ---- */

static bool leads_up(const char *part, size_t bytes)
{
    return bytes == 2 && part[0] == '.' && part[1] == '.';
}

/* The next folder on the way. */
static int step_down(int folder, const char *part, size_t bytes)
{
    char name[NAME_MAX + 1];
    struct stat st;

    if (bytes > NAME_MAX || leads_up(part, bytes))
        return close_with(-1, bytes > NAME_MAX ? ENAMETOOLONG : EXDEV);
    memcpy(name, part, bytes);
    name[bytes] = '\0';
    int fd = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR && !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
    return fd;
}

/* Without openat2. */
static int walk(int folder, const char *name, int flags, mode_t mode)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);

    if (name[0] == '/')
        return close_with(at, EXDEV);
    for (const char *slash; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        if (slash == name)
            continue;
        int next = step_down(at, name, (size_t)(slash - name));
        close_with(at, errno);
        at = next;
    }
    if (at < 0)
        return -1;
    if (leads_up(name, strlen(name)))
        return close_with(at, EXDEV);
    int fd = openat(at, name, flags | O_NOFOLLOW, mode);
    int error = errno;
    close(at);
    errno = error;
    return fd;
}

static bool is_refused(int error)
{
    return error == ENOSYS || error == EPERM || error == EINVAL;
}

static int find(int folder, const char *name, int flags, mode_t mode, uint64_t resolve)
{
    struct open_how how = {.flags = (uint64_t)flags, .mode = mode, .resolve = resolve};
    long fd = -1;

    /* EAGAIN: something was renamed on the way. */
    for (int i = 0; i < TRIES; i++)
        if ((fd = syscall(SYS_openat2, folder, name, &how, sizeof how)) >= 0 || errno != EAGAIN)
            break;
    return fd < 0 && is_refused(errno) ? walk(folder, name, flags, mode) : (int)fd;
}

int beneath_folder(const char *path)
{
    if (opener)
        return opener(opener_arg, BENEATH_FOLDER, -1, path, 0);
    return open(path, O_RDONLY | O_DIRECTORY | ALWAYS);
}

int beneath_folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    *name = slash ? slash + 1 : path;
    if (!slash)
        return beneath_folder(".");
    size_t bytes = slash == path ? 1 : (size_t)(slash - path);
    if (bytes >= sizeof folder)
        return close_with(-1, ENAMETOOLONG);
    memcpy(folder, path, bytes);
    folder[bytes] = '\0';
    return beneath_folder(folder);
}

int beneath_open(int folder, const char *name, int flags)
{
    struct stat st;
    if (opener)
        return opener(opener_arg, BENEATH_FILE, folder, name, flags);
    int fd = find(folder, name, flags | ALWAYS, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

    if (fd < 0 || flags & O_DIRECTORY)
        return fd;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return close_with(fd, NOT_A_FILE);
    if ((flags & O_ACCMODE) != O_RDONLY && st.st_nlink > 1)
        return close_with(fd, EMLINK);
    return fd;
}

bool beneath_exists(int folder, const char *name)
{
    int fd = find(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, RESOLVE_BENEATH);

    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == ELOOP;
}

/* ---- making ---- */

int beneath_create(int folder, const char *name)
{
    unlinkat(folder, name, 0);
    return openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | ALWAYS, 0666);
}

int beneath_begin(struct beneath_new *file, int folder, const char *name)
{
    *file = (struct beneath_new){.folder = folder};
    int n = snprintf(file->temporary, sizeof file->temporary, "%s.%d.part", name, (int)getpid());
    if (n < 0 || n >= (int)sizeof file->temporary)
        return close_with(file->fd = -1, ENAMETOOLONG);
    file->fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (file->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
        file->named = true;
        file->fd = beneath_create(folder, file->temporary);
    }
    return file->fd < 0 ? -1 : 0;
}

/* Gives it the name that it has while it takes the other's place. */
static int name_it(const struct beneath_new *file)
{
    char link[32];

    if (file->named)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    unlinkat(file->folder, file->temporary, 0);
    return linkat(AT_FDCWD, link, file->folder, file->temporary, AT_SYMLINK_FOLLOW);
}

int beneath_finish(struct beneath_new *file, const char *name, bool fresh)
{
    const char *temporary = file->temporary;
    int error = 0;

    if (name_it(file))
        error = errno;
    else if (fresh && linkat(file->folder, temporary, file->folder, name, 0))
        /* Some filesystems have no second names. */
        error = errno == EEXIST || beneath_exists(file->folder, name)   ? EEXIST
                : renameat(file->folder, temporary, file->folder, name) ? errno
                                                                        : 0;
    else if (!fresh && renameat(file->folder, temporary, file->folder, name))
        error = errno;
    if (error || fresh)
        unlinkat(file->folder, temporary, 0);
    if (close(file->fd) && !error)
        error = errno;
    file->fd = -1;
    errno = error;
    return error ? -1 : 0;
}

void beneath_abandon(struct beneath_new *file)
{
    if (file->fd < 0)
        return;
    if (file->named)
        unlinkat(file->folder, file->temporary, 0);
    close(file->fd);
    file->fd = -1;
}

bool beneath_is_writable(const char *path)
{
    int fd = open(path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

    if (fd < 0)
        return (errno == EOPNOTSUPP || errno == EISDIR) && faccessat(AT_FDCWD, path, W_OK, 0) == 0;
    close(fd);
    return true;
}

int beneath_temporary(void)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];

    folder = folder && *folder ? folder : "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    if (snprintf(path, sizeof path, "%s/drdebug.XXXXXX", folder) >= (int)sizeof path)
        return close_with(-1, ENAMETOOLONG);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* ---- files of this machine ---- */

/* Opens what O_PATH found, if it is a regular file. */
static int open_found(int found, struct stat *st)
{
    char link[32];

    if (found < 0)
        return -1;
    if (fstat(found, st) || !S_ISREG(st->st_mode))
        return close_with(found, NOT_A_FILE);
    snprintf(link, sizeof link, "/proc/self/fd/%d", found);
    int fd = open(link, O_RDONLY | ALWAYS);
    int error = errno;
    close(found);
    errno = error;
    return fd;
}

/* A descriptor that somebody else has opened. */
static int ask(enum beneath_kind kind, int folder, const char *name, struct stat *st)
{
    int fd = opener(opener_arg, kind, folder, name, 0);

    return fd >= 0 && fstat(fd, st) ? close_with(fd, errno) : fd;
}

int beneath_open_plain(const char *path, struct stat *st)
{
    if (opener)
        return ask(BENEATH_PLAIN, -1, path, st);
    return open_found(open(path, O_PATH | O_CLOEXEC), st);
}

int beneath_open_within(int folder, const char *name, struct stat *st)
{
    if (opener)
        return ask(BENEATH_WITHIN, folder, name, st);
    return open_found(
        find(folder, name, O_PATH | O_CLOEXEC, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS), st);
}

const char *beneath_error(int error)
{
    switch (error) {
    case ELOOP:
        return "is a link, not a file";
    case EMLINK:
        return "has other names: it is not written";
    case EXDEV:
        return "leads out of its directory";
    case NOT_A_FILE:
        return "not a file";
    default:
        return strerror(error);
    }
}
