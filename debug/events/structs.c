/* structs.c - structures of the kernel among a system call's arguments.
 *
 * SPDX-License-Identifier: MIT
 *
 * The layouts are the kernel's for x86-64, which are not always the C library's.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "debug/events/call.h"

typedef long long wide;
typedef unsigned long long uwide;

/* ---- times ---- */

void call_put_time(struct call *c, const void *two_words, const char *part)
{
    int64_t t[2];
    memcpy(t, two_words, sizeof t);
    words_addf(c->out, "{tv_sec=%lld, tv_%s=%lld}", (wide)t[0], part, (wide)t[1]);
}

void structs_timespec(struct call *c, int i)
{
    int64_t t[2];
    if (call_take(c, c->argument[i].other ? c->argument[i].other : i, t, sizeof t))
        call_put_time(c, t, "nsec");
}

void structs_timespec_out(struct call *c, int i)
{
    int64_t t[2];
    if (call_filled(c, i, t, sizeof t))
        call_put_time(c, t, "nsec");
}

/* What is left of a sleep that was interrupted. */
void structs_timespec_left(struct call *c, int i)
{
    int64_t t[2];
    if (c->unfinished)
        c->cut = true;
    else if (call_get(c, c->arg[i], CALL_AFTER, t, sizeof t))
        call_put_time(c, t, "nsec");
    else
        words_address(c->out, c->arg[i]);
}

/* Two of them, for a file: now, and leave it as it is, have numbers. */
void structs_timespecs(struct call *c, int i)
{
    enum { NOW = 0x3fffffff, OMIT = 0x3ffffffe };
    int64_t t[4];
    if (!call_take(c, i, t, sizeof t))
        return;
    for (int k = 0; k < 4; k += 2) {
        words_add(c->out, k ? ", " : "[");
        if (t[k + 1] == NOW || t[k + 1] == OMIT)
            words_add(c->out, t[k + 1] == NOW ? "UTIME_NOW" : "UTIME_OMIT");
        else
            call_put_time(c, t + k, "nsec");
    }
    words_add(c->out, "]");
}

void structs_timeval_out(struct call *c, int i)
{
    int64_t t[2];
    if (call_filled(c, i, t, sizeof t))
        call_put_time(c, t, "usec");
}

static void put_timer(struct call *c, const int64_t t[4], const char *part)
{
    words_add(c->out, "{it_interval=");
    call_put_time(c, t, part);
    words_add(c->out, ", it_value=");
    call_put_time(c, t + 2, part);
    words_add(c->out, "}");
}

void structs_itimerval(struct call *c, int i)
{
    int64_t t[4];
    if (call_take(c, i, t, sizeof t))
        put_timer(c, t, "usec");
}

void structs_itimerval_out(struct call *c, int i)
{
    int64_t t[4];
    if (call_filled(c, i, t, sizeof t))
        put_timer(c, t, "usec");
}

void structs_itimerspec(struct call *c, int i)
{
    int64_t t[4];
    if (call_take(c, i, t, sizeof t))
        put_timer(c, t, "nsec");
}

void structs_itimerspec_out(struct call *c, int i)
{
    int64_t t[4];
    if (call_filled(c, i, t, sizeof t))
        put_timer(c, t, "nsec");
}

/* ---- files ---- */

static void put_mode(struct words *out, uint32_t mode)
{
    const char *type = names_find(names_file_type, mode & 0170000);
    if (type)
        words_addf(out, "%s|", type);
    else if (mode & 0170000)
        words_addf(out, "%#o|", mode & 0170000);
    if (mode & 07000) {
        names_put_bits(out, names_mode, mode & 07000, "");
        words_add(out, "|");
    }
    words_addf(out, "%#03o", mode & 0777);
}

static void put_device(struct words *out, uint64_t d)
{
    words_addf(out, "makedev(%#llx, %#llx)", (uwide)((d >> 8 & 0xfff) | (d >> 32 & 0xfffff000)),
               (uwide)((d & 0xff) | (d >> 12 & 0xffffff00)));
}

void structs_stat(struct call *c, int i)
{
    struct {
        uint64_t dev, ino, links;
        uint32_t mode, uid, gid, pad;
        uint64_t rdev;
        int64_t size, more[11];
    } s;
    _Static_assert(sizeof s == 144, "struct stat");
    if (!call_filled(c, i, &s, sizeof s))
        return;
    const uint32_t type = s.mode & 0170000;
    words_add(c->out, "{st_mode=");
    put_mode(c->out, s.mode);
    if (type == 0020000 || type == 0060000) {
        words_add(c->out, ", st_rdev=");
        put_device(c->out, s.rdev);
    } else {
        words_addf(c->out, ", st_size=%lld", (wide)s.size);
    }
    words_add(c->out, ", ...}");
}

