/* timer_context.c - a timer is given the address of a local variable, and fires when the function
 * has returned.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMERS 8

struct request {
    const char *url;
    int tries;
    long *bytes;
};

struct timer {
    long due;
    void (*fire)(void *);
    void *context;
};

static struct timer timers[TIMERS];
static long clock_now, downloaded;

static void add_timer(long due, void (*fire)(void *), void *context)
{
    for (int i = 0; i < TIMERS; i++)
        if (!timers[i].fire) {
            timers[i] = (struct timer){due, fire, context};
            return;
        }
    abort();
}

static long fetch(const char *url)
{
    unsigned long h = 5381;
    while (*url)
        h = h * 33 + (unsigned char)*url++;
    return (long)(h % 1000);
}

static void retry(void *context)
{
    struct request *r = context;
    r->tries++;
    *r->bytes += fetch(r->url);
#ifdef FIXED
    free(r);
#endif
}

static void __attribute__((noinline)) begin(const char *url, int busy)
{
#ifdef FIXED
    struct request *r = malloc(sizeof *r);
    *r = (struct request){url, 0, &downloaded};
    if (busy)
        add_timer(clock_now + 20, retry, r);
    else
        retry(r);
#else
    struct request r = {url, 0, &downloaded};
    if (busy)
        add_timer(clock_now + 20, retry, &r); /* ROOT CAUSE */
    else
        retry(&r);
#endif
}

static void run_timers(void)
{
    for (int i = 0; i < TIMERS; i++)
        if (timers[i].fire && timers[i].due <= clock_now) {
            void (*fire)(void *) = timers[i].fire;
            timers[i].fire = NULL;
            fire(timers[i].context);
        }
}

static long __attribute__((noinline)) idle(long ticks)
{
    long histogram[40];
    for (int i = 0; i < 40; i++)
        histogram[i] = ticks * i;
    for (int i = 1; i < 40; i++)
        histogram[i] += histogram[i - 1] % 7;
    return histogram[39];
}

int main(void)
{
    static const char *const urls[] = {"/a", "/b/c", "/d.html", "/e.png"};
    long load = 0;
    for (int i = 0; i < 4; i++)
        begin(urls[i], i == 2);
    for (clock_now = 1; clock_now < 40; clock_now++) {
        load += idle(clock_now);
        run_timers();
    }
    printf("%ld bytes, load %ld\n", downloaded, load);
    return 0;
}
