// headers.cc - containers whose code is inlined from headers of the system. SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

static volatile int sink;

__attribute__((noinline)) static void grow(int n)
{
    std::vector<std::string> list; // GROW
    for (int i = 0; i < n; i++)
        list.push_back(std::string(40, 'x')); // GROW
    auto shared = std::make_shared<int>(n); // GROW
    sink = *shared + static_cast<int>(list.back().size());
} // GROW

__attribute__((noinline)) static void late()
{
    std::vector<int> list{1, 2, 3}; // LATE
    int *first = &list[0];
    list.push_back(4); // LATE
    sink = *first;     // LATE
} // LATE

int main()
{
    grow(9);
    late();
    std::printf("%d\n", static_cast<int>(sink));
    return 0;
}
