/* watchdog.c - writes down what the main loop was busy with, and when. SPDX-License-Identifier: MIT
 *
 * The loop is busy from the end of one poll to the begin of the next, and a frame takes from the
 * begin of its layout to the end of its painting. A line for each: what, ms, when it began.
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

/* Begin of something, and how long this thread had waited for a processor until then. */
struct begin {
    int64_t at_us, waited_us;
};

static struct {
    FILE *out;
    int waits; /* the kernel's file about this thread, or -1 */
    struct begin busy, frame;
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

static struct begin begin_now(void)
{
    return (struct begin){now_us(), waited_us()};
}

static void write_down(const char *what, const struct begin *begin, int64_t least_us)
{
    int64_t took = begin->at_us ? now_us() - begin->at_us : -1;
    if (took >= least_us && took > 0)
        took -= waited_us() - begin->waited_us;
    if (took >= least_us)
        fprintf(watch.out, "%s %.1f %.1f\n", what, (double)MAX(took, 0) / 1000,
                (double)begin->at_us / 1000);
}

static int watched_poll(GPollFD *fds, guint count, int timeout)
{
    write_down("busy", &watch.busy, LEAST_US);
    int ready = g_poll(fds, count, timeout);
    watch.busy = begin_now();
    return ready;
}

static void on_frame_begin(GdkFrameClock *clock, void *nothing)
{
    (void)clock, (void)nothing;
    watch.frame = begin_now();
}

static void on_frame_end(GdkFrameClock *clock, void *nothing)
{
    (void)clock, (void)nothing;
    write_down("frame", &watch.frame, 0);
}

void watchdog_watch(GtkWidget *window)
{
    GdkFrameClock *clock = watch.out ? gtk_widget_get_frame_clock(window) : NULL;
    if (!clock)
        return;
    g_signal_connect(clock, "before-paint", G_CALLBACK(on_frame_begin), NULL);
    g_signal_connect(clock, "after-paint", G_CALLBACK(on_frame_end), NULL);
}

void watchdog_note(const char *what)
{
    struct begin now = begin_now();
    if (watch.out)
        write_down(what, &now, 0);
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
