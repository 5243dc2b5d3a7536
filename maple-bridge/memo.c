/* memo.c - a file with what a search knows. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "maple-bridge/memo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

#define HEAD "drdebug maple memo 2\n"

enum { MEMO_MOST = 256 << 20 };

struct memo {
    char path[PATH_MAX];
    int fd; /* locked */
};

/* ---- the file ---- */

/* The file may have been replaced between the two calls. */
static bool is_there(const char *path, int fd)
{
    struct stat a, b;
    return stat(path, &a) == 0 && fstat(fd, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

struct memo *memo_open(const char *path, struct err *err)
{
    struct memo *m = calloc(1, sizeof *m);
    if (!m || strlen(path) + sizeof ".new" > sizeof m->path) {
        free(m);
        err_set(err, "%s: no memory, or a name that is too long", path);
        return NULL;
    }
    strcpy(m->path, path);
    for (;;) {
        m->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (m->fd < 0) {
            err_set_code(err, errno, "%s: %m", path);
            break;
        }
        if (flock(m->fd, LOCK_EX | LOCK_NB)) {
            err_set_code(err, EWOULDBLOCK, "%s: another search uses this memo", path);
            break;
        }
        if (is_there(path, m->fd))
            return m;
        close(m->fd);
    }
    memo_close(m);
    return NULL;
}

void memo_close(struct memo *m)
{
    struct stat st;
    if (!m)
        return;
    if (m->fd >= 0 && fstat(m->fd, &st) == 0 && st.st_size == 0 && is_there(m->path, m->fd) &&
        flock(m->fd, LOCK_EX | LOCK_NB) == 0)
        unlink(m->path); /* nothing was written */
    if (m->fd >= 0)
        close(m->fd);
    free(m);
}

static int write_all(int fd, const char *text, size_t bytes)
{
    for (ssize_t n; bytes; text += n, bytes -= (size_t)n)
        if ((n = write(fd, text, bytes)) <= 0) {
            if (n < 0 && errno == EINTR) {
                n = 0;
                continue;
            }
            errno = n ? errno : ENOSPC;
            return -1;
        }
    return 0;
}

int memo_write(struct memo *m, const char *text, struct err *err)
{
    char new[PATH_MAX + 8];
    snprintf(new, sizeof new, "%s.new", m->path);
    int fd = open(new, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || write_all(fd, text, strlen(text)) || fsync(fd) ||
        rename(new, m->path)) {
        err_set_code(err, errno, "%s: %m", new);
        if (fd >= 0) {
            unlink(new);
            close(fd);
        }
        return -1;
    }
    close(m->fd);
    m->fd = fd;
    return 0;
}

int memo_program(const char *path, uint64_t *out, struct err *err)
{
    uint64_t word[512], hash = 0;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && memset(word, 0, sizeof word) && (n = read(fd, word, sizeof word)) > 0)
        for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
            hash = hash_fold(hash ^ hash >> 29, word[i]);
    if (fd < 0 || n < 0) {
        err_set_code(err, errno, "%s: %m", path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    close(fd);
    *out = hash;
    return 0;
}

/* ---- its text ---- */

static uint64_t sum_of(const char *text, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum = hash_fold(sum ^ sum >> 29, (unsigned char)text[i]);
    return sum ^ sum >> 32;
}

char *memo_text(const struct memo_state *state, const struct scout *profile,
                const struct portfolio *portfolio, struct err *err)
{
    const struct memo_part *part = &state->part;
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to) {
        err_set(err, "no memory");
        return NULL;
    }
    fprintf(to, HEAD "program %" PRIx64 "\nruns %" PRIu64 " %" PRIu64 "\n", state->program,
            state->runs, state->batches);
    if (part->jobs)
        fprintf(to, "part %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", part->job,
                part->jobs, part->first, part->runs, part->base);
    scout_write(profile, to);
    portfolio_write(portfolio, to);
    for (size_t i = 0; i < state->failures.count; i++) {
        const struct failure *f = &state->failures.list[i];
        fprintf(to, "failure %" PRIu64 " %d %d %s\n", f->run, f->kind, f->status, f->place);
    }
    fflush(to);
    fprintf(to, "sum %016" PRIx64 "\n", sum_of(text, bytes));
    if (fclose(to)) {
        free(text);
        err_set(err, "no memory");
        return NULL;
    }
    return text;
}

static int failure_line(struct memo_state *state, const char *line)
{
    struct failure f = {.run = 0};
    unsigned kind;
    int n = 0;
    if (sscanf(line, "failure %" SCNu64 " %u %d%n", &f.run, &kind, &f.status, &n) != 3)
        return 0;
    if (line[n] != ' ' || kind > CREW_CHECK || strlen(line + n + 1) >= sizeof f.place)
        return -1;
    f.kind = (enum crew_kind)kind;
    strcpy(f.place, line + n + 1);
    return failures_add(&state->failures, &f) ? 1 : -1;
}

static int own_line(struct memo_state *state, const char *line)
{
    struct memo_part *p = &state->part;
    if (sscanf(line, "program %" SCNx64, &state->program) == 1 ||
        sscanf(line, "runs %" SCNu64 " %" SCNu64, &state->runs, &state->batches) == 2)
        return 1;
    if (sscanf(line, "part %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNx64, &p->job,
               &p->jobs, &p->first, &p->runs, &p->base) == 5)
        return p->jobs && p->job && p->job <= p->jobs ? 1 : -1;
    return failure_line(state, line);
}

/* One line; those of the profile come before those that name its sites. */
static int take_line(struct memo_state *state, struct scout *profile, struct portfolio *portfolio,
                     const char *line)
{
    int got = own_line(state, line);
    got = got ? got : scout_line(profile, line);
    return got ? got : portfolio_line(portfolio, line);
}

static int take_text(struct memo_state *state, struct scout *profile, struct portfolio *portfolio,
                     char *text)
{
    for (char *line = text + sizeof HEAD - 1, *end; *line; line = end + 1) {
        if (!(end = strchr(line, '\n')))
            return -1;
        *end = '\0';
        if (take_line(state, profile, portfolio, line) <= 0)
            return -1;
    }
    return scout_settle(profile);
}

static char *load(const struct memo *m, size_t *bytes, struct err *err)
{
    struct stat st;
    char *text = NULL;
    if (fstat(m->fd, &st) == 0 && st.st_size >= 0 && st.st_size < MEMO_MOST)
        text = malloc((size_t)st.st_size + 1);
    if (!text) {
        err_set(err, "%s: it cannot be read", m->path);
        return NULL;
    }
    *bytes = 0;
    for (ssize_t n; *bytes < (size_t)st.st_size; *bytes += (size_t)n)
        if ((n = pread(m->fd, text + *bytes, (size_t)st.st_size - *bytes, (off_t)*bytes)) <= 0)
            break;
    text[*bytes] = '\0';
    return text;
}

int memo_read(struct memo *m, struct memo_state *state, struct scout *profile,
              struct portfolio *portfolio, uint64_t *sum, struct err *err)
{
    enum { LAST = sizeof "sum 0123456789abcdef\n" - 1 };
    const uint64_t program = state->program;
    size_t bytes;
    char *text = load(m, &bytes, err);
    if (!text)
        return -1;
    if (!bytes) {
        free(text);
        return 0;
    }
    bool good = strlen(text) == bytes && bytes > sizeof HEAD - 1 + LAST &&
                strncmp(text, HEAD, sizeof HEAD - 1) == 0 &&
                sscanf(text + bytes - LAST, "sum %" SCNx64, sum) == 1 &&
                *sum == sum_of(text, bytes - LAST);
    if (good) {
        text[bytes - LAST] = '\0';
        good = take_text(state, profile, portfolio, text) == 0;
    }
    free(text);
    if (!good)
        return err_set(err, "%s: no memo, or a damaged one; nothing in it can be used", m->path);
    if (program && program != state->program)
        return err_set(err, "%s: the memo of another build of the program, or of another one",
                       m->path);
    return 1;
}
