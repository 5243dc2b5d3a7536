/* plain.h - text from outside, made safe to print.
 *
 * SPDX-License-Identifier: MIT
 *
 * A name in a recording, a source line or a message of a replaying process may hold anything:
 * sequences that a terminal obeys, marks that turn text around, bytes that are no UTF-8. All code
 * prints such text through these functions, which show the characters of plain.def as escapes: \n,
 * \x1b, \u202e, \U000e0041; a byte that is no UTF-8 is \xNN. A backslash stays one, so that source
 * lines read as they are and text that is safe already does not change.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

enum plain_form {
    PLAIN_TEXT, /* for people */
    PLAIN_JSON, /* inside a JSON string: valid whatever it was; what is no UTF-8 is U+FFFD */
    PLAIN_HTML, /* for people, inside an element or attribute; tabs stay */
    PLAIN_DOT,  /* for people, inside a quoted string of Graphviz */
};

/* Writes the first character of text, which has n > 0 bytes, in that form, and NUL. Returns how
 * many bytes of text it took. */
enum { PLAIN_ONE = 16 };
size_t plain_one(enum plain_form form, const char *text, size_t n, char out[PLAIN_ONE]);

void plain_put(FILE *to, enum plain_form form, const char *text);

/* A JSON string with its quotes; NULL prints null. */
void plain_json(FILE *to, const char *text);

/* The text for people; cut to whole characters if there is no room. */
void plain_copy(const char *text, char *out, size_t room);
/* How many columns plain_put() of PLAIN_TEXT takes, if each character takes one. */
size_t plain_width(const char *text);

/* fprintf() of text for people: only a newline at the format's end is printed as a newline. */
void plain_printf(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void plain_vprintf(FILE *to, const char *fmt, va_list args);

#endif
