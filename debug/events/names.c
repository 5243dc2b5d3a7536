/* names.c - constants of the kernel by their names. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "debug/events/names.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the C library's headers leave to the kernel's, which cannot be included beside them. */
#define CLONE_DETACHED 0x00400000
#define SOL_UDP        17
#define SOL_NETLINK    270
#define TIMER_ABSTIME  1

#define TABLE(which)     const struct name names_##which[] = {
#define BITS(c)          ((uint64_t)(unsigned)(c))
#define NAME(c)          {BITS(c), BITS(c), #c},
#define PART(bits, c)    {bits, BITS(c), #c},
#define VALUE(number, t) {number, number, #t},
#define END                                                                                        \
    {                                                                                              \
        0, 0, NULL                                                                                 \
    }                                                                                              \
    }                                                                                              \
    ;
#include "debug/events/names.def"
#undef TABLE
#undef NAME
#undef PART
#undef VALUE
#undef END

const char *names_find(const struct name *table, uint64_t value)
{
    while (table->text && table->value != value)
        table++;
    return table->text;
}

void names_put(struct words *out, const struct name *table, uint64_t value, const char *prefix)
{
    const char *name = names_find(table, value);
    if (name)
        words_add(out, name);
    else
        words_addf(out, value ? "%#llx /* %s??? */" : "%llu /* %s??? */", (unsigned long long)value,
                   prefix);
}

void names_put_bits(struct words *out, const struct name *table, uint64_t value, const char *none)
{
    const char *between = "";
    uint64_t left = value;
    for (; table->text; table++) {
        if (((table->value ? left : value) & table->mask) != table->value)
            continue;
        words_addf(out, "%s%s", between, table->text);
        between = "|";
        left &= ~table->mask;
    }
    if (left)
        words_addf(out, "%s%#llx", between, (unsigned long long)left);
    else if (!*between)
        words_add(out, none);
}

/* ---- signals ---- */

enum { SIGNALS = 64, FIRST_RT = 32 };

static void put_bare(struct words *out, int64_t n)
{
    const char *name = n > 0 && n < FIRST_RT ? sigabbrev_np((int)n) : NULL;
    if (n == SIGIO)
        name = "IO"; /* which is what everybody else calls it */
    if (name)
        words_add(out, name);
    else if (n == FIRST_RT)
        words_add(out, "RTMIN");
    else if (n > FIRST_RT && n <= SIGNALS)
        words_addf(out, "RT_%lld", (long long)n - FIRST_RT);
    else
        words_addf(out, "%lld", (long long)n);
}

void names_put_signal(struct words *out, int64_t number)
{
    if (number > 0 && number <= SIGNALS)
        words_add(out, "SIG");
    put_bare(out, number);
}

void names_put_signals(struct words *out, uint64_t set)
{
    enum { MANY = SIGNALS * 2 / 3 };
    const char *between = "";
    if (__builtin_popcountll(set) >= MANY) {
        words_add(out, "~");
        set = ~set;
    }
    words_add(out, "[");
    for (int n = 1; n <= SIGNALS; n++)
        if (set >> (n - 1) & 1) {
            words_add(out, between);
            put_bare(out, n);
            between = " ";
        }
    words_add(out, "]");
}
