/* overflow_check.c - a test for overflow relies on what the compiler may take for impossible. Only
 * at -O2.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
    int offset, length;
};

static const char text[64] = "the text that all messages are parts of, and nothing else";

static int is_inside(const struct message *m)
{
    if (m->offset < 0 || m->length < 0)
        return 0;
    int end = m->offset + m->length; /* ROOT CAUSE */
#ifdef FIXED
    if (m->length > INT_MAX - m->offset)
        return 0;
#else
    if (end < m->offset) /* ROOT CAUSE */
        return 0;
#endif
    return end <= (int)sizeof text; /* ROOT CAUSE */
}

static unsigned hash_part(const struct message *m)
{
    unsigned h = 0;
    int end = m->length < 32 ? m->length : 32;
    for (int i = 0; i < end; i++)
        h = h * 31 + (unsigned char)text[(size_t)m->offset + (size_t)i];
    return h;
}

static void read_message(struct message *m, const char *line)
{
    char *end;
    m->offset = (int)strtol(line, &end, 0);
    m->length = (int)strtol(end + 1, NULL, 0);
}

int main(void)
{
    static const char *const lines[] = {"0:3", "4:11", "12:900", "60:4", "0x7fffff00:0x7fffff00",
                                        "2:5"};
    struct message m[6];
    int bad = 0;
    unsigned sum = 0;
    for (int i = 0; i < 6; i++)
        read_message(&m[i], lines[i]);
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < 6; i++)
            if (i == 4 && round < 9)
                continue;
            else if (is_inside(&m[i]))
                sum += hash_part(&m[i]);
            else
                bad++;
    printf("%x, %d bad\n", sum, bad);
    return 0;
}
