/* start.c - the runtime's first steps in a process.
 *
 * SPDX-License-Identifier: MIT
 *
 * runtime_start() is where the tracer (inject.c) points the registers to, on a small stack of its
 * own, with all signals blocked and the program's own registers in `boot`.
 */
#include <cpuid.h>
#include <linux/auxvec.h>

#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/core/tools.h"
#include "engine/os/fpstate.h"
#include "engine/os/level.h"
#include "engine/os/seccomp.h"
#include "engine/os/signals.h"
#include "engine/os/special.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "engine/start/boot.h"
#include "engine/start/exec.h"
#include "engine/x86/insn.h"

/* Among the bytes that the tracer copies, not the zeroes that it leaves out. */
__attribute__((visibility("default"), section(".data"))) struct boot boot = {0};
__attribute__((visibility("default"))) _Noreturn void runtime_start(void);

static uint64_t auxv(gaddr sp, uint64_t key)
{
    uint64_t *p = (uint64_t *)sp;
    p += 1 + *p + 1; /* argc, argv, NULL */
    while (*p++)
        ; /* environment */
    for (; p[0] != AT_NULL; p += 2)
        if (p[0] == key)
            return p[1];
    return 0;
}

static uint64_t number(const char *s, const char **end)
{
    uint64_t v = 0;
    int base = 10;
    if (s[0] == '0' && s[1] == 'x')
        base = 16, s += 2;
    for (;; s++) {
        int d = *s >= '0' && *s <= '9'                 ? *s - '0'
                : base == 16 && *s >= 'a' && *s <= 'f' ? *s - 'a' + 10
                                                       : -1;
        if (d < 0)
            break;
        v = v * (uint64_t)base + (uint64_t)d;
    }
    *end = s;
    return v;
}

/* "key=value,key=value": unknown keys are an error of the caller, said by name. */
static void set_option(struct options *o, const char *key, const char *value)
{
    const char *end;
    uint64_t v = number(value, &end);
    if (rt_prefix(key, "stats="))
        o->stats = v;
    else if (rt_prefix(key, "link="))
        o->link = v;
    else if (rt_prefix(key, "hot="))
        o->hot = v;
    else if (rt_prefix(key, "spin="))
        o->spin = v;
    else if (rt_prefix(key, "cpu="))
        o->cpu = v;
    else if (rt_prefix(key, "exact="))
        o->exact_flags = v;
    else if (rt_prefix(key, "ticks="))
        o->whole_ticks = v;
    else if (rt_prefix(key, "cache="))
        o->cache = v;
    else if (rt_prefix(key, "sample="))
        o->sample = v;
    else if (rt_prefix(key, "record=")) {
        o->record = true;
        o->record_fd = (int)v;
    } else if (rt_prefix(key, "live=")) {
        o->live = v;
    } else if (rt_prefix(key, "check=")) {
        o->check = v;
    } else if (rt_prefix(key, "threads=")) {
        o->threads = v;
    } else if (schedule_use(key)) {
        o->seed = v;
    } else if (rt_prefix(key, "stop=") && *end == ':') {
        o->has_stop = true;
        o->stop_count = v;
        o->stop_pc = number(end + 1, &end);
    } else if (rt_prefix(key, "tool=")) {
        size_t n = 0;
        for (; value[n] && value[n] != ',' && n + 1 < sizeof o->tool; n++)
            o->tool[n] = value[n];
        o->tool[n] = 0;
    } else {
        rt_die("engine option %s: unknown", key);
    }
}

static void read_options(struct options *o, const char *s)
{
    *o = (struct options){.link = true, .spin = true, .hot = 1, .cache = 32 << 20, .check = 80000};
    while (*s) {
        const char *value = s;
        while (*value && *value != '=')
            value++;
        set_option(o, s, *value ? value + 1 : value);
        while (*s && *s++ != ',')
            ;
    }
}

