/* flag_precedence.c - a comparison binds closer than the mask that it was to compare.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ = 1, WRITE = 2, HIDDEN = 4, OWNED = 8 };

struct file {
    char name[16];
    unsigned mode, owner, size;
};

static struct file files[] = {
    {"passwd", READ, 0, 1200},        {"shadow", HIDDEN, 0, 700},
    {"notes", READ | WRITE, 7, 4000}, {"draft", READ | WRITE | OWNED, 7, 300},
    {"key", HIDDEN | OWNED, 7, 64},   {"log", READ | OWNED, 3, 9000},
};
enum { FILES = sizeof files / sizeof *files };

static int may_read(const struct file *f, unsigned user)
{
    if (user == 0)
        return 1;
#ifdef FIXED
    if ((f->mode & OWNED) != 0 && f->owner != user)
#else
    if (f->mode & OWNED != 0 && f->owner != user) /* ROOT CAUSE */
#endif
        return 0;
    return (f->mode & READ) != 0 || f->owner == user;
}

static unsigned blocks(const struct file *f)
{
    unsigned n = f->size / 512;
    return n + (f->size % 512 != 0);
}

static unsigned listing(unsigned user, char *out, size_t room)
{
    unsigned total = 0;
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < FILES; i++) {
        if (!may_read(&files[i], user))
            continue;
        total += blocks(&files[i]);
        used += (size_t)snprintf(out + used, room - used, "%s ", files[i].name);
    }
    return total;
}

int main(int argc, char **argv)
{
    char text[200];
    unsigned user = argc > 7 ? (unsigned)atoi(argv[1]) : 7;
    unsigned all = listing(0, text, sizeof text);
    printf("%u blocks: %s\n", all, text);
    unsigned mine = listing(user, text, sizeof text);
    printf("%u blocks: %s\n", mine, text);
    assert(mine == 3 + 8 + 1 + 1);
    return 0;
}
