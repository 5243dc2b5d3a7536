/* engine_schedule_test.c - strategies are rows, and one that does not look at accesses costs none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/os/control.h"
#include "engine/os/maps.h"
#include "engine/rt/range.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"

/* ---- what these files need of the rest ---- */

struct engine engine;
const struct session *session;
bool (*engine_grow)(gaddr addr);
void (*engine_wrote)(gaddr addr, uint64_t bytes);

size_t engine_copy(void *dst, const void *src, size_t n)
{
    memcpy(dst, src, n);
    return 0;
}

struct segments engine_segments(struct thread *t)
{
    (void)t;
    return (struct segments){0};
}

void cache_kill_all(void)
{
}

void cache_kill_range(gaddr start, gaddr end)
{
    (void)start;
    (void)end;
}

bool baton_may_switch(uint64_t turn)
{
    return turn > 1000;
}

bool spin_rests(const struct thread *t)
{
    return t->spin.rests;
}

size_t baton_queue(struct thread **out, size_t room)
{
    (void)out;
    (void)room;
    return 0;
}

uint64_t control_elapsed(void)
{
    return 0;
}

enum control_wait control_wait_of(long nr)
{
    (void)nr;
    return CONTROL_RETURNS;
}

uint64_t control_calls(void)
{
    return 0;
}

void control_reach(uint64_t at)
{
    (void)at;
}

void *range_alloc(uint64_t bytes)
{
    return test_calloc(1, bytes);
}

bool maps_file(gaddr addr, char *out, size_t size, struct region *at, uint64_t *offset)
{
    (void)addr;
    (void)out;
    (void)size;
    (void)at;
    (void)offset;
    return false;
}

/* ---- tests ---- */

static const char *const rows[] = {
/* of all strategies: how one chooses them */
#define SCHEDULE(name) #name "=3",
#include "engine/sched/schedules.def"
#undef SCHEDULE
};
enum { ROWS = sizeof rows / sizeof *rows };

static void first_row_is_in_force(void **state)
{
    (void)state;
    assert_string_equal(schedule->name, "plain");
    assert_true(schedule->spins && !schedule->exact);
}