/* Programs close standard error before they end; reports that were asked for go to a copy of it. */
static void keep_stderr(const struct options *o)
{
    enum { DUPFD_CLOEXEC = 1030, HIGH = 1000 };
    if (!o->stats && !o->sample && !o->tool[0] && !o->has_stop)
        return;
    long fd = sys3(__NR_fcntl, 2, DUPFD_CLOEXEC, HIGH);
    if (fd >= 0)
        rt_say_to((int)fd);
}

static void start_tool(struct thread *t)
{
    const struct options *o = &engine.opt;
    if (o->has_stop)
        engine_stop_at(t, o->stop_count, o->stop_pc);
    if (!o->tool[0] && !o->has_stop)
        return;
    for (const char *rest = o->tool[0] ? o->tool : "position"; *rest;) {
        char name[TOOLS_NAMES];
        rest = tools_name(rest, name);
        const struct instrument *tool = tools_find(name);
        if (!tool)
            rt_die("engine tool %s: unknown", name);
        if (!instrument_add(tool))
            rt_die("engine tool %s: too many tools", name);
    }
    if (instrument->thread_start)
        instrument->thread_start(t);
}

static void start_decoder(void)
{
    insn_init();
    insn_guard = (struct insn_guard){engine_decoder_enter, engine_decoder_leave};
}

/* Address space for all that is to come: a program that reserves gigabytes (Java's ZGC) gets them
 * right below the runtime, and would leave no room within its reach. If there is a limit, the
 * program may use all of it up, unless it is recorded: replays count on the room. */
static void set_aside(void)
{
    enum { LIMIT_AS = 9 };
    struct {
        uint64_t now, most;
    } limit = {0};
    sys4(__NR_prlimit64, 0, LIMIT_AS, 0, (long)&limit);
    if (engine.opt.record || limit.now == ~0ull)
        range_reserve(1ull << 30);
}

/* Everything else comes from the pinball. */
_Noreturn static void start_replay(void)
{
    static struct process first;
    start_decoder();
    fpstate_init();
    cache_init(engine.opt.cache);
    struct thread *t = threads_new();
    if (!t)
        rt_die("engine: no address space for the first thread");
    t->process = &first;
    engine.start_tsc = __builtin_ia32_rdtsc();
    session->start(t);
    engine_run(t);
}

static bool has_bmi2(void)
{
    uint32_t a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_BMI2);
}

void runtime_start(void)
{
    static struct process first;
    const gaddr sp = boot.cpu.gpr[RSP];
    engine.base = boot.base;
    engine.mailbox = boot.mailbox;
    engine.wrfsbase = boot.mailbox ? boot.wrfsbase : (auxv(sp, AT_HWCAP2) & 2) != 0;
    engine.rorx = has_bmi2();
    if (boot.mailbox) /* it lies right below, and belongs to us */
        range_init(boot.mailbox, boot.base + boot.bytes - boot.mailbox);
    else
        range_init(boot.base, boot.bytes);
    read_options(&engine.opt, boot.options);
    if (engine.mailbox) {
        session = &session_replay;
        session->prepare();
        start_replay();
    }
    set_aside();
    if (engine.opt.record)
        session = engine.opt.live ? &session_live : &session_record;
    engine.threads_made = (uint32_t)engine.opt.threads;
    if (session)
        session->prepare();
    start_decoder();
    fpstate_init();
    level_set(engine.opt.cpu);
    cache_init(engine.opt.cache);
    struct thread *t = threads_new();
    if (!t)
        rt_die("engine: no address space for the first thread");
    t->process = &first;
    first.pid = (int32_t)sys0(__NR_getpid);
    t->cpu = boot.cpu;
    inject_reap(boot.tracer);
    threads_enter(t);
    baton_acquire(t);
    special_init(auxv(sp, AT_SYSINFO_EHDR));
    exec_init(boot.image, boot.options);
    engine.start_ns = special_now_ns();
    engine.start_tsc = __builtin_ia32_rdtsc();
    signals_init(t, boot.mask);
    seccomp_unpack(t, (const void *)boot.filters, boot.filter_bytes);
    if (session)
        session->start(t);
    keep_stderr(&engine.opt);
    start_tool(t);
    schedule_start();
    engine_run(t);
}
