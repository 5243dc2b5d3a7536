// throw.cc - an exception that nobody catches, in main or in a thread.
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>

static void fail(int)
{
    timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    throw std::runtime_error("nobody catches this, " + std::to_string(ts.tv_nsec));
}

int main(int argc, char **)
{
    std::printf("about to throw\n");
    std::fflush(stdout);
    if (argc == 1)
        fail(1);
    std::thread(fail, 2).join();
}
