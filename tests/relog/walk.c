/* walk.c - a random walk over a recording that leaves code out, and over the whole: relog_walk
 * WHOLE PART SEED STEPS.
 *
 * SPDX-License-Identifier: MIT
 *
 * Wherever the one stops, it is in a statement that was kept, and all threads have the registers
 * and stacks that they have there in the whole. Forwards and backwards it comes to the breakpoint
 * that the whole comes to if those in other code are passed over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "pinball/statements.h"
#include "replayer/timeline.h"

enum { STACK_BYTES = 256, RSP = 4, THREADS = 64, HITS = 400 };

static struct timeline *whole, *part;
static struct statements kept;
static uint64_t seed;
static unsigned compared, hits;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

static void die(const char *what, const struct position *at, const char *why)
{
    char text[POSITION_TEXT];
    position_format(at, text);
    printf("FAILED: %s, %s: %s\n", what, text, why);
    exit(1);
}

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 1099511628211ull;
    return h;
}

static uint64_t state(struct timeline *line)
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
            die("registers", &timeline_now(line)->at, err.msg);
        memset(stack, 0, sizeof stack);
        replay_read(r, regs.gpr[RSP], stack, sizeof stack);
        h = mix(h, &regs.count, sizeof regs.count);
        h = mix(h, regs.gpr, sizeof regs.gpr);
        h = mix(h, &regs.rip, 16);
        h = mix(h, &regs.fs_base, 24);
        h = mix(h, regs.xsave, regs.xsave_bytes);
        h = mix(h, stack, sizeof stack);
    }
    return h;
}

/* A thread may be before a system call, or in it, at the same position. */
static bool at_call(void)
{
    uint8_t insn[2] = {0};
    replay_read(timeline_replay(part), timeline_now(part)->at.pc, insn, sizeof insn);
    return insn[0] == 0x0f && insn[1] == 0x05;
}

/* The whole goes where the part is, and is the same there. */
static void compare(const char *how)
{
    const struct debuggee_stop *now = timeline_now(part);
    struct debuggee_stop stop;
    struct err err;
    if ((now->why != STOP_STEP && now->why != STOP_BREAK && now->why != STOP_POSITION) || at_call())
        return;
    /* Behind the last one there may be the instruction that failed. */
    struct kept_statement next;
    if (!statements_have(&kept, &now->at) && statements_next(&kept, &now->at, &now->at, &next))
        die(how, &now->at, "is left out");
    if (timeline_goto(whole, &now->at, &stop, &err))
        die(how, &now->at, err.msg);
    if (memcmp(&stop.at, &now->at, sizeof stop.at) || state(whole) != state(part))
        die(how, &now->at, "is not as in the whole");
    compared++;
}

static void break_at(struct timeline *line, uint64_t pc)
{
    struct debuggee_break b = {.pc = pc};
    struct err err;
    if (timeline_stops(line, &(struct debuggee_stops){.breaks = &b, .break_count = pc != 0}, &err))
        die("breakpoint", &timeline_now(line)->at, err.msg);
}

static struct kept_statement any_statement(void)
{
    struct kept_statement s = {0};
    statements_get(&kept, draw(kept.count), &s);
    return s;
}

/* Both to the next breakpoint in what is kept; from the same place. */
static void to_break(bool back)
{
    struct debuggee_stop a, b;
    struct err err;
    const char *how = back ? "back" : "continue";
    const struct position from = timeline_now(part)->at;
    const uint64_t pc = any_statement().pc;
    if (timeline_goto(whole, &from, &a, &err) || memcmp(&a.at, &from, sizeof from))
        return; /* it is over there */
    break_at(part, pc);
    break_at(whole, pc);
    if ((back ? timeline_back : timeline_continue)(part, &b, &err))
        die(how, &from, err.msg);
    unsigned tries = 0;
    do {
        if ((back ? timeline_back : timeline_continue)(whole, &a, &err))
            die(how, &from, err.msg);
    } while (a.why == STOP_BREAK && !statements_have(&kept, &a.at) && ++tries < HITS);
    break_at(part, 0);
    break_at(whole, 0);
    if (tries == HITS || (back && b.why != STOP_BREAK))
        return; /* before the part's begin the whole goes on */
    if (a.why != b.why || memcmp(&a.at, &b.at, sizeof a.at)) {
        char text[POSITION_TEXT];
        position_format(&a.at, text);
        die(how, &b.at, text);
    }
    hits += a.why == STOP_BREAK;
    compare(how);
}

static void go_to_one(void)
{
    const struct kept_statement s = any_statement();
    const struct position at = {.thread = s.thread, .count = s.count, .pc = s.pc};
    struct debuggee_stop stop;
    struct err err;
    if (s.how & KEPT_IN_CALL)
        return;
    if (timeline_goto(part, &at, &stop, &err) || memcmp(&stop.at, &at, sizeof at))
        die("goto", &at, err.msg);
    compare("goto");
}

static struct timeline *open_line(const char *dir)
{
    const struct timeline_options options = {.memory_bytes = 0};
    struct err err;
    struct pinball *p = pinball_open(dir, &err);
    struct timeline *line = p ? timeline_new(p, &options, &err) : NULL;
    if (!line ||
        (!kept.count && pinball_head_get(p, "relog_of") && statements_read(p, &kept, &err))) {
        printf("FAILED: %s: %s\n", dir, err.msg);
        exit(1);
    }
    return line;
}

int main(int argc, char **argv)
{
    struct debuggee_stop stop;
    struct err err;
    if (argc != 5)
        return 2;
    whole = open_line(argv[1]);
    part = open_line(argv[2]);
    seed = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
    for (long steps = strtol(argv[4], NULL, 10); steps > 0; steps--) {
        const uint32_t thread = draw(2) ? 0 : timeline_now(part)->at.thread;
        switch (draw(6)) {
        case 0:
            go_to_one();
            break;
        case 1:
            to_break(false);
            break;
        case 2:
            to_break(true);
            break;
        case 3:
            if (timeline_step_back(part, thread, &stop, &err))
                die("step back", &timeline_now(part)->at, err.msg);
            compare("step back");
            break;
        default:
            if (timeline_step(part, thread, 0, 0, &stop, &err))
                die("step", &timeline_now(part)->at, err.msg);
            compare("step");
        }
    }
    timeline_free(whole);
    timeline_free(part);
    printf("good: %zu statements, %u places compared, %u breakpoints\n", kept.count, compared,
           hits);
    return compared ? 0 : 1;
}
