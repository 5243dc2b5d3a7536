/* glibc_hostname.c - a buffer's size is computed without one of the things that are put there.
 *
 * SPDX-License-Identifier: MIT
 *
 * After glibc's CVE-2015-0235 (GHOST): __nss_hostname_digits_dots() counted the address, the list
 * of addresses and the name, and forgot the pointer to the aliases.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host {
    char *name, **aliases, **addresses;
    char *buffer;
};

struct peer {
    long magic, packets;
    struct peer *next;
};

static struct peer *peers;

static struct peer *add_peer(long packets)
{
    struct peer *p = malloc(sizeof *p);
    *p = (struct peer){0x70656572, packets, peers};
    return peers = p;
}

static int is_numeric(const char *name)
{
    while (isdigit((unsigned char)*name) || *name == '.')
        name++;
    return !*name;
}

static void parse(const char *name, unsigned char *address)
{
    for (int i = 0; i < 4; i++) {
        char *end;
        address[i] = (unsigned char)strtoul(name, &end, 10);
        name = *end ? end + 1 : end;
    }
}

static int resolve(const char *name, struct host *host)
{
    if (!is_numeric(name))
        return -1;
#ifdef FIXED
    size_t size = 16 + 2 * sizeof(char *) + sizeof(char *) + strlen(name) + 1;
#else
    size_t size = 16 + 2 * sizeof(char *) + strlen(name) + 1; /* ROOT CAUSE */
#endif
    char *at = host->buffer = malloc(size);
    add_peer(7); /* the one that asks */
    unsigned char *address = (unsigned char *)at;
    at += 16;
    host->addresses = (char **)at;
    at += 2 * sizeof(char *);
    host->aliases = (char **)at;
    at += sizeof(char *);
    host->name = strcpy(at, name);
    host->aliases[0] = NULL;
    parse(name, address);
    host->addresses[0] = (char *)address;
    host->addresses[1] = NULL;
    return 0;
}

static long count_packets(void)
{
    long sum = 0;
    for (const struct peer *p = peers; p; p = p->next) {
        assert(p->magic == 0x70656572);
        sum += p->packets;
    }
    return sum;
}

static void drop_peers(void)
{
    while (peers) {
        struct peer *p = peers;
        peers = p->next;
        free(p);
    }
}

int main(void)
{
    static const char *const names[] = {"127.0.0.1", "10.0.0.1",
                                        "000000000000000000000000000000000000000127.000.000.0001"};
    for (int i = 0; i < 20; i++)
        add_peer(i);
    for (int i = 0; i < 3; i++) {
        struct host host;
        if (resolve(names[i], &host) == 0)
            printf("%s: %u\n", host.name, (unsigned char)host.addresses[0][0]);
    }
    for (int i = 0; i < 4; i++)
        add_peer(i);
    printf("%ld packets\n", count_packets());
    drop_peers();
    return 0;
}
