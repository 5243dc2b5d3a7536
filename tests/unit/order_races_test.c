/* order_races_test.c - all races of a trace. SPDX-License-Identifier: MIT */
#include "facts/order/races.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"

#define CODE                                                                                       \
    "block go 1000: nop; jmp rax\n"                                                                \
    "block lock 1100: lock inc [rdi]; jmp rax\n"                                                   \
    "block load 1200: mov rax,[rdi]; jmp rax\n"                                                    \
    "block store 1300: mov [rdi],rax; jmp rax\n"                                                   \
    "block fetch 1400: mov rax,[rdi]; jmp rax\n"                                                   \
    "block put 1500: mov [rdi],rax; jmp rax\n"

struct asked {
    struct trace_text *t;
    struct study study;
    const struct races *races;
};

static void asked_init(struct asked *a, const char *text)
{
    struct err err;
    *a = (struct asked){.t = trace_text_new(text)};
    a->study = (struct study){.trace = trace_text_trace(a->t), .source = source_new()};
    a->races = races_find(&a->study, false, &err);
    if (!a->races)
        fail_msg("%s", err.msg);
}

static void asked_deinit(struct asked *a)
{
    for (int i = 0; i < STUDY_FACTS; i++)
        if (a->study.fact[i].made)
            a->study.fact[i].free(a->study.fact[i].made);
    source_free(a->study.source);
    trace_text_free(a->t);
}

static const struct races_pair *find(const struct asked *a, gaddr first, gaddr then)
{
    for (size_t i = 0; i < a->races->pairs; i++) {
        const struct races_pair *p = &a->races->pair[i];
        if ((p->first.pc == first && p->then.pc == then) ||
            (p->first.pc == then && p->then.pc == first))
            return p;
    }
    return NULL;
}

static void both_sides_are_told(void **state)
{
    struct asked a;
    (void)state;
    asked_init(&a, CODE "thread 1 go\n go\n mark a\n store rdi=5000\n"
                        "thread 2 go\n go\n mark b\n load rdi=5000\n");
    assert_int_equal(a.races->pairs, 1);
    const struct races_pair *p = &a.races->pair[0];
    assert_int_equal(p->first.insn, trace_text_mark(a.t, "a"));
    assert_int_equal(p->then.insn, trace_text_mark(a.t, "b"));
    assert_int_equal(p->first.at.thread, 1);
    assert_int_equal(p->then.at.thread, 2);
    assert_int_equal(p->kinds, RACES_WRITE_READ);
    assert_int_equal(p->first.addr, 0x5000);
    assert_int_equal(p->first.bytes, 8);
    assert_int_equal(p->race, RACE_MAYBE); /* nobody knows its type */
    assert_int_equal(p->instances, 1);
    asked_deinit(&a);
}

static void a_run_of_accesses_counts_once(void **state)
{
    struct asked a;
    (void)state;
    asked_init(&a, CODE "thread 1 go\n go\n store rdi=5000 x 5\n"
                        "thread 2 go\n go\n load rdi=5000 x 5\n"
                        "thread 1\n store rdi=5000\n thread 2\n load rdi=5000\n");
    assert_int_equal(a.races->pairs, 1);
    assert_int_equal(a.races->pair[0].instances, 3); /* and the store behind the loads */
    assert_int_equal(a.races->pair[0].kinds, RACES_WRITE_READ | RACES_READ_WRITE);
    asked_deinit(&a);
}

static void neighbours_and_readers_are_none(void **state)
{
    struct asked a;
    (void)state;
    asked_init(&a, CODE "thread 1 go\n go\n store rdi=5000\n load rdi=6000\n"
                        "thread 2 go\n go\n store rdi=5008\n load rdi=6000\n");
    assert_int_equal(a.races->pairs, 0);
    asked_deinit(&a);
}

static void a_write_between_is_a_pattern(void **state)
{
    struct asked a;
    (void)state;
    /* jmp rax ends each block, so rax is made from what is loaded, and stored. */
    asked_init(&a, CODE "thread 1 store\n store rdi=5000\n thread 2 go\n go\n load rdi=5000\n"
                        "thread 1\n put rdi=5000\n thread 2\n store rdi=5000\n");
    const struct races_pair *p = find(&a, 0x1500, 0x1300);
    assert_non_null(p);
    assert_int_equal(p->around.pattern, PATTERN_LOST_UPDATE);
    assert_int_equal(p->around.sides, 3);
    assert_int_equal(p->around.side[0].pc, 0x1200);
    asked_deinit(&a);
}

/* ---- at random ---- */

enum { VARIABLES = 4, LOCKS = 2, THREADS_MADE = 4, EVENTS = 120, NODES = 3 * EVENTS, SEEDS = 30 };

