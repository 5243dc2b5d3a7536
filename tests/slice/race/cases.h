/* cases.h - a program of cases: argument 1 names the one that is run.
 *
 * SPDX-License-Identifier: MIT
 *
 * A case says what marks the dependences across threads have, by what flows: `MARKS total: race`.
 * `none` is a dependence that something orders. What is not named has no mark. `BARE` is for a
 * build without debug information, where it differs.
 */
#include <stdio.h>
#include <string.h>

struct one_case {
    const char *name;
    int (*run)(void);
};

volatile int case_result; /* not static: C++ has no other name for it then */

static int run_case(const struct one_case *list, const char *name)
{
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0) {
            case_result = list->run(); /* RESULT */
            return 0;
        }
    fprintf(stderr, "%s: no such case\n", name);
    return 2;
}
