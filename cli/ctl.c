/* ctl.c - `drdebug ctl`: tells a recording that is being made, from another terminal.
 *
 * SPDX-License-Identifier: MIT
 *
 * What it knows is in the `ring` of the recording (pinball/ring.h). A key is a signal to the
 * recorder. The ring says which process that is; this verb believes it only if that process has
 * this ring open.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/newest.h"
#include "pinball/beneath.h"
#include "pinball/ring.h"

const char ctl_details[] =
    "  key                press the key that `record --from key` or `--to key` waits for\n"
    "  status             say what the recording waits for\n"
    "  --help             print this\n"
    "\n"
    "DIR is a recording that is being made; default: the newest one in this directory. A part begins\n"
    "when a thread of the program next does something, and ends at once.\n";

enum { OPT_HELP = 1, WAIT_MS = 3000, LOOK_MS = 10 };

struct ctl {
    char path[PATH_MAX];
    int dir, ring;
    struct ring head;
};

static int read_ring(struct ctl *c)
{
    return pread(c->ring, &c->head, sizeof c->head, 0) == (ssize_t)sizeof c->head &&
                   c->head.magic == RING_MAGIC
               ? 0
               : -1;
}

/* Is that process the recorder: does it have the ring open? */
static bool is_recorder(const struct ctl *c)
{
    char link[64];
    struct stat own, other;
    if (c->head.recorder <= 0)
        return false;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)c->head.recorder, (int)c->head.fd);
    return !fstat(c->ring, &own) && !stat(link, &other) && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

static int open_ring(struct ctl *c)
{
    c->dir = beneath_folder(c->path);
    if (c->dir < 0)
        return say_error(CLI_FAILED, "%s: %s", c->path, strerror(errno));
    c->ring = beneath_open(c->dir, "ring", O_RDONLY);
    if (c->ring < 0 || read_ring(c) || !is_recorder(c))
        return say_error(CLI_FAILED, "%s: is not being recorded", c->path);
    return -1;
}

static uint32_t waits_for(const struct ring *g)
{
    return 2 * g->region.ended + (g->region.begun > g->region.ended);
}

static const char *part_of(const struct ring *g, char *buf, size_t room)
{
    snprintf(buf, room, g->region.parts > 1 ? "part %u of %u" : "the part", g->region.ended + 1,
             g->region.parts);
    return buf;
}

static int say_status(struct ctl *c)
{
    const struct ring *g = &c->head;
    char part[64];
    if (!g->region.parts)
        printf("%s: all of the run is recorded\n", c->path);
    else if (g->region.ended == g->region.parts)
        printf("%s: recorded; the program runs on\n", c->path);
    else if (g->region.begun > g->region.ended)
        printf("%s: %s is being recorded\n", c->path, part_of(g, part, sizeof part));
    else
        printf("%s: %s %s\n", c->path, part_of(g, part, sizeof part),
               trigger_of(&c->head.region, waits_for(g))->fired
                   ? "begins when a thread of the program wakes up"
                   : "has not begun");
    return 0;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Until the trigger is obeyed, and a part that is over can be used. Its ring is gone then, but we
 * have it open. */
static int say_what_happens(struct ctl *c, uint32_t number)
{
    const char *does = number % 2 ? "ends" : "begins";
    char part[64];
    part_of(&c->head, part, sizeof part);
    for (int ms = 0; ms < WAIT_MS && !read_ring(c); ms += LOOK_MS) {
        if (waits_for(&c->head) != number && (number % 2 == 0 || beneath_exists(c->dir, "end"))) {
            printf("%s: %s %s\n", c->path, part, does);
            return 0;
        }
        pause_ms(LOOK_MS);
    }
    printf("%s: %s %s when a thread of the program wakes up\n", c->path, part, does);
    return 0;
}

static int press(struct ctl *c)
{
    const uint32_t number = waits_for(&c->head);
    const struct trigger *t =
        number < 2 * c->head.region.parts ? trigger_of(&c->head.region, number) : NULL;
    if (!t || t->kind != TRIGGER_FIRED || t->number || t->fired)
        return say_error(CLI_FAILED, "%s: does not wait for a key now", c->path);
    if (kill(c->head.recorder, SIGUSR1))
        return say_error(CLI_FAILED, "%s: process %d: %s", c->path, (int)c->head.recorder,
                         strerror(errno));
    return say_what_happens(c, number);
}

static const struct {
    const char *name;
    int (*act)(struct ctl *c);
} actions[] = {{"key", press}, {"status", say_status}};

/* Returns -1 to go on, or the status to end with. */
static int parse(int argc, char *argv[], struct ctl *c, int (**act)(struct ctl *c))
{
    static const struct option options[] = {{"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == OPT_HELP)
            return help_verb("ctl");
        return say_bad_option("ctl", argv, optopt, OPT_HELP);
    }
    const char *wanted = argc > optind ? argv[argc - 1] : "";
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (!strcmp(actions[i].name, wanted))
            *act = actions[i].act;
    if (!*act)
        return say_error(CLI_USAGE, "ctl: '%s' is neither key nor status", wanted);
    return newest_or_named("ctl", argc - 1, argv, c->path);
}

int ctl_main(int argc, char *argv[])
{
    struct ctl c = {.dir = -1, .ring = -1};
    int (*act)(struct ctl * c) = NULL;
    int status = parse(argc, argv, &c, &act);
    if (status < 0)
        status = open_ring(&c);
    if (status < 0)
        status = act(&c);
    if (c.ring >= 0)
        close(c.ring);
    if (c.dir >= 0)
        close(c.dir);
    return status;
}
