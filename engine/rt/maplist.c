/* maplist.c - the kernel's list of a process's mappings. SPDX-License-Identifier: MIT */
#include "engine/rt/maplist.h"

#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

long maplist_open(struct maplist *m, int pid, char *buf, size_t size)
{
    enum { HERE = -100, CLOSE_ON_EXEC = 02000000 };
    char path[32] = "/proc/self/maps";
    if (pid)
        rt_format(path, sizeof path, "/proc/%d/maps", pid);
    *m = (struct maplist){.buf = buf, .size = size};
    m->fd = sys4(__NR_openat, HERE, (long)path, CLOSE_ON_EXEC, 0);
    return m->fd < 0 ? m->fd : 0;
}

void maplist_close(struct maplist *m)
{
    sys1(__NR_close, m->fd);
}

/* As much text as there is room for. A byte stays free for a line's end. */
static void fill(struct maplist *m)
{
    m->have -= m->at;
    memmove(m->buf, m->buf + m->at, m->have);
    m->at = 0;
    for (long n; m->have < m->size - 1; m->have += (size_t)n) {
        n = sys3(__NR_read, m->fd, (long)(m->buf + m->have), (long)(m->size - 1 - m->have));
        if (n <= 0)
            break;
    }
}

static char *line_end(const struct maplist *m)
{
    for (char *p = m->buf + m->at; p < m->buf + m->have; p++)
        if (*p == '\n')
            return p;
    return NULL;
}

/* NULL: there is none. *whole is false for a line that does not fit, of which more comes. */
static const char *take_line(struct maplist *m, bool *whole)
{
    char *end = line_end(m);
    if (!end) {
        fill(m);
        end = line_end(m);
    }
    if (m->at == m->have)
        return NULL;
    const char *line = m->buf + m->at;
    *whole = end;
    if (!end)
        end = m->buf + m->have;
    m->at = (size_t)(end - m->buf) + *whole;
    *end = 0;
    return line;
}

/* "start-end rwxp offset major:minor inode   path" */
static void parse(const char *p, struct maplist_entry *e)
{
    uint64_t major, minor;
    p = rt_hex(p, &e->start);
    p = rt_hex(p + 1, &e->end) + 1;
    e->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
              (p[2] == 'x' ? PROT_EXEC : 0);
    e->shared = p[3] == 's';
    p = rt_hex(p + 5, &e->offset);
    p = rt_hex(p + 1, &major);
    p = rt_hex(p + 1, &minor) + 1;
    e->dev = (minor & 0xff) | major << 8 | (minor & ~0xffull) << 12;
    for (e->ino = 0; *p >= '0' && *p <= '9'; p++)
        e->ino = e->ino * 10 + (uint64_t)(*p - '0');
    while (*p == ' ')
        p++;
    e->path = p;
}

bool maplist_next(struct maplist *m, struct maplist_entry *e)
{
    const char *line;
    bool rest, whole = true;
    do {
        rest = m->cut;
        line = take_line(m, &whole);
        m->cut = line && !whole;
    } while (line && rest);
    if (line)
        parse(line, e);
    return line;
}
