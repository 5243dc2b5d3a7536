/* retry.c - which runs leave a recording, and how often a program runs until one does.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "cli/retry.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/numbers.h"
#include "logger/trigger.h"
#include "pinball/text.h"

#define SECOND_NS UINT64_C(1000000000)

enum { SHOWN_AT_MOST_S = 30, STATUS_MOST = 255 };

/* ---- which runs are kept ---- */

static bool has_failed(int status, int number)
{
    (void)number;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool has_status(int status, int number)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == number;
}

static bool has_signal(int status, int number)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

static int parse_status(const char *text)
{
    uint64_t n;
    return text_number(text, &n) || n > STATUS_MOST ? -1 : (int)n;
}

static const struct {
    const char *name; /* with a colon: a value follows */
    int (*parse)(const char *text);
    bool (*holds)(int status, int number);
} keeps[] = {{"failed", NULL, has_failed},
             {"status:", parse_status, has_status},
             {"signal:", trigger_signal, has_signal}};

int retry_add_keep(struct retry *retry, const char *text, struct err *err)
{
    for (size_t i = 0; i < sizeof keeps / sizeof keeps[0]; i++) {
        size_t n = strlen(keeps[i].name);
        if (strncmp(text, keeps[i].name, n) != 0 || (!keeps[i].parse && text[n]))
            continue;
        int number = keeps[i].parse ? keeps[i].parse(text + n) : 0;
        if (number < 0)
            break;
        if (retry->keeps == RETRY_KEEPS)
            return err_set(err, "--keep: more than %d of them", RETRY_KEEPS);
        retry->keep[retry->keeps++] = (struct retry_keep){(int)i, number};
        return 0;
    }
    return err_set(err, "--keep: '%s' is not failed, status:N or signal:NAME", text);
}

bool retry_keeps(const struct retry *retry, int wait_status)
{
    for (size_t i = 0; i < retry->keeps; i++)
        if (keeps[retry->keep[i].kind].holds(wait_status, retry->keep[i].number))
            return true;
    return retry->keeps == 0;
}

/* ---- how often ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

int retry_limit(struct retry *retry, const char *text, struct err *err)
{
    retry->most_runs = retry->most_ns = 0;
    if (text_number(text, &retry->most_runs) == 0 ? !retry->most_runs
                                                  : numbers_time(text, &retry->most_ns))
        return err_set(err, "--retry: '%s' is neither a number of runs nor a time, as in 300s",
                       text);
    return 0;
}

void retry_begin_run(struct retry *retry)
{
    if (retry->runs++ > 0)
        return;
    retry->begin_ns = retry->shown_ns = now_ns();
    retry->shown_for = SECOND_NS;
}

/* Lines, since the program may write to the terminal, too; ever more seldom. */
static void show(struct retry *retry, uint64_t now)
{
    if (!isatty(STDERR_FILENO) || now - retry->shown_ns < retry->shown_for)
        return;
    fprintf(stderr, "drdebug: %" PRIu64 " run%s in %" PRIu64 " s, none kept\n", retry->runs,
            retry->runs == 1 ? "" : "s", (now - retry->begin_ns) / SECOND_NS);
    retry->shown_ns = now;
    if (retry->shown_for < SHOWN_AT_MOST_S / 2 * SECOND_NS)
        retry->shown_for *= 2;
}

bool retry_again(struct retry *retry)
{
    uint64_t now = now_ns();
    if (!retry_wanted(retry) || (retry->most_runs && retry->runs >= retry->most_runs) ||
        (retry->most_ns && now - retry->begin_ns >= retry->most_ns))
        return false;
    show(retry, now);
    return true;
}