void structs_statx(struct call *c, int i)
{
    struct statx s;
    if (!call_filled(c, i, &s, sizeof s))
        return;
    words_add(c->out, "{stx_mask=");
    names_put_bits(c->out, names_statx_mask, s.stx_mask, "0");
    words_add(c->out, ", stx_attributes=");
    names_put_bits(c->out, names_statx_attributes, s.stx_attributes, "0");
    words_add(c->out, ", stx_mode=");
    put_mode(c->out, s.stx_mode);
    words_addf(c->out, ", stx_size=%llu, ...}", (uwide)s.stx_size);
}

void structs_statfs(struct call *c, int i)
{
    struct {
        uint64_t type, bsize, blocks, bfree, bavail, files, ffree;
        uint32_t id[2];
        uint64_t namelen, frsize, flags, more[4];
    } s;
    if (!call_filled(c, i, &s, sizeof s))
        return;
    words_add(c->out, "{f_type=");
    names_put(c->out, names_statfs_type, s.type, "");
    words_addf(c->out,
               ", f_bsize=%llu, f_blocks=%llu, f_bfree=%llu, f_bavail=%llu, f_files=%llu, "
               "f_ffree=%llu, f_fsid={val=[%#x, %#x]}, f_namelen=%llu, f_frsize=%llu, f_flags=",
               (uwide)s.bsize, (uwide)s.blocks, (uwide)s.bfree, (uwide)s.bavail, (uwide)s.files,
               (uwide)s.ffree, s.id[0], s.id[1], (uwide)s.namelen, (uwide)s.frsize);
    names_put_bits(c->out, names_statfs_flags, s.flags, "0");
    words_add(c->out, "}");
}

static void put_lock(struct call *c, const uint8_t *bytes, bool with_pid)
{
    struct {
        int16_t type, whence;
        int32_t pad;
        int64_t start, len;
        int32_t pid, pad2;
    } l;
    memcpy(&l, bytes, sizeof l);
    words_add(c->out, "{l_type=");
    names_put(c->out, names_lock, (uint16_t)l.type, "F_");
    words_add(c->out, ", l_whence=");
    names_put(c->out, names_whence, (uint16_t)l.whence, "SEEK_");
    words_addf(c->out, ", l_start=%lld, l_len=%lld", (wide)l.start, (wide)l.len);
    if (with_pid)
        words_addf(c->out, ", l_pid=%d", l.pid);
    words_add(c->out, "}");
}

void structs_lock(struct call *c, int i)
{
    uint8_t l[32];
    if (call_take(c, i, l, sizeof l))
        put_lock(c, l, false);
}

void structs_lock_out(struct call *c, int i)
{
    uint8_t l[32];
    if (call_filled(c, i, l, sizeof l))
        put_lock(c, l, true);
}

/* ---- terminals ---- */

void structs_ioctl(struct call *c, int i)
{
    static const char *const way[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
                                      "_IOC_READ|_IOC_WRITE"};
    const uint32_t r = (uint32_t)c->arg[i];
    const char *name = names_find(names_ioctl, r);
    if (name)
        words_add(c->out, name);
    else
        words_addf(c->out, "_IOC(%s, %#x, %#x, %#x)", way[_IOC_DIR(r)], _IOC_TYPE(r), _IOC_NR(r),
                   _IOC_SIZE(r));
}

static void put_termios(struct call *c, const uint32_t flags[4])
{
    enum { OPOST_ = 1, ISIG_ = 1, ICANON_ = 2, ECHO_ = 8 };
    static const char *const speed[16] = {"B0",    "B50",   "B75",    "B110",  "B134",  "B150",
                                          "B200",  "B300",  "B600",   "B1200", "B1800", "B2400",
                                          "B4800", "B9600", "B19200", "B38400"};
    const uint32_t output = flags[1], control = flags[2], local = flags[3];
    if (control & 010000)
        words_addf(c->out, "{%#o", control & 010017);
    else
        words_addf(c->out, "{%s", speed[control & 15]);
    words_addf(c->out, " %sopost %sisig %sicanon %secho ...}", output & OPOST_ ? "" : "-",
               local & ISIG_ ? "" : "-", local & ICANON_ ? "" : "-", local & ECHO_ ? "" : "-");
}

