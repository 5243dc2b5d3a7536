// throw.cc - C++ exceptions: through many frames, destructor order, rethrow, nested, other threads.
#include "subject.h"
#include <exception>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Guard {
    int n;
    ~Guard()
    {
        if (n % 25 == 0)
            say("~%d\n", n);
    }
};

__attribute__((noinline)) static int dive(int depth)
{
    Guard g{depth};
    if (depth == 100)
        throw std::runtime_error("bottom " + std::to_string(depth));
    return dive(depth + 1) + g.n;
}

static void rethrow_nested()
{
    try {
        try {
            dive(90);
        } catch (...) {
            std::throw_with_nested(std::logic_error("outer"));
        }
    } catch (const std::logic_error &e) {
        say("%s\n", e.what());
        try {
            std::rethrow_if_nested(e);
        } catch (const std::exception &inner) {
            say("inside: %s\n", inner.what());
        }
    }
}

int main()
{
    try {
        dive(0);
    } catch (const std::runtime_error &e) {
        say("caught %s\n", e.what());
    }
    rethrow_nested();
    auto f = std::async(std::launch::async, [] { return dive(75); });
    try {
        f.get();
    } catch (const std::exception &e) {
        say("from a thread: %s\n", e.what());
    }
    std::function<int(int)> fn = [](int x) -> int {
        if (x > 3)
            throw x;
        return x;
    };
    int caught = 0;
    for (int i = 0; i < 2000; i++)
        try {
            fn(i % 8);
        } catch (int x) {
            caught += x;
        }
    say("caught %d\n", caught);
    try {
        std::vector<int>(3).at(9);
    } catch (const std::out_of_range &) {
        say("out of range\n");
    }
    return 4;
}
