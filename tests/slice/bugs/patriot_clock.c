/* patriot_clock.c - a tenth of a second is kept in too few bits, and after a long time the window
 * in which a target is looked for lies beside it.
 *
 * SPDX-License-Identifier: MIT
 *
 * After the Patriot battery at Dhahran, 25 February 1991: 0.1 was chopped to 24 bits.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEED 1676.0

struct track {
    double range, seen_at;
    int misses;
};

static uint32_t ticks;

#ifdef FIXED
static const double tenth = 0.1;
#else
static const double tenth = 209715.0 / (1 << 21); /* ROOT CAUSE */
#endif

static double seconds(uint32_t t)
{
    return t * tenth; /* ROOT CAUSE */
}

static double true_range(uint32_t t)
{
    return 2e6 - SPEED * (t % 600) / 10;
}

static double predict(const struct track *t, uint32_t now)
{
    return t->range - SPEED * (seconds(now) - t->seen_at);
}

static int in_gate(const struct track *t, uint32_t now)
{
    double off = predict(t, now) - true_range(now);
    return off > -137 && off < 137;
}

static void update(struct track *t, uint32_t now)
{
    t->range = true_range(now);
    t->seen_at = now * 0.1;
    t->misses = 0;
}

static int follow(struct track *t)
{
    update(t, ticks);
    for (int i = 0; i < 20; i++) {
        ticks++;
        if (in_gate(t, ticks))
            update(t, ticks);
        else
            t->misses++;
    }
    return t->misses;
}

int main(void)
{
    static const int hours[] = {0, 1, 8, 20, 100};
    struct track t = {0};
    for (int i = 0; i < 5; i++) {
        ticks = (uint32_t)hours[i] * 36000;
        int misses = follow(&t);
        printf("after %d hours: %d misses\n", hours[i], misses);
        assert(misses == 0);
    }
    return 0;
}
