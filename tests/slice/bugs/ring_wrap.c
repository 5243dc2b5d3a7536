/* ring_wrap.c - the free room of a ring is one too much, and its newest message covers its oldest.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 64u

struct ring {
    unsigned char at[ROOM];
    unsigned head, tail;
};

static unsigned used(const struct ring *r)
{
    return (r->head - r->tail) % ROOM;
}

static int fits(const struct ring *r, unsigned n)
{
#ifdef FIXED
    return n < ROOM - used(r);
#else
    return n <= ROOM - used(r); /* ROOT CAUSE */
#endif
}

static int send_message(struct ring *r, const char *text)
{
    unsigned n = (unsigned)strlen(text) + 1;
    if (!fits(r, n + 1))
        return 0;
    r->at[r->head++ % ROOM] = (unsigned char)n;
    for (unsigned i = 0; i < n; i++)
        r->at[r->head++ % ROOM] = (unsigned char)text[i];
    return 1;
}

static unsigned take_message(struct ring *r, char *out)
{
    if (!used(r))
        return 0;
    unsigned n = r->at[r->tail++ % ROOM];
    for (unsigned i = 0; i < n; i++)
        out[i] = (char)r->at[r->tail++ % ROOM];
    return n;
}

static unsigned drain(struct ring *r)
{
    char text[256];
    unsigned count = 0;
    while (take_message(r, text))
        count++;
    return count;
}

int main(void)
{
    static const char *const text[] = {"one", "three", "fifteen", "nineteen!"};
    struct ring r = {.head = 0};
    unsigned sent = 0, taken = 0;
    for (int i = 0; i < 60; i++) {
        int done = send_message(&r, text[i % 4]);
        sent += (unsigned)done;
        if (!done || i % 9 == 8)
            taken += drain(&r);
    }
    taken += drain(&r);
    printf("%u sent, %u taken\n", sent, taken);
    assert(sent == taken);
    return 0;
}
