/* calls_values.h - values of calls: arguments, results, expressions. SPDX-License-Identifier: MIT
 *
 * Calls are collected first; then one replay takes all values, behind each function's prologue,
 * where GDB stops, and at the instructions by which it returned. A value is found again by its
 * position.
 */
#ifndef ASK_CALLS_VALUES_H
#define ASK_CALLS_VALUES_H

#include "ask/question.h"
#include "facts/calls/calls.h"

enum { CALLS_EXPRESSIONS = 16 };

struct calls_valued {
    struct call call;
    char *arguments; /* "n=3, p=0x10"; NULL: not known */
    char *result;    /* NULL: not known */
    bool met;        /* its beginning was come to with the condition true */
};

struct calls_values {
    struct calls_valued *call;
    size_t calls, room;
    char **text; /* of expressions, by call */
    char *print; /* the expressions, cut apart */
    const char *expression[CALLS_EXPRESSIONS];
    size_t expressions;
    bool condition;
};

/* Cuts --print apart. */
int calls_values_init(struct calls_values *v, const struct ask_given *given, struct err *err);
void calls_values_deinit(struct calls_values *v);
int calls_values_add(struct calls_values *v, const struct call *call, struct err *err);
/* What an expression was when a call began; NULL: not known. */
static inline char **calls_values_text(const struct calls_values *v, size_t call, size_t expression)
{
    return &v->text[call * v->expressions + expression];
}
/* Replays the recording. 0, 1: interrupted, -1. */
int calls_values_take(struct calls_values *v, struct asking *q, struct err *err);

#endif
