/* say.c - the form of errors and hints on standard error.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "cli/cli.h"

static void line(const char *prefix, const char *fmt, va_list args)
{
    fputs(prefix, stderr);
    plain_vprintf(stderr, fmt, args);
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

void say_line(const char *text)
{
    size_t n = strcspn(text, "\n");

    plain_printf(stderr, "%.*s\n", text[n] && !text[n + 1] ? (int)n : (int)strlen(text), text);
}

int say_option(const char *verb, const char *option, const char *cause)
{
    say_error(CLI_USAGE, "%s: %s: %s", verb, option, cause);
    say_hint("`drdebug help %s` lists the options", verb);
    return CLI_USAGE;
}

int say_bad_option(const char *verb, char *argv[], int what, int longs)
{
    const char *cause = "unknown option";
    char letter[] = {'-', (char)what, '\0'};
    const char *option = argv[optind - 1];

    if (what == ':')
        cause = "needs a value";
    else if (what >= 1 && what <= longs)
        cause = "takes no value";
    else if (what)
        option = letter;
    return say_option(verb, option, cause);
}

int say_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_DONE;
    return say_error(CLI_FAILED, "standard output: %s", strerror(errno));
}
