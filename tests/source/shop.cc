/* shop.cc - a subject for source_test.py: what C++ adds to names.
 *
 * SPDX-License-Identifier: MIT
 */
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

namespace shop {
std::atomic<int> sold{0};
static int stock[8];
struct item {
    int id;
    double price;
    static int made;
    item(int i, double p) : id(i), price(p)
    {
        made++;
    }
    double total(int n) const
    {
        double t = price * n;
        return t;
    }
    virtual ~item()
    {
        made--;
    }
};
int item::made;

template <class T> T largest(const std::vector<T> &v)
{
    T best = v[0];
    for (const T &x : v)
        if (x > best)
            best = x;
    return best;
}

namespace {
int hidden(int x)
{
    if (x > 3)
        throw std::runtime_error("too many");
    return x + 1;
}
}
}

int main(int argc, char **)
{
    std::vector<int> v{1, 2, argc};
    std::vector<double> d{1, 2, 3.0 * argc};
    shop::stock[0] = shop::largest(v);
    shop::stock[1] = (int)shop::largest(d);
    auto f = [&](int x) {
        int y = x * 2;
        shop::sold += y;
        return y + argc;
    };
    std::thread t([&] {
        shop::stock[2] = f(3);
    });
    t.join();
    shop::item it(1, 2.5);
    try {
        for (int i = 0; i < 6; i++)
            printf("%d %g\n", shop::hidden(i), it.total(i));
    } catch (const std::exception &e) {
        puts(e.what());
    }
    return 0;
}
