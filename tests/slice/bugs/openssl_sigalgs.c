/* openssl_sigalgs.c - a list is given back, its length stays.
 *
 * SPDX-License-Identifier: MIT
 *
 * After OpenSSL 1.1.1j, CVE-2021-3449: a second hello without an extension frees the list that the
 * first one brought, and leaves the number of its entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
    unsigned short *peer;
    size_t peers;
    unsigned short own[4], shared[8];
    size_t shareds;
    unsigned char master[48];
};

static void take_list(struct session *s, const unsigned short *list, size_t n)
{
    s->peer = malloc(n * sizeof *list);
    memcpy(s->peer, list, n * sizeof *list);
    s->peers = n;
}

static void begin_hello(struct session *s)
{
    free(s->peer);
    s->peer = NULL; /* ROOT CAUSE */
#ifdef FIXED
    s->peers = 0;
#endif
    s->shareds = 0;
}

static void derive(struct session *s, unsigned secret)
{
    for (int round = 0; round < 8; round++)
        for (size_t i = 0; i < sizeof s->master; i++) {
            secret = secret * 69069 + s->master[(i * 7 + 1) % sizeof s->master];
            s->master[i] ^= (unsigned char)(secret >> 11);
        }
}

static void share(struct session *s)
{
    for (size_t i = 0; i < s->peers; i++)
        for (size_t k = 0; k < 4; k++)
            if (s->peer[i] == s->own[k])
                s->shared[s->shareds++] = s->own[k];
}

static unsigned hello(struct session *s, const unsigned short *list, size_t n, unsigned secret)
{
    begin_hello(s);
    if (list)
        take_list(s, list, n);
    derive(s, secret);
    share(s);
    return s->shareds ? s->shared[0] : 0;
}

int main(void)
{
    static const unsigned short first[] = {0x0601, 0x0403, 0x0804};
    struct session s = {.own = {0x0403, 0x0804, 0x0805, 0x0401}};
    unsigned chosen = hello(&s, first, 3, 99);
    chosen += hello(&s, first + 1, 2, 100);
    chosen += hello(&s, NULL, 0, 101);
    printf("%x %d\n", chosen, s.master[5]);
    free(s.peer);
    return 0;
}
