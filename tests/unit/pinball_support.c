/* pinball_support.c - small pinballs for tests, and ways to spoil them.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* nftw */
#include "tests/unit/pinball_support.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "pinball/record.h"
#include "pinball/text.h"
#include "pinball/writer.h"
#include "pinball/xxh64.h"
#include "tests/unit/unit.h"

static char work[64];

int support_enter(void **state)
{
    (void)state;
    strcpy(work, "/tmp/drdebug-unit-XXXXXX");
    if (!mkdtemp(work) || chdir(work))
        return -1;
    return setenv("XDG_STATE_HOME", work, 1); /* not the tester's own key */
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

void support_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int support_leave(void **state)
{
    (void)state;
    if (chdir("/"))
        return -1;
    support_remove(work);
    return 0;
}

const void *support_records(uint64_t i, size_t *bytes)
{
    static struct record_check record[SUPPORT_RECORDS];

    for (uint64_t n = 0; n < SUPPORT_RECORDS; n++)
        record[n] =
            (struct record_check){{.kind = RECORD_CHECK, .bytes = sizeof record[n]},
                                  {.count = i * SUPPORT_RECORDS + n, .pc = 0x1000, .hash = i}};
    *bytes = sizeof record;
    return record;
}

static void make_file(const char *path, unsigned seed)
{
    unsigned char data[300];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * seed >> 2);
    support_store(path, data, sizeof data);
}

static void keep(struct writer *w, const char *path, uint32_t want)
{
    uint32_t number;
    uint64_t size;
    struct err err;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(writer_keep(w, fd, 0, 1, &number, &size, &err), 0);
    assert_int_equal(number, want);
    assert_int_equal(size, 300);
    close(fd);
}

static void note(const char *dir)
{
    struct err err;
    struct pinball *p = pinball_open(dir, &err);

    assert_non_null(p);
    assert_int_equal(pinball_note(p, "instructions 77\n", 16, &err), 0);
    assert_int_equal(pinball_note(p, "instructions 78\n", 16, &err), 0);
    pinball_close(p);
}

void support_make(const char *dir)
{
    struct err err;
    struct writer *w = writer_new(dir, &err);
    struct text text = {0};

    assert_non_null(w);
    text_add(&text, "program", "/bin/two\nlines");
    text_add(&text, "arg", "two");
    text_add(&text, "arg", "\\ and \x01\xff");
    assert_int_equal(writer_head(w, text.data, text.bytes, &err), 0);
    text_deinit(&text);
    make_file("first", 7);
    make_file("second", 11);
    keep(w, "first", 0);
    keep(w, "second", 1);
    for (uint64_t i = 0; i < SUPPORT_CHUNKS; i++) {
        size_t bytes;
        const void *records = support_records(i, &bytes);
        assert_int_equal(writer_events(w, records, bytes, SUPPORT_RECORDS, &err), 0);
    }
    assert_int_equal(writer_end(w, "reason exit\n", 12, &err), 0);
    writer_free(w);
    note(dir);
}

int support_read_all(const char *path, struct err *err)
{
    struct pinball *p = pinball_open(path, err);
    uint64_t data[64];
    int bad = 0;

    if (!p)
        return -1;
    for (uint32_t i = 0; !bad && i < pinball_files(p); i++)
        bad = pinball_file_read(p, i, 3, data, sizeof data, err);
    if (!bad)
        bad = pinball_check(p, NULL, NULL, err);
    pinball_close(p);
    return bad;
}

void support_refuses(const char *path, const char *cause)
{
    struct err err = {0};

    if (support_read_all(path, &err) == 0)
        fail_msg("%s: was read, not refused with '%s'", path, cause);
    if (!strstr(err.msg, cause))
        fail_msg("%s: '%s' does not contain '%s'", path, err.msg, cause);
}

const char *support_unread(const char *path)
{
    static char words[256];
    snprintf(words, sizeof words, "%s: is version %d, this drdebug reads versions %d to %d", path,
             SUPPORT_VERSION, PINBALL_OLDEST, PINBALL_VERSION);
    return words;
}

struct bytes support_load(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    struct bytes file = {malloc((size_t)st.st_size + 1), (size_t)st.st_size};
    assert_non_null(file.data);
    assert_int_equal(read(fd, file.data, file.bytes), file.bytes);
    close(fd);
    return file;
}

/* Not O_TRUNC, after which ext4 writes to disk at once. */
void support_store(const char *path, const void *data, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    close(fd);
}

size_t support_chunk_at(struct bytes file, uint64_t i)
{
    struct chunk chunk;
    size_t at = 0;

    for (; i > 0; i--) {
        assert_true(at + sizeof chunk <= file.bytes);
        memcpy(&chunk, file.data + at, sizeof chunk);
        at += sizeof chunk + chunk.stored;
    }
    return at;
}

void support_edit(const char *path, uint64_t i, support_change *change)
{
    struct bytes file = support_load(path);
    unsigned char *at = file.data + support_chunk_at(file, i);
    struct chunk chunk;

    memcpy(&chunk, at, sizeof chunk);
    uint64_t stored = chunk.stored;
    change(&chunk, at + sizeof chunk);
    chunk.sum = xxh64(at + sizeof chunk, stored, 0);
    chunk.header_sum = xxh64(&chunk, offsetof(struct chunk, header_sum), 0);
    memcpy(at, &chunk, sizeof chunk);
    support_store(path, file.data, file.bytes);
    free(file.data);
}
