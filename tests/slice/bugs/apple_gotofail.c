/* apple_gotofail.c - a signature is never looked at, since a line is there twice.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Apple's SecureTransport, CVE-2014-1266: the second `goto fail' in
 * SSLVerifySignedServerKeyExchange() is taken always, with err at 0.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hash {
    unsigned state, length;
};

struct server {
    const char *name, *params;
    unsigned signature;
};

static int hash_update(struct hash *h, const char *data)
{
    if (!data)
        return -50;
    for (; *data; data++) {
        h->state = (h->state ^ (unsigned char)*data) * 16777619u;
        h->length++;
    }
    return 0;
}

static int hash_final(struct hash *h, unsigned *out)
{
    for (int i = 0; i < 64; i++)
        h->state = (h->state << 7 | h->state >> 25) + h->length;
    *out = h->state;
    return 0;
}

static int raw_verify(unsigned hash, unsigned signature)
{
    return (hash ^ 0x5a5a5a5a) == signature ? 0 : -9809;
}

static int verify(const struct server *s, const char *client_random, const char *server_random)
{
    struct hash h = {2166136261u, 0};
    unsigned out = 0;
    int err;
    if ((err = hash_update(&h, client_random)) != 0)
        goto fail;
    if ((err = hash_update(&h, server_random)) != 0)
        goto fail;
    if ((err = hash_update(&h, s->params)) != 0) /* ROOT CAUSE */
        goto fail;
#ifndef FIXED
    goto fail; /* ROOT CAUSE */
#endif
    if ((err = hash_final(&h, &out)) != 0)
        goto fail;
    err = raw_verify(out, s->signature);
fail:
    h.state = 0;
    return err;
}

static unsigned sign(const char *params, const char *a, const char *b)
{
    struct hash h = {2166136261u, 0};
    unsigned out = 0;
    hash_update(&h, a);
    hash_update(&h, b);
    hash_update(&h, params);
    hash_final(&h, &out);
    return out ^ 0x5a5a5a5a;
}

static int handshake(const struct server *s)
{
    static const char *const a = "client random bytes", *const b = "server random bytes";
    int err = verify(s, a, b);
    printf("%s: %d\n", s->name, err);
    return err == 0;
}

int main(void)
{
    struct server good = {"bank.example", "p=23,g=5", 0}, forged = {"bank.example", "p=23,g=1", 0};
    good.signature = forged.signature =
        sign(good.params, "client random bytes", "server random bytes");
    int trusted = handshake(&good);
    int fooled = handshake(&forged);
    assert(trusted);
    assert(!fooled);
    return 0;
}
