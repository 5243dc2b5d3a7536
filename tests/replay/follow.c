/* follow.c - reads a recording while it is made: follow DIR. SPDX-License-Identifier: MIT
 *
 * Waits for it to begin, takes in what comes, and remembers a sum of each chunk when it first sees
 * all of it. In the end the recording must hold the same. Says how often there was more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pinball/follow.h"
#include "pinball/format.h"
#include "pinball/xxh64.h"

enum { PAUSE_US = 2000, CHUNKS = 1 << 16 };

static struct {
    uint64_t bytes, sum;
} seen[CHUNKS];

static struct err err;

static void die(const char *what)
{
    printf("FAILED: %s: %s\n", what, err.msg);
    exit(1);
}

static void read_chunk(struct pinball *p, uint64_t i, uint64_t *bytes, uint64_t *sum)
{
    static uint64_t data[CHUNK_MAX_BYTES / 8];
    uint64_t records;
    pinball_chunk_info(p, i, bytes, &records);
    if (pinball_read_chunk(p, i, data, sizeof data, &err))
        die("a chunk");
    *sum = xxh64(data, *bytes, 0);
}

/* The last one may have been cut off where a file was missing. */
static uint64_t look(struct pinball *p, uint64_t known)
{
    uint64_t whole = pinball_chunks(p) - (pinball_missing(p) && pinball_chunks(p) ? 1 : 0);
    for (uint64_t i = known; i < whole && i < CHUNKS; i++)
        read_chunk(p, i, &seen[i].bytes, &seen[i].sum);
    return whole > known ? whole : known;
}

int main(int argc, char **argv)
{
    struct pinball *p = NULL;
    uint64_t known = 0, early = 0, bytes, sum;
    int more = 0, times = 0;
    while (argc == 2 && !(p = follow_open(argv[1], &err))) /* the test has a time limit */
        usleep(PAUSE_US);
    while (p && follow_goes_on(p)) {
        early = known = look(p, known);
        usleep(PAUSE_US);
        if ((more = follow_refresh(p, &err)) < 0)
            die("refresh");
        times += more;
    }
    pinball_close(p);
    p = argc == 2 ? pinball_open(argv[1], &err) : NULL;
    if (!p || pinball_check(p, NULL, NULL, &err))
        die("the end");
    if (known > pinball_chunks(p))
        die("chunks are gone");
    for (uint64_t i = 0; i < known && i < CHUNKS; i++) {
        read_chunk(p, i, &bytes, &sum);
        if (bytes != seen[i].bytes || sum != seen[i].sum)
            die("a chunk has changed");
    }
    printf("%llu of %llu chunks before the end\n", (unsigned long long)early,
           (unsigned long long)pinball_chunks(p));
    pinball_close(p);
    return early > 2 && times > 2 ? 0 : 1;
}
