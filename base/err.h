/* err.h - the caller-owned error that failing functions fill in.
 *
 * SPDX-License-Identifier: MIT
 *
 * A function that can fail takes a `struct err *` last and returns -1 (or NULL) with it set; on
 * success it leaves it alone. The message is one line without the program's name and without a
 * final period. Only cli/ and gui/ print it. Code that runs inside a target has no libc: it may use
 * the struct, not the functions.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
    char msg[512];
    int code; /* 0, or what the function that failed documents */
};

/* Sets the message, with code 0. Returns -1, so that `return err_set(...)` reads well. An argument
 * may point into err itself: err_set(err, "%s: %s", path, err->msg). A message that is too long
 * ends in "...". NULL for err is allowed where the caller does not care. */
int err_set(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with a code. */
int err_set_code(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
