/* sending.c - signals that the target sends to itself. SPDX-License-Identifier: MIT */
#include "engine/os/sending.h"

#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { SENT_BY_QUEUE = -1 }; /* si_code */
enum { FIRST_QUEUED = 32 };  /* signals from here on queue */

/* ---- who takes it ---- */

static bool blocks(const struct thread *t, int sig)
{
    return (t->has_wait_mask ? t->wait_mask : t->mask) & SIG_BIT(sig);
}

/* Inside sigtimedwait for this one, which it blocks otherwise. */
static bool awaits(const struct thread *t, int sig)
{
    return (t->wait_set & SIG_BIT(sig)) && (t->mask & SIG_BIT(sig));
}

/* The thread of t's process that takes a signal sent to the process; NULL: all block it. As in the
 * kernel, the first thread is asked first. */
static struct thread *taker(const struct thread *t, int sig)
{
    struct thread *found = NULL;
    for (struct thread *o = engine.threads; o; o = o->next) {
        if (o->process != t->process || (blocks(o, sig) && !awaits(o, sig)))
            continue;
        if (o->tid == t->process->pid)
            return o;
        if (!found || awaits(o, sig))
            found = o;
    }
    return found;
}

struct thread *sending_taker(const struct thread *t, int sig)
{
    return taker(t, sig);
}

/* ---- fatal ones ---- */

static bool own_group(const struct thread *t, long pid)
{
    return pid == 0 || (pid < -1 && -pid == sys1(__NR_getpgid, t->process->pid));
}

static bool is_own(const struct thread *t, long pid)
{
    if (pid == t->process->pid)
        return true;
    for (const struct thread *o = engine.threads; o; o = o->next)
        if (o->tid == pid && o->process == t->process)
            return true;
    return false;
}

