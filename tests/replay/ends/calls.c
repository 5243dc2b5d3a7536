/* calls.c SECONDS - mostly system calls, with results nobody can guess: the log grows fast. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static unsigned char data[4096];
    unsigned long sum = 0;
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
    int fds[2];
    dprintf(1, "process %d\n", getpid());
    if (pipe(fds) != 0)
        return 99;
    for (long line = 0; time(NULL) < end; line++) {
        for (int i = 0; i < 20; i++) {
            if (getrandom(data, sizeof data, 0) != (ssize_t)sizeof data ||
                write(fds[1], data, 100) != 100 || read(fds[0], data + 1000, 100) != 100)
                return 98;
            sum = sum * 31 + data[i] + data[1000 + i] + (unsigned long)getppid();
        }
        dprintf(1, "line %ld: %016lx\n", line, sum);
    }
    dprintf(1, "done\n");
    return 5;
}
