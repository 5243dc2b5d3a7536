// terminate.cc - an exception nobody catches ends the program by SIGABRT with libstdc++'s message.
#include "subject.h"
#include <stdexcept>

__attribute__((noinline)) static void fail(const char *why)
{
    throw std::runtime_error(why);
}

static void quiet() noexcept
{
    fail("through noexcept");
}

int main(int argc, char **)
{
    if (argc > 1)
        quiet();
    fail("nobody listens");
}
