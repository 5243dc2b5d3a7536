/* followed.h - `ask values --follow`: the values of an expression that is evaluated anew each time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ASK_FOLLOWED_H
#define ASK_FOLLOWED_H

#include "ask/question.h"

int followed_answer(struct asking *q, struct err *err); /* 0; 1: enough; -1 */

#endif
