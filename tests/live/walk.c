/* walk.c - a random session with a living program: walk DIR SEED STEPS KNOB TWICE PROGRAM [ARG...]
 *
 * SPDX-License-Identifier: MIT
 *
 * Steps, runs, pauses, goes back, changes `knob` (at the address KNOB), calls the function at
 * TWICE, and ends and begins the recording, at random. The state where the program stood still is
 * kept by position. Afterwards the recordings of all parts are replayed: at these positions each
 * must have the same state, but for arithmetic flags.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/live.h"
#include "pinball/pinball.h"
#include "replayer/timeline.h"
#include "replayer/timeline_debuggee.h"

enum {
    MOST_PARTS = 16,
    PLACES = 4096,
    STACK_BYTES = 256,
    RSP = 4,
    RDI = 7,
    RAX = 0,
    THREADS = 64,
    COMPARED = 40
};
enum { ARITHMETIC = 0x8d5 };

struct place {
    unsigned part; /* that was recorded, from 0 on */
    struct position at;
    uint64_t events, own, all; /* states: of the thread, of all threads */
};

static struct place place[PLACES];
static size_t places;
static uint64_t seed, knob, twice;
static struct debuggee program;
static bool changed; /* since the program stopped: its position has two states */
static unsigned patience, compared, calls, changes, returns;
static unsigned part; /* from 0 on */
static bool due;      /* the next one begins when the program goes on */

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return seed >> 33;
}

static void die(const char *what, const char *why)
{
    printf("FAILED: %s: %s\n", what, why);
    exit(1);
}

static bool interrupted(void *arg)
{
    (void)arg;
    return patience && !--patience;
}

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 1099511628211ull;
    return h;
}

static uint64_t state_of(struct debuggee *d, uint32_t thread)
{
    static struct program_registers r;
    uint8_t stack[STACK_BYTES] = {0};
    uint64_t h = 14695981039346656037ull;
    struct err err;
    if (debuggee_registers(d, thread, &r, &err))
        die("registers", err.msg);
    const uint64_t flags = r.rflags & ~(uint64_t)ARITHMETIC;
    debuggee_read(d, r.gpr[RSP], stack, sizeof stack);
    h = mix(h, r.gpr, sizeof r.gpr);
    h = mix(h, &r.rip, 8);
    h = mix(h, &flags, 8);
    h = mix(h, &r.fs_base, 24);
    h = mix(h, r.xsave, r.xsave_bytes);
    return mix(h, stack, sizeof stack);
}

static uint64_t state(struct debuggee *d)
{
    struct program_thread thread[THREADS];
    const size_t n = debuggee_threads(d, thread, THREADS);
    uint64_t h = 14695981039346656037ull, value = 0;
    for (size_t i = 0; i < n && i < THREADS; i++) {
        const uint64_t one = state_of(d, thread[i].number);
        h += mix(one, &thread[i].number, 4);
    }
    debuggee_read(d, knob, &value, sizeof value);
    return mix(h, &value, sizeof value);
}

static bool in_call(struct debuggee *d, uint64_t pc)
{
    uint8_t insn[2] = {0};
    debuggee_read(d, pc, insn, sizeof insn);
    return insn[0] == 0x0f && insn[1] == 0x05;
}

static bool is_recorded(void)
{
    struct debuggee_recorded recorded;
    struct err err;
    if (debuggee_record(&program, RECORD_TOLD, &recorded, &err))
        die("record", err.msg);
    part += due && recorded.on;
    due = due && !recorded.on;
    return recorded.on;
}

/* A thread that is in a call, or is to get a signal, is met there more than once. */
static void keep(void)
{
    const struct debuggee_stop *s = debuggee_now(&program);
    if (!is_recorded() || changed || !debuggee_alive(&program) || s->why == STOP_SIGNAL ||
        s->why == STOP_END || places == PLACES || in_call(&program, s->at.pc))
        return;
    place[places++] =
        (struct place){part, s->at, s->events, state_of(&program, s->at.thread), state(&program)};
}

static struct debuggee_stop go(const struct debuggee_move *m)
{
    struct debuggee_stop stop;
    struct err err;
    changed = changed && !(debuggee_alive(&program) && (m->way == MOVE_ON || m->way == MOVE_STEP));
    if (debuggee_move(&program, m, &stop, &err))
        die("move", err.msg);
    if (getenv("WALK_TALK")) {
        char text[POSITION_TEXT];
        position_format(&stop.at, text);
        printf("way %d: %s %s, %s\n", (int)m->way, stop_name(stop.why), text,
               debuggee_alive(&program) ? "alive" : "past");
    }
    return stop;
}

static void set_break(uint64_t pc)
{
    const struct debuggee_break b = {.pc = pc};
    const struct debuggee_stops stops = {.breaks = &b, .break_count = pc != 0};
    struct err err;
    if (debuggee_stops(&program, &stops, &err))
        die("stops", err.msg);
}

static void change(void)
{
    const uint64_t value = draw() % 100;
    if (debuggee_write(&program, knob, &value, sizeof value) != sizeof value)
        die("change", "knob cannot be written");
    changes++;
    changed = true;
}

