/* swapcontext.c - makecontext with arguments, swapcontext ping-pong of 8 coroutines, uc_link. */
#include "subject.h"

enum { N = 8, ROUNDS = 2000 };
static ucontext_t main_uc, uc[N], end_uc;
static unsigned long sum;
static int ended;

static void body(int me, int add, int six, int a, int b, int c, int d)
{
    for (int i = 0; i < ROUNDS; i++) {
        sum = sum * 31 + (unsigned long)(me * add + six + a + b + c + d);
        swapcontext(&uc[me], &uc[(me + 1) % N]);
    }
    ended++;
    sum += (unsigned long)me;
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        getcontext(&uc[i]);
        uc[i].uc_stack.ss_sp = map_anon(65536, PROT_READ | PROT_WRITE);
        uc[i].uc_stack.ss_size = 65536;
        uc[i].uc_link = i + 1 < N ? &uc[i + 1] : &main_uc;
        makecontext(&uc[i], (void (*)(void))body, 7, i, 3, 6, 1, 2, 3, 4);
    }
    swapcontext(&main_uc, &uc[0]);
    say("ended %d sum %lx\n", ended, sum);
    volatile int passes = 0;
    getcontext(&end_uc);
    if (passes++ < 5)
        setcontext(&end_uc);
    say("passes %d\n", passes);
    return 0;
}
