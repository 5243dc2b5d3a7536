/* inject.c - put the runtime into a process that has just exec'ed.
 *
 * SPDX-License-Identifier: MIT
 *
 * The kernel loads the program as always, so auxv, brk, /proc/self/exe, stack and addresses are
 * native. At the exec stop, before the first instruction, the tracer has the tracee map one range,
 * copies the image there, points the registers at it and detaches. Nothing is attached while the
 * program runs.
 *
 * The range lies a gigabyte below the program's libraries: near enough for rip-relative operands,
 * far enough to leave the kernel's own placement of mappings alone.
 */
#include <linux/ptrace.h>

#include "engine/rt/maplist.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/start/boot.h"

enum { WAIT_ALL = 0x40000000, SIGTRAP_ = 5, SIGCONT_ = 18, TRIES = 64 };

struct uregs { /* user_regs_struct */
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip,
        cs, rflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};

static long ptrace(long request, int pid, long addr, long data)
{
    return sys4(__NR_ptrace, request, pid, addr, data);
}

static void futex_wait(uint32_t *word, uint32_t value)
{
    sys4(__NR_futex, (long)word, FUTEX_WAIT, value, 0);
}

static void futex_set(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    sys3(__NR_futex, (long)word, FUTEX_WAKE, 1);
}

/* Takes the tracer out of the program's group: one that a stop of the group stopped, too, would
 * hold the program for ever. A stop that reached both before that has ended for us, so it ends for
 * it. */
static void leave_group(int32_t tracer)
{
    sys2(__NR_setpgid, tracer, tracer);
    sys2(__NR_kill, tracer, SIGCONT_);
}

int inject_ready(struct inject_job *job)
{
    enum { SET_PTRACER = 0x59616d61 };
    leave_group(job->tracer);
    sys2(__NR_prctl, SET_PTRACER, job->tracer); /* only Yama knows this call */
    futex_set(&job->go, 1);
    while (!__atomic_load_n(&job->ready, __ATOMIC_ACQUIRE))
        futex_wait(&job->ready, 0);
    return job->ready == 1 ? 0 : job->error;
}

void inject_reap(int32_t tracer)
{
    while (sys4(__NR_wait4, tracer, 0, WAIT_ALL, 0) == -EINTR)
        ;
}

/* Waits for a stop of the tracee; other stops than wanted are let go. Returns its id, 0 if it
 * ended. */
static int wait_stop(int want_event)
{
    for (;;) {
        int status = 0;
        long pid = sys4(__NR_wait4, -1, (long)&status, WAIT_ALL, 0);
        if (pid == -EINTR)
            continue;
        if (pid <= 0 || (status & 0xff) != 0x7f)
            return 0;
        int sig = status >> 8 & 0xff, event = status >> 16;
        if (event == want_event && sig == SIGTRAP_)
            return (int)pid;
        ptrace(PTRACE_CONT, (int)pid, 0, event ? 0 : sig);
    }
}

/* ---- where ---- */

/* The mapping that holds rip, if that is among the libraries (a dynamic loader, a static PIE); else
 * some place well below the stack. */
static gaddr anchor(int pid, gaddr rip)
{
    struct maplist list;
    struct maplist_entry e;
    char buf[4096];
    gaddr stack = 0x7ff000000000, found = 0;
    if (!maplist_open(&list, pid, buf, sizeof buf)) {
        while (maplist_next(&list, &e)) {
            if (rip >= e.start && rip < e.end)
                found = e.start;
            if (rt_streq(e.path, "[stack]"))
                stack = e.start;
        }
        maplist_close(&list);
    }
    bool among_libraries = found > 0x100000000000 && !(found >> 40 >= 0x55 && found >> 40 <= 0x56);
    return among_libraries ? found : stack - (4ull << 30);
}

/* ---- doing ---- */

/* Has the tracee make one system call, by `mov eax, nr; syscall; int3` laid over its first
 * instruction. The number goes through code because the end of the execve itself still writes rax.
 */
