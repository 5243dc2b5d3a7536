/* engine_effects_test.c - what syscalls.def says against what the kernel does.
 *
 * SPDX-License-Identifier: MIT
 *
 * Real calls are made with buffers in an arena full of a pattern: every byte that changes must have
 * been announced, and with scratch memory in between nothing may change before it is delivered.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/quota.h>
#include <mqueue.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define sigstack engine_sigstack /* libc has one, too */
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/effects.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/rt/range.h"
#include "tests/unit/unit.h"

/* ---- the engine's parts that effects.c needs ---- */

struct engine engine;
const struct session *session;
static struct thread the_thread;

bool (*engine_grow)(gaddr addr);
void (*engine_wrote)(gaddr addr, uint64_t bytes);

size_t engine_copy(void *dst, const void *src, size_t n)
{
    struct iovec to = {dst, n}, from = {(void *)src, n};
    ssize_t got = n ? process_vm_readv(getpid(), &to, 1, &from, 1, 0) : 0;
    return got < 0 ? n : n - (size_t)got;
}

int maps_open_all(void)
{
    return 0;
}

void *range_alloc_near(gaddr near, uint64_t bytes, bool code)
{
    (void)near;
    (void)code;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void range_free(void *p, uint64_t bytes)
{
    munmap(p, bytes);
}

/* ---- the tables ---- */

#ifndef __NR_cachestat
enum {
    __NR_cachestat = 451,
    __NR_fchmodat2,
    __NR_map_shadow_stack,
    __NR_futex_wake,
    __NR_futex_wait,
    __NR_futex_requeue,
    __NR_statmount,
    __NR_listmount,
    __NR_lsm_get_self_attr,
    __NR_lsm_set_self_attr,
    __NR_lsm_list_modules,
    __NR_mseal,
};
#endif
#define SYSCALL(nr, name, ...) _Static_assert((nr) == __NR_##name, #name);
#include "engine/os/syscalls.def"
#undef SYSCALL

static void has_the_arguments_that_it_writes_to(void **state)
{
    static const int args[KINDS_CALLS] = {
#define SYSCALL(nr, name, args, ...) [nr] = args,
#include "engine/os/syscalls.def"
#undef SYSCALL
    };
    (void)state;
    for (int nr = 0; nr < KINDS_CALLS; nr++) {
        assert_in_range(args[nr], 0, 6);
        const struct effect *e = call_info(nr) ? call_info(nr)->effects : NULL;
        for (; e && e->kind != EFFECT_END; e++)
            if (e->kind != EFFECT_NONE)
                assert_true(e->arg < args[nr]);
    }
    assert_int_equal(args[__NR_mmap], 6);
    assert_int_equal(args[__NR_getpid], 0);
    assert_int_equal(args[__NR_clone], 5);
}

static void has_every_number_once(void **state)
{
    static int seen[KINDS_CALLS];
    (void)state;
#define SYSCALL(nr, ...) seen[nr]++;
#include "engine/os/syscalls.def"
#undef SYSCALL
    for (int nr = 0; nr < KINDS_CALLS; nr++) {
        bool exists = nr <= 334 || nr >= 424;
        assert_int_equal(seen[nr], exists);
        assert_int_equal(call_info(nr) != NULL, exists);
    }
    assert_null(call_info(-1));
    assert_null(call_info(KINDS_CALLS));
    assert_null(call_info(100000));
}

static void refused_calls_have_no_effects(void **state)
{
    (void)state;
    for (int nr = 0; nr < KINDS_CALLS; nr++)
        if (call_info(nr) && call_info(nr)->how == CALL_REFUSED)
            assert_int_equal(call_info(nr)->effects[0].kind, EFFECT_NONE);
    assert_int_equal(call_info(__NR_io_uring_setup)->how, CALL_REFUSED);
    assert_int_equal(call_info(__NR_mmap)->replay, REPLAY_MEMORY);
    assert_int_equal(call_info(__NR_rt_sigaction)->replay, REPLAY_SAME);
    assert_int_equal(call_info(__NR_clone3)->replay, REPLAY_THREAD);
    assert_int_equal(call_info(__NR_read)->replay, REPLAY_LOGGED);
}

/* Commands, where there are any, come first: effects_known() relies on it. */
static void commands_come_first(void **state)
{
    (void)state;
    for (int nr = 0; nr < KINDS_CALLS; nr++)
        for (const struct effect *e = call_info(nr) ? call_info(nr)->effects : NULL;
             e && e->kind != EFFECT_END; e++)
            assert_true(e->kind != EFFECT_COMMAND || e == call_info(nr)->effects);
}

struct total {
    uint64_t bytes;
};

static void add(void *arg, gaddr addr, uint64_t bytes)
{
    (void)addr;
    ((struct total *)arg)->bytes += bytes;
}

static uint8_t arena[256 << 10] __attribute__((aligned(4096)));

/* Bytes at one argument, all other addresses being 0. */
static uint64_t bytes_at(long nr, int arg, const long with[6], long result)
{
    struct total t = {0};
    long a[6];
    memcpy(a, with, sizeof a);
    a[arg] = (long)arena;
    effects_written(nr, a, result, add, &t);
    return t.bytes;
}

static void sizes_are_those_of_libc(void **state)
{
    static const struct {
        long nr;
        int arg;
        uint64_t bytes;
        long a[6];
        long result;
    } row[] = {
        {SYS_stat, 1, sizeof(struct stat), {0}, 0},
        {SYS_fstat, 1, sizeof(struct stat), {0}, 0},
        {SYS_newfstatat, 2, sizeof(struct stat), {0}, 0},
        {SYS_statx, 4, sizeof(struct statx), {0}, 0},
        {SYS_statfs, 1, sizeof(struct statfs), {0}, 0},
        {SYS_pipe2, 0, sizeof(int[2]), {0}, 0},
        {SYS_socketpair, 3, sizeof(int[2]), {0}, 0},
        {SYS_getitimer, 1, sizeof(struct itimerval), {0}, 0},
        {SYS_setitimer, 2, sizeof(struct itimerval), {0}, 0},
        {SYS_timer_settime, 3, sizeof(struct itimerspec), {0}, 0},
        {SYS_timerfd_settime, 3, sizeof(struct itimerspec), {0}, 0},
        {SYS_wait4, 1, sizeof(int), {0}, 5},
        {SYS_wait4, 1, 0, {0}, 0},
        {SYS_wait4, 3, sizeof(struct rusage), {0}, 5},
        {SYS_waitid, 2, offsetof(siginfo_t, si_status) + sizeof(int), {0}, 0},
        {SYS_rt_sigtimedwait, 1, sizeof(siginfo_t), {0}, 5},
        {SYS_uname, 0, sizeof(struct utsname), {0}, 0},
        {SYS_getrusage, 1, sizeof(struct rusage), {0}, 0},
        {SYS_sysinfo, 0, sizeof(struct sysinfo), {0}, 0},
        {SYS_times, 0, sizeof(struct tms), {0}, 100},
        {SYS_getrlimit, 1, sizeof(struct rlimit), {0}, 0},
        {SYS_prlimit64, 3, sizeof(struct rlimit), {0}, 0},
        {SYS_gettimeofday, 0, sizeof(struct timeval), {0}, 0},
        {SYS_gettimeofday, 1, sizeof(struct timezone), {0}, 0},
        {SYS_clock_gettime, 1, sizeof(struct timespec), {0}, 0},
        {SYS_nanosleep, 1, sizeof(struct timespec), {0}, -EINTR},
        {SYS_nanosleep, 1, 0, {0}, 0},
        {SYS_adjtimex, 0, sizeof(struct timex), {0}, 0},
        {SYS_sigaltstack, 1, sizeof(stack_t), {0}, 0},
        {SYS_sched_getparam, 1, sizeof(struct sched_param), {0}, 0},
        {SYS_mq_getsetattr, 2, sizeof(struct mq_attr), {0}, 0},
        {SYS_shmctl, 2, sizeof(struct shmid_ds), {0, IPC_STAT}, 0},
        {SYS_shmctl, 2, sizeof(struct shminfo), {0, IPC_INFO}, 0},
        {SYS_shmctl, 2, sizeof(struct shm_info), {0, SHM_INFO}, 0},
        {SYS_semctl, 3, sizeof(struct semid_ds), {0, 0, IPC_STAT}, 0},
        {SYS_semctl, 3, sizeof(struct seminfo), {0, 0, IPC_INFO}, 0},
        {SYS_msgctl, 2, sizeof(struct msqid_ds), {0, IPC_STAT}, 0},
        {SYS_msgctl, 2, sizeof(struct msginfo), {0, IPC_INFO}, 0},
        {SYS_epoll_wait, 1, 3 * sizeof(struct epoll_event), {0, 0, 8}, 3},
        {SYS_fcntl, 2, sizeof(struct flock), {0, F_GETLK}, 0},
        {SYS_fcntl, 2, sizeof(struct f_owner_ex), {0, F_GETOWN_EX}, 0},
        {SYS_ioctl, 2, sizeof(struct winsize), {0, TIOCGWINSZ}, 0},
        {SYS_ioctl, 2, sizeof(struct ifreq), {0, SIOCGIFFLAGS}, 0},
        {SYS_quotactl, 3, sizeof(struct if_dqblk), {QCMD(Q_GETQUOTA, 1)}, 0},
        {SYS_quotactl, 3, sizeof(struct if_dqinfo), {QCMD(Q_GETINFO, 0)}, 0},
        {SYS_prctl, 1, 16, {PR_GET_NAME}, 0},
        {SYS_read, 1, 7, {0, 0, 100}, 7},
        {SYS_read, 1, 0, {0, 0, 100}, -EAGAIN},
        {SYS_read, 1, 100, {0, 0, 100}, -EFAULT},
        {SYS_recvfrom, 1, 100, {0, 0, 100, MSG_TRUNC}, 1000},
        {SYS_getxattr, 2, 0, {0}, 40},
        {SYS_getgroups, 1, 12, {5}, 3},
        {SYS_mincore, 2, 3, {0, 8193}, 0},
        {SYS_poll, 0, 3 * 2, {0, 3}, 1},
        {SYS_msgrcv, 1, 20 + 8, {0, 0, 100}, 20},
        {SYS_clone, 2, 4, {CLONE_PARENT_SETTID}, 77},
        {SYS_clone, 2, 0, {0}, 77},
        {SYS_futex, 0, 0, {0, 0 /* FUTEX_WAIT */}, 0},
        {SYS_futex, 4, 4, {0, 5 /* FUTEX_WAKE_OP */}, 0},
        {SYS_futex, 0, 4, {0, 6 | 128 /* FUTEX_LOCK_PI, private */}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint64_t got = bytes_at(row[i].nr, row[i].arg, row[i].a, row[i].result);
        if (got != row[i].bytes)
            fail_msg("row %zu, %s: %lu bytes, not %lu", i, call_info(row[i].nr)->name, got,
                     row[i].bytes);
    }
}

static void unknown_commands_are_told_apart(void **state)
{
    struct unknown_command u;
    (void)state;
    assert_true(effects_known(SYS_ioctl, (long[6]){0, TCGETS}, &u));
    assert_true(effects_known(SYS_ioctl, (long[6]){0, _IOR('E', 6, char[256])}, &u));
    assert_false(effects_known(SYS_ioctl, (long[6]){0, _IOWR('d', 0, char[64])}, &u));
    assert_true(u.told && u.error == -ENOTTY);
    assert_false(effects_known(SYS_prctl, (long[6]){59}, &u));
    assert_true(u.told && u.error == -EINVAL);
    assert_false(effects_known(SYS_prctl, (long[6]){9999}, &u));
    assert_false(u.told);
    assert_false(effects_known(SYS_getsockopt, (long[6]){0, 6, 35}, &u));
    assert_true(effects_known(SYS_getsockopt, (long[6]){0, SOL_SOCKET, SO_ERROR}, &u));
    assert_true(effects_known(SYS_read, (long[6]){0}, &u));
}

/* ---- calls as the kernel makes them ---- */

static uint8_t before[sizeof arena], announced[sizeof arena];

static void note(void *arg, gaddr addr, uint64_t bytes)
{
    (void)arg;
    for (uint64_t i = 0; i < bytes; i++)
        if (addr + i - (gaddr)arena < sizeof arena)
            announced[addr + i - (gaddr)arena] = 1;
}

static long raw(long nr, const long a[6])
{
    long r = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
    return r < 0 ? -errno : r;
}

static void check_announced(long nr, const long a[6], long r)
{
    memset(announced, 0, sizeof announced);
    effects_written(nr, a, r, note, NULL);
    for (size_t i = 0; i < sizeof arena; i++)
        if (arena[i] != before[i] && !announced[i])
            fail_msg("%s = %ld: byte %zu of the arena was written unannounced", call_info(nr)->name,
                     r, i);
}

/* One call with all addresses inside the arena. Its result. */
static long call(long nr, long a0, long a1, long a2, long a3, long a4, long a5)
{
    long a[6] = {a0, a1, a2, a3, a4, a5};
    memcpy(before, arena, sizeof arena);
    long r = raw(nr, a);
    check_announced(nr, a, r);
    return r;
}

/* The same through scratch memory, as when other threads run. */
static long diverted(long nr, long a0, long a1, long a2, long a3, long a4, long a5)
{
    long a[6] = {a0, a1, a2, a3, a4, a5}, b[6], error;
    struct divert d;
    memcpy(before, arena, sizeof arena);
    assert_true(effects_divert(&the_thread, nr, a, b, &d, &error));
    assert_int_equal(error, 0);
    long r = raw(nr, b);
    assert_memory_equal(arena, before, sizeof arena);
    r = effects_deliver(&the_thread, &d, r);
    check_announced(nr, a, r);
    return r;
}

typedef long caller(long, long, long, long, long, long, long);

#define L(x) ((long)(x))

static uint8_t *at(size_t offset)
{
    return arena + offset;
}

static void quick_calls(uint8_t pattern)
{
    caller *how = call;
    int p[2];
    char path[] = "/tmp/effects-XXXXXX";
    memset(arena, pattern, sizeof arena);
    int file = mkstemp(path);
    assert_true(file >= 0 && pipe(p) == 0);
    assert_int_equal(how(SYS_fstat, file, L(at(64)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_stat, L(path), L(at(512)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_newfstatat, AT_FDCWD, L(path), L(at(1024)), 0, 0, 0), 0);
    assert_int_equal(how(SYS_statx, AT_FDCWD, L(path), 0, 0xfff, L(at(2048)), 0), 0);
    assert_int_equal(how(SYS_statfs, L(path), L(at(3072)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_uname, L(at(4096)), 0, 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_sysinfo, L(at(5000)), 0, 0, 0, 0, 0), 0);
    assert_true(how(SYS_times, L(at(5200)), 0, 0, 0, 0, 0) > 0);
    assert_int_equal(how(SYS_getrusage, 0, L(at(5400)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_getrlimit, RLIMIT_STACK, L(at(5600)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_prlimit64, 0, RLIMIT_STACK, 0, L(at(5700)), 0, 0), 0);
    assert_true(how(SYS_getcwd, L(at(6000)), 500, 0, 0, 0, 0) > 0);
    assert_int_equal(how(SYS_getcwd, L(at(6000)), 1, 0, 0, 0, 0), -ERANGE);
    assert_true(how(SYS_readlink, L("/proc/self/exe"), L(at(7000)), 300, 0, 0, 0) > 0);
    assert_int_equal(how(SYS_readlink, L("/proc/self/exe"), L(at(7000)), 2, 0, 0, 0), 2);
    assert_true(how(SYS_sched_getaffinity, 0, 512, L(at(8000)), 0, 0, 0) > 0);
    assert_int_equal(how(SYS_getresuid, L(at(9000)), L(at(9004)), L(at(9008)), 0, 0, 0), 0);
    assert_true(how(SYS_getgroups, 64, L(at(9100)), 0, 0, 0, 0) >= 0);
    assert_true(how(SYS_getgroups, 0, L(at(9100)), 0, 0, 0, 0) >= 0);
    assert_int_equal(how(SYS_getcpu, L(at(9400)), L(at(9404)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_clock_getres, CLOCK_MONOTONIC, L(at(9504)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_getitimer, ITIMER_REAL, L(at(9600)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_gettimeofday, L(at(9700)), L(at(9720)), 0, 0, 0, 0), 0);
    assert_true(how(SYS_time, L(at(9800)), 0, 0, 0, 0, 0) > 0);
    assert_int_equal(how(SYS_getrandom, L(at(10000)), 100, 0, 0, 0, 0), 100);
    assert_int_equal(how(SYS_mincore, L(arena), 9000, L(at(10200)), 0, 0, 0), 0);
    assert_int_equal(how(SYS_pipe2, L(at(10300)), O_CLOEXEC, 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, L(at(10400)), 0, 0), 0);
    assert_int_equal(how(SYS_sched_getparam, 0, L(at(10500)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_sched_getattr, 0, L(at(10600)), 56, 0, 0, 0), 0);
    assert_int_equal(how(SYS_sched_rr_get_interval, 0, L(at(10700)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_prctl, PR_GET_NAME, L(at(10800)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_prctl, PR_GET_PDEATHSIG, L(at(10900)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_prctl, PR_GET_CHILD_SUBREAPER, L(at(10920)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_arch_prctl, 0x1003, L(at(11000)), 0, 0, 0, 0), 0);
    memcpy(at(11100), &(uint32_t[2]){_LINUX_CAPABILITY_VERSION_3, 0}, 8);
    assert_int_equal(how(SYS_capget, L(at(11100)), L(at(11200)), 0, 0, 0, 0), 0);
    memcpy(at(11100), &(uint32_t[2]){1, 0}, 8);
    assert_true(how(SYS_capget, L(at(11100)), L(at(11200)), 0, 0, 0, 0) <= 0);
    assert_int_equal(how(SYS_get_mempolicy, L(at(11300)), L(at(11400)), 1024, 0, 0, 0), 0);
    assert_int_equal(how(SYS_rt_sigpending, L(at(11600)), 8, 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_timer_create, CLOCK_MONOTONIC, 0, L(at(11700)), 0, 0, 0), 0);
    int timer;
    memcpy(&timer, at(11700), 4);
    memset(at(11800), 0, 32);
    at(11800)[16] = 9;
    assert_int_equal(how(SYS_timer_settime, timer, 0, L(at(11800)), L(at(11900)), 0, 0), 0);
    assert_int_equal(how(SYS_timer_gettime, timer, L(at(12000)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_timer_delete, timer, 0, 0, 0, 0, 0), 0);
    int tfd = timerfd_create(CLOCK_MONOTONIC, 0);
    assert_int_equal(how(SYS_timerfd_settime, tfd, 0, L(at(11800)), L(at(12100)), 0, 0), 0);
    assert_int_equal(how(SYS_timerfd_gettime, tfd, L(at(12200)), 0, 0, 0, 0), 0);
    assert_int_equal(how(SYS_ioctl, p[0], FIONREAD, L(at(12300)), 0, 0, 0), 0);
    memset(at(12400), 0, 32);
    assert_int_equal(how(SYS_fcntl, file, F_GETLK, L(at(12400)), 0, 0, 0), 0);
    assert_int_equal(how(SYS_fcntl, file, F_GETOWN_EX, L(at(12500)), 0, 0, 0), 0);
    memcpy(at(12600), &(int[2]){128, 0}, 8);
    long handle = how(SYS_name_to_handle_at, AT_FDCWD, L(path), L(at(12600)), L(at(12800)), 0, 0);
    assert_true(handle == 0 || handle == -EOPNOTSUPP || handle == -EPERM);
    memcpy(at(12600), &(int[2]){0, 0}, 8);
    how(SYS_name_to_handle_at, AT_FDCWD, L(path), L(at(12600)), L(at(12800)), 0, 0);
    long pid = getpid();
    struct iovec to = {at(13000), 50}, from = {before, 50};
    memcpy(at(13100), &to, sizeof to);
    assert_int_equal(how(SYS_process_vm_readv, pid, L(at(13100)), 1, L(&from), 1, 0), 50);
    to.iov_base = at(13200);
    assert_int_equal(how(SYS_process_vm_writev, pid, L(&from), 1, L(&to), 1, 0), 50);
    int sem = semget(IPC_PRIVATE, 5, 0600);
    if (sem >= 0) {
        assert_int_equal(how(SYS_semctl, sem, 0, IPC_STAT, L(at(13300)), 0, 0), 0);
        assert_int_equal(how(SYS_semctl, sem, 0, GETALL, L(at(13500)), 0, 0), 0);
        how(SYS_semctl, sem, 0, SEM_INFO, L(at(13600)), 0, 0);
        semctl(sem, 0, IPC_RMID);
    }
    int shm = shmget(IPC_PRIVATE, 4096, 0600);
    if (shm >= 0) {
        assert_int_equal(how(SYS_shmctl, shm, IPC_STAT, L(at(13700)), 0, 0, 0), 0);
        how(SYS_shmctl, shm, SHM_INFO, L(at(13900)), 0, 0, 0);
        how(SYS_shmctl, shm, IPC_INFO, L(at(14000)), 0, 0, 0);
        shmctl(shm, IPC_RMID, NULL);
    }
    close(file);
    close(p[0]);
    close(p[1]);
    close(tfd);
    unlink(path);
}

static struct sockaddr_in loopback(int type, int *server)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof name;
    *server = socket(AF_INET, type, 0);
    assert_int_equal(bind(*server, (struct sockaddr *)&name, n), 0);
    assert_int_equal(getsockname(*server, (struct sockaddr *)&name, &n), 0);
    return name;
}

/* A message of 30 bytes with a descriptor goes from s[1] to s[0]; s[0] gets it into the arena. */
static void messages(caller *how, long nr)
{
    int s[2];
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec out = {"thirty bytes of text for recvmsg", 30};
    struct msghdr m = {
        .msg_iov = &out, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, s), 0);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &s[0], sizeof(int));
    assert_int_equal(sendmsg(s[1], &m, 0), 30);
    assert_int_equal(sendmsg(s[1], &m, 0), 30);
    for (int i = 0; i < 2; i++) {
        struct iovec in[2] = {{at(20100 + 1000 * i), 10}, {at(20200 + 1000 * i), 100}};
        memcpy(at(20300 + 1000 * i), in, sizeof in);
        struct mmsghdr *h = (struct mmsghdr *)at(20480 + 64 * i);
        *h = (struct mmsghdr){{.msg_name = at(20700 + 1000 * i),
                               .msg_namelen = 110,
                               .msg_iov = (struct iovec *)at(20300 + 1000 * i),
                               .msg_iovlen = 2,
                               .msg_control = at(20800 + 1000 * i),
                               .msg_controllen = 64},
                              0};
    }
    if (nr == SYS_recvmsg)
        assert_int_equal(how(nr, s[0], L(at(20480)), 0, 0, 0, 0), 30);
    else
        assert_int_equal(how(nr, s[0], L(at(20480)), 2, 0, 0, 0), 2);
    assert_memory_equal(at(20100), "thirty byt", 10);
    assert_memory_equal(at(20200), "es of text for recvm", 20);
    struct msghdr *h = (struct msghdr *)at(20480);
    c = CMSG_FIRSTHDR(h);
    assert_true(c && (uint8_t *)c == at(20800) && h->msg_controllen == sizeof control);
    assert_ptr_equal(h->msg_iov, at(20300));
    close(s[0]);
    close(s[1]);
}

static void blocking_calls(caller *how, uint8_t pattern)
{
    int p[2], s[2], server, status;
    socklen_t n;
    memset(arena, pattern, sizeof arena);
    assert_int_equal(pipe(p), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);

    assert_int_equal(write(p[1], "0123456789abcdefghij", 20), 20);
    assert_int_equal(how(SYS_read, p[0], L(at(100)), 5, 0, 0, 0), 5);
    assert_memory_equal(at(100), "01234", 5);
    struct iovec v[3] = {{at(200), 3}, {NULL, 0}, {at(300), 5000}};
    memcpy(at(400), v, sizeof v);
    assert_int_equal(how(SYS_readv, p[0], L(at(400)), 3, 0, 0, 0), 15);
    assert_memory_equal(at(200), "567", 3);
    assert_memory_equal(at(300), "89abcdefghij", 12);
    assert_memory_equal(at(400), v, sizeof v);

    /* the revents of a poll, and nothing else */
    struct pollfd fds[3] = {{p[0], POLLIN, 0}, {p[1], POLLOUT, 0}, {-1, 0, 77}};
    memcpy(at(600), fds, sizeof fds);
    assert_int_equal(how(SYS_poll, L(at(600)), 3, 0, 0, 0, 0), 1);
    assert_int_equal(((struct pollfd *)at(608))->revents, POLLOUT);
    memcpy(at(700), &(struct timespec){0, 1000}, 16);
    assert_int_equal(how(SYS_ppoll, L(at(600)), 1, L(at(700)), 0, 8, 0), 0);
    fd_set r, w;
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_SET(p[0], &r);
    FD_SET(p[1], &w);
    memcpy(at(1000), &r, sizeof r);
    memcpy(at(1200), &w, sizeof w);
    memcpy(at(1400), &(struct timeval){5, 0}, 16);
    assert_int_equal(how(SYS_select, p[1] + 1, L(at(1000)), L(at(1200)), 0, L(at(1400)), 0), 1);
    assert_false(FD_ISSET(p[0], (fd_set *)at(1000)));
    assert_true(FD_ISSET(p[1], (fd_set *)at(1200)));

    int ep = epoll_create1(0);
    epoll_ctl(ep, EPOLL_CTL_ADD, p[1], &(struct epoll_event){EPOLLOUT, {.u64 = 42}});
    assert_int_equal(how(SYS_epoll_wait, ep, L(at(1600)), 10, 0, 0, 0), 1);

    int pid = fork();
    if (pid == 0)
        _exit(3);
    assert_int_equal(how(SYS_waitid, P_PID, pid, L(at(2000)), WEXITED | WNOWAIT, L(at(2200)), 0),
                     0);
    assert_int_equal(how(SYS_wait4, pid, L(at(2400)), 0, L(at(2500)), 0, 0), pid);
    memcpy(&status, at(2400), 4);
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(how(SYS_wait4, -1, L(at(2400)), WNOHANG, L(at(2500)), 0, 0), -ECHILD);

    int tcp;
    struct sockaddr_in name = loopback(SOCK_STREAM, &server);
    assert_int_equal(listen(server, 1), 0);
    tcp = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(tcp, (struct sockaddr *)&name, sizeof name), 0);
    n = 10;
    memcpy(at(3000), &n, 4); /* shorter than the address: the kernel cuts it */
    int peer = (int)how(SYS_accept4, server, L(at(3100)), L(at(3000)), 0, 0, 0);
    assert_true(peer >= 0);
    memcpy(&n, at(3000), 4);
    assert_int_equal(n, sizeof name);
    assert_int_equal(at(3110)[0], pattern);
    assert_int_equal(write(tcp, "hello", 5), 5);
    assert_int_equal(how(SYS_recvfrom, peer, L(at(3200)), 100, MSG_PEEK, 0, 0), 5);
    assert_int_equal(how(SYS_recvfrom, peer, L(at(3400)), 100, MSG_TRUNC, 0, 0), 5);
    assert_int_equal(at(3400)[0], pattern); /* TCP throws it away */
    close(server);
    name = loopback(SOCK_DGRAM, &server);
    assert_int_equal(sendto(server, "datagram", 8, 0, (struct sockaddr *)&name, sizeof name), 8);
    n = 64;
    memcpy(at(3000), &n, 4);
    assert_int_equal(how(SYS_recvfrom, server, L(at(3600)), 4, MSG_TRUNC, L(at(3700)), L(at(3000))),
                     8);
    assert_int_equal(at(3604)[0], pattern);

    memcpy(at(4000), &(struct ifconf){1000, {(char *)at(4100)}}, sizeof(struct ifconf));
    assert_int_equal(how(SYS_ioctl, server, SIOCGIFCONF, L(at(4000)), 0, 0, 0), 0);
    assert_int_equal(write(s[1], "xyz", 3), 3);
    assert_int_equal(how(SYS_ioctl, s[0], FIONREAD, L(at(5200)), 0, 0, 0), 0);
    assert_int_equal(at(5200)[0], 3);

    int dir = open("/", O_RDONLY | O_DIRECTORY), one = open("/proc/self/status", O_RDONLY);
    assert_true(how(SYS_getdents64, dir, L(at(6000)), 3000, 0, 0, 0) > 0);
    assert_true(how(SYS_pread64, one, L(at(30000)), 100000, 0, 0, 0) > 100);
    int zero = open("/dev/zero", O_RDONLY);
    assert_int_equal(how(SYS_read, zero, L(at(65536)), 150000, 0, 0, 0), 150000);
    struct iovec half = {"message", 7};
    struct mmsghdr out = {{.msg_iov = &half, .msg_iovlen = 1}, 0};
    memcpy(at(9504), &out, sizeof out);
    assert_int_equal(how(SYS_sendmmsg, s[0], L(at(9504)), 1, 0, 0, 0), 1);
    assert_int_equal(((struct mmsghdr *)at(9504))->msg_len, 7);
    messages(how, SYS_recvmsg);
    messages(how, SYS_recvmmsg);
    int q = msgget(IPC_PRIVATE, 0600);
    if (q >= 0) {
        struct {
            long type;
            char text[8];
        } msg = {5, "queue"};
        assert_int_equal(msgsnd(q, &msg, 6, 0), 0);
        assert_int_equal(how(SYS_msgrcv, q, L(at(9600)), 50, 0, 0, 0), 6);
        msgctl(q, IPC_RMID, NULL);
    }
    int fd[] = {p[0], p[1], s[0], s[1], ep, tcp, peer, server, dir, one, zero};
    for (size_t i = 0; i < sizeof fd / sizeof fd[0]; i++)
        close(fd[i]);
}

static void on_alarm(int sig)
{
    (void)sig;
}

static void interrupted_sleep(caller *how)
{
    struct sigaction act = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 20000}}, NULL);
    struct timespec ten = {10, 0};
    memset(arena, 0xee, 4096);
    assert_int_equal(how(SYS_nanosleep, L(&ten), L(at(96)), 0, 0, 0, 0), -EINTR);
    assert_true(((struct timespec *)at(96))->tv_sec == 9);
}

static void announces_all_that_quick_calls_write(void **state)
{
    (void)state;
    quick_calls(0xa5);
    quick_calls(0x5a);
}

static void announces_all_that_blocking_calls_write(void **state)
{
    (void)state;
    blocking_calls(call, 0xa5);
    blocking_calls(call, 0x5a);
    interrupted_sleep(call);
}

static void diverts_and_delivers(void **state)
{
    (void)state;
    blocking_calls(diverted, 0xa5);
    blocking_calls(diverted, 0x5a);
    interrupted_sleep(diverted);
}

/* ---- arguments that are wrong ---- */

static void leaves_bad_addresses_to_the_kernel(void **state)
{
    struct divert d;
    long b[6], error;
    (void)state;
    assert_false(effects_divert(&the_thread, SYS_read, (long[6]){0, 8, 100}, b, &d, &error));
    assert_false(effects_divert(&the_thread, SYS_poll, (long[6]){8, 3}, b, &d, &error));
    assert_false(effects_divert(&the_thread, SYS_write, (long[6]){0, L(arena), 9}, b, &d, &error));
    assert_int_equal(error, 0);
}

static void cuts_at_the_end_of_memory(void **state)
{
    struct divert d;
    long b[6], error;
    uint8_t *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int zero = open("/dev/zero", O_RDONLY);
    (void)state;
    munmap(m + 4096, 4096);
    long a[6] = {zero, L(m + 4000), 5000};
    assert_true(effects_divert(&the_thread, SYS_read, a, b, &d, &error));
    assert_int_equal(b[2], 96);
    memset(m, 1, 4096);
    assert_int_equal(effects_deliver(&the_thread, &d, raw(SYS_read, b)), 96);
    assert_true(m[3999] == 1 && m[4000] == 0 && m[4095] == 0);
    struct iovec v[2] = {{m + 4000, 5000}, {arena, 10}};
    assert_true(effects_divert(&the_thread, SYS_readv, (long[6]){zero, L(v), 2}, b, &d, &error));
    assert_int_equal(b[2], 1);
    assert_int_equal(effects_deliver(&the_thread, &d, raw(SYS_readv, b)), 96);
    /* memory that became read-only meanwhile */
    assert_true(effects_divert(&the_thread, SYS_read, a, b, &d, &error));
    mprotect(m, 4096, PROT_READ);
    assert_int_equal(effects_deliver(&the_thread, &d, raw(SYS_read, b)), -EFAULT);
    close(zero);
    munmap(m, 4096);
}

static void large_reads_stay_whole(void **state)
{
    const size_t bytes = 9 << 20;
    struct divert d;
    long b[6], error;
    uint8_t *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int zero = open("/dev/zero", O_RDONLY);
    (void)state;
    memset(m, 1, bytes);
    assert_true(
        effects_divert(&the_thread, SYS_read, (long[6]){zero, L(m), L(bytes)}, b, &d, &error));
    assert_int_equal(effects_deliver(&the_thread, &d, raw(SYS_read, b)), bytes);
    assert_true(m[0] == 0 && m[bytes - 1] == 0);
    close(zero);
    munmap(m, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_number_once),
        cmocka_unit_test(has_the_arguments_that_it_writes_to),
        cmocka_unit_test(refused_calls_have_no_effects),
        cmocka_unit_test(commands_come_first),
        cmocka_unit_test(sizes_are_those_of_libc),
        cmocka_unit_test(unknown_commands_are_told_apart),
        cmocka_unit_test(announces_all_that_quick_calls_write),
        cmocka_unit_test(announces_all_that_blocking_calls_write),
        cmocka_unit_test(diverts_and_delivers),
        cmocka_unit_test(leaves_bad_addresses_to_the_kernel),
        cmocka_unit_test(cuts_at_the_end_of_memory),
        cmocka_unit_test(large_reads_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
