/* names.h - strings that are there once, so that files compare by pointer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SOURCE_NAMES_H
#define SOURCE_NAMES_H

struct source_names;

struct source_names *source_names_new(void);
void source_names_free(struct source_names *names);

const char *source_names_add(struct source_names *names, const char *text);
/* The same for a path, without `//` and `/./`. */
const char *source_names_path(struct source_names *names, const char *path);

#endif
