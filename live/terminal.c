/* terminal.c - the terminal, shared by a program and its debugger. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "live/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* This process is in the background, and the terminal would stop it for what it does here. */
void terminal_open(struct terminal *t, int fd)
{
    *t = (struct terminal){.fd = -1};
    if (!isatty(fd) || tcgetpgrp(fd) < 0)
        return;
    t->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    signal(SIGTTOU, SIG_IGN);
}

void terminal_close(struct terminal *t)
{
    terminal_take(t);
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

/* Only if it is in the debugger's hands, whose group is the foreground then, or in ours. */
void terminal_give(struct terminal *t, pid_t group)
{
    if (t->fd < 0 || group <= 0 || t->given)
        return;
    t->debugger = tcgetpgrp(t->fd);
    if (tcgetattr(t->fd, &t->of_debugger))
        return;
    if ((t->program <= 0 || tcsetpgrp(t->fd, t->program)) && tcsetpgrp(t->fd, group))
        return;
    if (t->has_program)
        tcsetattr(t->fd, TCSADRAIN, &t->of_program);
    t->given = true;
}

void terminal_take(struct terminal *t)
{
    if (t->fd < 0 || !t->given)
        return;
    t->given = false;
    t->has_program = tcgetattr(t->fd, &t->of_program) == 0;
    t->program = tcgetpgrp(t->fd);
    tcsetattr(t->fd, TCSADRAIN, &t->of_debugger);
    tcsetpgrp(t->fd, t->debugger);
}
