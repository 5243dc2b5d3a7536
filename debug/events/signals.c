/* signals.c - sets of signals, actions, what the kernel tells of one. SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <string.h>

#include "debug/events/call.h"

void signals_set(struct call *c, int i)
{
    uint64_t set;
    if (call_take(c, i, &set, sizeof set))
        names_put_signals(c->out, set);
}

void signals_set_out(struct call *c, int i)
{
    uint64_t set;
    if (call_filled(c, i, &set, sizeof set))
        names_put_signals(c->out, set);
}

/* The mask that a handler's end brings back is in its frame, and came along as an argument. */
void signals_mask(struct call *c, int i)
{
    words_add(c->out, "{mask=");
    names_put_signals(c->out, c->arg[i]);
    words_add(c->out, "}");
}

struct action {
    uint64_t handler, flags, restorer, mask;
};

static void put_action(struct call *c, const struct action *a)
{
    enum { RESTORER = 0x04000000 };
    words_add(c->out, "{sa_handler=");
    if (a->handler < 2)
        words_add(c->out, a->handler ? "SIG_IGN" : "SIG_DFL");
    else
        words_address(c->out, a->handler);
    words_add(c->out, ", sa_mask=");
    names_put_signals(c->out, a->mask);
    words_add(c->out, ", sa_flags=");
    names_put_bits(c->out, names_sigaction, a->flags, "0");
    if (a->flags & RESTORER) {
        words_add(c->out, ", sa_restorer=");
        words_address(c->out, a->restorer);
    }
    words_add(c->out, "}");
}

void signals_action(struct call *c, int i)
{
    struct action a;
    if (call_take(c, i, &a, sizeof a))
        put_action(c, &a);
}

void signals_action_out(struct call *c, int i)
{
    struct action a;
    if (call_filled(c, i, &a, sizeof a))
        put_action(c, &a);
}

struct alternate {
    uint64_t sp;
    int32_t flags, pad;
    uint64_t size;
};

static void put_stack(struct call *c, const struct alternate *s)
{
    words_add(c->out, "{ss_sp=");
    words_address(c->out, s->sp);
    words_add(c->out, ", ss_flags=");
    names_put_bits(c->out, names_sigaltstack, (uint32_t)s->flags, "0");
    words_addf(c->out, ", ss_size=%llu}", (unsigned long long)s->size);
}

void signals_stack(struct call *c, int i)
{
    struct alternate s;
    if (call_take(c, i, &s, sizeof s))
        put_stack(c, &s);
}

void signals_stack_out(struct call *c, int i)
{
    struct alternate s;
    if (call_filled(c, i, &s, sizeof s))
        put_stack(c, &s);
}

/* ---- siginfo_t ---- */

static const struct {
    int signal;
    const struct name *codes;
} codes_of[] = {
    {SIGSEGV, names_code_segv}, {SIGBUS, names_code_bus},   {SIGFPE, names_code_fpe},
    {SIGILL, names_code_ill},   {SIGTRAP, names_code_trap}, {SIGCHLD, names_code_child},
    {SIGIO, names_code_poll},
};

static void put_code(struct words *out, int signal, int code)
{
    const char *name = names_find(names_code_any, (uint32_t)code);
    for (size_t k = 0; !name && k < sizeof codes_of / sizeof *codes_of; k++)
        if (codes_of[k].signal == signal)
            name = names_find(codes_of[k].codes, (uint32_t)code);
    words_add(out, "si_code=");
    if (name)
        words_add(out, name);
    else
        words_addf(out, "%#x", (unsigned)code);
}

static void put_sender(struct words *out, const siginfo_t *s)
{
    words_addf(out, ", si_pid=%d, si_uid=%u", s->si_pid, s->si_uid);
}

static void put_value(struct words *out, const siginfo_t *s)
{
    words_addf(out, ", si_int=%d, si_ptr=", s->si_value.sival_int);
    words_address(out, (uint64_t)s->si_value.sival_ptr);
}

static void put_fields(struct words *out, const siginfo_t *s)
{
    const bool fault = s->si_signo == SIGSEGV || s->si_signo == SIGBUS || s->si_signo == SIGFPE ||
                       s->si_signo == SIGILL || s->si_signo == SIGTRAP;
    if (s->si_code == SI_USER || s->si_code == SI_TKILL) {
        put_sender(out, s);
    } else if (s->si_code == SI_TIMER) {
        words_addf(out, ", si_timerid=%#x, si_overrun=%d", (unsigned)s->si_timerid, s->si_overrun);
        put_value(out, s);
    } else if (s->si_code < 0) {
        put_sender(out, s);
        put_value(out, s);
    } else if (fault && s->si_code != SI_KERNEL) {
        words_add(out, ", si_addr=");
        words_address(out, (uint64_t)s->si_addr);
    } else if (s->si_signo == SIGCHLD && s->si_code != SI_KERNEL) {
        put_sender(out, s);
        words_add(out, ", si_status=");
        if (s->si_code == CLD_EXITED)
            words_addf(out, "%d", s->si_status);
        else
            names_put_signal(out, s->si_status);
        words_addf(out, ", si_utime=%lld, si_stime=%lld", (long long)s->si_utime,
                   (long long)s->si_stime);
    }
}

void signals_put_info(struct words *out, const uint8_t info[128])
{
    siginfo_t s;
    memcpy(&s, info, sizeof s);
    words_add(out, "{si_signo=");
    names_put_signal(out, s.si_signo);
    words_add(out, ", ");
    put_code(out, s.si_signo, s.si_code);
    put_fields(out, &s);
    words_add(out, "}");
}

void signals_info_out(struct call *c, int i)
{
    uint8_t info[128];
    if (call_filled(c, i, info, sizeof info))
        signals_put_info(c->out, info);
}
