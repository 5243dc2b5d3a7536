/* pty.c - a pseudo terminal: window size, raw mode, a shell on it, SIGINT and SIGWINCH by the line.
 */
#include "subject.h"
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

int main(void)
{
    int master;
    struct winsize ws = {30, 100, 0, 0};
    struct termios tio;
    pid_t pid = forkpty(&master, NULL, NULL, &ws);
    if (pid == 0) {
        check(isatty(0) && isatty(1) && tcgetpgrp(0) == getpid());
        check(ioctl(0, TIOCGWINSZ, &ws) == 0 && ws.ws_row == 30 && ws.ws_col == 100);
        tcgetattr(0, &tio);
        tio.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(0, TCSANOW, &tio);
        say("ready\n");
        for (;;)
            pause();
    }
    char buf[400];
    long n = 0;
    while (n < 399) {
        long r = read(master, buf + n, (size_t)(399 - n));
        if (r <= 0)
            break;
        n += r;
        buf[n] = 0;
        if (strstr(buf, "ready\r\n")) /* the line may come in pieces */
            break;
    }
    for (long i = 0; i < n; i++)
        if (buf[i] != '\r')
            say("%c", buf[i]);
    check(write(master, "\003", 1) == 1);
    reap("child got the line's SIGINT", pid);
    return 0;
}
