/* pppd_eap.c - a peer's name is copied into an array on the stack, by a length that was compared
 * the wrong way.
 *
 * SPDX-License-Identifier: MIT
 *
 * After pppd 2.4.2 to 2.4.8, CVE-2020-8597: eap_request() looked whether the value was longer than
 * the packet and the name's array together, not whether the rest of the packet fits into the array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
    int id, good, bad;
    char remote[16];
};

static unsigned char packet[256];

static unsigned digest(const unsigned char *value, int length, const char *name)
{
    unsigned h = 0x811c9dc5;
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < length; i++)
            h = (h ^ value[i]) * 16777619u;
        for (int i = 0; i < 16 && name[i]; i++)
            h = (h ^ (unsigned char)name[i]) * 16777619u;
    }
    return h;
}

static void __attribute__((noinline)) challenge(struct link *l, const unsigned char *in, int len)
{
    char name[16];
    int vallen = *in++;
    len--;
    if (vallen < 4 || vallen > len) {
        l->bad++;
        return;
    }
#ifdef FIXED
    if (len - vallen >= (int)sizeof name) {
#else
    if (vallen >= len + (int)sizeof name) { /* ROOT CAUSE */
#endif
        memcpy(name, in + vallen, sizeof name - 1);
        name[sizeof name - 1] = 0;
    } else {
        memcpy(name, in + vallen, (size_t)(len - vallen));
        name[len - vallen] = 0;
    }
    if (l->remote[0])
        memcpy(name, l->remote, sizeof name);
    printf("%.15s %08x\n", name, digest(in, vallen, name));
    l->good++;
}

static void input(struct link *l, const unsigned char *in, int len)
{
    if (len < 4 || in[0] != 1) {
        l->bad++;
        return;
    }
    l->id = in[1];
    challenge(l, in + 4, (in[2] << 8 | in[3]) - 4);
}

static int build(int id, const char *name)
{
    int len = (int)strlen(name) + 4 + 1 + 8;
    packet[0] = 1;
    packet[1] = (unsigned char)id;
    packet[2] = 0;
    packet[3] = (unsigned char)len;
    packet[4] = 8;
    memcpy(packet + 5, "\1\2\3\4\5\6\7\10", 8);
    memcpy(packet + 13, name, strlen(name));
    return len;
}

int main(void)
{
    struct link l = {0};
    input(&l, packet, build(1, "gateway"));
    input(&l, packet, build(2, "provider"));
    strcpy(l.remote, "fixed-name");
    input(&l, packet,
          build(3, "a-name-that-is-much-longer-than-anybody-will-ever-need-"
                   "for-a-peer-that-is-called-by-telephone"));
    printf("%d good, %d bad\n", l.good, l.bad);
    return 0;
}
