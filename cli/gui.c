/* gui.c - `drdebug gui`: open the window.
 *
 * SPDX-License-Identifier: MIT
 *
 * The window is a program of its own, drdebug-gui, so that drdebug needs no desktop's libraries. It
 * is beside this program, or on the path. It gets this program's name in its environment, so that
 * both are of one build.
 * `--kdbg` starts an installed KDbg instead, with a settings file that lasts as long as it runs:
 * the user's own is not touched.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/newest.h"
#include "cli/program.h"
#include "pinball/pinball.h"

const char gui_details[] =
    "  -- PROG ARG...     start this program, recorded, stopped at main\n"
    "  --kdbg             start KDbg on the recording or program, if it is installed, instead of drdebug's own\n"
    "                     window\n"
    "  --help             print this\n"
    "\n"
    "Without DIR it offers recordings that were opened before. HOST:DIR is a recording on another host, where\n"
    "all runs through ssh; the same version of drdebug must be there. A stranger's recording is opened\n"
    "confined. The window is a program of its own, drdebug-gui, which needs a desktop.\n";

enum { OPT_KDBG = 1, OPT_HELP };

static int missing(const char *name, const char *hint)
{
    say_error(CLI_FAILED, "%s: not found", name);
    say_hint("%s", hint);
    return CLI_FAILED;
}

/* The window's program: beside this one, or on the path. */
static bool find_window(const char *self, char path[PATH_MAX])
{
    struct err err;
    const char *slash = strrchr(self, '/');
    if (slash) {
        int n = snprintf(path, PATH_MAX, "%.*s/drdebug-gui", (int)(slash - self), self);
        if (n > 0 && n < PATH_MAX && access(path, X_OK) == 0)
            return true;
    }
    return program_find("drdebug-gui", path, &err) == 0 && access(path, X_OK) == 0;
}

/* words: a recording, or `--` and a program; end with NULL. */
static int start_window(const char *self, char *words[])
{
    char path[PATH_MAX];
    if (!find_window(self, path))
        return missing(
            "drdebug-gui",
            "it is built where the headers of GTK 4 are, and is in the package drdebug-gui");
    setenv("DRDEBUG", self, 1);
    size_t count = 0;
    while (words[count])
        count++;
    char **argv = calloc(count + 2, sizeof *argv);
    if (argv) {
        argv[0] = path;
        memcpy(argv + 1, words, count * sizeof *argv);
        execv(path, argv);
        free(argv);
    }
    return say_error(CLI_FAILED, "%s: %s", path, strerror(errno));
}

/* ---- KDbg ---- */

/* A word of a shell's command line, in single quotes. */
static void put_word(FILE *out, const char *word)
{
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

/* KDbg starts words that stand between spaces, without a shell: so its debugger is a script.
 * words: a recording, or `--` and a program; end with NULL. */
static int write_script(const char *path, const char *self, char *words[])
{
    FILE *out = fopen(path, "wx");
    if (!out)
        return -1;
    fputs("#!/bin/sh\nexec ", out);
    put_word(out, self);
    if (strcmp(words[0], "--") != 0) {
        fputs(" debug ", out);
        put_word(out, words[0]);
        fputs(" -- --fullname --nx", out);
    } else {
        fputs(" live --gdb-arg --fullname --gdb-arg --nx", out);
        for (; *words; words++) {
            fputc(' ', out);
            put_word(out, *words);
        }
    }
    fputc('\n', out);
    const int bad = fchmod(fileno(out), 0700);
    return fclose(out) || bad ? -1 : 0;
}

static int write_settings(const char *folder, const char *self, char *words[])
{
    char path[PATH_MAX], script[PATH_MAX];
    FILE *out;
    snprintf(script, sizeof script, "%s/gdb", folder);
    snprintf(path, sizeof path, "%s/kdbgrc", folder);
    if (write_script(script, self, words) || !(out = fopen(path, "w")))
        return -1;
    fprintf(out, "[Debugger]\nDebuggerCmdStr=%s\n", script);
    return fclose(out);
}

static void remove_settings(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/kdbgrc", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/gdb", folder);
    unlink(path);
    rmdir(folder);
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return CLI_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
}

/* Its path; to be freed. NULL after a line that says what is wrong. */
static char *recorded_program(const char *recording)
{
    struct err err;
    struct pinball *p = pinball_open(recording, &err);
    if (!p) {
        say_error(CLI_FAILED, "%s", err.msg);
        return NULL;
    }
    char *program = strdup(pinball_head_get(p, "program") ? pinball_head_get(p, "program") : "");
    pinball_close(p);
    return program;
}

/* The program is what KDbg opens; its debugger then does not load it again. */
static int start_kdbg(const char *self, char *words[])
{
    char kdbg[PATH_MAX], real[PATH_MAX], folder[] = "/tmp/drdebug-kdbg.XXXXXX";
    char *given[] = {real, NULL};
    bool live = strcmp(words[0], "--") == 0;
    struct err err;
    if (program_find("kdbg", kdbg, &err) || access(kdbg, X_OK))
        return missing(
            "kdbg",
            "KDbg is not installed; `drdebug gui` without --kdbg opens drdebug's own window");
    if (live && program_find(words[1], real, &err))
        return say_error(CLI_FAILED, "%s", err.msg);
    char *program = live ? strdup(real) : recorded_program(words[0]);
    if (!program)
        return CLI_FAILED;
    if ((!live && !realpath(words[0], real)) || !mkdtemp(folder) ||
        write_settings(folder, self, live ? words : given)) {
        free(program);
        return say_error(CLI_FAILED, "gui: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        setenv("XDG_CONFIG_HOME", folder, 1);
        execl(kdbg, kdbg, program, (char *)NULL);
        _exit(127);
    }
    int status = pid < 0 ? say_error(CLI_FAILED, "gui: %s", strerror(errno)) : wait_for(pid);
    remove_settings(folder);
    free(program);
    return status;
}

int gui_main(int argc, char *argv[])
{
    static const struct option options[] = {{"kdbg", no_argument, NULL, OPT_KDBG},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    char self[PATH_MAX], path[PATH_MAX];
    char *recording[] = {path, NULL}, *nothing[] = {NULL};
    struct err err;
    bool kdbg = false;
    int c, status;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (c == OPT_KDBG)
            kdbg = true;
        else if (c == OPT_HELP)
            return help_verb("gui");
        else
            return say_bad_option("gui", argv, c == ':' ? ':' : optopt, OPT_HELP);
    }
    if (program_self(self, &err))
        return say_error(CLI_FAILED, "%s", err.msg);
    if (optind < argc && optind > 1 && strcmp(argv[optind - 1], "--") == 0)
        return kdbg ? start_kdbg(self, argv + optind - 1) : start_window(self, argv + optind - 1);
    if (!kdbg && optind == argc)
        return start_window(self, nothing);
    if ((status = newest_or_named("gui", argc, argv, path)) >= 0)
        return status;
    return kdbg ? start_kdbg(self, recording) : start_window(self, recording);
}
