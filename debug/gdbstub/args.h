/* args.h - read what a packet says, from left to right.
 *
 * SPDX-License-Identifier: MIT
 *
 * A packet is whatever a client sent: any bytes, of any length, without an end mark. Nothing here
 * reads past its end, numbers that do not fit are no numbers, and what returns false has taken
 * nothing.
 */
#ifndef DEBUG_GDBSTUB_ARGS_H
#define DEBUG_GDBSTUB_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct args {
    const char *at, *end;
};

bool args_empty(const struct args *args);
size_t args_left(const struct args *args);
/* The next character, or the next ones, if they are these. */
bool args_take(struct args *args, char c);
bool args_word(struct args *args, const char *word);
/* A number in hexadecimal or decimal. */
bool args_hex(struct args *args, uint64_t *number);
bool args_decimal(struct args *args, uint64_t *number);
/* Pairs of hexadecimal digits, as long as there are any and room; returns how many. */
size_t args_bytes(struct args *args, void *out, size_t room);
/* The same as a string without NUL inside; false if it is none or too long. All of it is taken. */
bool args_string(struct args *args, char *out, size_t room);
/* What is before the next `c`, or before the end; both are taken. False at the end. */
bool args_until(struct args *args, char c, struct args *part);
/* As a string; false if it has NUL inside or is too long. Takes nothing. */
bool args_copy(const struct args *args, char *out, size_t room);

int args_digit(char c); /* of a hexadecimal number; -1: none */

#endif
