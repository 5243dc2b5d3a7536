/* api.c - replayer/replay.h as a debugger uses it: api DIR TRACE. A trace is written to TRACE.
 *
 * SPDX-License-Identifier: MIT
 *
 * Stops at the position where the program ends, looks at everything there, changes a throw-away
 * copy and sees that the replay itself does not notice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "replayer/replay.h"
#include "trace/code.h"
#include "trace/collector.h"
#include "trace/walk.h"

enum { BYTES = 64 };

static void die(const char *what, const char *why)
{
    printf("FAILED: %s: %s\n", what, why);
    exit(1);
}

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond))                                                                               \
            die(#cond, "not so");                                                                  \
    } while (0)

static void run(struct replay *r, const struct position *until, struct replay_stop *stop)
{
    struct err err;
    if (replay_run(r, until, stop, &err))
        die("replay_run", err.msg);
}

static void look_around(struct replay *r, const struct position *at)
{
    struct program_map map[256];
    struct program_thread thread[64];
    struct program_registers regs;
    struct err err;
    size_t maps = replay_maps(r, map, 256), threads = replay_threads(r, thread, 64), i = 0;
    CHECK(threads >= 1 && maps > 3 && maps <= 256);
    CHECK(replay_registers(r, at->thread, &regs, &err) == 0);
    CHECK(regs.thread == at->thread && regs.count == at->count && regs.rip == at->pc);
    CHECK(replay_registers(r, 9999, &regs, &err) < 0);
    while (i < maps && !(at->pc >= map[i].start && at->pc < map[i].end))
        i++;
    CHECK(i < maps && (map[i].prot & 4));
}

/* Copies made at eight moments of the first thread go on to the end by themselves. */
static void copy_on_the_way(struct pinball *p, const struct position *end)
{
    struct replay_options options = {.copies = true};
    struct replay_stop stop;
    struct err err;
    struct replay *r = replay_new(p, &options, &err);
    if (!r)
        die("replay_new", err.msg);
    for (uint64_t i = 1; i < 8 && end->thread == 1; i++) {
        struct position at = {.thread = 1, .count = end->count * i / 8};
        run(r, &at, &stop);
        CHECK(stop.why == STOP_POSITION);
        struct replay *copy = replay_copy(r, &err);
        if (!copy)
            die("replay_copy", err.msg);
        run(copy, NULL, &stop);
        CHECK(stop.why == STOP_END);
        replay_free(copy);
    }
    replay_free(r);
}

/* What tools told: instructions, and a hash of the places of those that the flow has, in its order.
 * How code is cut into blocks, which is up to all tools together, is not in it. */
struct told {
    uint64_t insns, flows, hash;
};

static void take_count(void *arg, const char *line)
{
    static const char topic[] = "icount: instructions=";
    const char *number = strstr(line, topic);
    if (number)
        ((struct told *)arg)->insns += strtoull(number + strlen(topic), NULL, 10);
}

struct taken {
    struct told *told;
    struct collector *collector;
};

static void take_line(void *arg, const char *line)
{
    take_count(((struct taken *)arg)->told, line);
}

static int take_flow(void *arg, const void *words, size_t words_bytes, const void *notes,
                     size_t notes_bytes, struct err *err)
{
    return collector_take(((struct taken *)arg)->collector, words, words_bytes, notes, notes_bytes,
                          err);
}

struct hashing {
    struct told *told;
    struct code *code;
};

static int hash_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct hashing *h = arg;
    const struct code_block *b = code_block(h->code, w->step->block);
    (void)err;
    for (int i = 0; i < w->step->insns; i++)
        h->told->hash =
            (h->told->hash ^ b->insn[i].in.pc ^ (uint64_t)w->thread << 56) * 1099511628211ull;
    return 0;
}

static int pass_note(void *arg, const struct trace_walk *w, struct err *err)
{
    (void)arg, (void)w, (void)err;
    return 0;
}

static void hash_trace(const char *path, struct told *told)
{
    struct err err;
    struct trace *trace = trace_open(path, &err);
    if (!trace)
        die("trace", err.msg);
    struct hashing h = {told, trace_code(trace)};
    const struct trace_visitor v = {hash_step, pass_note};
    if (trace_walk_all(trace, 0, &v, &h, &err))
        die("trace", err.msg);
    told->flows = trace_insns(trace);
    trace_close(trace);
}

