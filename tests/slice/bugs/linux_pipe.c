/* linux_pipe.c - a pipe's slot keeps a flag of the page that was there before.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Linux 5.8, CVE-2022-0847 (Dirty Pipe): splicing a file's page into a pipe set
 * every member of the slot but its flags, and a later write was merged into the file's page.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS     4
#define PAGE      256
#define CAN_MERGE 16

struct slot {
    char *page;
    unsigned offset, len, flags;
};

struct pipe {
    unsigned head, tail;
    struct slot slot[SLOTS];
};

static char file_page[PAGE];

static void pipe_write(struct pipe *p, const char *data, unsigned n)
{
    if (p->head != p->tail) {
        struct slot *last = &p->slot[(p->head - 1) % SLOTS];
        if (last->flags & CAN_MERGE && last->offset + last->len + n <= PAGE) {
            memcpy(last->page + last->offset + last->len, data, n);
            last->len += n;
            return;
        }
    }
    struct slot *s = &p->slot[p->head++ % SLOTS];
    s->page = malloc(PAGE);
    memcpy(s->page, data, n);
    s->offset = 0;
    s->len = n;
    s->flags = CAN_MERGE; /* ROOT CAUSE */
}

static void pipe_splice(struct pipe *p, char *page, unsigned offset, unsigned n)
{
    struct slot *s = &p->slot[p->head++ % SLOTS];
    s->page = page;
    s->offset = offset;
#ifdef FIXED
    s->flags = 0;
#endif
    s->len = n; /* ROOT CAUSE */
}

static unsigned pipe_read(struct pipe *p, char *to)
{
    struct slot *s = &p->slot[p->tail++ % SLOTS];
    memcpy(to, s->page + s->offset, s->len);
    if (s->page != file_page)
        free(s->page);
    return s->len;
}

static unsigned crc(const char *text, unsigned n)
{
    unsigned sum = ~0u;
    for (unsigned i = 0; i < n; i++) {
        sum ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (0xedb88320u & -(sum & 1));
    }
    return ~sum;
}

int main(void)
{
    struct pipe p = {0};
    char to[PAGE];
    unsigned got = 0;
    for (unsigned i = 0; i < PAGE; i++)
        file_page[i] = (char)('a' + i % 26);
    unsigned before = crc(file_page, PAGE);
    for (int i = 0; i < SLOTS; i++) {
        pipe_write(&p, "a message of some length", 24);
        got += pipe_read(&p, to);
    }
    pipe_splice(&p, file_page, 10, 1);
    pipe_write(&p, "root::0:0", 9);
    while (p.tail != p.head)
        got += pipe_read(&p, to);
    printf("%u bytes\n", got);
    assert(crc(file_page, PAGE) == before);
    return 0;
}
