/* therac_setup.c - a flag that says "check this" is counted up instead of set, and every 256th time
 * it says that nothing is to be checked.
 *
 * SPDX-License-Identifier: MIT
 *
 * After the Therac-25 of 1987: Class3 was one byte, which the set-up test incremented each time
 * that it ran; when it was 0, the position of the collimator was not looked at.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine {
    unsigned char class3, fault;
    int wanted, position;
    int beams, tests;
};

static struct machine machine;

static void turn(struct machine *m)
{
    if (m->position < m->wanted)
        m->position++;
    else if (m->position > m->wanted)
        m->position--;
}

static void check_collimator(struct machine *m)
{
    m->fault = m->class3 != 0 && m->position != m->wanted;
}

static void set_up_test(struct machine *m)
{
    m->tests++;
#ifdef FIXED
    m->class3 = 1;
#else
    m->class3++; /* ROOT CAUSE */
#endif
    turn(m);
    check_collimator(m);
}

static int treat(struct machine *m, int wanted, int limit)
{
    m->wanted = wanted;
    for (int i = 0; i < limit; i++) {
        set_up_test(m);
        if (!m->fault) {
            m->beams++;
            return m->position;
        }
    }
    return -1;
}

int main(void)
{
    static const int plan[] = {40, 12, 70, 5, 66, 20, 90, 3};
    for (int i = 0; i < 8; i++) {
        int at = treat(&machine, plan[i], 200);
        printf("%d: beam at %d\n", plan[i], at);
        assert(at == plan[i]);
    }
    return 0;
}