static struct told run_with(struct pinball *p, const char *tools, const char *path)
{
    struct told told = {0};
    struct err err;
    const struct collect_options co = {0};
    struct taken taken = {&told, collector_new(path, &co, &err)};
    struct replay_options options = {.message = take_line, .flow = take_flow, .arg = &taken};
    struct replay_stop stop;
    struct replay *r = taken.collector ? replay_new(p, &options, &err) : NULL;
    if (!r || replay_tool(r, tools, &err))
        die(tools, err.msg);
    run(r, NULL, &stop);
    CHECK(stop.why == STOP_END);
    if (replay_tool(r, NULL, &err))
        die(tools, err.msg);
    if (strstr(tools, "flow")) {
        if (collector_finish(taken.collector, NULL, 0, "", &err))
            die(tools, err.msg);
        hash_trace(path, &told);
    }
    collector_free(taken.collector);
    replay_free(r);
    return told;
}

/* Each of two tools sees what it sees alone. */
static void use_two_tools(struct pinball *p, const char *path)
{
    struct told count = run_with(p, "icount", path), flow = run_with(p, "flow", path);
    CHECK(count.insns > 1000 && !count.flows);
    CHECK(!flow.insns && flow.flows > 1000);
    static const char *const both[] = {"flow+icount", "icount+flow"};
    for (int i = 0; i < 2; i++) {
        struct told two = run_with(p, both[i], path);
        CHECK(two.insns == count.insns && two.flows == flow.flows && two.hash == flow.hash);
    }
}

int main(int argc, char **argv)
{
    struct replay_options options = {.copies = true};
    struct replay_stop stop;
    struct program_registers regs;
    struct position at;
    struct err err;
    uint8_t before[BYTES], after[BYTES], ones[BYTES];
    struct pinball *p = argc == 3 ? pinball_open(argv[1], &err) : NULL;
    const char *end = p ? pinball_end_get(p, "position") : NULL;
    if (!end || position_parse(end, &at, &err))
        die(argc == 3 ? argv[1] : "usage", err.msg);

    struct replay *r = replay_new(p, &options, &err);
    if (!r)
        die("replay_new", err.msg);
    run(r, &at, &stop);
    CHECK(stop.why == STOP_POSITION && stop.at.thread == at.thread && stop.at.count == at.count &&
          stop.at.pc == at.pc);
    look_around(r, &at);
    CHECK(replay_registers(r, 0, &regs, &err) == 0);
    CHECK(replay_read(r, regs.gpr[RSP], before, BYTES) == BYTES);
    CHECK(replay_read(r, 16, after, BYTES) == 0);

    for (int i = 0; i < 3; i++) { /* several, one after the other and at the same time */
        struct replay *copy = replay_copy(r, &err), *other = replay_copy(r, &err);
        if (!copy || !other)
            die("replay_copy", err.msg);
        memset(ones, 0xff, BYTES);
        CHECK(replay_write(copy, regs.gpr[RSP], ones, BYTES) == BYTES);
        CHECK(replay_read(copy, regs.gpr[RSP], after, BYTES) == BYTES);
        CHECK(!memcmp(after, ones, BYTES));
        CHECK(replay_read(other, regs.gpr[RSP], after, BYTES) == BYTES);
        CHECK(!memcmp(after, before, BYTES));
        run(other, NULL, &stop);
        CHECK(stop.why == STOP_END);
        replay_free(copy);
        replay_free(other);
    }
    CHECK(replay_read(r, regs.gpr[RSP], after, BYTES) == BYTES && !memcmp(after, before, BYTES));
    run(r, NULL, &stop);
    CHECK(stop.why == STOP_END);
    replay_free(r);

    options = (struct replay_options){.verify = true};
    r = replay_new(p, &options, &err);
    if (!r)
        die("replay_new", err.msg);
    CHECK(replay_tool(r, "nonsense", &err) < 0 && replay_tool(r, "flow+flow", &err) < 0);
    CHECK(replay_tool(r, "blocks+nonsense", &err) < 0 && replay_tool(r, "blocks", &err) == 0);
    CHECK(!replay_copy(r, &err));
    run(r, NULL, &stop);
    CHECK(stop.why == STOP_END);
    replay_free(r);
    copy_on_the_way(p, &at);
    use_two_tools(p, argv[2]);
    pinball_close(p);
    puts("good");
    return 0;
}
