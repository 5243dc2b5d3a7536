/* memory.c - how much memory may be taken for what a stranger made. SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LEAST_RESERVE = 512 }; /* MB */

const char memory_setting[] = "DRDEBUG_REPLAY_MEMORY";

static pthread_once_t limit_known = PTHREAD_ONCE_INIT;
static uint64_t limit;
static bool bad_setting;

void memory_lines(const char *path, const struct memory_line *line, size_t lines)
{
    char text[256];
    FILE *f = fopen(path, "re");

    while (f && fgets(text, sizeof text, f))
        for (size_t i = 0; i < lines; i++) {
            const size_t n = strlen(line[i].name);
            if (strncmp(text, line[i].name, n) == 0 && text[n] == ':')
                *line[i].bytes += strtoull(text + n + 1, NULL, 10) << 10;
        }
    if (f)
        fclose(f);
}

uint64_t memory_available(void)
{
    uint64_t bytes = 0;
    const struct memory_line lines[] = {{"MemAvailable", &bytes}, {"SwapFree", &bytes}};

    memory_lines("/proc/meminfo", lines, sizeof lines / sizeof lines[0]);
    return bytes;
}

static void find_limit(void)
{
    const char *text = getenv(memory_setting);
    char *end;

    if (text && *text) {
        const uint64_t megabytes = strtoull(text, &end, 10);
        bad_setting = *end || *text < '0' || *text > '9' || !megabytes || megabytes >> 40;
        limit = megabytes << 20;
        return;
    }
    const uint64_t can = memory_available();
    uint64_t reserve =
        can / 4 < (uint64_t)LEAST_RESERVE << 20 ? can / 4 : (uint64_t)LEAST_RESERVE << 20;
    reserve = reserve < can / 16 ? can / 16 : reserve;
    limit = can ? can - reserve : UINT64_MAX; /* a kernel that does not say: no limit */
}

uint64_t memory_limit(void)
{
    pthread_once(&limit_known, find_limit);
    return limit;
}

int memory_check_setting(struct err *err)
{
    memory_limit();
    return bad_setting ? err_set(err, "%s: '%s' is not a number of megabytes", memory_setting,
                                 getenv(memory_setting))
                       : 0;
}

/* The kernel counts private memory that can be written, whether it is there or not. */
int memory_bound(struct err *err)
{
    struct rlimit l;
    uint64_t has = 0, most;
    const struct memory_line line = {"VmData", &has};

    if (memory_check_setting(err))
        return -1;
    memory_lines("/proc/self/status", &line, 1);
    if (__builtin_add_overflow(memory_limit(), has, &most) || most >= RLIM_INFINITY)
        return 0;
    if (getrlimit(RLIMIT_DATA, &l) == 0 && l.rlim_cur <= most)
        return 0;
    l.rlim_cur = most;
    return setrlimit(RLIMIT_DATA, &l)
               ? err_set_code(err, errno, "memory cannot be limited: %s", strerror(errno))
               : 0;
}
