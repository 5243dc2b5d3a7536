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

int newest_or_named(const char *verb, int argc, char *argv[], char path[PATH_MAX])
{
    struct err err;

    if (argc - optind > 1)
        return say_error(CLI_USAGE, "%s: takes one pinball, not %d", verb, argc - optind);
    if (optind < argc)
        snprintf(path, PATH_MAX, "%s", argv[optind]);
    else if (newest_find(path, &err))
        return say_error(CLI_FAILED, "%s: %s", verb, err.msg);
    return -1;
}

void newest_name(const char *program, char path[PATH_MAX])
{
    struct stat st;
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    snprintf(path, PATH_MAX, "%s.pinball", name);
    for (int i = 1; lstat(path, &st) == 0; i++)
        snprintf(path, PATH_MAX, "%s.%d.pinball", name, i);
}