static long remote_call(int pid, const struct uregs *at, long nr, const long a[6])
{
    struct uregs r = *at;
    long word = 0;
    if (ptrace(PTRACE_PEEKTEXT, pid, (long)at->rip, (long)&word) < 0)
        return -EFAULT;
    long code = 0xb8 | nr << 8 | (long)(0xcc050full << 40);
    if (ptrace(PTRACE_POKETEXT, pid, (long)at->rip, code) < 0)
        return -EFAULT;
    r.orig_rax = ~0ull;
    r.rdi = (uint64_t)a[0], r.rsi = (uint64_t)a[1], r.rdx = (uint64_t)a[2];
    r.r10 = (uint64_t)a[3], r.r8 = (uint64_t)a[4], r.r9 = (uint64_t)a[5];
    ptrace(PTRACE_SETREGS, pid, 0, (long)&r);
    ptrace(PTRACE_CONT, pid, 0, 0);
    if (!wait_stop(0))
        return -ESRCH;
    ptrace(PTRACE_GETREGS, pid, 0, (long)&r);
    ptrace(PTRACE_POKETEXT, pid, (long)at->rip, word);
    return (long)r.rax;
}

static uint64_t range_bytes(const struct inject_job *job)
{
    return PAGE_UP(job->image->image_bytes + BOOT_STACK + job->image->total + job->filter_bytes);
}

static gaddr reserve(int pid, const struct uregs *regs, uint64_t bytes)
{
    gaddr at = (anchor(pid, regs->rip) - (1ull << 30) - bytes) & ~0xffffull;
    for (int i = 0; i < TRIES; i++, at -= 256ull << 20) {
        long a[6] = {(long)at,
                     (long)bytes,
                     PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                     -1,
                     0};
        long r = remote_call(pid, regs, __NR_mmap, a);
        if ((gaddr)r == at)
            return at;
        if (r != -EEXIST)
            return 0;
    }
    return 0;
}

static void fill_boot(struct boot *b, const struct inject_job *job, const struct uregs *r)
{
    uint64_t *g = b->cpu.gpr;
    g[RAX] = 0, g[RCX] = r->rcx, g[RDX] = r->rdx, g[RBX] = r->rbx, g[RSP] = r->rsp;
    g[RBP] = r->rbp, g[RSI] = r->rsi, g[RDI] = r->rdi, g[R8] = r->r8, g[R9] = r->r9;
    g[R10] = r->r10, g[R11] = r->r11, g[R12] = r->r12, g[R13] = r->r13, g[R14] = r->r14;
    g[R15] = r->r15;
    b->cpu.rip = r->rip;
    b->cpu.rflags = r->rflags;
    b->mask = job->mask;
    b->tracer = job->tracer;
    memcpy(b->options, job->options, sizeof b->options);
}

struct boot *inject_relocate(uint8_t *copy, const struct image *im, gaddr base)
{
    for (int i = 0; i < IMAGE_PARTS; i++)
        if (im->part[i].written)
            memcpy(copy + im->part[i].at, im->part[i].from, im->part[i].bytes);
    for (uint64_t i = 0; i < im->reloc_count; i++)
        *(uint64_t *)(copy + im->reloc[i]) += base;
    struct boot *b = (struct boot *)(copy + im->boot);
    b->base = base;
    return b;
}

/* Copies to be made from our memory to the tracee's, by one system call. */
struct copies {
    struct {
        const void *base;
        uint64_t bytes;
    } from[IMAGE_PARTS + 3], to[IMAGE_PARTS + 3];
    int count;
    uint64_t bytes;
};

static void copy_later(struct copies *c, gaddr to, const void *from, uint64_t bytes)
{
    c->from[c->count].base = from;
    c->to[c->count].base = (const void *)to;
    c->from[c->count].bytes = c->to[c->count].bytes = bytes;
    c->count++;
    c->bytes += bytes;
}

static bool copy_all(int pid, const struct copies *c)
{
    return sys6(__NR_process_vm_writev, pid, (long)c->from, c->count, (long)c->to, c->count, 0) ==
           (long)c->bytes;
}

/* struct image, for the tracee: `own` is its copy of the struct alone. */
static void copy_image(struct copies *c, const struct image *im, struct image *own, gaddr base,
                       gaddr to)
{
    *own = *im;
    for (int i = 0; i < IMAGE_PARTS; i++) {
        struct image_part *p = &own->part[i];
        uint64_t behind = (uint64_t)(p->from - (const uint8_t *)im);
        p->from = (const uint8_t *)(p->written ? to + behind : base + p->at);
    }
    copy_later(c, to, own, sizeof *own);
    copy_later(c, to + sizeof *own, im + 1, im->total - sizeof *own);
}

