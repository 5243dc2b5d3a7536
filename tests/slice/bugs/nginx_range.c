/* nginx_range.c - the sizes of ranges that are asked for are added up, the sum wraps, and the check
 * of the sum lets a range pass that begins before the file.
 *
 * SPDX-License-Identifier: MIT
 *
 * After nginx 0.5.6 to 1.13.2, CVE-2017-7529: the range filter added the sizes of several ranges
 * without looking for an overflow; a suffix longer than the file begins in front of it.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
    int64_t start, end;
};

struct response {
    char head[96]; /* of the cache's file: nobody outside may see it */
    char body[160];
    int64_t length;
    struct range range[4];
    int ranges;
};

static const char *number(const char *p, int64_t *out)
{
    for (*out = 0; *p >= '0' && *p <= '9'; p++)
        *out = *out * 10 + (*p - '0');
    return p;
}

static int parse(struct response *r, const char *p)
{
    int64_t size = 0;
    for (r->ranges = 0; r->ranges < 4; p++) {
        int64_t start = 0, end = r->length;
        int suffix = *p == '-';
        if (suffix) {
            p = number(p + 1, &end);
            start = r->length - end;
            end = r->length;
        } else {
            p = number(p, &start);
            p = number(p + 1, &end);
            end = end >= r->length ? r->length : end + 1;
        }
        if (start < end) {
            r->range[r->ranges++] = (struct range){start, end};
#ifdef FIXED
            if (size > INT64_MAX - (end - start))
                return -1;
            size += end - start;
#else
            size = (int64_t)((uint64_t)size + (uint64_t)(end - start)); /* ROOT CAUSE */
#endif
        }
        if (*p != ',')
            break;
    }
    return size > r->length ? -1 : 0; /* all of it, then, without ranges */
}

static size_t send_ranges(const struct response *r, char *out)
{
    size_t sent = 0;
    for (int i = 0; i < r->ranges; i++) {
        int64_t from = r->range[i].start < -64 ? -64 : r->range[i].start;
        for (int64_t at = from; at < r->range[i].end; at++)
            out[sent++] = *((const char *)r + sizeof r->head + at);
    }
    return sent;
}

static size_t answer(struct response *r, const char *asked, char *out)
{
    if (parse(r, asked) < 0) {
        memcpy(out, r->body, (size_t)r->length);
        return (size_t)r->length;
    }
    return send_ranges(r, out);
}

int main(void)
{
    static const char *const asked[] = {"0-9", "10-19,-5", "100-,0-3",
                                        "-9223372036854775708,-9223372036854775708"};
    static struct response r;
    char out[1000];
    memset(r.head, 'k', sizeof r.head);
    memcpy(r.head + 40, "KEY: /private?token=9", 21);
    for (size_t i = 0; i < sizeof r.body; i++)
        r.body[i] = (char)('a' + i % 26);
    r.length = 150;
    for (int i = 0; i < 4; i++) {
        size_t n = answer(&r, asked[i], out);
        printf("%s: %zu bytes\n", asked[i], n);
        assert(!memchr(out, ':', n));
    }
    return 0;
}
