/* forms.h - what the arguments and results of system calls are (arguments.def), as tables.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DEBUG_EVENTS_FORMS_H
#define DEBUG_EVENTS_FORMS_H

#include "debug/events/call.h"

enum result_kind {
    RESULT_NUMBER,
    RESULT_ADDRESS,
    RESULT_OCTAL,
    RESULT_NOTHING,
    RESULT_SHOWS,
    RESULT_OPENED,
    RESULT_MAKES,
    RESULT_COPIES,
    RESULT_PAIR,
};

struct form {
    bool is; /* there is such a row */
    uint16_t nr;
    uint8_t class, result, arg;
    uint32_t mask, value;     /* of a FORM */
    const struct name *names; /* RESULT_SHOWS */
    const char *makes;        /* RESULT_MAKES, RESULT_PAIR */
    struct argument argument[CALL_ARGS];
};

/* NULL: nobody knows what its arguments are. */
const struct form *forms_row(int64_t nr);
/* The row, or the form that its arguments have. */
const struct form *forms_find(int64_t nr, const uint64_t arg[CALL_ARGS]);

#endif
