/* sources.h - the source files that an ELF file's DWARF names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef PINBALL_SOURCES_H
#define PINBALL_SOURCES_H

#include "base/err.h"

/* Told of every file, by absolute path, maybe several times. Other than 0 stops. */
typedef int sources_found(void *arg, const char *path, struct err *err);

/* 0 also for files without DWARF; else what `found` returned. */
int sources_list(int fd, sources_found *found, void *arg, struct err *err);

#endif
