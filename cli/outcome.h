/* outcome.h - how a recorded program ended, in words. SPDX-License-Identifier: MIT */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct kept_file;
struct pinball;

struct outcome {
    uint32_t reason; /* enum end_reason */
    int32_t status;
    uint32_t thread;                 /* in which it happened; 0: not known */
    size_t threads;                  /* how many there were */
    const struct kept_file *missing; /* the recording ends where it is mapped; NULL: none */
};

enum { OUTCOME_TEXT = 400 }; /* room for the text */

/* `DIR: program ended: SIGABRT in thread 2` */
void outcome_say(FILE *to, const char *dir, const struct outcome *o);
void outcome_text(const struct outcome *o, char *text, size_t room);

/* `DIR: 4 threads, 310 k ticks, 212 events, 18 KiB`; instructions, once they were counted. */
void outcome_say_size(FILE *to, struct pinball *p);

/* A debugger changed memory or registers of the program while it was recorded: traces do not know.
 */
void outcome_hint_changes(const struct pinball *p);

/* A size in few characters: `18 KiB`. */
enum { OUTCOME_BYTES = 32 };
const char *outcome_bytes(char text[OUTCOME_BYTES], uint64_t bytes);
/* The same of anything: `31.8 M`. */
const char *outcome_number(char text[OUTCOME_BYTES], uint64_t n);

#endif
