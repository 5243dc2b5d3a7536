/* sourcefile.c - source files of this machine: which may be read, and where they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/sourcefile.h"

#include <string.h>
#include <unistd.h>

#include "pinball/beneath.h"

static int if_not_larger(int fd, uint64_t most, const struct stat *st)
{
    if (fd < 0 || (uint64_t)st->st_size <= most)
        return fd;
    close(fd);
    return -1;
}

static int find_in(const char *path, const char *name, uint64_t most, struct stat *st)
{
    int folder = beneath_folder(path), fd = -1;

    for (const char *end = name; folder >= 0 && fd < 0 && end; end = strchr(end, '/')) {
        end += strspn(end, "/");
        fd = if_not_larger(*end ? beneath_open_within(folder, end, st) : -1, most, st);
    }
    if (folder >= 0)
        close(folder);
    return fd;
}

int sourcefile_open(const struct sourcefile_places *places, const char *name, uint64_t most,
                    struct stat *st)
{
    int fd = places->as_named ? if_not_larger(beneath_open_plain(name, st), most, st) : -1;

    for (size_t i = 0; fd < 0 && i < places->folders; i++)
        fd = find_in(places->folder[i], name, most, st);
    return fd;
}
