/* signals_ppoll.c N - signals_await.h with ppoll. */
#include "signals_await.h"
#include <poll.h>

static void wait_in_ppoll(const sigset_t *none)
{
    ppoll(NULL, 0, NULL, none);
}

int main(int argc, char **argv)
{
    return await_signals(argc, argv, wait_in_ppoll, "polls");
}
