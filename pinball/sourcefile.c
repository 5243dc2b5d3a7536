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

int sourcefile_add(struct sourcefile_places *p, const char *text)
{
    const char *equals = strchr(text, '=');
    int folder;

    if (p->folders == SOURCEFILE_FOLDERS)
        return -1;
    if (equals && equals != text && (folder = beneath_folder(text)) >= 0) {
        close(folder); /* its name has one */
        equals = NULL;
    }
    p->from[p->folders].text = text;
    p->from[p->folders].bytes = equals && equals != text ? (size_t)(equals - text) : 0;
    p->folder[p->folders] = p->from[p->folders].bytes ? equals + 1 : text;
    p->folders++;
    return 0;
}

/* Names end where folders do: FROM /a/b is none of /a/bc. */
static bool begins(const char *name, const char *from, size_t bytes)
{
    while (bytes > 1 && from[bytes - 1] == '/')
        bytes--;
    return strncmp(name, from, bytes) == 0 && (name[bytes] == '/' || from[bytes - 1] == '/');
}

static int substituted(const struct sourcefile_places *p, size_t i, const char *name, uint64_t most,
                       struct stat *st)
{
    if (!begins(name, p->from[i].text, p->from[i].bytes))
        return -1;
    const char *rest = name + p->from[i].bytes;
    int folder = beneath_folder(p->folder[i]), fd = -1;
    rest += strspn(rest, "/");
    if (folder >= 0) {
        fd = if_not_larger(*rest ? beneath_open_within(folder, rest, st) : -1, most, st);
        close(folder);
    }
    return fd;
}

int sourcefile_open(const struct sourcefile_places *places, const char *name, uint64_t most,
                    struct stat *st)
{
    int fd = -1;

    for (size_t i = 0; fd < 0 && i < places->folders; i++)
        if (places->from[i].bytes)
            fd = substituted(places, i, name, most, st);
    if (fd < 0 && places->as_named)
        fd = if_not_larger(beneath_open_plain(name, st), most, st);
    for (size_t i = 0; fd < 0 && i < places->folders; i++)
        if (!places->from[i].bytes)
            fd = find_in(places->folder[i], name, most, st);
    return fd;
}
