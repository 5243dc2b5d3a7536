/* curl_socks.c - a decision that a state machine made in an earlier call is forgotten when it is
 * called again.
 *
 * SPDX-License-Identifier: MIT
 *
 * After curl 8.3, CVE-2023-38545: the SOCKS5 handshake switched to resolving a long name itself, in
 * a local variable that is set anew whenever the non-blocking handshake goes on, and then copied
 * the long name to its buffer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { INIT, SENT, AUTH, REQUEST, DONE };

struct transfer {
    char host[400];
    int remote_resolve;
};

struct proxy {
    enum state state;
    int resolve_locally, turns;
    unsigned char *buffer;
    struct transfer *owner;
    unsigned long sent;
};

static int poll_socket(struct proxy *p)
{
    return ++p->turns % 3 == 0;
}

static void send_bytes(struct proxy *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p->sent = p->sent * 131 + p->buffer[i];
}

static size_t resolve(unsigned char *to, const char *host)
{
    unsigned h = 0;
    while (*host)
        h = h * 33 + (unsigned char)*host++;
    memcpy(to, &h, 4);
    return 4;
}

static int handshake(struct proxy *p)
{
    struct transfer *t = p->owner;
    size_t length = strlen(t->host);
#ifdef FIXED
    if (p->state == INIT)
        p->resolve_locally = !t->remote_resolve || length > 255;
    int locally = p->resolve_locally;
#else
    int locally = !t->remote_resolve; /* ROOT CAUSE */
    if (p->state == INIT && length > 255)
        locally = 1;
#endif
    switch (p->state) {
    case INIT:
        memcpy(p->buffer, "\5\2\0\2", 4);
        send_bytes(p, 4);
        p->state = SENT;
        return 0;
    case SENT:
        if (!poll_socket(p))
            return 0;
        p->state = AUTH;
        /* fallthrough */
    case AUTH:
        p->state = REQUEST;
        return 0;
    case REQUEST: {
        size_t n = 4;
        memcpy(p->buffer, "\5\1\0\3", 4);
        if (locally) {
            n += resolve(p->buffer + n, t->host);
        } else {
            p->buffer[n++] = (unsigned char)length;
            memcpy(p->buffer + n, t->host, length);
            n += length;
        }
        send_bytes(p, n);
        p->state = DONE;
        return 0;
    }
    default:
        return 1;
    }
}

static struct proxy *connect_to(struct transfer *t)
{
    unsigned char *buffer = malloc(280);
    struct proxy *p = malloc(sizeof *p);
    *p = (struct proxy){.buffer = buffer, .owner = t};
    return p;
}

int main(void)
{
    static struct transfer t[2] = {{"www.example.org", 1}, {"", 1}};
    memset(t[1].host, 'a', 390);
    unsigned long all = 0;
    for (int i = 0; i < 2; i++) {
        struct proxy *p = connect_to(&t[i]);
        while (!handshake(p))
            ;
        all ^= p->sent;
        free(p->buffer);
        free(p);
    }
    printf("%lx\n", all);
    return 0;
}
