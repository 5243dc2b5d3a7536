/* ask.c - the questions. SPDX-License-Identifier: MIT */
#include <string.h>

#include "ask/question.h"

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

const struct question *ask_find(const char *name)
{
    for (const struct question *q = ask_questions; q->name; q++)
        if (strcmp(q->name, name) == 0)
            return q;
    return NULL;
}
