/* ioctls.c - ioctl on pipes, sockets and a terminal: sizes, modes, names. */
#include "rule.h"
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

int main(void)
{
    int fds[2], n = -1, s[2];
    char name[64], data[100];
    struct termios tio;
    struct winsize ws = {33, 101, 0, 0}, got;
    check(pipe(fds) == 0 && write(fds[1], data, 77) == 77 && ioctl(fds[0], FIONREAD, &n) == 0 &&
          n == 77);
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && write(s[0], data, 9) == 9);
    check(ioctl(s[1], FIONREAD, &n) == 0 && n == 9);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    check(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    check(ptsname_r(master, name, sizeof name) == 0);
    int slave = open(name, O_RDWR | O_NOCTTY);
    say("terminal %s\n", name);
    check(ioctl(slave, TIOCSWINSZ, &ws) == 0 && ioctl(master, TIOCGWINSZ, &got) == 0 &&
          got.ws_col == 101);
    check(tcgetattr(slave, &tio) == 0);
    cfmakeraw(&tio);
    check(tcsetattr(slave, TCSANOW, &tio) == 0);
    check(write(master, "a\003b", 3) == 3 && read(slave, data, sizeof data) == 3 && data[1] == 3);
    check(ioctl(fds[0], TIOCGWINSZ, &got) == -1 && errno == ENOTTY);
    check(ioctl(fds[0], 0x12345678, &got) == -1);
    return 0;
}
