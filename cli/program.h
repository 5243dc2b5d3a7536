/* program.h - find a program as a shell does, and say why one cannot be run.
 *
 * SPDX-License-Identifier: MIT
 *
 * The kernel answers most bad programs with one of three error numbers, or by killing the new
 * process when there is no way back. So the file is read first: ELF header, program headers, the
 * interpreter of an ELF file or a script. The engine does not need any of this; it serves the
 * message alone.
 *
 * On failure err->msg is the cause alone (the caller puts the program's name in front) and
 * err->code the exit status: 127 where a file is not there, otherwise 126. bash's choice is
 * followed: a missing interpreter, too, gives 127.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <limits.h>

#include "base/err.h"

/* The file that `name` stands for: itself if it has a slash, else the first executable in PATH. */
int program_find(const char *name, char path[PATH_MAX], struct err *err);

/* The file of the program that runs, drdebug itself. */
int program_self(char path[PATH_MAX], struct err *err);

/* 0 if path is an x86-64 program, or a script that leads to one. */
int program_check(const char *path, struct err *err);

#endif
