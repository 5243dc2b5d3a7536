// throw_signal.cc - a SIGSEGV and a SIGFPE handler that throw; caught frames below the fault.
#include "subject.h"
#include <stdexcept>

static void thrower(int sig, siginfo_t *, void *)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, sig);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    throw std::runtime_error(sig == SIGSEGV ? "segv" : "fpe");
}

struct Guard {
    ~Guard()
    {
        say("unwound\n");
    }
};

__attribute__((noinline)) static int poke(volatile int *p, int depth)
{
    Guard g;
    return depth ? poke(p, depth - 1) + 1 : *p;
}

__attribute__((noinline)) static int divide(volatile int a, volatile int b)
{
    Guard g;
    return a / b;
}

int main()
{
    on_signal(SIGSEGV, thrower, 0);
    on_signal(SIGFPE, thrower, 0);
    for (int i = 0; i < 3; i++) {
        try {
            poke(nullptr, i);
        } catch (const std::exception &e) {
            say("caught %s\n", e.what());
        }
        try {
            divide(i, 0);
        } catch (const std::exception &e) {
            say("caught %s\n", e.what());
        }
    }
    return 0;
}