void structs_termios(struct call *c, int i)
{
    uint32_t flags[4];
    if (call_take(c, i, flags, sizeof flags))
        put_termios(c, flags);
}

void structs_termios_out(struct call *c, int i)
{
    uint32_t flags[4];
    if (call_filled(c, i, flags, sizeof flags))
        put_termios(c, flags);
}

static void put_winsize(struct call *c, const uint16_t w[4])
{
    words_addf(c->out, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", w[0], w[1], w[2],
               w[3]);
}

void structs_winsize(struct call *c, int i)
{
    uint16_t w[4];
    if (call_take(c, i, w, sizeof w))
        put_winsize(c, w);
}

void structs_winsize_out(struct call *c, int i)
{
    uint16_t w[4];
    if (call_filled(c, i, w, sizeof w))
        put_winsize(c, w);
}

/* ---- limits and use ---- */

static void put_limit(struct words *out, uint64_t n, const char *infinity)
{
    if (n == UINT64_MAX)
        words_add(out, infinity);
    else if (n > 1024 && n % 1024 == 0)
        words_addf(out, "%llu*1024", (uwide)n / 1024);
    else
        words_addf(out, "%llu", (uwide)n);
}

static void put_limits(struct call *c, const uint64_t l[2], const char *infinity)
{
    words_add(c->out, "{rlim_cur=");
    put_limit(c->out, l[0], infinity);
    words_add(c->out, ", rlim_max=");
    put_limit(c->out, l[1], infinity);
    words_add(c->out, "}");
}

void structs_rlimit(struct call *c, int i)
{
    uint64_t l[2];
    if (call_take(c, i, l, sizeof l))
        put_limits(c, l, c->argument[i].none);
}

void structs_rlimit_out(struct call *c, int i)
{
    uint64_t l[2];
    if (call_filled(c, i, l, sizeof l))
        put_limits(c, l, c->argument[i].none);
}

void structs_rusage(struct call *c, int i)
{
    int64_t t[4];
    if (!call_filled(c, i, t, sizeof t))
        return;
    words_add(c->out, "{ru_utime=");
    call_put_time(c, t, "usec");
    words_add(c->out, ", ru_stime=");
    call_put_time(c, t + 2, "usec");
    words_add(c->out, ", ...}");
}

void structs_utsname(struct call *c, int i)
{
    struct utsname u;
    if (!call_filled(c, i, &u, sizeof u))
        return;
    words_add(c->out, "{sysname=");
    words_quote(c->out, (const uint8_t *)u.sysname, strnlen(u.sysname, sizeof u.sysname),
                WORDS_PLAIN);
    words_add(c->out, ", nodename=");
    words_quote(c->out, (const uint8_t *)u.nodename, strnlen(u.nodename, sizeof u.nodename),
                WORDS_PLAIN);
    words_add(c->out, ", ...}");
}

void structs_sysinfo(struct call *c, int i)
{
    struct sysinfo s;
    if (!call_filled(c, i, &s, sizeof s))
        return;
    words_addf(c->out,
               "{uptime=%lld, loads=[%llu, %llu, %llu], totalram=%llu, freeram=%llu, "
               "sharedram=%llu, bufferram=%llu, totalswap=%llu, freeswap=%llu, procs=%u, "
               "totalhigh=%llu, freehigh=%llu, mem_unit=%u}",
               (wide)s.uptime, (uwide)s.loads[0], (uwide)s.loads[1], (uwide)s.loads[2],
               (uwide)s.totalram, (uwide)s.freeram, (uwide)s.sharedram, (uwide)s.bufferram,
               (uwide)s.totalswap, (uwide)s.freeswap, s.procs, (uwide)s.totalhigh,
               (uwide)s.freehigh, s.mem_unit);
}

/* ---- processes ---- */

void structs_wait_status(struct call *c, int i)
{
    int s;
    if (!call_is_filled(c, i))
        return;
    if (!c->result || !call_get(c, c->arg[i], CALL_AFTER, &s, sizeof s)) {
        words_address(c->out, c->arg[i]);
        return;
    }
    words_add(c->out, "[{");
    if (WIFEXITED(s)) {
        words_addf(c->out, "WIFEXITED(s) && WEXITSTATUS(s) == %d", WEXITSTATUS(s));
    } else if (WIFSTOPPED(s)) {
        words_add(c->out, "WIFSTOPPED(s) && WSTOPSIG(s) == ");
        names_put_signal(c->out, WSTOPSIG(s));
    } else if (WIFCONTINUED(s)) {
        words_add(c->out, "WIFCONTINUED(s)");
    } else {
        words_add(c->out, "WIFSIGNALED(s) && WTERMSIG(s) == ");
        names_put_signal(c->out, WTERMSIG(s));
        words_add(c->out, WCOREDUMP(s) ? " && WCOREDUMP(s)" : "");
    }
    words_add(c->out, "}]");
}

