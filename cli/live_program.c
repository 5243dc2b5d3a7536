/* live_program.c - the program of `drdebug live` and `drdebug serve --live`.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/live_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/engine_options.h"
#include "cli/newest.h"
#include "cli/outcome.h"
#include "live/live.h"
#include "pinball/pinball.h"

bool live_program_takes(int option)
{
    return option == 'o' || (option >= LIVE_OPTION_TTY && option <= LIVE_OPTION_NO_RECORD);
}

int live_program_option(struct live_program *p, const char *verb, int option, const char *value)
{
    if (option == 'o')
        p->named = value;
    else if (option == LIVE_OPTION_TTY)
        p->tty = value;
    else if (option == LIVE_OPTION_NO_RECORD)
        p->waits = true;
    else if (!strcmp(value, "go-on") || !strcmp(value, "end"))
        p->goes_on = value[0] == 'g';
    else
        return say_error(-1, "%s: --on-loss: '%s' is neither end nor go-on", verb, value);
    return 0;
}

int live_program_parse(struct live_program *p, const struct engine_options *engine, char *argv[])
{
    p->argv = argv;
    p->engine = engine->len ? engine->text : NULL;
    int status = engine_options_program(engine, argv, p->path);
    if (status >= 0)
        return status;
    if (p->named)
        snprintf(p->dir, sizeof p->dir, "%s", p->named);
    else
        newest_name(argv[0], "", p->dir);
    return -1;
}

void live_program_io(struct live_program *p, bool own)
{
    int fd = p->tty ? open(p->tty, O_RDWR | O_NOCTTY) : -1;
    if (p->tty && fd < 0)
        say_error(0, "%s: %s", p->tty, strerror(errno));
    for (int i = 0; i < 3; i++)
        p->io[i] = fd >= 0 ? fd : own ? i : 2;
    if (fd < 0 && !own)
        p->io[0] = open("/dev/null", O_RDONLY);
}

int live_program_open(struct live_program *p, uint64_t memory_bytes,
                      const struct debuggee_listener *listener, struct debuggee *out,
                      struct err *err)
{
    const char *const dir[] = {p->dir};
    const struct live_options o = {.what = {.version = cli_version,
                                            .dir = dir,
                                            .path = p->path,
                                            .argv = p->argv,
                                            .options = p->engine,
                                            .ends_with_debugger = !p->goes_on},
                                   .waits = p->waits,
                                   .io = {p->io[0], p->io[1], p->io[2]},
                                   .memory_bytes = memory_bytes,
                                   .listener = *listener};
    return live_open(&o, out, err);
}

/* False: there is none. */
static bool say_part(const char *dir)
{
    struct err err = {0};
    struct pinball *pinball = pinball_open(dir, &err);
    if (!pinball && err.code == ENOENT)
        return false;
    if (pinball)
        outcome_say_size(stderr, pinball);
    else
        say_error(0, "%s", err.msg);
    pinball_close(pinball);
    return true;
}

void live_program_say(const struct live_program *p)
{
    unsigned parts = 0;
    for (bool more = true; more && parts < TRIGGER_PARTS; parts += more) {
        char *name = parts ? recorder_part_name(p->dir, parts + 1) : strdup(p->dir);
        more = name && say_part(name);
        free(name);
    }
    if (!parts)
        say_error(0, "nothing was recorded");
}
