/* args.c - read what a packet says, from left to right. SPDX-License-Identifier: MIT */
#include "debug/gdbstub/args.h"

#include <string.h>

int args_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool args_empty(const struct args *args)
{
    return args->at == args->end;
}

size_t args_left(const struct args *args)
{
    return (size_t)(args->end - args->at);
}

bool args_take(struct args *args, char c)
{
    if (args->at == args->end || *args->at != c)
        return false;
    args->at++;
    return true;
}

bool args_word(struct args *args, const char *word)
{
    size_t n = strlen(word);

    if (args_left(args) < n || memcmp(args->at, word, n) != 0)
        return false;
    args->at += n;
    return true;
}

static bool number(struct args *args, int base, uint64_t *out)
{
    const char *p = args->at;
    uint64_t n = 0;

    for (; p < args->end; p++) {
        int digit = args_digit(*p);
        if (digit < 0 || digit >= base)
            break;
        if (__builtin_mul_overflow(n, (uint64_t)base, &n) ||
            __builtin_add_overflow(n, (uint64_t)digit, &n))
            return false;
    }
    if (p == args->at)
        return false;
    args->at = p;
    *out = n;
    return true;
}

bool args_hex(struct args *args, uint64_t *out)
{
    return number(args, 16, out);
}

bool args_decimal(struct args *args, uint64_t *out)
{
    return number(args, 10, out);
}

size_t args_bytes(struct args *args, void *out, size_t room)
{
    uint8_t *bytes = out;
    size_t n = 0;

    while (n < room && args_left(args) >= 2) {
        int high = args_digit(args->at[0]), low = args_digit(args->at[1]);
        if (high < 0 || low < 0)
            break;
        bytes[n++] = (uint8_t)(high << 4 | low);
        args->at += 2;
    }
    return n;
}

bool args_string(struct args *args, char *out, size_t room)
{
    struct args all = *args;
    size_t n = args_bytes(&all, out, room - 1);

    if (!args_empty(&all) || memchr(out, '\0', n))
        return false;
    out[n] = '\0';
    *args = all;
    return true;
}

bool args_until(struct args *args, char c, struct args *part)
{
    if (args_empty(args))
        return false;
    const char *stop = memchr(args->at, c, args_left(args));
    part->at = args->at;
    part->end = stop ? stop : args->end;
    args->at = stop ? stop + 1 : args->end;
    return true;
}

bool args_copy(const struct args *args, char *out, size_t room)
{
    size_t n = args_left(args);

    if (n >= room || memchr(args->at, '\0', n))
        return false;
    memcpy(out, args->at, n);
    out[n] = '\0';
    return true;
}