static void chooses_by_name(void **state)
{
    (void)state;
    assert_true(schedule_use("chaos=7,link=0"));
    assert_string_equal(schedule->name, "chaos");
    static const char *const unknown[] = {"", "=", "chaos", "chao=1", "chaosx=1", "link=0"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_false(schedule_use(unknown[i]));
    assert_string_equal(schedule->name, "chaos");
    assert_true(schedule_use("plain=0"));
    assert_string_equal(schedule->name, "plain");
}

static void every_row_chooses_one_that_waits(void **state)
{
    struct thread t[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    (void)state;
    t[0].baton_next = &t[1];
    t[1].baton_next = &t[2];
    for (int row = 0; row < ROWS; row++) {
        unsigned met = 0;
        assert_true(schedule_use(rows[row]));
        for (int i = 0; i < 200; i++) {
            const struct thread *next = schedule->choose(t);
            assert_in_range(next - t, 0, 2);
            met |= 1u << (next - t);
            assert_true(schedule->quantum() > 0);
        }
        if (schedule == &plain_schedule || schedule == &chaos_schedule)
            assert_int_equal(met, schedule == &plain_schedule ? 1 : 7);
        assert_null(schedule->choose(NULL));
    }
}

static void plain_passes_over_those_who_rest(void **state)
{
    struct thread t[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    const struct spin_loop loop = {0};
    (void)state;
    t[0].baton_next = &t[1];
    t[1].baton_next = &t[2];
    assert_true(schedule_use("plain=0"));
    for (int resting = 0; resting < 8; resting++) {
        struct thread *first = NULL;
        for (int i = 2; i >= 0; i--) {
            t[i].spin.rests = resting >> i & 1 ? &loop : NULL;
            first = t[i].spin.rests ? first : &t[i];
        }
        assert_ptr_equal(schedule->choose(t), first);
    }
}

static bool answer;
static int asked;

static bool look(struct thread *t, const struct probe *p)
{
    (void)t;
    assert_int_equal(p->what, PROBE_MEMORY);
    asked++;
    return answer;
}

static unsigned wanted(const char *bytes, size_t n)
{
    struct insn in;
    assert_int_equal(insn_decode(&in, 0x1000, (const uint8_t *)bytes, n), 0);
    return instrument_wanted(&in, false);
}

#define WANTED(bytes) wanted(bytes, sizeof(bytes) - 1)

static void probes_accesses_for_those_who_look(void **state)
{
    const struct schedule row = {.name = "looks", .at_access = look};
    struct thread t = {.number = 1};
    const struct probe p = {.what = PROBE_MEMORY};
    (void)state;
    insn_init();
    for (int i = 0; i < ROWS; i++) { /* nobody asks: there is no tool */
        assert_true(schedule_use(rows[i]));
        if (schedule->at_access)
            continue;
        schedule_start();
        assert_null(instrument);
    }
    schedule = &row;
    schedule_start();
    assert_non_null(instrument);
    assert_int_equal(WANTED("\x8b\x08"), PROBE_MEMORY); /* mov (%rax), %ecx */
    assert_int_equal(WANTED("\x89\x08"), PROBE_MEMORY); /* mov %ecx, (%rax) */
    assert_int_equal(WANTED("\x89\xc8"), 0);            /* mov %ecx, %eax */
    assert_int_equal(WANTED("\x0f\x05"), 0);            /* syscall */

    answer = true;
    engine.thread_count = 1;
    instrument->probe(&t, &p);
    assert_int_equal(asked, 0);
    engine.thread_count = 2;
    instrument->probe(&t, &p); /* before its first tick */
    assert_int_equal(asked, 0);
    t.limit = 1;
    t.left = -1;
    instrument->probe(&t, &p);
    assert_int_equal(asked, 1);
    assert_int_equal(t.steps, 1);
    assert_int_equal(t.step, STEP_SCHEDULE);
    instrument->probe(&t, &p); /* it is on its way already */
    assert_int_equal(asked, 1);
    t.steps = t.step = 0;
    answer = false;
    instrument->probe(&t, &p);
    assert_int_equal(asked, 2);
    assert_int_equal(t.step, 0);
    instrument_install(NULL);
}

static int heard[2][PROBE_BITS];

static unsigned select_before(const struct insn *in, bool first)
{
    (void)in;
    return first ? PROBE_BLOCK | PROBE_BEFORE : PROBE_BEFORE;
}

static unsigned select_after(const struct insn *in, bool first)
{
    (void)in;
    (void)first;
    return PROBE_AFTER;
}

static void hear(int tool, unsigned what)
{
    for (int i = 0; i < PROBE_BITS; i++)
        heard[tool][i] += what >> i & 1;
}

static void hear_first(struct thread *t, const struct probe *p)
{
    (void)t;
    hear(0, p->what);
}

static void hear_second(struct thread *t, const struct probe *p)
{
    (void)t;
    hear(1, p->what);
}

/* A tool is told what it asked for, not what the other one did. */
static void keeps_tools_apart(void **state)
{
    const struct instrument first = {.select = select_before, .probe = hear_first, .sparse = true};
    const struct instrument second = {.select = select_after, .probe = hear_second};
    struct thread t = {.number = 1};
    struct insn in = {.pc = 0x1000};
    (void)state;
    instrument_install(&first);
    assert_ptr_equal(instrument, &first); /* one alone needs nobody in between */
    assert_true(instrument_add(&second));
    unsigned probes = instrument_wanted(&in, true);
    assert_int_equal(instrument_any(probes), PROBE_BLOCK | PROBE_BEFORE | PROBE_AFTER);
    const struct exit_site site = {.pc = 0x1000, .probe = probes};
    instrument_run(&t, &site);
    assert_int_equal(heard[0][0] + heard[0][2], 2); /* before, block */
    assert_int_equal(heard[0][1], 0);
    assert_int_equal(heard[1][1], 1); /* after */
    assert_int_equal(heard[1][0] + heard[1][2], 0);
    assert_false(instrument->sparse);
    assert_null(instrument->finish);
    instrument_install(NULL);
    assert_null(instrument);
}

static void refuses_tools_that_do_not_fit(void **state)
{
    const struct instrument flow = {.flow = PROBE_FLOW}, other = {.sparse = true};
    (void)state;
    assert_true(instrument_add(&other));
    assert_true(instrument_add(&flow));
    assert_int_equal(instrument->flow, PROBE_FLOW << PROBE_BITS);
    assert_true(instrument->sparse);
    assert_false(instrument_add(&flow));
    assert_true(instrument_add(&other));
    assert_true(instrument_add(&other));
    assert_false(instrument_add(&other));
    instrument_install(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_row_is_in_force),
        cmocka_unit_test(chooses_by_name),
        cmocka_unit_test(every_row_chooses_one_that_waits),
        cmocka_unit_test(plain_passes_over_those_who_rest),
        cmocka_unit_test(probes_accesses_for_those_who_look),
        cmocka_unit_test(keeps_tools_apart),
        cmocka_unit_test(refuses_tools_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
