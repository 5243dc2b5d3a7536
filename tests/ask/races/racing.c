/* racing.c - races of each kind, a case each: argument 1 names the one that is run.
 *
 * SPDX-License-Identifier: MIT
 *
 * Lines are marked with a letter. A case says which pairs of lines are races, and what pattern the
 * answer names: `RACES A-B: lost update`; `none`: without one. With a question mark it is a
 * `race?`. `MAY` are races that the schedule decides about, which may or may not be met.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../slice/race/cases.h"

enum { TIMES = 20 };

static volatile int total, last, shared, stop;
static int *volatile pointer;
static struct config {
    volatile int size;
} config;
static struct config *volatile current;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[64], copy[64];
static int number = 3;
static int stage; /* a file */

/* How far the case has come is the offset of a file. That lets a thread wait for another one
 * however the machine shares out its time, and orders nothing between them: it is no lock and no
 * message.
 */
static void advance(void)
{
    lseek(stage, 1, SEEK_CUR);
}

static void wait_for(int moment)
{
    while (lseek(stage, 0, SEEK_CUR) < moment)
        usleep(100);
}

static int two(void *(*a)(void *), void *(*b)(void *), void *arg)
{
    pthread_t one, next;
    stage = memfd_create("stage", 0);
    pthread_create(&one, NULL, a, arg);
    pthread_create(&next, NULL, b, arg);
    pthread_join(one, NULL);
    pthread_join(next, NULL);
    return total + shared;
}

static void *add(void *arg)
{
    for (int i = 1; i <= TIMES; i++) {
        int before = total; /* A */
        advance();
        wait_for(2 * i);
        total = before + 1; /* B */
    }
    return arg;
}

static int counter(void) /* RACES A-B: lost update, B-B: lost update */
{
    return two(add, add, NULL);
}

static void *leave_name(void *arg)
{
    last = (int)(long)pthread_self(); /* C */
    return arg;
}

static int overwritten(void) /* RACES C-C: none */
{
    return two(leave_name, leave_name, NULL);
}

static void *check_and_use(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        wait_for(3 * i + 1);
        if (pointer) { /* D */
            advance();
            wait_for(3 * i + 3);
            int *p = pointer; /* E */
            shared += p ? *p : 0;
        }
    }
    return arg;
}

static void *take_away(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pointer = &number; /* F */
        advance();
        wait_for(3 * i + 2);
        pointer = NULL; /* G */
        advance();
    }
    return arg;
}

static int checked(void) /* RACES D-F: atomicity violation MAY D-G, E-F, E-G */
{
    return two(check_and_use, take_away, NULL);
}

static void *write_locked(void *arg)
{
    pthread_mutex_lock(&mutex);
    shared = 5; /* H */
    pthread_mutex_unlock(&mutex);
    advance();
    return arg;
}

static void *read_unlocked(void *arg)
{
    wait_for(1);
    total = shared; /* I */
    return arg;
}

static int one_side(void) /* RACES H-I: none */
{
    return two(write_locked, read_unlocked, NULL);
}

static void *use_early(void *arg)
{
    struct config *c = current; /* J */
    advance();
    total += c ? c->size : 1;
    return arg;
}

static void *set_late(void *arg)
{
    wait_for(1);
    config.size = 9;
    current = &config; /* K */
    return arg;
}

static int unset(void) /* RACES J-K: order violation */
{
    return two(use_early, set_late, NULL);
}

static void *fill(void *arg)
{
    memset(text, 'x', sizeof text - 1); /* L */
    advance();
    return arg;
}

static void *measure(void *arg)
{
    wait_for(1);
    memcpy(copy, text, sizeof copy); /* M */
    total = copy[5];
    return arg;
}

/* Functions of the C library, called for the user. */
static int by_library(void) /* RACES L-M: none */
{
    return two(fill, measure, NULL);
}

static void *write_and_print(void *arg)
{
    shared = 7; /* N */
    fprintf(stderr, "written\n");
    free(malloc(5000));
    advance();
    return arg;
}

static void *print_and_read(void *arg)
{
    wait_for(1);
    free(malloc(5000));
    fprintf(stderr, "to be read\n");
    total = shared; /* O */
    return arg;
}

/* The streams' and the allocator's locks come in this order by chance. */
static int by_chance(void) /* RACES N-O: none */
{
    return two(write_and_print, print_and_read, NULL);
}

