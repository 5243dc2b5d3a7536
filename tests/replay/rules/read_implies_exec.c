/* read_implies_exec.c - personality(READ_IMPLIES_EXEC), set and reset while the program runs:
 * memory that is mapped, protected, attached or added to the heap meanwhile can be executed. */
#include "rule.h"
#include <setjmp.h>
#include <sys/personality.h>
#include <sys/shm.h>

/* mov eax, n; ret */
static int run(uint8_t *at, uint32_t n)
{
    at[0] = 0xb8;
    memcpy(at + 1, &n, 4);
    at[5] = 0xc3;
    return ((int (*)(void))(void *)at)();
}

static sigjmp_buf back;

static void on_fault(int sig)
{
    siglongjmp(back, sig);
}

/* Is it a fault to execute code there? */
static int faults(uint8_t *at)
{
    int sig = sigsetjmp(back, 1);
    if (sig == 0)
        run(at, 1);
    return sig == SIGSEGV;
}

static void *in_thread(void *arg)
{
    uint8_t *p = map_anon(PAGE, PROT_READ | PROT_WRITE);
    say("in a thread %p: %d\n", (void *)p, run(p, 6));
    personality((unsigned long)arg); /* this thread's own affair */
    uint8_t *q = map_anon(PAGE, PROT_READ | PROT_WRITE);
    check(faults(q));
    return NULL;
}

int main(void)
{
    int was = personality(0xffffffff);
    uint8_t *early = map_anon(2 * PAGE, PROT_READ | PROT_WRITE);
    signal(SIGSEGV, on_fault);
    check(faults(early));
    check(personality((unsigned long)was | READ_IMPLIES_EXEC) == was);
    check(faults(early));
    check(mprotect(early, PAGE, PROT_READ | PROT_WRITE) == 0);
    say("protected %p: %d\n", (void *)early, run(early, 1));
    check(faults(early + PAGE));
    uint8_t *p = map_anon(PAGE, PROT_READ | PROT_WRITE);
    say("mapped %p: %d\n", (void *)p, run(p, 2));
    uint8_t *heap = sbrk(4 * PAGE);
    say("heap %p: %d\n", (void *)heap, run(heap + 2 * PAGE, 3));
    p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    say("shared %p: %d\n", (void *)p, run(p, 4));
    int id = shmget(IPC_PRIVATE, PAGE, 0600);
    p = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    say("attached %p: %d\n", (void *)p, run(p, 5));
    pthread_join(start(in_thread, (void *)(long)was), NULL);
    p = map_anon(PAGE, PROT_READ | PROT_WRITE);
    say("after it %p: %d\n", (void *)p, run(p, 7));
    check(personality((unsigned long)was) == (was | READ_IMPLIES_EXEC));
    p = map_anon(PAGE, PROT_READ | PROT_WRITE);
    check(faults(p));
    check(mprotect(early, PAGE, PROT_READ | PROT_WRITE) == 0 && faults(early));
    return 0;
}
