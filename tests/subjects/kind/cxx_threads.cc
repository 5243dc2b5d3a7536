// cxx_threads.cc - std::thread, mutex, condition_variable, call_once, thread_local with destructor.
#include "subject.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> gone;
struct Local {
    int hits = 0;
    ~Local()
    {
        gone += hits;
    }
};
static thread_local Local local;
static std::once_flag once;
static std::mutex m;
static std::condition_variable cv;
static std::map<int, std::string> words;
static int turn;

static void work(int me)
{
    std::call_once(once, [] { say("once\n"); });
    for (int i = 0; i < 100; i++) {
        std::unique_lock<std::mutex> lock(m);
        cv.wait(lock, [me] { return turn % 4 == me; });
        words[turn] = std::to_string(me);
        turn++;
        local.hits++;
        cv.notify_all();
    }
}

int main()
{
    std::vector<std::thread> pool;
    for (int i = 0; i < 4; i++)
        pool.emplace_back(work, i);
    for (auto &t : pool)
        t.join();
    bool ordered = std::all_of(words.begin(), words.end(), [](const auto &w) {
        return w.second == std::to_string(w.first % 4);
    });
    say("%zu words, ordered %d, thread_local destructors saw %d\n", words.size(), ordered,
        gone.load());
    return 0;
}