/* What a small file says. False: it cannot be read. */
static bool read_text(const char *path, char *text, size_t room)
{
    long fd = sys4(__NR_openat, -100, (long)path, 02000000, 0);
    if (SYS_FAILED(fd))
        return false;
    long n = sys3(__NR_read, fd, (long)text, (long)room - 1);
    sys1(__NR_close, fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* What follows `words` at their first place; NULL: they are not there. */
static const char *behind(const char *text, const char *words)
{
    for (; *text; text++)
        if (rt_prefix(text, words)) {
            while (*words)
                text++, words++;
            return text;
        }
    return NULL;
}

/* Is it a descriptor of this process? */
static bool own_pidfd(const struct thread *t, long fd)
{
    char path[64], text[512], want[32];
    rt_format(path, sizeof path, "/proc/self/fdinfo/%d", (int)fd);
    rt_format(want, sizeof want, "Pid:\t%d\n", t->process->pid);
    return read_text(path, text, sizeof text) && behind(text, want);
}

/* What a call sends; sig 0: nothing to this process. */
struct sent {
    int sig;
    struct thread *to; /* NULL: the process */
    bool group;        /* ... and others of its process group */
    gaddr info;        /* that must be readable; 0: none */
    bool told;         /* ... and what it says arrives */
    long id;           /* whoever says there what only the kernel may must have this id */
    bool signo;        /* what it says must be of this signal */
};

static struct thread *own_thread(const struct thread *t, long tid)
{
    struct thread *o = engine.threads;
    while (o && (o->tid != tid || o->process != t->process))
        o = o->next;
    return o;
}

/* Does the kernel refuse what the call says of the signal? */
static bool is_refused(const struct thread *t, const struct sent *s)
{
    struct siginfo_raw info;
    if (!s->info)
        return false;
    if (!engine_read(&info, s->info, sizeof info) || (s->signo && info.sig != s->sig))
        return true;
    return (info.code >= 0 || info.code == SENT_BY_TKILL) && t->tid != s->id;
}

/* The thread that ends the process by taking the signal; NULL: it does not end now. */
static struct thread *dies_by(const struct thread *t, const struct sent *s)
{
    if (!signals_fatal(t, s->sig) || is_refused(t, s))
        return NULL;
    struct thread *o = s->to ? s->to : taker(t, s->sig);
    return o && !blocks(o, s->sig) && !awaits(o, s->sig) ? o : NULL;
}

/* Signals that queue take room, which RLIMIT_SIGPENDING limits; only kill() does without. Where
 * there is none, the call fails and nobody dies. Else the thread now has one that it blocks. */
static long take_room(const struct thread *t, const struct sent *s)
{
    struct siginfo_raw info;
    int32_t code = s->to ? SENT_BY_TKILL : 0;
    if (s->info && engine_read(&info, s->info, sizeof info))
        code = info.code;
    if (s->sig < FIRST_QUEUED || !code)
        return 0;
    info = (struct siginfo_raw){.sig = s->sig, .code = SENT_BY_QUEUE};
    signals_set_kernel_mask(~0ull);
    return sys4(__NR_rt_tgsigqueueinfo, t->process->pid, t->tid, s->sig, (long)&info);
}

/* ---- signals that wait here, not in the kernel ---- */

static int slot_of(int sig)
{
    int slot = 0;
    for (int i = 1; i < sig; i++)
        slot += signals_ours() >> (i - 1) & 1;
    return slot;
}

static bool sent_to_thread(const struct siginfo_raw *info)
{
    return info->code == SENT_BY_TKILL;
}

static void hold(struct held *h, const struct siginfo_raw *info)
{
    if (h->set & SIG_BIT(info->sig))
        return; /* these do not queue */
    h->set |= SIG_BIT(info->sig);
    h->info[slot_of(info->sig)] = *info;
}

/* The kernel lets nobody say to another thread that kill() sent it: what it said waits there. */
static void send_again(struct thread *t, const struct siginfo_raw *info)
{
    if (engine.guest_signals & SIG_BIT(info->sig)) {
        signals_carry(t, info);
        return;
    }
    if (sys4(__NR_rt_tgsigqueueinfo, t->process->pid, t->tid, info->sig, (long)info) != -EPERM)
        return;
    hold(&t->held, info);
    sys3(__NR_tgkill, t->process->pid, t->tid, info->sig);
}

void sending_hold(struct thread *t, const struct siginfo_raw *info)
{
    struct thread *o = sent_to_thread(info) ? NULL : taker(t, info->sig);
    if (o && o != t) {
        send_again(o, info);
        return;
    }
    hold(sent_to_thread(info) ? &t->held : &t->process->held, info);
}

static bool take_from(struct held *h, uint64_t set, struct siginfo_raw *info)
{
    uint64_t found = h->set & set;
    if (!found)
        return false;
    int sig = __builtin_ctzll(found) + 1;
    h->set &= ~SIG_BIT(sig);
    *info = h->info[slot_of(sig)];
    return true;
}

bool sending_passed_on(struct thread *t, int sig, struct siginfo_raw *info)
{
    return (signals_ours() & SIG_BIT(sig)) && take_from(&t->held, SIG_BIT(sig), info);
}

bool sending_take(struct thread *t, uint64_t set, struct siginfo_raw *info)
{
    return take_from(&t->held, set, info) || take_from(&t->process->held, set, info);
}

void sending_release(struct thread *t)
{
    struct siginfo_raw info;
    while (!t->pending && !t->carries && sending_take(t, ~t->mask, &info))
        send_again(t, &info); /* the next one when this one is delivered */
}

uint64_t sending_waiting(const struct thread *t)
{
    return t->held.set | t->process->held.set;
}

bool sending_interrupts(struct thread *t)
{
    uint64_t set = sending_waiting(t) & ~t->wait_mask;
    if (!set)
        return false;
    signals_set_kernel_mask(~0ull); /* no other one takes its place */
    if (!t->pending)
        t->pending = sending_take(t, set, &t->pending_info);
    return true;
}

/* ---- the calls ---- */

/* What the call tells of itself. False: the kernel may refuse it. */
static bool describe(const struct thread *t, const struct sent *s, struct siginfo_raw *info)
{
    *info = (struct siginfo_raw){0};
    if (!s->info)
        info->field[0] = (uint64_t)sys0(__NR_getuid) << 32 | (uint32_t)t->process->pid;
    else if (!s->told || !engine_read(info, s->info, sizeof *info) || info->code >= 0 ||
             sent_to_thread(info))
        return false;
    info->sig = s->sig;
    return true;
}

/* A hardware signal for the process: the kernel, in which nobody blocks it, would give it to the
 * first thread, and the sender would go on before that finds out who is to have it. Natively it is
 * pending, or the sender has taken it, when the call returns. The same of one that the kernel would
 * give to a debugger's guest. */
static bool sent_here(struct thread *t, const struct sent *s)
{
    struct siginfo_raw info;
    if (s->sig < 1 || s->sig > SIG_MAX || s->group)
        return false;
    if (s->to && (engine.guest_signals & SIG_BIT(s->sig)) && describe(t, s, &info)) {
        info.code = SENT_BY_TKILL;
        signals_carry(s->to, &info);
        return true;
    }
    if (!(signals_ours() & SIG_BIT(s->sig)) || s->to)
        return false;
    struct thread *o = taker(t, s->sig);
    if ((o && o != t) || !describe(t, s, &info))
        return false;
    if (o)
        send_again(t, &info);
    else
        hold(&t->process->held, &info);
    return true;
}

/* ---- processes that share the memory ---- */

/* The kernel is about to kill it: it has noted that for each of its threads. */
static bool is_doomed(const struct thread *o)
{
    char path[64], text[2048];
    uint64_t pending = 0;
    rt_format(path, sizeof path, "/proc/%d/status", o->process->pid);
    const char *at = read_text(path, text, sizeof text) ? behind(text, "\nSigPnd:\t") : NULL;
    if (at)
        rt_hex(at, &pending);
    return pending & SIG_BIT(SIG_KILL);
}

static bool lives(const struct thread *o)
{
    return __atomic_load_n(&o->host_alive, __ATOMIC_ACQUIRE);
}

/* A process that a signal kills at once may run on another processor for a moment after the call
 * has returned. If it shares our memory, it must not come to have the baton in that moment: what it
 * did then would have no end that a replay could find. Not for ever: it may be inside a file system
 * that does not answer, and there it does no harm. */
static void await_doomed(void)
{
    enum { NAP_NS = 20000, NAPS = 25000 };
    const int64_t nap[2] = {0, NAP_NS};
    for (const struct thread *o = engine.threads; o; o = o->next)
        if (threads_is_side(o) && lives(o) && is_doomed(o))
            for (int i = 0; i < NAPS && lives(o); i++)
                sys2(__NR_nanosleep, (long)nap, 0);
}

static long send(struct thread *t, long nr, const long *a)
{
    long r = syscalls_pass(t, nr, a);
    if (r == 0 && engine.side_processes)
        await_doomed();
    return r;
}

/* A debugger may not let the program die of it. */
static bool debugger_lets(struct thread *t, const struct sent *s)
{
    struct siginfo_raw info;
    if (!session || !session->arrives)
        return true;
    if (!describe(t, s, &info))
        info = (struct siginfo_raw){.sig = s->sig};
    return session->arrives(t, &info);
}

/* A thread that kills its process makes the call itself, natively, with its own registers: a core
 * file then shows the program and not the runtime. */
static long make(struct thread *t, const long *a, struct sent s)
{
    long nr = (int32_t)t->cpu.gpr[RAX];
    const struct thread *dies = dies_by(t, &s);
    if (!dies)
        return sent_here(t, &s) ? 0 : send(t, nr, a);
    if (!debugger_lets(t, &s))
        return 0;
    if (take_room(t, &s) == -EAGAIN) {
        signals_apply_mask(t);
        return -EAGAIN;
    }
    signals_end(t, s.sig);
    signals_use_default(s.sig);
    signals_set_kernel_mask(t->mask & ~SIG_BIT(s.sig));
    if (dies == t)
        engine_native(&t->cpu);
    sys6(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
    for (;;) /* should the other one be held up */
        sys3(__NR_tgkill, t->process->pid, t->tid, s.sig);
}

static const struct sent to_others = {0};

long sending_kill(struct thread *t, long *a)
{
    const struct sent s = {.sig = (int)a[1], .group = own_group(t, (int32_t)a[0])};
    return make(t, a, is_own(t, a[0]) || s.group ? s : to_others);
}

long sending_tkill(struct thread *t, long *a)
{
    const struct sent s = {.sig = (int)a[1], .to = own_thread(t, a[0])};
    return make(t, a, s.to ? s : to_others);
}

static long to_thread_of(struct thread *t, const long *a, gaddr info)
{
    const struct sent s = {.sig = (int)a[2],
                           .to = a[0] == t->process->pid ? own_thread(t, a[1]) : NULL,
                           .info = info,
                           .id = (int32_t)a[1]};
    return make(t, a, s.to ? s : to_others);
}

long sending_tgkill(struct thread *t, long *a)
{
    return to_thread_of(t, a, 0);
}

long sending_tgsigqueueinfo(struct thread *t, long *a)
{
    return to_thread_of(t, a, (gaddr)a[3]);
}

long sending_sigqueueinfo(struct thread *t, long *a)
{
    const struct sent s = {
        .sig = (int)a[1], .info = (gaddr)a[2], .told = true, .id = (int32_t)a[0]};
    return make(t, a, is_own(t, a[0]) ? s : to_others);
}

long sending_pidfd(struct thread *t, long *a)
{
    const struct sent s = {
        .sig = (int)a[1], .info = (gaddr)a[2], .id = t->process->pid, .signo = true};
    return make(t, a, !a[3] && own_pidfd(t, a[0]) ? s : to_others);
}
