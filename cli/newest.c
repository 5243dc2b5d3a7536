/* newest.c - the pinball that a verb is about when none is named.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/newest.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

static bool is_pinball(const char *name)
{
    static const char suffix[] = ".pinball";
    size_t n = strlen(name), m = sizeof suffix - 1;

    return n > m && strcmp(name + n - m, suffix) == 0;
}

/* Equal times are told apart by name, so that the answer is always the same. */
static bool is_newer(const struct timespec *a, const char *name_a, const struct timespec *b,
                     const char *name_b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec > b->tv_sec;
    if (a->tv_nsec != b->tv_nsec)
        return a->tv_nsec > b->tv_nsec;
    return strcmp(name_a, name_b) > 0;
}

int newest_find(char path[PATH_MAX], struct err *err)
{
    struct timespec time = {0};
    struct dirent *entry;
    DIR *dir = opendir(".");

    if (!dir)
        return err_set_code(err, errno, ".: %s", strerror(errno));
    path[0] = '\0';
    while ((entry = readdir(dir))) {
        struct stat st;
        if (!is_pinball(entry->d_name) || stat(entry->d_name, &st))
            continue;
        if (path[0] == '\0' || is_newer(&st.st_mtim, entry->d_name, &time, path)) {
            snprintf(path, PATH_MAX, "%s", entry->d_name);
            time = st.st_mtim;
        }
    }
    closedir(dir);
    return path[0] ? 0 : err_set(err, "no pinball named, and none here");
}

static int first_or_newest(const char *verb, int argc, char *argv[], char path[PATH_MAX])
{
    struct err err;

    if (optind < argc)
        snprintf(path, PATH_MAX, "%s", argv[optind]);
    else if (newest_find(path, &err))
        return say_error(CLI_FAILED, "%s: %s", verb, err.msg);
    return -1;
}

int newest_or_named(const char *verb, int argc, char *argv[], char path[PATH_MAX])
{
    if (argc - optind > 1)
        return say_error(CLI_USAGE, "%s: takes one pinball, not %d", verb, argc - optind);
    return first_or_newest(verb, argc, argv, path);
}

int newest_and_criterion(const char *verb, int argc, char *argv[], char path[PATH_MAX], char *text,
                         size_t room)
{
    size_t used = 0;

    for (int i = optind + 1; i < argc && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", used ? " " : "", argv[i]);
    if (used >= room)
        return say_error(CLI_USAGE, "%s: the criterion is too long", verb);
    return first_or_newest(verb, argc, argv, path);
}

void newest_name(const char *program, const char *kind, char path[PATH_MAX])
{
    struct stat st;
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    snprintf(path, PATH_MAX, "%s%s.pinball", name, kind);
    for (int i = 1; lstat(path, &st) == 0; i++)
        snprintf(path, PATH_MAX, "%s%s.%d.pinball", name, kind, i);
}
