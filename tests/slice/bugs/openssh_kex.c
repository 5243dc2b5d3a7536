/* openssh_kex.c - a list of algorithms is freed by the code that replaces it, and by its owner.
 *
 * SPDX-License-Identifier: MIT
 *
 * After OpenSSH 9.1, CVE-2023-25136: compat_kex_proposal() freed what it was given when it had
 * filtered it, and what it was given was options.kex_algorithms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD_GROUPS 1

struct options {
    char *ciphers, *kex, *macs;
};

struct connection {
    int compat;
    char *proposal[3];
};

static char *filtered(const char *list, const char *without)
{
    char *result = malloc(strlen(list) + 1), *at = result;
    size_t skip = strlen(without);
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n != skip || strncmp(list, without, n) != 0) {
            if (at > result)
                *at++ = ',';
            memcpy(at, list, n);
            at += n;
        }
        list += n + (list[n] == ',');
    }
    *at = 0;
    return result;
}

static char *compat_cipher(struct connection *c, char *list)
{
    (void)c;
    return strdup(list);
}

static char *compat_kex(struct connection *c, char *list)
{
    if (!(c->compat & OLD_GROUPS))
        return strdup(list);
    char *result = filtered(list, "curve25519-sha256");
    char *kept = result;
    if (c->compat & OLD_GROUPS) {
        result = filtered(kept, "group-exchange-sha256");
        free(kept);
    }
#ifndef FIXED
    free(list); /* ROOT CAUSE */
#endif
    return result;
}

static int compat_of(const char *banner)
{
    return strncmp(banner, "SSH-2.0-PuTTY_Release_0.5", 25) == 0 ? OLD_GROUPS : 0;
}

static void negotiate(struct connection *c, struct options *o, const char *banner)
{
    c->compat = compat_of(banner);
    c->proposal[0] = compat_cipher(c, o->ciphers);
    c->proposal[1] = compat_kex(c, o->kex);
    c->proposal[2] = compat_cipher(c, o->macs);
}

static unsigned long fingerprint(const struct connection *c)
{
    unsigned long h = 1469598103934665603u;
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < 3; i++)
            for (const char *s = c->proposal[i]; *s; s++)
                h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h;
}

static void close_all(struct connection *c, struct options *o)
{
    for (int i = 0; i < 3; i++)
        free(c->proposal[i]);
    free(o->macs);
    free(o->kex);
    free(o->ciphers);
}

int main(void)
{
    static const char *const banner[] = {"SSH-2.0-OpenSSH_9.1", "SSH-2.0-PuTTY_Release_0.58"};
    for (int i = 0; i < 2; i++) {
        struct connection c = {0};
        struct options o = {
            strdup("aes128-ctr,aes256-ctr,chacha20"),
            strdup("curve25519-sha256,group-exchange-sha256,group14-sha256,group16-sha512"),
            strdup("umac-64,hmac-sha2-256")};
        negotiate(&c, &o, banner[i]);
        printf("%s: %lx\n", banner[i], fingerprint(&c));
        close_all(&c, &o);
    }
    return 0;
}
