/* scribbled_buffer.c - a thread waits in read while another scribbles over the buffer: what was
 * read lands at one exact position, and lies over the scribbles. */
#include "rule.h"

static uint8_t buffer[4096];
static int fds[2];
static volatile int round_no, stop;
static uint64_t seen;

static void *scribbler(void *arg)
{
    uint8_t x = 0;
    uint64_t local = 0;
    while (!stop) {
        for (size_t i = 0; i < sizeof buffer; i += 8) {
            local = local * 31 + ((volatile uint8_t *)buffer)[i];
            ((volatile uint8_t *)buffer)[i] = x;
        }
        x++;
    }
    seen = local;
    return arg;
}

static void *writer(void *arg)
{
    uint8_t data[2000];
    for (int i = 0; i < 50; i++) {
        while (round_no < i)
            sched_yield();
        sleep_ms(1);
        fill(data, sizeof data);
        if (write(fds[1], data, sizeof data) != (ssize_t)sizeof data)
            say("write FAIL\n");
    }
    return arg;
}

int main(void)
{
    uint64_t sum = 0;
    check(pipe(fds) == 0);
    pthread_t s = start(scribbler, NULL), w = start(writer, NULL);
    for (int i = 0; i < 50; i++) {
        ssize_t n = read(fds[0], buffer, sizeof buffer);
        sum = sum * 31 + digest(buffer, sizeof buffer) + (uint64_t)n;
        round_no = i + 1;
    }
    stop = 1;
    pthread_join(s, NULL);
    pthread_join(w, NULL);
    say("sums %016lx %016lx\n", sum, seen);
    return 0;
}