static void put_clone_flags(struct call *c, uint64_t flags, uint64_t signal)
{
    names_put_bits(c->out, names_clone, flags, signal ? "" : "0");
    if (!signal)
        return;
    words_add(c->out, flags ? "|" : "");
    names_put_signal(c->out, (int64_t)signal);
}

static void put_made(struct call *c, uint64_t at)
{
    int32_t tid;
    if (!c->failed && !c->unfinished && call_get(c, at, CALL_AFTER, &tid, sizeof tid))
        words_addf(c->out, "[%d]", tid);
    else
        words_address(c->out, at);
}

/* clone has them all in registers, in an order of its own. */
void structs_clone(struct call *c, int i)
{
    enum { SIGNAL_BITS = 0xff };
    const uint64_t flags = c->arg[i] & ~(uint64_t)SIGNAL_BITS;
    words_add(c->out, "child_stack=");
    words_address(c->out, c->arg[1]);
    words_add(c->out, ", flags=");
    put_clone_flags(c, flags, c->arg[i] & SIGNAL_BITS);
    if (c->unfinished) {
        c->cut = true;
        return;
    }
    if (flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) {
        words_add(c->out, ", parent_tid=");
        put_made(c, c->arg[2]);
    }
    if (flags & CLONE_SETTLS) {
        words_add(c->out, ", tls=");
        words_addf(c->out, "%#llx", (uwide)c->arg[4]);
    }
    if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) {
        words_add(c->out, ", child_tidptr=");
        words_address(c->out, c->arg[3]);
    }
}

void structs_clone3(struct call *c, int i)
{
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } a;
    if (!call_take(c, i, &a, sizeof a))
        return;
    words_add(c->out, "{flags=");
    put_clone_flags(c, a.flags, 0);
    if (a.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
        words_addf(c->out, ", child_tid=%#llx", (uwide)a.child_tid);
    if (a.flags & CLONE_PARENT_SETTID)
        words_addf(c->out, ", parent_tid=%#llx", (uwide)a.parent_tid);
    words_add(c->out, ", exit_signal=");
    names_put_signal(c->out, (int64_t)a.exit_signal);
    words_add(c->out, ", stack=");
    words_address(c->out, a.stack);
    words_addf(c->out, ", stack_size=%#llx", (uwide)a.stack_size);
    if (a.flags & CLONE_SETTLS)
        words_addf(c->out, ", tls=%#llx", (uwide)a.tls);
    words_add(c->out, "}");
    int32_t tid;
    if (c->unfinished)
        c->cut = true;
    else if ((a.flags & CLONE_PARENT_SETTID) && !c->failed &&
             call_get(c, a.parent_tid, CALL_AFTER, &tid, sizeof tid))
        words_addf(c->out, " => {parent_tid=[%d]}", tid);
}

void structs_futex_op(struct call *c, int i)
{
    const uint32_t op = (uint32_t)c->arg[i],
                   command = op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    const char *name = names_find(names_futex, command);
    if (!name) {
        argument_hex32(c, i);
        return;
    }
    words_addf(c->out, "%s%s%s", name, op & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "",
               op & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
}

static void put_cpus(struct call *c, const struct call_bytes *b, uint64_t bytes)
{
    const char *between = "";
    words_add(c->out, "[");
    for (size_t n = 0; n < 8 * bytes && n < 8 * b->bytes; n++)
        if (b->data[n / 8] >> n % 8 & 1) {
            words_addf(c->out, "%s%zu", between, n);
            between = " ";
        }
    words_add(c->out, "]");
}

void structs_cpus(struct call *c, int i)
{
    struct call_bytes b;
    if (c->arg[i] && call_find(c, c->arg[i], CALL_BEFORE, &b))
        put_cpus(c, &b, c->arg[c->argument[i].other]);
    else
        words_address(c->out, c->arg[i]);
}

void structs_cpus_out(struct call *c, int i)
{
    struct call_bytes b;
    if (!call_is_filled(c, i))
        return;
    if (call_find(c, c->arg[i], CALL_AFTER, &b))
        put_cpus(c, &b, (uint64_t)c->result);
    else
        words_address(c->out, c->arg[i]);
}
