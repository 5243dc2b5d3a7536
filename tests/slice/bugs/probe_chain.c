/* probe_chain.c - an entry is taken out of a table with open addresses, and those behind it are not
 * found any more.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 16

struct slot {
    unsigned key;
    int balance;
};

static struct slot slots[SLOTS];

static unsigned place(unsigned key)
{
    return key * 2654435761u >> 28;
}

static struct slot *find(unsigned key)
{
    for (unsigned i = place(key);; i = (i + 1) % SLOTS)
        if (slots[i].key == key || slots[i].key == 0)
            return &slots[i];
}

static void deposit(unsigned key, int amount)
{
    struct slot *s = find(key);
    s->key = key;
    s->balance += amount;
}

static void close_account(unsigned key)
{
    struct slot *s = find(key);
    s->key = 0; /* ROOT CAUSE */
    s->balance = 0;
#ifdef FIXED
    for (unsigned i = (unsigned)(s - slots + 1) % SLOTS; slots[i].key; i = (i + 1) % SLOTS) {
        struct slot moved = slots[i];
        slots[i] = (struct slot){0, 0};
        *find(moved.key) = moved;
    }
#endif
}

static int balance(unsigned key)
{
    return find(key)->balance;
}

int main(void)
{
    for (unsigned n = 1; n <= 12; n++)
        deposit(19 * n, 100 * (int)n);
    close_account(19 * 3);
    close_account(19 * 8);
    for (unsigned n = 1; n <= 12; n++)
        if (n != 3 && n != 8)
            deposit(19 * n, 1);
    int total = 0;
    for (unsigned n = 1; n <= 12; n++)
        if (n != 3 && n != 8)
            total += balance(19 * n);
    printf("%d in all\n", total);
    assert(total == 7800 - 1100 + 10);
    return 0;
}
