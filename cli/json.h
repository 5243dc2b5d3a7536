/* json.h - text for machines and for shells, made of strings that may hold anything.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdio.h>

/* What every verb's JSON begins with: a bracket and the version, which grows when a member goes or
 * changes its meaning; members that are added do not count. */
enum { JSON_VERSION = 1 };
void json_begin(void);

/* Prints a JSON string with its quotes; NULL prints null. What is not UTF-8 becomes U+FFFD. */
void json_string(const char *text);

/* Quoted as bash needs it, safe for a terminal (base/plain.h). */
void json_shell_word(FILE *to, const char *text);

#endif
