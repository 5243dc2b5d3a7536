/* pointer_size.c - a key is compared over the size of a pointer to it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY 16

struct session {
    unsigned char key[KEY];
    int user;
    struct session *next;
};

static struct session *sessions;

static void make_key(unsigned char *key, unsigned host, unsigned serial)
{
    memset(key, 0, KEY);
    memcpy(key, "sess", 4);
    memcpy(key + 4, &host, sizeof host);
    for (int i = 0; i < 8; i++)
        key[8 + i] = (unsigned char)(serial * 37 + (unsigned)i * 11);
}

static int same(const unsigned char *a, const unsigned char *b)
{
#ifdef FIXED
    return memcmp(a, b, KEY) == 0;
#else
    return memcmp(a, b, sizeof a) == 0; /* ROOT CAUSE */
#endif
}

static struct session *find(const unsigned char *key)
{
    for (struct session *s = sessions; s; s = s->next)
        if (same(s->key, key))
            return s;
    return NULL;
}

static void login(unsigned host, unsigned serial, int user)
{
    struct session *s = malloc(sizeof *s);
    make_key(s->key, host, serial);
    s->user = user;
    s->next = sessions;
    sessions = s;
}

static int user_of(unsigned host, unsigned serial)
{
    unsigned char key[KEY];
    make_key(key, host, serial);
    struct session *s = find(key);
    return s ? s->user : -1;
}

int main(void)
{
    login(0x7f000001, 1, 1000);
    login(0x0a000007, 2, 1001);
    login(0x7f000001, 3, 1002);
    int first = user_of(0x7f000001, 3), second = user_of(0x7f000001, 1);
    printf("users %d and %d\n", first, second);
    assert(first == 1002 && second == 1000);
    return 0;
}
