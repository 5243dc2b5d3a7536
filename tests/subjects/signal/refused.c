/* refused.c - signals that would end the process, but the kernel refuses to send them: nobody dies.
 *
 * What the sender says of them is not for it to say, is of another signal, or cannot be read; or
 * there is no room to queue one more (RLIMIT_SIGPENDING).
 */
#include "subject.h"
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { RT = 40 };

static siginfo_t about(int sig, int code)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = sig;
    info.si_code = code;
    return info;
}

static void *second(void *pidfd)
{
    siginfo_t user = about(SIGTERM, SI_USER), tkill = about(SIGTERM, SI_TKILL),
              other = about(SIGHUP, SI_QUEUE);
    check(syscall(SYS_rt_sigqueueinfo, getpid(), SIGTERM, &user) == -1 && errno == EPERM);
    check(syscall(SYS_rt_sigqueueinfo, getpid(), SIGTERM, &tkill) == -1 && errno == EPERM);
    check(syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGTERM, &user) == -1 &&
          errno == EPERM);
    check(syscall(SYS_pidfd_send_signal, *(int *)pidfd, SIGTERM, &user, 0) == -1 && errno == EPERM);
    check(syscall(SYS_pidfd_send_signal, *(int *)pidfd, SIGTERM, &other, 0) == -1 &&
          errno == EINVAL);
    check(syscall(SYS_pidfd_send_signal, *(int *)pidfd, SIGTERM, (void *)8, 0) == -1 &&
          errno == EFAULT);
    return NULL;
}

static void no_room(void)
{
    const struct rlimit none = {0, 0};
    const union sigval value = {.sival_int = 1};
    siginfo_t queued = about(RT, SI_QUEUE);
    check(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    check(sigqueue(getpid(), RT, value) == -1 && errno == EAGAIN);
    check(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), RT, &queued) == -1 && errno == EAGAIN);
    check(syscall(SYS_tgkill, getpid(), gettid(), RT) == -1 && errno == EAGAIN);
}

int main(int argc, char **argv)
{
    (void)argv;
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    pthread_t t;
    pthread_create(&t, NULL, second, &pidfd);
    pthread_join(t, NULL);
    if (argc > 1) { /* with room, it is the end */
        siginfo_t queued = about(RT, SI_QUEUE);
        syscall(SYS_rt_sigqueueinfo, getpid(), RT, &queued);
    }
    no_room();
    say("alive\n");
    if (argc == 1)
        kill(getpid(), RT); /* needs no room */
    return 0;
}
