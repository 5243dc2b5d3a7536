/* loop.c - steps back by lines, through loops.
 *
 * SPDX-License-Identifier: MIT
 *
 * To go back by a line GDB steps back by single instructions, until it is at the begin of one: a
 * loop of ten million turns would take hours. It decides by the instruction, and by the one before
 * that in its own order; so from where it went on once it goes on again, and the debuggee leaves
 * out turns of a loop that have nothing else.
 *
 * That holds for one step by lines. It does not if GDB counts what it was shown (reverse-stepi 100,
 * reverse-next 3), and on the wire these look alike. So the commands inside GDB say when
 * it is one (qDrdebug,lines). When GDB has stopped for its user it asks for the list of threads:
 * that ends it. Packets other than those of steps make a new begin, since they may change what GDB
 * stops at.
 *
 * A breakpoint inside the loop whose condition does not hold: GDB looks at the condition itself
 * when a step has come there, takes the breakpoint out (z0), steps, and puts it in again. While it
 * is out no turn is left out; if all is as it was before, then nothing has changed, and where the
 * condition holds the debuggee stops.
 */
#include <string.h>

#include "debug/gdbstub/server_private.h"

enum {
    PATIENCE = 32,
    WORTH_TICKS = 1000, /* a loop that was shorter is looked for less often */
};

static void forget(struct loop *l)
{
    l->steps = 0;
    l->count = 0;
}

void loop_wanted(struct server *s)
{
    forget(&s->loop);
    s->loop.wanted = true;
    s->loop.patience = PATIENCE;
}

void loop_packet(struct server *s, const char *data, size_t n)
{
    static const char threads[] = "qXfer:threads:", pass[] = "QPassSignals:";
    if (n && strchr("mgpxHzZ", data[0]))
        return;
    if (n >= sizeof pass - 1 && !memcmp(data, pass, sizeof pass - 1))
        return;
    if (n == 2 && !memcmp(data, "bs", 2))
        return;
    forget(&s->loop);
    if (n >= sizeof threads - 1 && !memcmp(data, threads, sizeof threads - 1))
        s->loop.wanted = s->has_passed = false;
}

/* GDB goes on from pc, having come from next. True if it did so before. */
static bool note(struct loop *l, uint64_t pc, uint64_t next)
{
    size_t at = 0;
    while (at < l->count &&
           (l->edges[at].pc < pc || (l->edges[at].pc == pc && l->edges[at].next < next)))
        at++;
    if (at < l->count && l->edges[at].pc == pc && l->edges[at].next == next)
        return true;
    if (l->count == STOP_MAX_EDGES)
        forget(l);
    else {
        memmove(&l->edges[at + 1], &l->edges[at], (l->count - at) * sizeof *l->edges);
        l->edges[at] = (struct stop_edge){pc, next};
        l->count++;
    }
    return false;
}

int loop_step_back(struct server *s, uint32_t thread, struct debuggee_stop *stop, struct err *err)
{
    struct loop *l = &s->loop;
    const struct debuggee_move one = {.way = MOVE_BACK_ONE, .thread = thread};
    const struct debuggee_stop now = *debuggee_now(&s->debuggee);
    bool goes_on =
        l->steps && l->thread == thread && now.why == STOP_STEP && now.at.thread == thread;
    const uint64_t mark = l->off ? l->mark : breakpoints_mark(s);
    if (!goes_on || mark != l->mark)
        forget(l);
    l->mark = mark;
    bool again = goes_on && l->wanted && note(l, now.at.pc, l->last.pc);
    l->thread = thread;
    l->last = now.at;
    const struct debuggee_move many = {
        .way = MOVE_BACK_LOOP, .thread = thread, .edges = l->edges, .edge_count = l->count};
    if (++l->steps <= l->patience || !again || l->off)
        return debuggee_move(&s->debuggee, &one, stop, err);
    if (debuggee_move(&s->debuggee, &many, stop, err))
        return -1;
    if (now.ticks - stop->ticks < WORTH_TICKS)
        l->patience *= 2;
    l->steps = 1;
    return 0;
}