struct box {
    volatile int count, limit;
};

static void *put(void *arg)
{
    ((struct box *)arg)->count = 1; /* P */
    advance();
    return NULL;
}

static void *take(void *arg)
{
    wait_for(1);
    total = ((struct box *)arg)->count; /* Q */
    return NULL;
}

static int on_heap(void) /* RACES P-Q?: none */
{
    struct box *b = calloc(1, sizeof *b);
    int result = two(put, take, b);
    free(b);
    return result;
}

static int on_stack(void) /* RACES P-Q?: none */
{
    struct box b = {0, 0};
    return two(put, take, &b);
}

static void *wait_for_stop(void *arg)
{
    for (; !stop; usleep(100)) /* R */
        advance();
    total = shared; /* S */
    return arg;
}

static void *order_stop(void *arg)
{
    wait_for(3);
    shared = 4; /* T */
    stop = 1;   /* U */
    return arg;
}

static int polled(void) /* RACES R-U: none, S-T: none */
{
    return two(wait_for_stop, order_stop, NULL);
}

static void *fetch_twice(void *arg)
{
    wait_for(1);
    int size = shared; /* V */
    total = size > 3;
    last = shared; /* W */
    return arg;
}

static void *change_size(void *arg)
{
    shared = 12; /* X */
    advance();
    return arg;
}

static int fetched(void) /* RACES V-X: none, W-X: double fetch */
{
    return two(fetch_twice, change_size, NULL);
}

static volatile int length;
static const char *volatile words;

static void *measure_words(void *arg)
{
    int n = length; /* A1 */
    advance();
    wait_for(2);
    const char *w = words; /* B1 */
    total = w ? w[n] : 0;
    return arg;
}

static void *change_words(void *arg)
{
    wait_for(1);
    length = 5;      /* C1 */
    words = "apple"; /* D1 */
    advance();
    return arg;
}

static int together(void) /* RACES A1-C1: atomicity violation, B1-D1: atomicity violation */
{
    return two(measure_words, change_words, NULL);
}

static void *change_slowly(void *arg)
{
    length = 4; /* E1 */
    advance();
    wait_for(2);
    words = "pear"; /* F1 */
    return arg;
}

static void *measure_between(void *arg)
{
    wait_for(1);
    const char *w = words;           /* G1 */
    total = length + (w ? w[0] : 0); /* H1 */
    advance();
    return arg;
}

static int half_changed(void) /* RACES E1-H1: atomicity violation, F1-G1: atomicity violation */
{
    return two(change_slowly, measure_between, NULL);
}

/* Both are in one word of memory. */
static volatile struct {
    _Alignas(8) int used;
    int room;
} both;

static void *measure_both(void *arg)
{
    int used = both.used; /* P1 */
    advance();
    wait_for(2);
    total = both.room - used; /* Q1 */
    return arg;
}

static void *change_both(void *arg)
{
    wait_for(1);
    both.used = 7; /* R1 */
    both.room = 9; /* S1 */
    advance();
    return arg;
}

static int one_word(void) /* RACES P1-R1: atomicity violation, Q1-S1: atomicity violation */
{
    return two(measure_both, change_both, NULL);
}

static volatile int asked, answered;

static void *ask_for_it(void *arg)
{
    asked = 1; /* I1 */
    advance();
    wait_for(2);
    total = answered; /* J1 */
    return arg;
}

static void *answer_it(void *arg)
{
    wait_for(1);
    if (asked)        /* K1 */
        answered = 1; /* L1 */
    advance();
    return arg;
}

/* Each writes one of the two: that is no update of both. */
static int handed_over(void) /* RACES I1-K1: none, J1-L1: none */
{
    return two(ask_for_it, answer_it, NULL);
}

int main(int argc, char *argv[])
{
    static const struct one_case list[] = {{"counter", counter},
                                           {"overwritten", overwritten},
                                           {"checked", checked},
                                           {"one_side", one_side},
                                           {"unset", unset},
                                           {"by_library", by_library},
                                           {"by_chance", by_chance},
                                           {"on_heap", on_heap},
                                           {"on_stack", on_stack},
                                           {"polled", polled},
                                           {"fetched", fetched},
                                           {"together", together},
                                           {"half_changed", half_changed},
                                           {"one_word", one_word},
                                           {"handed_over", handed_over},
                                           {NULL, NULL}};
    return run_case(list, argc > 1 ? argv[1] : "");
}