/* As GDB does it: it returns to a breakpoint on the stack. */
static void call(void)
{
    const uint32_t thread = debuggee_now(&program)->at.thread;
    struct program_registers before, r;
    struct err err;
    uint64_t value = 0;
    if (debuggee_registers(&program, thread, &before, &err) || in_call(&program, before.rip))
        return;
    r = before;
    const uint64_t back = (r.gpr[RSP] - 4096) & ~15ull, sp = back - 8;
    r.gpr[RSP] = sp;
    r.gpr[RDI] = 21;
    r.rip = twice;
    debuggee_read(&program, knob, &value, sizeof value);
    if (debuggee_write(&program, sp, &back, 8) != 8 ||
        debuggee_set_registers(&program, thread, &r, &err))
        return; /* a thread that waits in a call */
    set_break(back);
    const struct debuggee_stop stop = go(&(struct debuggee_move){.way = MOVE_ON, .alone = thread});
    set_break(0);
    if (stop.why != STOP_BREAK || stop.at.pc != back)
        die("call", stop_name(stop.why));
    if (debuggee_registers(&program, thread, &r, &err) || r.gpr[RAX] != 42 + value)
        die("call", "the result is wrong");
    if (debuggee_set_registers(&program, thread, &before, &err))
        die("call", err.msg);
    calls++;
    changed = true;
}

static void step(unsigned n)
{
    for (unsigned i = 0; i < n && debuggee_alive(&program); i++) {
        go(&(struct debuggee_move){.way = MOVE_STEP});
        keep();
    }
}

static void travel(void)
{
    const bool recorded = is_recorded();
    if (!recorded)
        go(&(struct debuggee_move){.way = MOVE_TO_RECORDED});
    for (uint64_t n = 1 + draw() % 4; n; n--)
        go(&(struct debuggee_move){.way = draw() % 2 ? MOVE_BACK_ONE : MOVE_BACK});
    if (places && place[places - 1].part == part && draw() % 2)
        go(&(struct debuggee_move){.way = MOVE_TO, .to = place[places - 1].at});
    while (!debuggee_alive(&program) && debuggee_now(&program)->why != STOP_END)
        go(&(struct debuggee_move){.way = draw() % 4 ? MOVE_ON : MOVE_TO_END});
    returns++;
}

/* The recording ends, or the next one begins. The last part is kept for the program's end. */
static void turn(void)
{
    const bool on = !is_recorded();
    struct debuggee_recorded recorded;
    struct err err;
    if (!on && part + 2 >= MOST_PARTS)
        return;
    if (debuggee_record(&program, on ? RECORD_ON : RECORD_OFF, &recorded, &err))
        die("record", err.msg);
    due = due || on; /* is_recorded() sees it come */
    keep();
}

static void walk(unsigned steps)
{
    for (unsigned i = 0; i < steps && debuggee_alive(&program); i++) {
        const unsigned what = draw() % 9;
        set_break(what == 0 ? twice : 0);
        patience = 1 + draw() % 3;
        if (what < 2)
            go(&(struct debuggee_move){.way = MOVE_ON});
        patience = 0;
        set_break(0);
        if (debuggee_now(&program)->why == STOP_END)
            return;
        keep();
        if (what == 2)
            change();
        else if (what == 3)
            call();
        else if (what == 4)
            travel();
        else if (what == 8)
            turn();
        else if (what > 4)
            step(1 + draw() % 20);
    }
}

static void compare(const char *dir, unsigned of)
{
    struct err err;
    const struct timeline_options o = {0};
    struct pinball *pinball = pinball_open(dir, &err);
    struct timeline *timeline = pinball ? timeline_new(pinball, &o, &err) : NULL;
    if (!timeline)
        die(dir, err.msg);
    struct debuggee d = timeline_debuggee(timeline);
    for (size_t i = 0; i < places && i < COMPARED; i++) {
        const struct place *p = &place[draw() % places];
        struct debuggee_stop stop;
        char text[POSITION_TEXT];
        if (p->part != of)
            continue;
        position_format(&p->at, text);
        if (debuggee_move(&d, &(struct debuggee_move){.way = MOVE_TO, .to = p->at}, &stop, &err))
            die(text, err.msg);
        if (state_of(&d, p->at.thread) != p->own)
            die(text, "the thread's state is another one than alive");
        if (stop.events == p->events && state(&d) != p->all)
            die(text, "another thread's state is another one than alive");
        compared++;
    }
    debuggee_close(&d);
    pinball_close(pinball);
}

int main(int argc, char **argv)
{
    struct err err;
    if (argc < 7)
        return 2;
    seed = strtoull(argv[2], NULL, 10) * 7919;
    knob = strtoull(argv[4], NULL, 16);
    twice = strtoull(argv[5], NULL, 16);
    const char *const dir[] = {argv[1]};
    const struct live_options o = {
        .what = {.version = "walk", .dir = dir, .path = argv[6], .argv = argv + 6},
        .io = {0, 1, 2},
        .listener = {.interrupted = interrupted}};
    if (live_open(&o, &program, &err))
        die("start", err.msg);
    keep();
    walk((unsigned)atoi(argv[3]));
    while (debuggee_now(&program)->why != STOP_END || !debuggee_now(&program)->gone)
        go(&(struct debuggee_move){.way = MOVE_ON});
    debuggee_close(&program);
    for (unsigned i = 0; i <= part; i++) {
        char *name = i ? recorder_part_name(argv[1], i + 1) : strdup(argv[1]);
        compare(name, i);
        free(name);
    }
    printf("%u parts, %zu places, %u compared, %u changes, %u calls, %u times back\n", part + 1,
           places, compared, changes, calls, returns);
    return 0;
}
