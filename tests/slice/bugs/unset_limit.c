/* unset_limit.c - a structure on the stack is filled only as far as the configuration says
 * something.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct limits {
    long rate, burst;
};

struct host {
    char name[16];
    long sent, dropped;
};

static const char *config[] = {"rate=40", "burst=10", NULL};
static const char *other[] = {"rate=25", NULL};

static long __attribute__((noinline)) scramble(long seed)
{
    volatile long noise[24];
    for (int i = 0; i < 24; i++)
        noise[i] = seed = seed * 6364136223846793005 + 1442695040888963407;
    return noise[7] ^ noise[23];
}

static void read_limits(struct limits *l, const char **lines)
{
#ifdef FIXED
    *l = (struct limits){10, 10};
#endif
    for (; *lines; lines++)
        if (strncmp(*lines, "rate=", 5) == 0)
            l->rate = atol(*lines + 5);
        else if (strncmp(*lines, "burst=", 6) == 0)
            l->burst = atol(*lines + 6);
}

static void send_packets(struct host *h, const struct limits *l)
{
    long tokens = l->burst;
    for (int tick = 0; tick < 50; tick++) {
        tokens += l->rate / 10;
        if (tokens > l->burst)
            tokens = l->burst;
        long want = (tick * 7) % 11;
        long now = want < tokens ? want : tokens;
        h->sent += now;
        h->dropped += want - now;
        tokens -= now;
    }
}

static void __attribute__((noinline)) serve(struct host *h, const char **lines)
{
    struct limits l;        /* ROOT CAUSE */
    read_limits(&l, lines); /* ROOT CAUSE */
    send_packets(h, &l);
}

int main(void)
{
    struct host a = {"a", 0, 0}, b = {"b", 0, 0};
    serve(&a, config);
    long token = scramble(4711);
    serve(&b, other);
    printf("%lx: %ld %ld, %ld %ld\n", token, a.sent, a.dropped, b.sent, b.dropped);
    assert(b.sent >= 0 && b.sent <= 150);
    return 0;
}
