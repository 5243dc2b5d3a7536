/* read_race.c - a signal just before a blocking read makes it fail with EINTR or is seen; no hang.
 */
#include "subject.h"
#include <pthread.h>

static int p[2];
static volatile int hits;
static volatile int asked;

static void hit(int sig, siginfo_t *si, void *uc)
{
    (void)sig, (void)si, (void)uc;
    hits++;
    write(p[1], "h", 1);
}

static void *poker(void *arg)
{
    pthread_t main_thread = *(pthread_t *)arg;
    for (int done = 0; asked >= 0;)
        if (asked != done) {
            done = asked;
            pthread_kill(main_thread, SIGUSR1);
        } else {
            sched_yield();
        }
    return NULL;
}

int main(void)
{
    pthread_t t, me = pthread_self();
    char c;
    int data = 0, eintr = 0, other = 0;
    on_signal(SIGUSR1, hit, 0);
    if (pipe(p))
        return 1;
    pthread_create(&t, NULL, poker, &me);
    for (int i = 1; i <= 5000; i++) {
        asked = i;
        for (;;) {
            ssize_t r = read(p[0], &c, 1);
            if (r == 1) {
                data++;
                break;
            }
            if (r == -1 && errno == EINTR)
                eintr++;
            else
                other++;
        }
    }
    asked = -1;
    pthread_join(t, NULL);
    say("data %d hits %d other %d\n", data, hits, other);
    check(eintr <= 5000);
    return 0;
}
