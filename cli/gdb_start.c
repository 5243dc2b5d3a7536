/* gdb_start.c - start GDB on a stub.
 *
 * SPDX-License-Identifier: MIT
 *
 * Paths go to the script as Python literals in ASCII, so that they may hold anything.
 */
#define _GNU_SOURCE /* memfd_create */
#include "cli/gdb_start.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/debug_confined.h"
#include "cli/program.h"

extern const char debug_script[], debug_script_end[];

/* A descriptor for GDB to read the script from; -1 with errno set. */
static int open_script(void)
{
    const char *at = debug_script;
    int fd = memfd_create("drdebug.py", 0);

    while (fd >= 0 && at < debug_script_end) {
        ssize_t n = write(fd, at, (size_t)(debug_script_end - at));
        if (n <= 0)
            return -1;
        at += n;
    }
    return fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

static void put_bytes_literal(FILE *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";

    fputs("b'", out);
    for (; *text; text++)
        fprintf(out, strchr(plain, *text) ? "%c" : "\\x%02x", (unsigned char)*text);
    fputs("'", out);
}

/* GDB's command that loads the script and connects: to a stub that it starts, or to the one behind
 * descriptor `stub`, unless that is -1. NULL: no memory. */
static char *start_command(int script, const struct gdb_start *a, int stub)
{
    char *command = NULL;
    size_t bytes;
    FILE *out = open_memstream(&command, &bytes);

    if (!out)
        return NULL;
    fprintf(out,
            "python import sys, types; "
            "drdebug = sys.modules['drdebug'] = types.ModuleType('drdebug'); "
            "exec(compile(open(%d, encoding='ascii').read(), 'drdebug.py', 'exec'), "
            "drdebug.__dict__); ",
            script);
    if (stub >= 0) {
        fprintf(out, "drdebug.connect(%d, '%s')", stub, a->where);
    } else {
        fputs("drdebug.connect([", out);
        for (char *const *word = a->server; *word; word++) {
            fputs(word == a->server ? "" : ", ", out);
            put_bytes_literal(out, *word);
        }
        fprintf(out, "], '%s'%s)", a->where, a->live ? ", live=True" : "");
    }
    return fclose(out) == 0 ? command : NULL;
}

static int no_gdb(const char *name, int cause)
{
    say_error(CLI_FAILED, "%s: %s", name, cause == ENOENT ? "not found" : strerror(cause));
    say_hint("`apt install gdb` installs it on Debian; --gdb PROG names another");
    return CLI_FAILED;
}

/* A front end that reads GDB's text takes its version from there, and its commands accordingly. */
static bool shows_version(const struct gdb_start *a)
{
    for (size_t i = 0; i < a->gdb_arg_count; i++)
        if (!strcmp(a->gdb_args[i], "--fullname") || !strcmp(a->gdb_args[i], "-fullname"))
            return true;
    return false;
}

/* Returns GDB's status, or why there is none. Unless GDB is confined, this process becomes GDB. */
static int run_gdb(const struct gdb_start *a, char *command)
{
    enum { OWN = 4 };
    char **args = calloc(OWN + a->gdb_arg_count + 1, sizeof *args), **end = args;
    char path[PATH_MAX];
    struct err err;

    if (!args)
        return say_error(CLI_FAILED, "%s: %s", a->verb, strerror(errno));
    *end++ = (char *)a->gdb;
    if (!shows_version(a))
        *end++ = "-q";
    *end++ = "-ex";
    *end++ = command;
    memcpy(end, a->gdb_args, a->gdb_arg_count * sizeof *args);
    int cause = ENOENT, status = -1;
    bool found = program_find(a->gdb, path, &err) == 0 && access(path, X_OK) == 0;
    if (found && a->way) {
        status = debug_confined_run(a->way, path, args, &err);
        if (status < 0)
            status = say_error(CLI_FAILED, "%s: %s", a->verb, err.msg);
    } else if (found) {
        execv(path, args);
        cause = errno;
    }
    free(args);
    return status < 0 ? no_gdb(a->gdb, cause) : status;
}

int gdb_start(const struct gdb_start *a)
{
    struct err err;
    int script = open_script();

    if (script < 0)
        return say_error(CLI_FAILED, "%s: drdebug.py: %s", a->verb, strerror(errno));
    int stub = a->way ? debug_confined_serve(a->server, &err) : -1;
    if (a->way && stub < 0)
        return say_error(CLI_FAILED, "%s: %s", a->verb, err.msg);
    char *command = start_command(script, a, stub);
    if (!command)
        return say_error(CLI_FAILED, "%s: %s", a->verb, strerror(errno));
    int status = run_gdb(a, command);
    free(command);
    return status;
}
