/* signals_sigsuspend.c N - signals_await.h with sigsuspend. */
#include "signals_await.h"

static void wait_in_sigsuspend(const sigset_t *none)
{
    sigsuspend(none);
}

int main(int argc, char **argv)
{
    return await_signals(argc, argv, wait_in_sigsuspend, "suspends");
}
