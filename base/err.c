/* err.c - the caller-owned error that failing functions fill in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set(struct err *err, int code, const char *fmt, va_list args)
{
    char text[sizeof err->msg];

    if (!err)
        return;
    if (vsnprintf(text, sizeof text, fmt, args) >= (int)sizeof text)
        strcpy(text + sizeof text - sizeof "...", "...");
    strcpy(err->msg, text);
    err->code = code;
}

int err_set(struct err *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    set(err, 0, fmt, args);
    va_end(args);
    return -1;
}

int err_set_code(struct err *err, int code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    set(err, code, fmt, args);
    va_end(args);
    return -1;
}
