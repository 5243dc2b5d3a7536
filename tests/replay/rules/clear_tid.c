/* clear_tid.c - at a thread's exit its tid word is cleared and a waiter on it woken. */
#include "rule.h"
#include <linux/futex.h>

static int tid_word = -1;

static void *thread(void *arg)
{
    say("thread %d\n", gettid());
    syscall(SYS_set_tid_address, &tid_word);
    __atomic_store_n(&tid_word, gettid(), __ATOMIC_SEQ_CST);
    sleep_ms(5);
    syscall(SYS_exit, 0);
    return arg;
}

int main(void)
{
    pthread_t t = start(thread, NULL);
    long turns = 0;
    int seen;
    (void)t;
    while ((seen = __atomic_load_n(&tid_word, __ATOMIC_SEQ_CST)) != 0) {
        turns++;
        if (seen > 0)
            syscall(SYS_futex, &tid_word, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
    say("cleared after %ld turns\n", turns);
    return 0;
}
