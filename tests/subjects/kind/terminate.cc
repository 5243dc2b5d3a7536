// terminate.cc - an exception nobody catches ends the program by SIGABRT with libstdc++'s message.
#include "subject.h"
#include <stdexcept>

static void quiet() noexcept { throw std::runtime_error("through noexcept"); }

int main(int argc, char **)
{
    if (argc > 1)
        quiet();
    throw std::runtime_error("nobody listens");
}
