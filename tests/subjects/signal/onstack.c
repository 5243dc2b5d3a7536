/* onstack.c - SA_ONSTACK with sigaltstack: where handlers run, SS_ONSTACK, SS_AUTODISARM, errors.
 */
#include "subject.h"

static uint8_t *alt;
static int was_on;
static stack_t inside;

static void where(int sig, siginfo_t *si, void *uc)
{
    char here;
    (void)sig, (void)si;
    was_on = (uint8_t *)&here >= alt && (uint8_t *)&here < alt + 65536;
    sigaltstack(NULL, &inside);
    const ucontext_t *u = uc;
    if (u->uc_stack.ss_sp != (void *)alt)
        was_on |= 2;
    if (inside.ss_flags == SS_ONSTACK) {
        stack_t other = {.ss_sp = alt, .ss_size = 65536, .ss_flags = 0};
        if (sigaltstack(&other, NULL) != -1 || errno != EPERM)
            was_on |= 4;
    }
}

int main(void)
{
    alt = map_anon(65536, PROT_READ | PROT_WRITE);
    stack_t ss = {.ss_sp = alt, .ss_size = 65536, .ss_flags = 0}, old;
    check(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE);
    check(sigaltstack(&ss, NULL) == 0);
    check(sigaltstack(NULL, &old) == 0 && old.ss_sp == alt && old.ss_size == 65536 &&
          old.ss_flags == 0);
    on_signal(SIGUSR1, where, SA_ONSTACK);
    on_signal(SIGUSR2, where, 0);
    send_self(SIGUSR1);
    check(was_on == 1 && inside.ss_flags == SS_ONSTACK);
    send_self(SIGUSR2);
    check(was_on == 0 && inside.ss_flags == 0);
    ss.ss_flags = (int)(1U << 31);
    check(sigaltstack(&ss, NULL) == 0);
    send_self(SIGUSR1);
    check((was_on & 1) == 1 && inside.ss_flags == SS_DISABLE);
    check(sigaltstack(NULL, &old) == 0 && old.ss_sp == alt && old.ss_flags == (int)(1U << 31));
    ss.ss_flags = 0;
    ss.ss_size = 100;
    check(sigaltstack(&ss, NULL) == -1 && errno == ENOMEM);
    ss.ss_flags = 77;
    check(sigaltstack(&ss, NULL) == -1 && errno == EINVAL);
    ss.ss_flags = SS_DISABLE;
    check(sigaltstack(&ss, NULL) == 0);
    send_self(SIGUSR1);
    check((was_on & 1) == 0);
    return 0;
}
