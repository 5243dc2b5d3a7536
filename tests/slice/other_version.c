/* other_version.c - what a file of another version would be like.
 *
 * SPDX-License-Identifier: MIT
 *
 * other_version FILE [VERSION]: FILE is a trace, or a slice that was kept. Prints its version, and
 * gives it another one; `none` takes it away. All sums are right.
 */
#define _GNU_SOURCE /* asprintf */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/chunk.h"

static int fail(const char *why)
{
    fprintf(stderr, "other_version: %s\n", why);
    exit(2);
}

/* The first chunk with another version. A trace has a number there, a slice the line `version N`.
 */
static char *change(enum chunk_kind kind, const char *data, size_t *bytes, const char *version)
{
    char *out;
    if (kind == CHUNK_TRACE) {
        uint64_t n = version ? strtoull(version, NULL, 10) : 0;
        if (*bytes != sizeof n)
            fail("the first chunk is not the version");
        printf("%llu\n", (unsigned long long)*(const uint64_t *)(const void *)data);
        out = malloc(sizeof n);
        memcpy(out, &n, sizeof n);
        return out;
    }
    size_t line = strcspn(data, "\n") + 1;
    if (strncmp(data, "version ", 8) != 0)
        fail("the first line is not the version");
    printf("%.*s", (int)line - 8, data + 8);
    int n = version && strcmp(version, "none") == 0
                ? asprintf(&out, "%s", data + line)
                : asprintf(&out, "version %s\n%s", version ? version : "", data + line);
    *bytes = (size_t)n;
    return out;
}

int main(int argc, char *argv[])
{
    struct err err;
    struct stat st;
    struct packer packer = {0};
    struct chunk c;
    int fd = argc < 2 ? -1 : open(argv[1], O_RDWR);
    if (fd < 0 || fstat(fd, &st))
        fail("other_version FILE [VERSION]");
    struct span span = {fd, 0, (uint64_t)st.st_size, argv[1]};
    enum chunk_kind kind = CHUNK_TRACE;
    if (chunk_read(&span, 0, (struct chunk_want){kind, 0}, &c, &err) != 1) {
        kind = CHUNK_SLICE;
        if (chunk_read(&span, 0, (struct chunk_want){kind, 0}, &c, &err) != 1)
            fail(err.msg);
    }
    char *data = calloc(1, c.raw + 1);
    size_t bytes = c.raw, rest = (size_t)(span.bytes - chunk_next(0, &c));
    char *behind = malloc(rest + 1);
    if (chunk_unpack(&span, 0, &c, data, &packer, &err) ||
        chunk_pread(&span, chunk_next(0, &c), behind, rest, &err))
        fail(err.msg);
    char *changed = change(kind, data, &bytes, argv[2]);
    struct chunk_file file = {.fd = fd, .label = argv[1]};
    if (argc > 2 && (ftruncate(fd, 0) ||
                     chunk_append(&file, (struct chunk_new){kind, 1, 0, c.extra}, changed, bytes,
                                  &packer, &err) ||
                     chunk_append_bytes(&file, behind, rest, &err)))
        fail("it cannot be written");
    chunk_deinit_packer(&packer);
    free(changed);
    free(behind);
    free(data);
    return 0;
}
