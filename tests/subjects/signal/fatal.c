/* fatal.c - signals whose default action ends the process, sent by one of its threads to the
 * process or to a thread, blocked here and there: who dies, by what, and who goes on.
 *
 * Without arguments: every row of the table in a child of its own. With WAY SENDER BLOCKED SIGNAL:
 * that one row in this process. Threads: m the first, s the sender if it is another one, o one that
 * only waits.
 */
#include "subject.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>

static const char *const ways[] = {"kill",  "tgkill_m",  "tgkill_s", "tgkill_o",
                                   "queue", "tgqueue_o", "pidfd",    "raise"};
/* Which threads block it; t: all do, and the sender takes it by sigtimedwait; u: all do, and the
 * sender unblocks it. */
static const char *const blockings[] = {"-",  "m",  "s",   "o",    "ms",
                                        "mo", "so", "mso", "msot", "msou"};

static struct row {
    const char *way;
    bool second; /* the sender is a second thread */
    const char *blocked;
    int sig;
} row;

static pthread_barrier_t ready;
static pid_t tid_m, tid_s, tid_o;
static int asked, answers;

static bool blocked_by(char who)
{
    return strchr(row.blocked, who);
}

static void set_blocked(bool blocked)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, row.sig);
    pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void answer_for_ever(void)
{
    for (int known = 0;;) {
        syscall(SYS_futex, &asked, FUTEX_WAIT_PRIVATE, known, NULL, NULL, 0);
        if (__atomic_load_n(&asked, __ATOMIC_SEQ_CST) != known)
            known = 1, __atomic_add_fetch(&answers, 1, __ATOMIC_SEQ_CST);
    }
}

/* Who has the signal to die by does not answer; all others do. */
static void ask_others(void)
{
    int others = row.second ? 2 : 1;
    __atomic_store_n(&asked, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &asked, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0);
    while (__atomic_load_n(&answers, __ATOMIC_SEQ_CST) != others)
        sched_yield();
}

static void queue(pid_t tid)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    if (tid)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, row.sig, &info);
    else
        syscall(SYS_rt_sigqueueinfo, getpid(), row.sig, &info);
}

static void send(void)
{
    if (!strcmp(row.way, "kill"))
        kill(getpid(), row.sig);
    else if (!strcmp(row.way, "queue"))
        queue(0);
    else if (!strcmp(row.way, "tgqueue_o"))
        queue(tid_o);
    else if (!strcmp(row.way, "pidfd"))
        syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, getpid(), 0), row.sig, NULL, 0);
    else if (!strcmp(row.way, "raise"))
        raise(row.sig);
    else
        syscall(SYS_tgkill, getpid(),
                row.way[7] == 'm'   ? tid_m
                : row.way[7] == 'o' ? tid_o
                                    : tid_s,
                row.sig);
}

/* Ends the process with what it found out, if it still can. */
static void sender(void)
{
    sigset_t set;
    struct timespec zero = {0, 0};
    int took = 0;
    send();
    ask_others();
    sigemptyset(&set);
    sigaddset(&set, row.sig);
    if (blocked_by('t'))
        took = sigtimedwait(&set, NULL, &zero);
    if (blocked_by('u'))
        set_blocked(false);
    sigpending(&set);
    _exit(took == row.sig ? 101 : sigismember(&set, row.sig) ? 102 : 100);
}

static void *waiter(void *arg)
{
    set_blocked(blocked_by('o'));
    tid_o = gettid();
    pthread_barrier_wait(&ready);
    answer_for_ever();
    return arg;
}

static void *second(void *arg)
{
    set_blocked(blocked_by('s'));
    tid_s = gettid();
    pthread_barrier_wait(&ready);
    sender();
    return arg;
}

static void run_row(void)
{
    pthread_t t;
    pthread_barrier_init(&ready, NULL, row.second ? 3 : 2);
    tid_m = tid_s = gettid();
    pthread_create(&t, NULL, waiter, NULL);
    if (row.second)
        pthread_create(&t, NULL, second, NULL);
    set_blocked(blocked_by('m') || (!row.second && blocked_by('s')));
    pthread_barrier_wait(&ready);
    if (!row.second)
        sender();
    answer_for_ever();
}

static void run_child(void)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        alarm(20);
        run_row();
    }
    waitpid(pid, &status, 0);
    say("%s by %s, blocked by %s, signal %d: ", row.way, row.second ? "s" : "m", row.blocked,
        row.sig);
    if (WIFSIGNALED(status))
        say("killed by %d\n", WTERMSIG(status));
    else
        say("%s\n", WEXITSTATUS(status) == 100   ? "goes on"
                    : WEXITSTATUS(status) == 101 ? "taken"
                                                 : "pending");
}

static void all_rows(void)
{
    static const int signals[] = {SIGTERM, SIGUSR1, SIGSEGV, SIGQUIT, SIGFPE, 40};
    const size_t counts = sizeof ways / sizeof *ways * 2 * (sizeof blockings / sizeof *blockings);
    for (size_t i = 0; i < counts; i++) {
        row.way = ways[i % 8];
        row.second = i / 8 % 2;
        row.blocked = blockings[i / 16];
        row.sig = signals[i % 6];
        run_child();
    }
    row = (struct row){"kill", true, "s", 0};
    for (row.sig = 1; row.sig <= 64; row.sig++)
        if (row.sig != SIGSTOP && row.sig != SIGTSTP && row.sig != SIGTTIN && row.sig != SIGTTOU &&
            row.sig != 32 && row.sig != 33)
            run_child();
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        all_rows();
        return 0;
    }
    row = (struct row){argv[1], argv[2][0] == 's', argv[3], atoi(argv[4])};
    run_row();
    return 1;
}
