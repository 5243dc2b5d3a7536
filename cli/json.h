/* json.h - text for machines and for terminals, made of strings that may hold anything.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

/* Prints a JSON string with its quotes; NULL prints null. What is not UTF-8 becomes U+FFFD. */
void json_string(const char *text);

/* Prints for people: control characters, which a terminal might obey, and what is not UTF-8 become
 * question marks. */
void json_plain(const char *text);

/* The same, quoted as a shell needs it. */
void json_shell_word(const char *text);

#endif