/* Copies the image, relocated for `base`; the written parts by way of a scratch copy of our own. */
static bool place_image(int pid, gaddr base, const struct inject_job *job, const struct uregs *regs)
{
    const struct image *im = job->image;
    struct copies c = {.count = 0};
    struct image own;
    long mem = sys6(__NR_mmap, 0, (long)im->image_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (SYS_FAILED(mem))
        return false;
    uint8_t *copy = (uint8_t *)mem;
    struct boot *b = inject_relocate(copy, im, base);
    fill_boot(b, job, regs);
    b->bytes = range_bytes(job);
    b->image = base + im->image_bytes + BOOT_STACK;
    b->filters = b->image + im->total;
    b->filter_bytes = job->filter_bytes;
    for (int i = 0; i < IMAGE_PARTS; i++) {
        const struct image_part *p = &im->part[i];
        copy_later(&c, base + p->at, p->written ? copy + p->at : p->from, p->bytes);
    }
    copy_image(&c, im, &own, base, b->image);
    copy_later(&c, b->filters, job->filters, job->filter_bytes);
    bool ok = copy_all(pid, &c);
    sys2(__NR_munmap, mem, (long)im->image_bytes);
    return ok;
}

/* The kernel does not raise privileges of a program that an unprivileged tracer follows. */
static void tell_of_lost_privilege(int pid)
{
    enum { SETUID = 04000, SETGID = 02000, GROUP_EXEC = 010 };
    struct {
        uint64_t dev, ino, nlink;
        uint32_t mode, uid, gid, pad;
        uint64_t rest[16];
    } st;
    char path[32], name[200];
    rt_format(path, sizeof path, "/proc/%d/exe", pid);
    if (sys4(__NR_newfstatat, -100, (long)path, (long)&st, 0) < 0 || sys0(__NR_geteuid) == 0)
        return;
    bool user = (st.mode & SETUID) && st.uid != (uint32_t)sys0(__NR_geteuid);
    bool group =
        (st.mode & SETGID) && (st.mode & GROUP_EXEC) && st.gid != (uint32_t)sys0(__NR_getegid);
    if (!user && !group)
        return;
    long n = sys3(__NR_readlink, (long)path, (long)name, sizeof name - 1);
    name[n > 0 ? n : 0] = 0;
    rt_say("%s: a set-%s-id program; under the engine it runs without that privilege", name,
           user ? "user" : "group");
}

static const char *inject(int pid, const struct inject_job *job)
{
    const struct image *im = job->image;
    struct uregs regs;
    ptrace(PTRACE_GETREGS, pid, 0, (long)&regs);
    if (regs.cs != 0x33)
        return ""; /* a 32-bit program: it runs without the engine */
    gaddr base = reserve(pid, &regs, range_bytes(job));
    if (!base)
        return "no address space for the engine; the program runs without it";
    if (!place_image(pid, base, job, &regs))
        return "the engine could not be copied; the program runs without it";
    tell_of_lost_privilege(pid);
    regs.rip = base + im->entry;
    regs.rsp = base + im->image_bytes + BOOT_STACK - 8;
    regs.orig_rax = ~0ull;
    ptrace(PTRACE_SETREGS, pid, 0, (long)&regs);
    return NULL;
}

void inject_tracer(struct inject_job *job)
{
    while (!__atomic_load_n(&job->go, __ATOMIC_ACQUIRE))
        futex_wait(&job->go, 0);
    long r = ptrace(PTRACE_SEIZE, job->tracee, 0, PTRACE_O_TRACEEXEC);
    job->error = (int32_t)r;
    futex_set(&job->ready, r < 0 ? 2 : 1);
    if (r < 0)
        return;
    int pid = wait_stop(PTRACE_EVENT_EXEC);
    if (pid) {
        const char *problem = inject(pid, job);
        if (problem) {
            /* The program's signals were blocked for the exec; it goes on natively with its own
             * mask. */
            ptrace(PTRACE_SETSIGMASK, pid, 8, (long)&job->mask);
            if (*problem)
                rt_say("exec: %s", problem);
        }
        ptrace(PTRACE_DETACH, pid, 0, 0);
    }
}
