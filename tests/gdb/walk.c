/* walk.c - a random walk over a recording, by replayer/timeline.h: walk DIR SEED STEPS [HOW].
 *
 * SPDX-License-Identifier: MIT
 *
 * Steps, continues, goes back and jumps at random. The state (all registers of all threads, the
 * stacks' tops) is kept by position; whenever a position is met again, from whatever side, it must
 * be the same. What steps forwards say about the order of positions, steps backwards must say, too.
 *
 * HOW is `losing`: processes of the replay are killed on the way, which must not be noticed; or
 * `pausing`: they are stopped and continued, as by a shell, and none may end of it; or `scarce`:
 * there is no memory for checkpoints that need not be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "replayer/timeline.h"
#include "tests/gdb/losses.h"

enum { PLACES = 1 << 16, STACK_BYTES = 256, RSP = 4, THREADS = 64 };

static struct place {
    struct position at;
    uint64_t events, state;
} place[PLACES];
static size_t places;
static uint64_t seed;
static struct timeline *line;
static unsigned met, lost;
static bool losing, pausing;

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

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 1099511628211ull;
    return h;
}

static uint64_t state(void)
{
    static struct program_registers regs;
    static uint8_t stack[STACK_BYTES];
    struct program_thread thread[THREADS];
    struct replay *r = timeline_replay(line);
    struct err err;
    size_t n = replay_threads(r, thread, THREADS);
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < n && i < THREADS; i++) {
        if (replay_registers(r, thread[i].number, &regs, &err))
            die("registers", err.msg);
        memset(stack, 0, sizeof stack);
        replay_read(r, regs.gpr[RSP], stack, sizeof stack);
        h = mix(h, regs.gpr, sizeof regs.gpr);
        h = mix(h, &regs.rip, 16);
        h = mix(h, &regs.fs_base, 24);
        h = mix(h, regs.xsave, regs.xsave_bytes);
        h = mix(h, stack, sizeof stack);
    }
    return h;
}

/* Before what a call writes: in the call, if others have run since it began. */
static bool at_written_call(const struct debuggee_stop *s)
{
    uint8_t insn[2] = {0};
    replay_read(timeline_replay(line), s->at.pc, insn, sizeof insn);
    return s->why == STOP_WATCH && insn[0] == 0x0f && insn[1] == 0x05;
}

static void look(const char *how)
{
    const struct debuggee_stop *s = timeline_now(line);
    char text[POSITION_TEXT];
    losses_hold();
    uint64_t now = state();
    losses_release();
    if (s->why == STOP_SIGNAL || s->why == STOP_CALL_RETURN || s->why == STOP_END ||
        s->why == STOP_CALL_ENTRY || at_written_call(s))
        return; /* not the only stop there */
    position_format(&s->at, text);
    const bool watch = s->why == STOP_WATCH; /* perhaps before a signal's frame is written */
    for (size_t i = 0; i < places; i++) {
        if (memcmp(&place[i].at, &s->at, sizeof s->at) || (watch && place[i].events != s->events))
            continue;
        if (place[i].events != s->events || place[i].state != now) {
            printf("FAILED: %s after %s: events %llu and %llu, state %llx and %llx\n", text, how,
                   (unsigned long long)place[i].events, (unsigned long long)s->events,
                   (unsigned long long)place[i].state, (unsigned long long)now);
            exit(1);
        }
        met++;
        return;
    }
    if (places < PLACES && !watch)
        place[places++] = (struct place){s->at, s->events, now};
}

static void move(const char *how, int result, const struct err *err)
{
    if (result)
        die(how, err->msg);
    if (getenv("WALK_TALK")) {
        char text[POSITION_TEXT];
        const struct debuggee_stop *s = timeline_now(line);
        position_format(&s->at, text);
        printf("%-10s %s why %d events %llu\n", how, text, (int)s->why,
               (unsigned long long)s->events);
        fflush(stdout);
    }
    look(how);
}

/* Some steps back, the same number forwards: each place is met twice. */
static void there_and_back(unsigned steps)
{
    struct debuggee_stop stop, start = *timeline_now(line);
    struct err err;
    unsigned done = 0;
    uint32_t thread = start.at.thread;
    for (; done < steps; done++) {
        move("step back", timeline_step_back(line, thread, &stop, &err), &err);
        if (stop.why != STOP_STEP)
            break;
    }
    if (stop.why != STOP_STEP || start.why == STOP_END || start.why == STOP_SIGNAL)
        return;
    for (; done; done--)
        move("step", timeline_step(line, thread, 0, 0, &stop, &err), &err);
    if (memcmp(&stop.at, &start.at, sizeof stop.at)) {
        char a[POSITION_TEXT], b[POSITION_TEXT];
        position_format(&start.at, a);
        position_format(&stop.at, b);
        printf("FAILED: from %s, %u steps back and forth end at %s\n", a, steps, b);
        exit(1);
    }
}

static void some_stops(void)
{
    struct debuggee_break b[4];
    struct debuggee_stops stops = {.breaks = b};
    struct program_registers regs;
    struct err err;
    unsigned kind = (unsigned)draw() % 4;
    for (; kind % 2 && places && stops.break_count < 1 + draw() % 3; stops.break_count++)
        b[stops.break_count] = (struct debuggee_break){.pc = place[draw() % places].at.pc};
    if (kind == 2 && replay_registers(timeline_replay(line), 0, &regs, &err) == 0)
        stops.watches[stops.watch_count++] =
            (struct debuggee_watch){(regs.gpr[RSP] & ~7ull) + 8 * (draw() % 8), 8, WATCH_WRITE};
    if (timeline_stops(line, &stops, &err))
        die("timeline_stops", err.msg);
}

