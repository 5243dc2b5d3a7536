/* pinball_check.c - `pinball_check PATH` opens a pinball and reads all of it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Prints one line: what it holds (status 0), or what is wrong with it (status 1). Built with ASan
 * and UBSan, so anything else it does is a bug.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pinball/pinball.h"

/* In steps that do not match the chunks' size. */
static int read_files(struct pinball *p, struct err *err)
{
    enum { STEP = 300000 };
    char *data = malloc(STEP);
    int bad = data ? 0 : err_set(err, "no memory");

    for (uint32_t n = 0; !bad && n < pinball_files(p); n++) {
        const struct kept_file *f = pinball_file(p, n);
        for (size_t i = 0; !bad && i < f->ranges; i++)
            for (uint64_t at = 0; !bad && at < f->range[i].bytes; at += STEP)
                bad = pinball_file_read(p, n, f->range[i].offset + at, data, STEP, err);
    }
    free(data);
    return bad;
}

int main(int argc, char *argv[])
{
    struct err err = {.msg = ""};

    if (argc != 2) {
        fprintf(stderr, "usage: pinball_check PATH\n");
        return 2;
    }
    struct pinball *p = pinball_open(argv[1], &err);
    int bad = !p || read_files(p, &err) || pinball_check(p, NULL, NULL, &err);
    if (bad)
        fprintf(stderr, "drdebug: %s\n", err.msg);
    else
        printf("%s: %llu chunks, %llu records, %u files\n", argv[1],
               (unsigned long long)pinball_chunks(p), (unsigned long long)pinball_records(p),
               pinball_files(p));
    pinball_close(p);
    return bad;
}
