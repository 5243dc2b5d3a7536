/* cli.h - what the verbs of the command line share.
 *
 * SPDX-License-Identifier: MIT
 *
 * A verb is a row of verbs.def and a file of its own: VERB.c with VERB_main() and VERB_details. It
 * gets its own argument vector (argv[0] is the verb) and returns the exit status.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* Exit statuses of every verb but run and record, which end as the program does. */
enum cli_status { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_DIVERGED = 3 };

/* Beside the program's own: its end is not known; as in a shell, it cannot be run or is not there.
 */
enum cli_program_status { CLI_NO_STATUS = 125, CLI_CANNOT_RUN = 126, CLI_NOT_FOUND = 127 };

struct verb {
    const char *name;
    const char *args;                    /* as shown after the name in a usage line */
    const char *summary;                 /* one line, lower case, without a period */
    int (*main)(int argc, char *argv[]); /* NULL: not in this version */
    const char *details;                 /* options and so on for `help VERB`; may be NULL */
};

extern const struct verb cli_verbs[]; /* ends with a row without a name */
const struct verb *cli_find_verb(const char *name);

#define VERB(name, args, summary)                                                                  \
    int name##_main(int argc, char *argv[]);                                                       \
    extern const char name##_details[];
#define LATER(name, args, summary)
#include "cli/verbs.def"
#undef VERB
#undef LATER

extern const char cli_version[];

/* Prints the first two lines of `info`, of a pinball that was just made; returns the status. */
int info_summary(const char *path);
int help_verb(const char *name);
int help_version(void);

/* Prints `drdebug: ...` on standard error; returns status. */
int say_error(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Says what is wrong with an option, and where the options are listed. Returns CLI_USAGE. */
int say_option(const char *verb, const char *option, const char *cause);
/* The same for a verb whose getopt_long() returned ':' or '?': `what` is ':' or optopt; long
 * options are numbered 1 to `longs`. */
int say_bad_option(const char *verb, char *argv[], int what, int longs);
/* Flushes standard output: CLI_DONE, or CLI_FAILED if it did not reach its reader. */
int say_finish(void);
/* Prints words of the runtime in a replaying process, which may have been taken over: one line. */
void say_line(const char *line);
/* Prints `hint: ...`, for what the user can do about the error just said. */
void say_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
