/* debug_confined.c - GDB in a sandbox of its own, for a stranger's recording.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* O_PATH, memfd_create */
#include "cli/debug_confined.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/program.h"

/* ---- what seccomp forbids ---- */

/* Calls that reach out of the sandbox past Landlock: sockets, attributes of files, other processes,
 * the kernel's own doors. With a mask: if that part of an argument has that value. */
struct row {
    uint32_t call, arg, mask, value;
};

static const struct row forbidden[] = {
    {SYS_socket, 0, 0, 0},
    {SYS_io_uring_setup, 0, 0, 0},
    {SYS_chmod, 0, 0, 0},
    {SYS_fchmod, 0, 0, 0},
    {SYS_fchmodat, 0, 0, 0},
    {452 /* fchmodat2 */, 0, 0, 0},
    {SYS_chown, 0, 0, 0},
    {SYS_fchown, 0, 0, 0},
    {SYS_lchown, 0, 0, 0},
    {SYS_fchownat, 0, 0, 0},
    {SYS_utime, 0, 0, 0},
    {SYS_utimes, 0, 0, 0},
    {SYS_futimesat, 0, 0, 0},
    {SYS_utimensat, 0, 0, 0},
    {SYS_setxattr, 0, 0, 0},
    {SYS_lsetxattr, 0, 0, 0},
    {SYS_fsetxattr, 0, 0, 0},
    {463 /* setxattrat */, 0, 0, 0},
    {466 /* removexattrat */, 0, 0, 0},
    {SYS_removexattr, 0, 0, 0},
    {SYS_lremovexattr, 0, 0, 0},
    {SYS_fremovexattr, 0, 0, 0},
    {SYS_ptrace, 0, 0, 0},
    {SYS_process_vm_readv, 0, 0, 0},
    {SYS_process_vm_writev, 0, 0, 0},
    {SYS_pidfd_getfd, 0, 0, 0},
    {SYS_setpriority, 0, 0, 0},
    {SYS_ioprio_set, 0, 0, 0},
    {SYS_sched_setscheduler, 0, 0, 0},
    {SYS_sched_setparam, 0, 0, 0},
    {SYS_sched_setattr, 0, 0, 0},
    {SYS_sched_setaffinity, 0, 0, 0},
    {SYS_migrate_pages, 0, 0, 0},
    {SYS_move_pages, 0, 0, 0},
    {SYS_process_madvise, 0, 0, 0},
    {448 /* process_mrelease */, 0, 0, 0},
    {SYS_kcmp, 0, 0, 0},
    {SYS_shmget, 0, 0, 0},
    {SYS_shmat, 0, 0, 0},
    {SYS_msgget, 0, 0, 0},
    {SYS_semget, 0, 0, 0},
    {SYS_mq_open, 0, 0, 0},
    {SYS_keyctl, 0, 0, 0},
    {SYS_add_key, 0, 0, 0},
    {SYS_request_key, 0, 0, 0},
    {SYS_bpf, 0, 0, 0},
    {SYS_perf_event_open, 0, 0, 0},
    {SYS_userfaultfd, 0, 0, 0},
    {SYS_open_by_handle_at, 0, 0, 0},
    {SYS_mount, 0, 0, 0},
    {SYS_umount2, 0, 0, 0},
    {SYS_move_mount, 0, 0, 0},
    {SYS_fsopen, 0, 0, 0},
    {SYS_mount_setattr, 0, 0, 0},
    {SYS_pivot_root, 0, 0, 0},
    {SYS_chroot, 0, 0, 0},
    {SYS_setns, 0, 0, 0},
    {SYS_unshare, 0, 0, 0},
    {SYS_clone, 0, CLONE_NEWUSER, CLONE_NEWUSER},
    {SYS_ioctl, 1, UINT32_MAX, TIOCSTI}, /* types for the user */
    {SYS_ioctl, 1, UINT32_MAX, TIOCLINUX},
};

enum { ROWS = sizeof forbidden / sizeof forbidden[0], ROW_CODE = 6, REST = 16 };

