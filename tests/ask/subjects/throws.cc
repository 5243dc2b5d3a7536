// throws.cc - functions that are left by exceptions, members, templates. SPDX-License-Identifier:
// MIT
#include <cstdio>
#include <stdexcept>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;

struct guard {
    int *count;
    explicit guard(int *c) : count(c)
    {
        ++*count;
    }
    NOINLINE ~guard()
    {
        --*count;
    }
};

namespace shapes
{
class box
{
    int side;

  public:
    explicit NOINLINE box(int s) : side(s)
    {
        sink = s;
    }
    NOINLINE int area() const
    {
        return side * side;
    }
};
} // namespace shapes

template <typename T> NOINLINE T twice(T v)
{
    sink = static_cast<int>(v);
    return v + v;
}

NOINLINE int descend(int n, int *open)
{
    guard g(open);
    if (n == 0)
        throw std::runtime_error("bottom");
    return descend(n - 1, open) + 1;
}

NOINLINE int attempt(int n)
{
    int open = 0;
    try {
        return descend(n, &open);
    } catch (const std::runtime_error &e) {
        sink = e.what()[0];
        return open;
    }
}

int main()
{
    int sum = 0;
    std::vector<int> list{3, 1, 2};
    for (int n : list)
        sum += attempt(n);
    for (int i = 0; i < 4; i++)
        sum += shapes::box(i).area() + twice(i) + static_cast<int>(twice(1.5));
    std::printf("%d\n", sum);
    return 0;
}