static void differ(const char *what, const struct debuggee_stop *a, const struct debuggee_stop *b)
{
    char first[POSITION_TEXT], second[POSITION_TEXT];
    position_format(&a->at, first);
    position_format(&b->at, second);
    printf("FAILED: %s: %s (%d) and %s (%d)\n", what, first, (int)a->why, second, (int)b->why);
    exit(1);
}

/* The last write before here is `write`, which was seen when it was done: a step does it again. */
static void write_before(const char *which, const struct debuggee_stop *write)
{
    struct debuggee_stop back, again;
    struct err err;
    move("back", timeline_back(line, &back, &err), &err);
    if (back.why != STOP_WATCH || back.at.thread != write->at.thread)
        differ(which, write, &back);
    move("step", timeline_step(line, back.at.thread, 0, 0, &again, &err), &err);
    if (again.why != STOP_WATCH || memcmp(&again.at, &write->at, sizeof again.at))
        differ(which, write, &again);
    move("back", timeline_back(line, &again, &err), &err);
    if (again.why != STOP_WATCH || memcmp(&again.at, &back.at, sizeof again.at))
        differ(which, &back, &again);
}

/* Two writes forwards; backwards, from before the second one the first is the last. */
static void writes(const struct debuggee_stop *first)
{
    struct debuggee_stop second;
    struct err err;
    move("continue", timeline_continue(line, &second, &err), &err);
    if (second.why != STOP_WATCH)
        return;
    write_before("the second write", &second);
    write_before("the first write", first);
}

/* Two stops forwards: from the second one the first is the last before it. */
static void on_and_back(void)
{
    struct debuggee_stop first, second, back;
    struct err err;
    move("continue", timeline_continue(line, &first, &err), &err);
    if (first.why == STOP_WATCH)
        writes(&first);
    if (first.why != STOP_BREAK)
        return;
    move("continue", timeline_continue(line, &second, &err), &err);
    move("back", timeline_back(line, &back, &err), &err);
    if (second.why == STOP_WATCH && back.why == STOP_WATCH)
        return; /* the access itself is before it */
    if (second.why == STOP_EXEC && back.why == STOP_EXEC)
        return; /* the end of the program before */
    if (back.why != STOP_BREAK || memcmp(&back.at, &first.at, sizeof back.at))
        differ("on and back", &first, &back);
}

static void say(void *arg, const char *message)
{
    (void)arg;
    if (losing && strstr(message, "is done again"))
        lost++;
    else
        die("message", message);
}

static void disturb(void)
{
    enum { LOSSES = 3 }; /* on the way: fewer than a move is tried */
    unsigned what = (unsigned)draw() % 16;
    if (losing)
        losses_allow(LOSSES);
    if (losing && what == 0)
        losses_all();
    else if (losing && what < 4)
        losses_one(draw());
    else if (pausing && what < 4)
        losses_pause();
}

int main(int argc, char **argv)
{
    struct timeline_options options = {.listener.message = say};
    struct debuggee_stop stop;
    struct err err;
    const bool good = argc == 4 || argc == 5;
    struct pinball *p = good ? pinball_open(argv[1], &err) : NULL;
    if (!p)
        die(good ? argv[1] : "usage: walk DIR SEED STEPS [HOW]", good ? err.msg : "");
    losing = argc == 5 && !strcmp(argv[4], "losing");
    pausing = argc == 5 && !strcmp(argv[4], "pausing");
    options.memory_bytes = argc == 5 && !strcmp(argv[4], "scarce");
    seed = strtoull(argv[2], NULL, 10);
    options.engine = seed % 2 ? "hot=2" : NULL; /* traces of nearly everything */
    seed = seed * 2654435761u + 1;
    long steps = strtol(argv[3], NULL, 10);
    line = timeline_new(p, &options, &err);
    if (!line)
        die("timeline_new", err.msg);
    if (losing)
        losses_begin((unsigned)seed);
    move("goto end", timeline_goto_end(line, &stop, &err), &err);
    const uint64_t ticks = stop.ticks ? stop.ticks : 1;
    for (long i = 0; i < steps; i++) {
        if (losing || pausing)
            disturb();
        switch (draw() % 8) {
        case 0:
            move("goto ticks", timeline_goto_ticks(line, draw() % ticks, &stop, &err), &err);
            break;
        case 1:
            if (places) {
                struct position to = place[draw() % places].at;
                move("goto", timeline_goto(line, &to, &stop, &err), &err);
                if (memcmp(&stop.at, &to, sizeof to))
                    die("goto", "somewhere else");
            }
            break;
        case 2:
            some_stops();
            move("continue", timeline_continue(line, &stop, &err), &err);
            break;
        case 3:
            some_stops();
            on_and_back();
            move("back", timeline_back(line, &stop, &err), &err);
            break;
        case 4:
            there_and_back(1 + (unsigned)draw() % 20);
            break;
        case 5:
            move("step back", timeline_step_back(line, 0, &stop, &err), &err);
            break;
        default:
            move("step", timeline_step(line, 0, 0, 0, &stop, &err), &err);
            break;
        }
    }
    losses_end();
    timeline_free(line);
    pinball_close(p);
    printf("good: %zu places, %u met again, %u processes lost\n", places, met, lost);
    return 0;
}