#define LOAD(field)       (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field)
#define RETURN(how)       (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, how)
#define IS(what, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what, yes, no)

/* Returns how many instructions there are. */
static size_t write_filter(struct sock_filter code[ROWS * ROW_CODE + REST])
{
    size_t n = 0;

    code[n++] = LOAD(offsetof(struct seccomp_data, arch));
    code[n++] = IS(AUDIT_ARCH_X86_64, 1, 0);
    code[n++] = RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    code[n++] = LOAD(offsetof(struct seccomp_data, nr));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    code[n++] = RETURN(SECCOMP_RET_ERRNO | ENOSYS); /* x32 */
    code[n++] = IS(SYS_clone3, 0, 1);               /* its flags are in memory */
    code[n++] = RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    /* Limits of others: with one of no time a process is killed. */
    code[n++] = IS(SYS_prlimit64, 0, 4);
    code[n++] = LOAD(offsetof(struct seccomp_data, args));
    code[n++] = IS(0, 1, 0);
    code[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
    code[n++] = LOAD(offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *r = &forbidden[i];
        code[n++] = IS(r->call, 0, r->mask ? 5 : 1);
        if (r->mask) {
            code[n++] = LOAD((uint32_t)(offsetof(struct seccomp_data, args) + 8 * r->arg));
            code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask);
            code[n++] = IS(r->value, 0, 1);
        }
        code[n++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
        if (r->mask)
            code[n++] = LOAD(offsetof(struct seccomp_data, nr));
    }
    code[n++] = RETURN(SECCOMP_RET_ALLOW);
    return n;
}

static int set_filter(void)
{
    struct sock_filter code[ROWS * ROW_CODE + REST];
    struct sock_fprog program = {.len = (unsigned short)write_filter(code), .filter = code};

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* For bubblewrap, which sets it when it is done itself. */
static int filter_file(void)
{
    struct sock_filter code[ROWS * ROW_CODE + REST];
    size_t bytes = write_filter(code) * sizeof code[0];
    int fd = memfd_create("filter", 0);

    if (fd < 0 || write(fd, code, bytes) != (ssize_t)bytes || lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    return fd;
}

/* ---- Landlock ---- */

enum { SIGNALS_SINCE = 6 }; /* a version that keeps signals inside */

/* From headers that are newer than Debian 12's. */
struct ruleset {
    uint64_t files, net, scoped;
};
enum { SCOPE_ABSTRACT = 1, SCOPE_SIGNAL = 2 };
static const uint64_t ALL_RIGHTS = (1 << 15) - 1; /* all but ioctl, up to version 5 */
static const uint64_t READING =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t DEVICE = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;

static long landlock_version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static int allow(int ruleset, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};

    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return errno == ENOENT || errno == ENXIO ? 0 : -1;
    long bad = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return bad ? -1 : 0;
}

static int set_landlock(const char *room)
{
    struct ruleset what = {.files = ALL_RIGHTS, .scoped = SCOPE_ABSTRACT | SCOPE_SIGNAL};
    int set = (int)syscall(SYS_landlock_create_ruleset, &what, sizeof what, 0);

    if (set < 0 || allow(set, "/", READING) || allow(set, room, ALL_RIGHTS) ||
        allow(set, "/dev/null", DEVICE) || allow(set, "/dev/tty", DEVICE))
        return -1;
    return syscall(SYS_landlock_restrict_self, set, 0) ? -1 : 0;
}

/* ---- the ways ---- */

static bool find_bwrap(char path[PATH_MAX])
{
    struct err err;

    return program_find("bwrap", path, &err) == 0 && access(path, X_OK) == 0;
}

const char *debug_confined_way(const char *forced, struct err *err)
{
    char path[PATH_MAX];
    long version = landlock_version();

    if (version >= SIGNALS_SINCE && (!forced || strcmp(forced, "landlock") == 0))
        return "landlock";
    if (find_bwrap(path) && (!forced || strcmp(forced, "bwrap") == 0))
        return "bwrap";
    err_set(err, "--confined needs Landlock of version %d (Linux 6.12), here it is %ld, or bwrap",
            SIGNALS_SINCE, version > 0 ? version : 0);
    return "";
}

static int become_bwrap(const char *room, const char *gdb, char *const args[])
{
    char bwrap[PATH_MAX], filter[16];
    size_t n = 0, count = 0;

    while (args[count])
        count++;
    snprintf(filter, sizeof filter, "%d", filter_file());
    const char *const first[] = {"bwrap",
                                 "--ro-bind",
                                 "/",
                                 "/",
                                 "--dev",
                                 "/dev",
                                 "--proc",
                                 "/proc",
                                 "--bind",
                                 room,
                                 room,
                                 "--unshare-net",
                                 "--unshare-pid",
                                 "--unshare-ipc",
                                 "--die-with-parent",
                                 "--seccomp",
                                 filter,
                                 "--",
                                 gdb};
    enum { FIRST = sizeof first / sizeof first[0] };
    char **words = calloc(FIRST + count + 1, sizeof *words);
    if (!words || !find_bwrap(bwrap))
        return -1;
    for (; n < FIRST; n++)
        words[n] = (char *)(uintptr_t)first[n];
    for (size_t i = 1; i < count; i++)
        words[n++] = args[i];
    return execv(bwrap, words);
}

/* Returns only if it fails. */
static void become_gdb(const char *way, const char *room, const char *path, char *const args[])
{
    bool landlock = strcmp(way, "landlock") == 0;

    setenv("TMPDIR", room, 1);
    setenv("XDG_CACHE_HOME", room, 1);
    unsetenv("DEBUGINFOD_URLS");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        (landlock && (set_landlock(room) || set_filter())))
        return;
    if (landlock)
        execv(path, args);
    else
        become_bwrap(room, path, args);
}

/* ---- the room ---- */

/* Touches nothing outside, whatever GDB makes in it meanwhile. */
static void empty(int folder)
{
    DIR *list = fdopendir(folder);
    struct dirent *entry;

    while (list && (entry = readdir(list))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        int inner = openat(dirfd(list), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0)
            empty(inner);
        unlinkat(dirfd(list), name, inner >= 0 ? AT_REMOVEDIR : 0);
    }
    if (list)
        closedir(list);
    else if (folder >= 0)
        close(folder);
}

static int make_room(char room[PATH_MAX], struct err *err)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(room, PATH_MAX, "%s/drdebug.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(room))
        return err_set_code(err, errno, "%s: %s", room, strerror(errno));
    return 0;
}

/* ---- processes ---- */

int debug_confined_close(struct err *err)
{
    return syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0)
               ? err_set_code(err, errno, "descriptors cannot be closed: %s", strerror(errno))
               : 0;
}

