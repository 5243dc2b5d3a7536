/* pager.c - long text on a terminal is read by pages. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe2 */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

/* Text that fits the screen is only printed, as it is without a pager. */
static void be_pager(int from)
{
    const char *program = getenv("PAGER");
    dup2(from, STDIN_FILENO);
    setenv("LESS", "FRSX", 0);
    if (program && *program)
        execl("/bin/sh", "sh", "-c", program, (char *)NULL);
    else
        execlp("less", "less", (char *)NULL);
    execlp("cat", "cat", (char *)NULL);
    _exit(127);
}

void pager_begin(void)
{
    const char *program = getenv("PAGER");
    int end[2];
    if (!isatty(STDOUT_FILENO) || (program && strcmp(program, "cat") == 0) || pipe2(end, O_CLOEXEC))
        return;
    fflush(NULL);
    pager = fork();
    if (pager == 0)
        be_pager(end[0]);
    if (pager > 0) {
        dup2(end[1], STDOUT_FILENO);
        signal(SIGPIPE, SIG_IGN); /* the user may leave it early */
    }
    close(end[0]);
    close(end[1]);
}

void pager_end(void)
{
    if (pager <= 0)
        return;
    fclose(stdout);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        continue;
}
