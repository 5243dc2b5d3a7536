/* session_timeout.c - a request's session is freed by the timer that the request itself makes run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS 8

struct session {
    int id, requests;
    long last_seen, bytes;
    char user[16];
};

static struct session *table[SESSIONS];
static long now, total;

static struct session *open_session(int id, const char *user)
{
    struct session *s = malloc(sizeof *s);
    *s = (struct session){.id = id, .last_seen = now};
    strncpy(s->user, user, sizeof s->user - 1);
    for (int i = 0; i < SESSIONS; i++)
        if (!table[i])
            return table[i] = s;
    abort();
}

static struct session *find(int id)
{
    for (int i = 0; i < SESSIONS; i++)
        if (table[i] && table[i]->id == id)
            return table[i];
    return NULL;
}

static void expire(long before)
{
    for (int i = 0; i < SESSIONS; i++)
        if (table[i] && table[i]->last_seen < before) {
            free(table[i]); /* ROOT CAUSE */
            table[i] = NULL;
        }
}

static long body_size(const char *body)
{
    long size = 0;
    for (int round = 0; round < 8; round++)
        for (const char *c = body; *c; c++)
            size += *c != '\r';
    return size / 8;
}

static void request(int id, const char *user, const char *body)
{
    struct session *s = find(id);
    if (!s)
        s = open_session(id, user);
#ifdef FIXED
    s->last_seen = now;
#endif
    if (now % 10 == 0)
        expire(now - 35);
    if (strncmp(body, "FORK ", 5) == 0)
        open_session(id + 100, body + 5);
    s->requests++;
    s->bytes += body_size(body);
    s->last_seen = now;
}

static long account(void)
{
    long sum = 0;
    for (int i = 0; i < SESSIONS; i++)
        if (table[i]) {
            printf("%-8s %3d requests %5ld bytes\n", table[i]->user, table[i]->requests,
                   table[i]->bytes);
            sum += table[i]->bytes;
            assert(table[i]->id < 100 || table[i]->requests == 0);
        }
    return sum;
}

int main(void)
{
    static const char *const users[] = {"ann", "bob", "eve"};
    for (now = 1; now < 40; now++)
        if (now % 7 != 0)
            request(now > 8 ? (int)(now % 2) * 2 : (int)(now % 3), users[now % 3],
                    "GET /index.html\r\n");
        else
            total += account();
    now = 40;
    request(1, "bob", "FORK carol");
    total += account();
    printf("%ld\n", total);
    return 0;
}
