/* watchdog.c - writes down when the main loop was busy for long. SPDX-License-Identifier: MIT
 *
 * The loop is busy from the end of one poll to the begin of the next.
 */
#include "gui/view/watchdog.h"

#include <fcntl.h>
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_US = 10000 };

static struct {
    FILE *out;
    int waits; /* the kernel's file about this thread, or -1 */
    int64_t begin_us, waited_us;
} watch;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* How long this thread was ready and did not run: the second number. */
static int64_t waited_us(void)
{
    char text[128];
    ssize_t n = watch.waits < 0 ? 0 : pread(watch.waits, text, sizeof text - 1, 0);
    char *end = text;
    if (n <= 0)
        return 0;
    text[n] = '\0';
    strtoll(text, &end, 10);
    return strtoll(end, NULL, 10) / 1000;
}

static int watched_poll(GPollFD *fds, guint count, int timeout)
{
    int64_t busy = watch.begin_us ? now_us() - watch.begin_us : 0;
    if (busy >= LEAST_US)
        busy -= waited_us() - watch.waited_us;
    if (busy >= LEAST_US)
        fprintf(watch.out, "%.1f %" G_GINT64_FORMAT "\n", (double)busy / 1000,
                watch.begin_us / 1000);
    int ready = g_poll(fds, count, timeout);
    watch.waited_us = waited_us();
    watch.begin_us = now_us();
    return ready;
}

void watchdog_start(void)
{
    const char *path = g_getenv("DRDEBUG_GUI_WATCH");
    if (!path || !(watch.out = fopen(path, "a")))
        return;
    setvbuf(watch.out, NULL, _IOLBF, 0);
    watch.waits = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    g_main_context_set_poll_func(NULL, watched_poll);
}
