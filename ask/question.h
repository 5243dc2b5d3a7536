/* question.h - a question, and what it is asked with.
 *
 * SPDX-License-Identifier: MIT
 *
 * A question is a row of questions.def and a file NAME.c with ask_NAME(). It may be answered in a
 * confined process (study/broker.h): there it opens no files of its own.
 */
#ifndef ASK_QUESTION_H
#define ASK_QUESTION_H

#include "ask/rows.h"
#include "study/study.h"

/* What a question is answered from. */
enum ask_needs {
    ASK_LOG,   /* the log, and a plain replay: there is no trace, study->trace is NULL */
    ASK_END,   /* the same, and debug information */
    ASK_TRACE, /* a trace: made if it is not there */
};

/* Options that not every question takes. */
enum ask_option {
    ASK_WHERE = 1 << 0,     /* --where COND */
    ASK_PRINT = 1 << 1,     /* --print EXPR,... */
    ASK_READS = 1 << 2,     /* --reads, --writes */
    ASK_ALLOCATOR = 1 << 4, /* --allocator ALLOC,FREE */
    ASK_BUCKETS = 1 << 5,   /* --buckets N */
    ASK_FORMAT = 1 << 6,    /* --format NAME: lcov, callgrind, folded */
    ASK_LOCKSETS = 1 << 7,  /* --locksets */
    ASK_FOLLOW = 1 << 8,    /* --follow */
    ASK_WHOLE = 1 << 10,    /* no option: rows are of the whole trace, and --after is refused */
    ASK_EVERY = 1 << 11,    /* no option: rows are of all threads, and --thread is refused */
    ASK_PAIR = 1 << 9,      /* no option: the last word is another recording */
    ASK_UNGAPPED = 1 << 12, /* no option: the answer needs all that was executed */
};

/* What the user gave. Text is as it was given; NULL or 0: it was not. */
struct ask_given {
    const char *pinball;
    const struct question *question;
    char **word; /* behind the question */
    int words;
    const char *where, *print, *allocator, *format;
    bool reads, writes, locksets, follow;
    uint64_t buckets;
    struct position after; /* thread 0: not given */
};

struct asking {
    const struct ask_given *given;
    struct study *study;
    struct study *other; /* of ASK_PAIR */
    struct rows *rows;
    /* Has Ctrl-C come? Asked by long work, which then returns 1; its rows stay. */
    bool (*interrupted)(void);
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* may be NULL */
    void *arg;
    bool stopped; /* it has ended a pass */
};

enum { ASK_USAGE = -1201 }; /* err->code: the user's words are wrong, nothing else */

struct question {
    const char *name, *arguments, *summary;
    enum ask_needs needs;
    unsigned options; /* enum ask_option */
    int words_least, words_most;
    int (*answer)(struct asking *q, struct err *err); /* 0; 1: enough; -1 */
};

/* The answer, to a recording that leaves something out as far as there is one. While a question
 * reads the trace, the user is told how far it is, and may interrupt it: then it fails with
 * TRACE_STOPPED, which is no error. */
int ask_answer(struct asking *q, struct err *err);

extern const struct question ask_questions[]; /* ends with a row without a name */
const struct question *ask_find(const char *name);

#endif