struct node {
    unsigned thread, place; /* 0: it touches nothing that counts */
    unsigned variable;
    bool write;
};

/* Instructions in order, and for each which others are before it: by the rule, taken literally. */
struct naive {
    struct random_text text;
    unsigned nodes;
    struct node node[NODES];
    bool before[NODES][NODES]; /* [b][a] */
    int last[THREADS_MADE], released[LOCKS];
    unsigned now;
};

static void comes_before(struct naive *n, int a, unsigned b)
{
    if (a < 0)
        return;
    n->before[b][a] = true;
    for (unsigned i = 0; i < n->nodes; i++)
        n->before[b][i] |= n->before[a][i];
}

static void execute(struct naive *n, struct node node, int lock)
{
    unsigned b = n->nodes++;
    assert_true(b < NODES);
    node.thread = n->now;
    n->node[b] = node;
    comes_before(n, n->last[n->now], b);
    if (lock >= 0) {
        comes_before(n, n->released[lock], b);
        n->released[lock] = (int)b;
    }
    n->last[n->now] = (int)b;
}

static void make_random(struct naive *n)
{
    static const struct {
        const char *name;
        unsigned place;
        bool write;
    } access[] = {{"load", 0x1200, false},
                  {"store", 0x1300, true},
                  {"fetch", 0x1400, false},
                  {"put", 0x1500, true}};
    memset(n->last, -1, sizeof n->last);
    memset(n->released, -1, sizeof n->released);
    random_text_put(&n->text, CODE "thread 1 go\n go\n");
    execute(n, (struct node){0}, -1);
    execute(n, (struct node){0}, -1);
    for (unsigned v = 0; v < VARIABLES; v++) { /* so that nothing is used before it is set */
        random_text_put(&n->text, "store rdi=%x\n", 0x5000 + 8 * v);
        execute(n, (struct node){.place = 0x1300, .variable = v, .write = true}, -1);
        execute(n, (struct node){0}, -1);
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        unsigned what = random_text_below(&n->text, 8), v = random_text_below(&n->text, VARIABLES);
        if (what < 4) {
            unsigned k = random_text_below(&n->text, 4);
            random_text_put(&n->text, "%s rdi=%x\n", access[k].name, 0x5000 + 8 * v);
            execute(
                n, (struct node){.place = access[k].place, .variable = v, .write = access[k].write},
                -1);
        } else if (what < 6) {
            random_text_put(&n->text, "lock rdi=%x\n", 0x7000 + 8 * (v % LOCKS));
            execute(n, (struct node){0}, (int)(v % LOCKS));
        } else {
            n->now = random_text_below(&n->text, THREADS_MADE);
            random_text_put(&n->text,
                            n->last[n->now] < 0 && n->now ? "thread %u go\n go\n"
                                                          : "thread %u\n go\n",
                            n->now + 1);
            execute(n, (struct node){0}, -1);
        }
        execute(n, (struct node){0}, -1); /* each block ends in a jump */
    }
}

static unsigned check_random(const struct naive *n, const struct asked *a)
{
    bool expected[8][8] = {{false}};
    unsigned count = 0;
    for (unsigned y = 0; y < n->nodes; y++)
        for (unsigned x = 0; x < y; x++) {
            const struct node *p = &n->node[x], *q = &n->node[y];
            if (p->place && q->place && p->thread != q->thread && p->variable == q->variable &&
                (p->write || q->write) && !n->before[y][x])
                expected[p->place >> 8 & 7][q->place >> 8 & 7] =
                    expected[q->place >> 8 & 7][p->place >> 8 & 7] = true;
        }
    for (unsigned x = 2; x <= 5; x++)
        for (unsigned y = x; y <= 5; y++) {
            bool found = find(a, 0x1000 + 0x100 * x, 0x1000 + 0x100 * y);
            count += found;
            if (found != expected[x][y])
                fail_msg("1%u00 and 1%u00: %d\n%s", x, y, found, n->text.text);
        }
    return count;
}

static void races_at_random_are_those_by_definition(void **state)
{
    unsigned found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct naive *n = calloc(1, sizeof *n);
        struct asked a;
        n->text.seed = seed;
        make_random(n);
        asked_init(&a, n->text.text);
        assert_int_equal(trace_insns(a.study.trace), n->nodes);
        found += check_random(n, &a);
        asked_deinit(&a);
        free(n);
    }
    assert_true(found > SEEDS && found < 10 * SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_are_told),
        cmocka_unit_test(a_run_of_accesses_counts_once),
        cmocka_unit_test(neighbours_and_readers_are_none),
        cmocka_unit_test(a_write_between_is_a_pattern),
        cmocka_unit_test(races_at_random_are_those_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
