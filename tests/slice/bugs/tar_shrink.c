/* tar_shrink.c - a file gets shorter while it is archived, and the loop that copies it waits for
 * bytes that do not come.
 *
 * SPDX-License-Identifier: MIT
 *
 * After GNU tar up to 1.30, CVE-2018-20482: sparse_dump_region() did not look whether a read had
 * given nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 512, BLOCKS = 32 };

struct region {
    long offset, bytes;
};

struct archive {
    char data[BLOCKS][BLOCK];
    int blocks;
    unsigned long sum;
    int idle;
};

struct file {
    FILE *from;
    struct region region[3];
    int regions;
};

static char *next_block(struct archive *a)
{
    return a->data[a->blocks++ % BLOCKS];
}

static void checksum(struct archive *a, const char *block)
{
    for (int i = 0; i < BLOCK; i++)
        a->sum = a->sum * 31 + (unsigned char)block[i];
}

static void watchdog(struct archive *a, long now, long before)
{
    a->idle = now == before ? a->idle + 1 : 0;
    if (a->idle > 20)
        abort();
}

static int dump_region(struct archive *a, struct file *f, const struct region *r)
{
    long left = r->bytes;
    if (lseek(fileno(f->from), r->offset, SEEK_SET) < 0)
        return -1;
    while (left > 0) {
        size_t want = left > BLOCK ? BLOCK : (size_t)left;
        char *block = next_block(a);
        memset(block, 0, BLOCK);
        ssize_t got = read(fileno(f->from), block, want);
#ifdef FIXED
        if (got <= 0)
            return -1;
#else
        if (got < 0) /* ROOT CAUSE */
            return -1;
#endif
        checksum(a, block);
        watchdog(a, left - got, left);
        left -= got; /* ROOT CAUSE */
    }
    return 0;
}

static int dump(struct archive *a, struct file *f)
{
    int bad = 0;
    for (int i = 0; i < f->regions; i++)
        bad += dump_region(a, f, &f->region[i]) != 0;
    return bad;
}

static void scan(struct file *f, long bytes)
{
    f->regions = 0;
    for (long at = 0; at < bytes; at += 3 * BLOCK)
        f->region[f->regions++] =
            (struct region){at, bytes - at < BLOCK ? bytes - at : BLOCK + 100};
}

int main(void)
{
    static struct archive a;
    static char text[4000];
    int bad = 0;
    for (int turn = 0; turn < 3; turn++) {
        struct file f = {.from = tmpfile()};
        memset(text, 'a' + turn, sizeof text);
        fwrite(text, 1, sizeof text, f.from);
        fflush(f.from);
        scan(&f, sizeof text);
        if (turn == 2 && ftruncate(fileno(f.from), 1800))
            return 2;
        bad += dump(&a, &f);
        fclose(f.from);
    }
    printf("%d blocks, %d bad\n", a.blocks, bad);
    return 0;
}
