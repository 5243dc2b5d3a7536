/* static_name.c - a function gives out its own buffer, and a caller keeps the pointer over the next
 * call.
 *
 * SPDX-License-Identifier: MIT
 *
 * As with inet_ntoa(), asctime() and their kin.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct route {
    unsigned from, to;
    int hops;
};

static const char *dotted(unsigned address)
{
    static char text[20];
    snprintf(text, sizeof text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
             address >> 8 & 255, address & 255);
    return text;
}

struct entry {
    char key[48];
    int hops;
};

static struct entry table[8];
static int entries;

static void make_key(const struct route *r, char *out, size_t room)
{
#ifdef FIXED
    char from[20];
    strcpy(from, dotted(r->from));
    const char *to = dotted(r->to);
#else
    const char *from = dotted(r->from); /* ROOT CAUSE */
    const char *to = dotted(r->to);     /* ROOT CAUSE */
#endif
    snprintf(out, room, "%s>%s", from, to);
}

static struct entry *find(const char *key)
{
    for (int i = 0; i < entries; i++)
        if (strcmp(table[i].key, key) == 0)
            return &table[i];
    return NULL;
}

static void learn(const struct route *r)
{
    char key[48];
    make_key(r, key, sizeof key);
    struct entry *e = find(key);
    if (!e) {
        e = &table[entries++];
        strcpy(e->key, key);
        e->hops = r->hops;
    } else if (r->hops < e->hops) {
        e->hops = r->hops;
    }
}

int main(void)
{
    static const struct route routes[] = {
        {0x0a000001, 0x0a000009, 4}, {0x0a000002, 0x0a000009, 2}, {0x0a000001, 0x0a000009, 3},
        {0x0a000003, 0x0a000005, 6}, {0x0a000004, 0x0a000005, 5},
    };
    int hops = 0;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        learn(&routes[i]);
    for (int i = 0; i < entries; i++)
        hops += table[i].hops;
    printf("%d entries, %d hops\n", entries, hops);
    assert(hops == 3 + 2 + 6 + 5);
    return 0;
}
