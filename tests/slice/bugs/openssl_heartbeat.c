/* openssl_heartbeat.c - a reply is as long as the request says, not as long as the request is.
 *
 * SPDX-License-Identifier: MIT
 *
 * After OpenSSL 1.0.1 to 1.0.1f, CVE-2014-0160 (Heartbleed): the payload's length is taken from the
 * message and compared with nothing.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    unsigned char data[64];
    unsigned length;
};

struct session {
    struct record in;
    char secret[32];
    unsigned char reply[256];
    unsigned reply_length;
};

static void receive(struct session *s, const unsigned char *data, unsigned length)
{
    memcpy(s->in.data, data, length);
    s->in.length = length;
}

static void heartbeat(struct session *s)
{
    const unsigned char *p = s->in.data;
    unsigned type = *p++;
    unsigned payload = (unsigned)p[0] << 8 | p[1]; /* ROOT CAUSE */
    p += 2;
#ifdef FIXED
    if (1 + 2 + payload > s->in.length)
        return;
#endif
    if (type != 1)
        return;
    unsigned char *to = s->reply;
    *to++ = 2;
    *to++ = (unsigned char)(payload >> 8);
    *to++ = (unsigned char)payload;
    memcpy(to, p, payload);
    s->reply_length = 3 + payload;
}

static void mask(struct session *s)
{
    unsigned char key = 17;
    for (unsigned i = 0; i < s->reply_length; i++) {
        s->reply[i] ^= key;
        key = (unsigned char)(key * 5 + 3);
    }
}

static int leaks(const struct session *s)
{
    unsigned char key = 17, plain[256];
    for (unsigned i = 0; i < s->reply_length; i++) {
        plain[i] = s->reply[i] ^ key;
        key = (unsigned char)(key * 5 + 3);
    }
    for (unsigned i = 0; i + 6 <= s->reply_length; i++)
        if (memcmp(plain + i, "hunter", 6) == 0)
            return 1;
    return 0;
}

int main(void)
{
    static const unsigned char good[] = {1, 0, 5, 'h', 'e', 'l', 'l', 'o'},
                               bad[] = {1, 0, 120, 'h', 'i'};
    struct session s = {.secret = "password=hunter2"};
    for (int i = 0; i < 3; i++) {
        s.reply_length = 0;
        if (i < 2)
            receive(&s, good, sizeof good);
        else
            receive(&s, bad, sizeof bad);
        heartbeat(&s);
        mask(&s);
        printf("%u bytes\n", s.reply_length);
        assert(!leaks(&s));
    }
    return 0;
}
