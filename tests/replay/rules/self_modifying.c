/* self_modifying.c - code that the program rewrites with values no other run has, from one thread
 * while another runs it, and through a second mapping. */
#include "rule.h"

static uint8_t *code;
static volatile int stop;
static uint64_t other_sum;

static void *runner(void *arg)
{
    while (!stop)
        other_sum = other_sum * 31 + (uint64_t)call_at(code + 64);
    return arg;
}

int main(void)
{
    int fd = memfd_create("code", 0);
    check(ftruncate(fd, PAGE) == 0);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
    uint8_t *alias = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t sum = 0;
    int wrong = 0;
    put_return(code + 64, 1);
    pthread_t t = start(runner, NULL);
    for (int i = 0; i < 2000; i++) {
        int value;
        fill(&value, sizeof value);
        put_return(i % 2 ? code : alias, value);
        wrong += call_at(code) != value;
        /* An aligned store of the immediate alone: the other thread sees the old or the new one. */
        if (i % 100 == 0)
            __atomic_store_n(&code[65], (uint8_t)value, __ATOMIC_SEQ_CST);
        sum = sum * 31 + (uint64_t)call_at(code + 64) + (uint64_t)call_at(code);
    }
    stop = 1;
    pthread_join(t, NULL);
    check(wrong == 0);
    say("sums %016lx %016lx\n", sum, other_sum);
    return 0;
}
