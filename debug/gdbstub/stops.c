/* stops.c - why it stopped, in GDB's words. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "debug/gdbstub/server_private.h"
#include "debug/gdbstub/signals.h"
#include "pinball/end_reason.h"

/* What GDB shows as "stopped", without a signal: where a goto has led. */
#define SIGNAL_OF_POSITION 0

/* Tells programs apart that follow each other by execve. */
uint64_t stops_program_mark(struct server *s)
{
    struct debuggee_program program;

    debuggee_program(&s->debuggee, &program);
    const char *path = program.path ? program.path : "";
    return hash_bytes(hash_bytes(HASH_BYTES, path, strlen(path)), program.auxv, program.auxv_bytes);
}

/* Registers that GDB would ask for next; its pc is so many bytes farther on. */
static void add_registers(struct server *s, uint32_t thread, uint64_t farther)
{
    static const int wanted[] = {REG_RBP, REG_RSP, REG_RIP};
    uint8_t value[REG_MAX_BYTES];
    struct registers regs;
    struct err err;

    if (state_registers(s, thread, &regs, &err))
        return;
    regs.r.rip += farther;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        registers_get(&regs, wanted[i], value);
        reply_addf(&s->reply, "%02x:", wanted[i]);
        reply_hex(&s->reply, value, registers_bytes(wanted[i]));
        reply_text(&s->reply, ";");
    }
}

/* `T05`, the reason, and where. GDB then takes the thread for the one of Hg, too. */
static void report_farther(struct server *s, int signal, const char *reason, uint32_t thread,
                           uint64_t farther)
{
    reply_clear(&s->reply);
    reply_addf(&s->reply, "T%02x%s", (unsigned)signal, reason);
    reply_text(&s->reply, "thread:");
    threads_format(s, &s->reply, thread);
    reply_text(&s->reply, ";");
    add_registers(s, thread, farther);
    s->general = thread;
    s->forks.elsewhere = false;
    s->seen = false;
    s->selected = 0;
}

void stops_report_as(struct server *s, int signal, const char *reason, uint32_t thread)
{
    report_farther(s, signal, reason, thread, 0);
}

/* If its pc were the breakpoint's, GDB would take it for a hit. It forgets the pc when it resumes.
 */
void stops_pretend_step(struct server *s, uint32_t thread)
{
    report_farther(s, SIGNALS_TRAP, "", thread, 1);
}

static const char *break_reason(const struct server *s, uint64_t pc)
{
    bool hardware = breakpoints_is_hardware(s, pc);

    if (!(hardware ? s->hwbreak : s->swbreak))
        return "";
    return hardware ? "hwbreak:;" : "swbreak:;";
}

int stops_signal_of(const struct debuggee_stop *stop)
{
    switch (stop->why) {
    case STOP_POSITION:
        return SIGNAL_OF_POSITION;
    case STOP_SIGNAL:
        return signals_to_gdb(stop->signal);
    case STOP_PAUSED:
        return SIGNALS_INT;
    default:
        return SIGNALS_TRAP;
    }
}

void stops_report_plainly(struct server *s, const struct debuggee_stop *stop)
{
    static const char *const watch[] = {"", "watch", "rwatch", "awatch"};
    char reason[64] = "";

    switch (stop->why) {
    case STOP_BREAK:
        snprintf(reason, sizeof reason, "%s", break_reason(s, stop->at.pc));
        break;
    case STOP_WATCH:
        snprintf(reason, sizeof reason, "%s:%" PRIx64 ";", watch[stop->watch_kind & 3], stop->addr);
        break;
    case STOP_CALL_ENTRY:
        snprintf(reason, sizeof reason, "syscall_entry:%lx;", stop->call);
        break;
    case STOP_CALL_RETURN:
        snprintf(reason, sizeof reason, "syscall_return:%lx;", stop->call);
        break;
    case STOP_BEGIN:
    case STOP_THREAD_BEGIN:
        snprintf(reason, sizeof reason, "replaylog:begin;");
        break;
    case STOP_END:
    case STOP_THREAD_END:
        snprintf(reason, sizeof reason, "replaylog:end;");
        break;
    case STOP_EXEC:
        stops_report_exec(s, stop);
        return;
    default:
        break;
    }
    stops_report_as(s, stops_signal_of(stop), reason, stop->at.thread);
}

void stops_report(struct server *s, const struct debuggee_stop *stop)
{
    if (!forks_report(s, stop))
        stops_report_plainly(s, stop);
}

/* GDB reads symbols anew, and takes its breakpoints for gone with the old program. */
void stops_report_exec(struct server *s, const struct debuggee_stop *stop)
{
    struct debuggee_program program;
    struct reply reason = {0};

    s->program_mark = stops_program_mark(s);
    breakpoints_clear(s, false);
    debuggee_program(&s->debuggee, &program);
    if (s->exec_events && program.path) {
        reply_text(&reason, "exec:");
        reply_hex(&reason, program.path, strlen(program.path));
        reply_text(&reason, ";");
    }
    stops_report_as(s, SIGNALS_TRAP, reason.data ? reason.data : "", stop->at.thread);
    reply_deinit(&reason);
}

/* With W and X GDB has no process any more. */
void stops_report_gone(struct server *s, const struct debuggee_stop *stop)
{
    const bool killed = stop->reason == END_SIGNAL;

    reply_clear(&s->reply);
    reply_addf(&s->reply, "%c%02x", killed ? 'X' : 'W',
               (unsigned)(killed ? signals_to_gdb(stop->status) : stop->status));
    if (s->multiprocess)
        reply_addf(&s->reply, ";process:%x", (unsigned)threads_pid(s));
    s->alive = false;
}

/* `?`: a client that has just come learns where, and of a signal why. */
void stops_query(struct server *s, struct args *args)
{
    const struct debuggee_stop *stop =
        debuggee_diverted(&s->debuggee) ? &s->diversion.stop : &s->stop;
    bool has_signal = stop->why == STOP_SIGNAL;

    (void)args;
    if (!s->alive) {
        reply_text(&s->reply, "W00");
        return;
    }
    s->program_mark = stops_program_mark(s);
    stops_report_as(s, has_signal ? signals_to_gdb(stop->signal) : SIGNALS_TRAP, "",
                    stop->at.thread);
}
