/* engine_options.h - options that verbs pass on to the engine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_ENGINE_OPTIONS_H
#define CLI_ENGINE_OPTIONS_H

#include <limits.h>
#include <stddef.h>

/* As the engine reads them: key=value,key=value. A later one wins. */
struct engine_options {
    const char *verb; /* for messages */
    char text[1024];
    size_t len;
};

/* 0, or -1 after a line that says what is wrong with the verb's option. */
int engine_options_add(struct engine_options *options, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int engine_options_environment(struct engine_options *options); /* those of DRDEBUG_ENGINE */
int engine_options_cache_size(struct engine_options *options, const char *text);
int engine_options_key(struct engine_options *options, const char *text);

/* The file of the program that the verb was given, argv[0]. -1, or after a line that says what is
 * wrong the status to end with. */
int engine_options_program(const struct engine_options *options, char *argv[], char path[PATH_MAX]);

#endif
