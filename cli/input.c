/* input.c - standard input that several runs of a program get, each from its begin.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int input_open(struct input *input, struct err *err)
{
    struct stat st;
    *input = (struct input){.offset = -1, .source = -1, .kept = -1, .control = -1};
    if (fstat(STDIN_FILENO, &st))
        return 0; /* it is closed, and stays so */
    if (S_ISREG(st.st_mode))
        input->offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
        return 0;
    input->source = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    input->kept = memfd_create("input", MFD_CLOEXEC);
    if (input->source < 0 || input->kept < 0)
        return err_set(err, "standard input cannot be kept: %m");
    return 0;
}

/* ---- the feeding process ---- */

struct feed {
    int source, kept, control, to;
    off_t given, have;
    bool over; /* the source is at its end */
    char data[16384];
};

/* Waits until the program wants what is there, or until there is more; false: nobody reads. */
static bool wait_for_work(const struct feed *f)
{
    struct pollfd wait[] = {{.fd = f->control},
                            {.fd = f->to, .events = f->given < f->have ? POLLOUT : 0},
                            {.fd = f->given < f->have ? -1 : f->source, .events = POLLIN}};
    while (poll(wait, 3, -1) < 0)
        if (errno != EINTR)
            return false;
    return !wait[0].revents && !(wait[1].revents & POLLERR);
}

/* Everything is kept before it is given. */
static bool take_more(struct feed *f)
{
    ssize_t n = read(f->source, f->data, sizeof f->data);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    f->over = n == 0;
    if (n > 0 && pwrite(f->kept, f->data, (size_t)n, f->have) != n)
        return false;
    f->have += n;
    return true;
}

static bool give_some(struct feed *f)
{
    ssize_t n = pread(f->kept, f->data, sizeof f->data, f->given);
    if (n <= 0)
        return false;
    n = write(f->to, f->data, (size_t)n);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    f->given += n;
    return true;
}

_Noreturn static void feed(const struct input *input, int control, int to)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    static struct feed f;
    sigset_t none;

    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    f.source = input->source;
    f.kept = input->kept;
    f.control = control;
    f.to = to;
    f.have = lseek(f.kept, 0, SEEK_END);
    while (f.given < f.have || !f.over)
        if (!wait_for_work(&f) || !(f.given < f.have ? give_some(&f) : take_more(&f)))
            break;
    _exit(0);
}

/* ---- runs ---- */

static int start_feeder(struct input *input, const int control[2], const int to[2])
{
    input->feeder = fork();
    if (input->feeder == 0) {
        close(control[1]);
        close(to[0]);
        close(STDIN_FILENO); /* the pipe of the run before */
        feed(input, control[0], to[1]);
    }
    close(control[0]);
    close(to[1]);
    input->control = control[1];
    int bad = input->feeder < 0 || dup2(to[0], STDIN_FILENO) < 0;
    close(to[0]);
    return bad;
}

int input_give(struct input *input, struct err *err)
{
    int control[2], to[2];
    if (input->offset >= 0 && lseek(STDIN_FILENO, input->offset, SEEK_SET) < 0)
        return err_set(err, "standard input: %m");
    if (input->source < 0)
        return 0;
    if (pipe2(control, O_CLOEXEC))
        return err_set(err, "pipe: %m");
    if (pipe2(to, O_CLOEXEC)) {
        close(control[0]);
        close(control[1]);
        return err_set(err, "pipe: %m");
    }
    fcntl(to[1], F_SETFL, O_NONBLOCK);
    if (start_feeder(input, control, to))
        return err_set(err, "standard input cannot be kept: %m");
    return 0;
}

void input_take(struct input *input)
{
    if (input->control >= 0)
        close(input->control);
    input->control = -1;
    while (input->feeder > 0 && waitpid(input->feeder, NULL, 0) < 0 && errno == EINTR)
        ;
    input->feeder = 0;
}
