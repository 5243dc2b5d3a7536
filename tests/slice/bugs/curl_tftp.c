/* curl_tftp.c - a buffer has the size that was asked for, and the answer never agreed to it.
 *
 * SPDX-License-Identifier: MIT
 *
 * After curl 7.65.3, CVE-2019-5482: the receive buffer was allocated with the small block size of
 * the option, and used with the protocol's 512 when the server sent no OACK.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512

struct transfer {
    unsigned asked, block;
    unsigned char *packet;
    unsigned long total, sum;
};

struct server {
    int knows_options;
    unsigned left;
    unsigned char next;
};

static struct transfer *open_transfer(unsigned block)
{
    struct transfer *t = calloc(1, sizeof *t);
    t->asked = block;
    t->block = BLOCK;
#ifdef FIXED
    t->packet = calloc(1, (block > BLOCK ? block : BLOCK) + 4);
#else
    t->packet = calloc(1, block + 4); /* ROOT CAUSE */
#endif
    return t;
}

static void negotiate(struct transfer *t, const struct server *s)
{
    if (s->knows_options)
        t->block = t->asked;
}

static unsigned receive(struct transfer *t, struct server *s)
{
    unsigned n = s->left < t->block ? s->left : t->block;
    for (unsigned i = 0; i < n; i++)
        t->packet[4 + i] = s->next++;
    s->left -= n;
    return n;
}

static void take(struct transfer *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        t->sum = t->sum * 31 + t->packet[4 + i];
    t->total += n;
}

static unsigned long fetch(unsigned block, struct server *s)
{
    struct transfer *t = open_transfer(block);
    char *name = strdup("a file's name that is kept");
    negotiate(t, s);
    for (unsigned n; (n = receive(t, s)) > 0;)
        take(t, n);
    unsigned long sum = t->sum ^ t->total;
    assert(strlen(name) == 26);
    free(name);
    free(t->packet);
    free(t);
    return sum;
}

int main(void)
{
    struct server good = {1, 900, 0}, old = {0, 900, 0};
    unsigned long sum = fetch(128, &good);
    sum ^= fetch(128, &old);
    printf("%lx\n", sum);
    return 0;
}
