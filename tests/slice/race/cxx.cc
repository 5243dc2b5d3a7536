// cxx.cc - threads and atomics of C++. SPDX-License-Identifier: MIT
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "cases.h"

static const int times = 20;

struct box {
    int data = 0;
    std::atomic<int> ready{0};
};

static int data, total;
static std::atomic<int> ready;
static std::mutex mutex;

static int look(int &x)
{
    return *const_cast<volatile int *>(&x);
}

static int flag() /* MARKS data: none, ready: none BARE data: race?, ready: race? */
{
    int got = 0;
    std::thread reader([&] {
        int seen;
        while (!(seen = ready.load(std::memory_order_acquire)))
            std::this_thread::yield();
        got = look(data) + seen;
    });
    std::thread writer([] {
        data = 42;
        ready.store(2, std::memory_order_release);
    });
    reader.join();
    writer.join();
    return got;
}

static int heap() /* MARKS memory: none BARE memory: race? */
{
    box *b = new box;
    int got = 0;
    std::thread reader([&, b] {
        int seen;
        while (!(seen = b->ready.load(std::memory_order_acquire)))
            std::this_thread::yield();
        got = look(b->data) + seen;
    });
    std::thread writer([b] {
        b->data = 42;
        b->ready.store(2, std::memory_order_release);
    });
    reader.join();
    writer.join();
    return got;
}

static int locked() /* MARKS total: none */
{
    auto add = [] {
        for (int i = 0; i < times; i++) {
            std::lock_guard<std::mutex> lock(mutex);
            total = total + 3;
        }
    };
    std::thread one(add), other(add);
    one.join();
    other.join();
    return total;
}

static int unlocked() /* MARKS total: race BARE total: race? */
{
    auto add = [] {
        for (int i = 0; i < times; i++) {
            int before = look(total);
            *const_cast<volatile int *>(&total) = before + 3;
            std::this_thread::yield();
        }
    };
    std::thread one(add), other(add);
    one.join();
    other.join();
    return total;
}

static int make()
{
    data = 5;
    return 7;
}

static int guarded() /* MARKS data: none */
{
    auto use = [](int *out) {
        static int made = make();
        *out = made + look(data);
    };
    int one = 0, other = 0;
    std::thread a(use, &one), b(use, &other);
    a.join();
    b.join();
    return one + other;
}

static int promised() /* MARKS data: none */
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread writer([&] {
        data = 4;
        promise.set_value(5);
    });
    int got = future.get() + look(data);
    writer.join();
    return got;
}

int main(int argc, char *argv[])
{
    static const one_case list[] = {{"flag", flag},         {"heap", heap},
                                    {"locked", locked},     {"unlocked", unlocked},
                                    {"guarded", guarded},   {"promised", promised},
                                    {nullptr, nullptr}};
    return run_case(list, argc > 1 ? argv[1] : "");
}
