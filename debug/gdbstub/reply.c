/* reply.c - text that grows: replies, documents, JSON. SPDX-License-Identifier: MIT */
#include "debug/gdbstub/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/plain.h"

void reply_clear(struct reply *reply)
{
    reply->bytes = 0;
    reply->failed = false;
    if (reply->data)
        reply->data[0] = '\0';
}

void reply_deinit(struct reply *reply)
{
    free(reply->data);
    *reply = (struct reply){0};
}

/* Room for n more bytes and a NUL. */
static bool make_room(struct reply *reply, size_t n)
{
    if (reply->failed)
        return false;
    if (array_reserve(&reply->data, &reply->room, reply->bytes + n + 1) == 0)
        return true;
    reply_clear(reply);
    reply->failed = true;
    return false;
}

void reply_bytes(struct reply *reply, const void *bytes, size_t n)
{
    if (!make_room(reply, n))
        return;
    if (n)
        memcpy(reply->data + reply->bytes, bytes, n);
    reply->bytes += n;
    reply->data[reply->bytes] = '\0';
}

void reply_text(struct reply *reply, const char *text)
{
    reply_bytes(reply, text, strlen(text));
}

void reply_addv(struct reply *reply, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n >= 0 && make_room(reply, (size_t)n)) {
        vsnprintf(reply->data + reply->bytes, (size_t)n + 1, fmt, again);
        reply->bytes += (size_t)n;
    }
    va_end(again);
}

void reply_addf(struct reply *reply, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    reply_addv(reply, fmt, args);
    va_end(args);
}

void reply_hex(struct reply *reply, const void *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = bytes;

    if (!make_room(reply, 2 * n))
        return;
    for (size_t i = 0; i < n; i++) {
        reply->data[reply->bytes++] = digits[p[i] >> 4];
        reply->data[reply->bytes++] = digits[p[i] & 15];
    }
    reply->data[reply->bytes] = '\0';
}

/* Those that begin, end, repeat or escape. */
static bool is_special(char c)
{
    return c == '$' || c == '#' || c == '}' || c == '*';
}

size_t reply_binary(struct reply *reply, const void *bytes, size_t n, size_t max)
{
    const char *p = bytes;
    size_t done = 0;

    if (!make_room(reply, 2 * n))
        return 0;
    for (; done < n; done++) {
        bool special = is_special(p[done]);
        if (reply->bytes + 1 + special > max)
            break;
        if (special)
            reply->data[reply->bytes++] = '}';
        reply->data[reply->bytes++] = (char)(special ? p[done] ^ 0x20 : p[done]);
    }
    reply->data[reply->bytes] = '\0';
    return done;
}

void reply_plain(struct reply *reply, const char *text)
{
    char one[PLAIN_ONE];

    for (size_t n = strlen(text), took; n; text += took, n -= took) {
        took = plain_one(PLAIN_TEXT, text, n, one);
        reply_text(reply, is_special(one[0]) ? "?" : one);
    }
}

void reply_json(struct reply *reply, const void *text, size_t n)
{
    const char *p = text;
    char one[PLAIN_ONE];

    reply_text(reply, "\"");
    for (size_t took; n; p += took, n -= took) {
        took = plain_one(PLAIN_JSON, p, n, one);
        reply_text(reply, one);
    }
    reply_text(reply, "\"");
}

void reply_xml(struct reply *reply, const char *text)
{
    for (const uint8_t *p = (const uint8_t *)text; *p; p++) {
        if (*p == '<' || *p == '>' || *p == '&' || *p == '"' || *p == '\'')
            reply_addf(reply, "&#%d;", *p);
        else
            reply_bytes(reply, *p < ' ' || *p >= 0x7f ? (const uint8_t *)"?" : p, 1);
    }
}
