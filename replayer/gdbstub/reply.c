/* reply.c - text that grows: replies, documents, JSON. SPDX-License-Identifier: MIT */
#include "replayer/gdbstub/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (reply->room - reply->bytes > n)
        return true;
    size_t room = reply->room ? reply->room : 256;
    while (room - reply->bytes <= n)
        room *= 2;
    char *data = realloc(reply->data, room);
    if (!data) {
        reply_clear(reply);
        reply->failed = true;
        return false;
    }
    reply->data = data;
    reply->room = room;
    return true;
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
    for (; *text; text++) {
        char c = is_special(*text) || (unsigned char)*text < ' ' ? '?' : *text;
        reply_bytes(reply, &c, 1);
    }
}

/* The length of the UTF-8 sequence that p begins with, 0 if it is none (RFC 3629, section 4). */
static size_t sequence(const uint8_t *p, size_t left)
{
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (n == 0 || n > left || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

void reply_json(struct reply *reply, const void *text, size_t n)
{
    const uint8_t *p = text;

    reply_text(reply, "\"");
    for (size_t i = 0; i < n;) {
        size_t length = sequence(p + i, n - i);
        if (length == 0)
            reply_text(reply, "\\ufffd");
        else if (p[i] == '"' || p[i] == '\\')
            reply_addf(reply, "\\%c", p[i]);
        else if (p[i] < ' ' || p[i] == 0x7f)
            reply_addf(reply, "\\u%04x", p[i]);
        else
            reply_bytes(reply, p + i, length);
        i += length ? length : 1;
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
