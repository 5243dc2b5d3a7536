/* linux_dccp.c - a packet is freed although a socket keeps it for later.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Linux 4.9, CVE-2017-6074: with IPV6_RECVPKTINFO the request's packet is kept by the socket,
 * and the input function frees it all the same when it says that it has taken it.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packet {
    int kind, users;
    unsigned length;
    char data[40];
};

struct socket {
    int wants_info, listening;
    struct packet *kept;
    unsigned long seen;
};

static struct packet *packet_new(int kind, const char *text)
{
    struct packet *p = malloc(sizeof *p);
    p->kind = kind;
    p->users = 1;
    p->length = (unsigned)snprintf(p->data, sizeof p->data, "%s", text);
    return p;
}

static void packet_put(struct packet *p)
{
    assert(p->users > 0);
    if (--p->users == 0)
        free(p);
}

static int request(struct socket *s, struct packet *p)
{
    for (unsigned i = 0; i < p->length; i++)
        s->seen = s->seen * 31 + (unsigned char)p->data[i];
    if (s->wants_info) {
        p->users++;
        s->kept = p;
    }
    return 0;
}

static void input(struct socket *s, struct packet *p)
{
    if (p->kind == 1 && s->listening) {
        if (request(s, p) == 0) {
#ifdef FIXED
            packet_put(p);
#else
            free(p); /* ROOT CAUSE */
#endif
            return;
        }
    }
    packet_put(p);
}

static unsigned checksum(const char *text)
{
    unsigned sum = 0;
    for (int round = 0; round < 40; round++)
        for (const char *at = text; *at; at++)
            sum = sum * 33 ^ (unsigned char)*at;
    return sum;
}

static struct packet *answer(const struct socket *s)
{
    struct packet *p = calloc(1, sizeof *p);
    p->length = (unsigned)snprintf(p->data, sizeof p->data, "seen %lu", s->seen);
    p->kind = (int)(checksum(p->data) & 7);
    return p;
}

int main(void)
{
    struct socket s = {.listening = 1};
    input(&s, packet_new(1, "hello"));
    s.wants_info = 1;
    input(&s, packet_new(1, "hello with info"));
    struct packet *reply = answer(&s);
    if (s.kept)
        packet_put(s.kept);
    printf("%lu %d\n", s.seen, reply->kind);
    free(reply);
    return 0;
}
