/* ask.c - the questions. SPDX-License-Identifier: MIT */
#include <string.h>

#include "ask/question.h"
#include "pinball/pinball.h"

#define QUESTION(name, function, needs, options, least, most, arguments, summary)                  \
    int ask_##function(struct asking *q, struct err *err);
#include "ask/questions.def"
#undef QUESTION

const struct question ask_questions[] = {
#define QUESTION(name, function, needs, options, least, most, arguments, summary)                  \
    {name, arguments, summary, needs, options, least, most, ask_##function},
#include "ask/questions.def"
#undef QUESTION
    {NULL, NULL, NULL, ASK_LOG, 0, 0, 0, NULL},
};

/* Ends one pass over the trace. What is done then, with what is known, is short. */
static bool watch(void *arg, uint64_t done, uint64_t total)
{
    struct asking *q = arg;
    if (q->progress)
        q->progress(q->arg, done, total);
    if (q->stopped || !q->interrupted())
        return false;
    q->stopped = true;
    return true;
}

const struct question *ask_find(const char *name)
{
    for (const struct question *q = ask_questions; q->name; q++)
        if (strcmp(q->name, name) == 0)
            return q;
    return NULL;
}

int ask_answer(struct asking *q, struct err *err)
{
    const struct pinball *p = q->study->pinball;
    const struct question *of = q->given->question;
    const char *gaps = pinball_end_get(p, "gaps");
    if (gaps && (of->options & ASK_UNGAPPED))
        return err_set(err,
                       "this recording leaves instructions out, and the answer needs all of them: "
                       "ask the one that it was made of");
    if (q->study->trace)
        trace_watch(q->study->trace, watch, q);
    if (q->other)
        trace_watch(q->other->trace, watch, q);
    int end = of->answer(q, err);
    if (end < 0 && q->stopped && err->code == TRACE_STOPPED)
        end = 1;
    if (gaps && end >= 0)
        rows_note(q->rows, "what was executed in the gaps of this recording (%s) does not count",
                  gaps);
    return end;
}
