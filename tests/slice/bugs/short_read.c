/* short_read.c - a read that gives less than it was asked for is taken for a whole record.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 6

struct record {
    int number, length;
    char name[24];
};

static struct record records[RECORDS];

static void send_record(int fd, int number)
{
    struct record r = {number, 5 + number, "record"};
    char *at = (char *)&r;
    size_t first = number == 3 ? 10 : sizeof r;
    if (write(fd, at, first) != (ssize_t)first)
        abort();
}

static void send_rest(int fd)
{
    struct record r = {3, 8, "record"};
    char *at = (char *)&r;
    if (write(fd, at + 10, sizeof r - 10) < 0)
        abort();
}

static int receive(int fd, struct record *r)
{
#ifdef FIXED
    for (size_t got = 0; got < sizeof *r;) {
        ssize_t n = read(fd, (char *)r + got, sizeof *r - got);
        if (n <= 0)
            return -1;
        got += (size_t)n;
        if (got < sizeof *r)
            send_rest(fd + 1);
    }
#else
    if (read(fd, r, sizeof *r) < 0) /* ROOT CAUSE */
        return -1;
#endif
    return 0;
}

static long sum_up(void)
{
    long sum = 0;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < RECORDS; i++)
            sum += records[i].length + records[i].number;
    return sum / 20;
}

static int named(const char *name)
{
    int n = 0;
    for (int i = 0; i < RECORDS; i++)
        n += strcmp(records[i].name, name) == 0;
    return n;
}

int main(void)
{
    int fd[2];
    if (pipe(fd))
        return 1;
    for (int i = 0; i < RECORDS; i++) {
        send_record(fd[1], i);
        if (receive(fd[0], &records[i]))
            return 1;
#ifndef FIXED
        if (i == 3)
            send_rest(fd[1]);
#endif
    }
    printf("%ld\n", sum_up());
    assert(named("record") == RECORDS);
    return 0;
}