int debug_confined_serve(char *const server[], struct err *err)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return err_set_code(err, errno, "%s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        setsid(); /* Ctrl-C is GDB's to pass on */
        dup2(pair[1], STDIN_FILENO);
        dup2(pair[1], STDOUT_FILENO);
        execv(server[0], server);
        _exit(1);
    }
    close(pair[1]);
    if (child < 0) {
        close(pair[0]);
        return err_set_code(err, errno, "%s", strerror(errno));
    }
    fcntl(pair[0], F_SETFD, 0);
    return pair[0];
}

/* An interrupt is GDB's; this process only waits. */
static int wait_for(pid_t child, struct err *err)
{
    int how;

    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return err_set_code(err, errno, "%s", strerror(errno));
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

int debug_confined_run(const char *way, const char *path, char *const args[], struct err *err)
{
    char room[PATH_MAX];

    if (make_room(room, err))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        if (memory_bound(err)) {
            fprintf(stderr, "drdebug: debug: %s\n", err->msg);
            _exit(1);
        }
        become_gdb(way, room, path, args);
        fprintf(stderr, "drdebug: debug: --confined: %s: %s\n", way, strerror(errno));
        _exit(1);
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    int status = child < 0 ? err_set_code(err, errno, "%s", strerror(errno)) : wait_for(child, err);
    empty(open(room, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    rmdir(room);
    return status;
}
