/* program.h - a program that is to be started, as the user names it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef GUI_MODEL_PROGRAM_H
#define GUI_MODEL_PROGRAM_H

#include "base/err.h"

struct program {
    char *command;     /* with its arguments, as a shell has it */
    char *folder;      /* where it is started; "": here */
    char *environment; /* NAME=VALUE as a shell has it, with spaces between */
};

void program_deinit(struct program *p);
void program_copy(struct program *to, const struct program *from);
/* From words: a shell has taken the text apart already. */
void program_take_words(struct program *p, char *const words[]);

/* Its words, with what sets folder and environment before `verb`, which ends with NULL: a command
 * line. To be freed with g_strfreev(); NULL with err set if the texts are wrong. */
char **program_argv(const struct program *p, const char *const verb[], struct err *err);
/* Where a recording of it goes: folder/NAME.pinball, or NAME.N.pinball. To be freed; NULL: there is
 * no command. `kind`: "" or ".maple". */
char *program_recording(const struct program *p, const char *kind);

#endif
