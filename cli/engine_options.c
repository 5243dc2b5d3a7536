/* engine_options.c - options that verbs pass on to the engine. SPDX-License-Identifier: MIT */
#include "cli/engine_options.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/numbers.h"
#include "cli/program.h"

int engine_options_add(struct engine_options *options, const char *fmt, ...)
{
    size_t room = sizeof options->text - options->len;
    va_list args;
    int n;

    if (options->len > 0 && room > 1) {
        options->text[options->len++] = ',';
        room--;
    }
    va_start(args, fmt);
    n = vsnprintf(options->text + options->len, room, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= room)
        return say_error(-1, "%s: too many engine options", options->verb);
    options->len += (size_t)n;
    return 0;
}

int engine_options_environment(struct engine_options *options)
{
    const char *text = getenv("DRDEBUG_ENGINE");

    while (text && *text) {
        size_t n = strcspn(text, ",");
        const char *equals = memchr(text, '=', n);
        if (!equals || equals == text)
            return say_error(-1, "DRDEBUG_ENGINE: '%.*s' is not KEY=VALUE", (int)n, text);
        if (engine_options_add(options, "%.*s", (int)n, text))
            return -1;
        text += n + (text[n] == ',');
    }
    return 0;
}

int engine_options_cache_size(struct engine_options *options, const char *text)
{
    uint64_t bytes;

    if (numbers_size(text, &bytes))
        return say_error(-1, "%s: --cache-size: '%s' is not a size such as 262144, 256K or 4M",
                         options->verb, text);
    return engine_options_add(options, "cache=%llu", (unsigned long long)bytes);
}

int engine_options_key(struct engine_options *options, const char *text)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || strchr(text, ','))
        return say_error(-1, "%s: --engine: '%s' is not KEY=VALUE", options->verb, text);
    return engine_options_add(options, "%s", text);
}

int engine_options_program(const struct engine_options *options, char *argv[], char path[PATH_MAX])
{
    struct err err;

    if (!argv[0]) {
        say_error(CLI_USAGE, "%s: no program given", options->verb);
        say_hint("drdebug %s [OPTION...] [--] PROG ARG...", options->verb);
        return CLI_USAGE;
    }
    if (program_find(argv[0], path, &err) || program_check(path, &err))
        return say_error(err.code, "%s: %s", argv[0], err.msg);
    return -1;
}
