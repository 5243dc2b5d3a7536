/* engine_spin_test.c - when a thread that spins gives its turn away, and when it rests after.
 *
 * SPDX-License-Identifier: MIT
 *
 * The loop at PC, TICKS long, looks at `word`. A look at it finds that it waits.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/sched/look.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"

enum { PC = 0x1000, ELSEWHERE = 0x2000, TICKS = 3, ENOUGH = 512 };

static uint32_t word;
static bool may_rest, looking;

/* ---- what this file needs of the rest ---- */

struct engine engine;
const struct session *session;
bool (*engine_grow)(gaddr addr);
void (*engine_wrote)(gaddr addr, uint64_t bytes);
static const struct schedule strategy = {.name = "strategy", .spins = true};
const struct schedule *schedule = &strategy;
static struct block block;

size_t engine_copy(void *dst, const void *src, size_t n)
{
    memcpy(dst, src, n);
    return 0;
}

struct block *cache_find(gaddr pc)
{
    return pc == PC ? &block : NULL;
}

void look_begin(struct thread *t, int insns)
{
    (void)t;
    (void)insns;
    looking = true;
}

enum look_state look_step(struct thread *t, bool at_tick)
{
    (void)t;
    (void)at_tick;
    looking = false;
    return LOOK_SPINS;
}

bool look_follows(const struct thread *t)
{
    (void)t;
    return looking;
}

void look_found(struct spin_loop *loop)
{
    *loop = (struct spin_loop){.pc = PC, .ticks = TICKS, .loads = 1, .may_rest = may_rest};
    loop->addr[0] = (gaddr)&word;
    loop->bytes[0] = sizeof word;
}

/* ---- tests ---- */

static bool sample_after(struct thread *t, uint64_t ticks, gaddr pc)
{
    t->left -= (int64_t)ticks;
    t->cpu.rip = pc;
    return spin_sample(t, true);
}

/* Its turn begins; the loop has been found in the turn before. */
static void begin(struct thread *t, bool rests_in_loop)
{
    *t = (struct thread){0};
    block = (struct block){0};
    engine.opt.spin = true;
    engine.thread_count = 2;
    may_rest = rests_in_loop;
    word = 1;
    spin_turn(t, false);
    assert_false(sample_after(t, spin_budget(t), PC));
    assert_true(looking && spin_step(t, true) && block.spins);
    spin_turn(t, true);
}

static bool rests(struct thread *t)
{
    spin_rest(t);
    return spin_rests(t);
}

static void rests_after_one_more_turn_of_the_loop(void **state)
{
    struct thread t;
    (void)state;
    begin(&t, true);
    assert_false(sample_after(&t, spin_budget(&t), PC));
    assert_int_equal(spin_budget(&t), TICKS);
    assert_true(sample_after(&t, TICKS, PC));
    assert_true(rests(&t));
    word = 2;
    assert_false(spin_rests(&t));
    word = 1;
    assert_true(spin_rests(&t));
    spin_turn(&t, true);
    assert_false(spin_rests(&t));
    assert_false(rests(&t));
}

/* It takes a free lock over and over, for example. */
static void works_when_met_there_by_chance(void **state)
{
    struct thread t;
    (void)state;
    begin(&t, true);
    assert_false(sample_after(&t, spin_budget(&t), PC));
    sample_after(&t, TICKS, ELSEWHERE);
    assert_false(rests(&t));
    begin(&t, true);
    assert_false(sample_after(&t, spin_budget(&t), PC));
    assert_true(sample_after(&t, TICKS + 1, PC));
    assert_false(rests(&t));
}

static void goes_on_when_something_is_new(void **state)
{
    struct thread t;
    (void)state;
    begin(&t, true);
    word = 2;
    assert_false(sample_after(&t, spin_budget(&t), PC));
    assert_false(rests(&t));
    assert_false(sample_after(&t, spin_budget(&t), PC));
    word = 3;
    assert_false(sample_after(&t, spin_budget(&t), PC));
    assert_false(rests(&t));
}

static void only_gives_away_in_a_loop_that_may_not_rest(void **state)
{
    struct thread t;
    (void)state;
    begin(&t, false);
    assert_true(sample_after(&t, spin_budget(&t), PC));
    assert_false(rests(&t));
}

/* The pauses of one turn of a loop bring no sample forward that is to come after exactly one turn.
 */
static void pauses_do_not_disturb(void **state)
{
    struct thread t;
    (void)state;
    begin(&t, true);
    assert_false(sample_after(&t, spin_budget(&t), PC));
    for (int i = 0; i < ENOUGH; i++)
        spin_pause(&t);
    assert_int_equal(spin_budget(&t), TICKS);
    assert_true(sample_after(&t, TICKS, PC));
    assert_true(rests(&t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rests_after_one_more_turn_of_the_loop),
        cmocka_unit_test(works_when_met_there_by_chance),
        cmocka_unit_test(goes_on_when_something_is_new),
        cmocka_unit_test(only_gives_away_in_a_loop_that_may_not_rest),
        cmocka_unit_test(pauses_do_not_disturb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
