/* say.c - the form of errors and hints on standard error.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>

#include "cli/cli.h"

static void line(const char *prefix, const char *fmt, va_list args)
{
    fputs(prefix, stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
}

int say_error(int status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    line("drdebug: ", fmt, args);
    va_end(args);
    return status;
}

void say_hint(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    line("hint: ", fmt, args);
    va_end(args);
}
