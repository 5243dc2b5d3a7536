// family.cc - what one kind of function gives out, another kind takes back.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#ifdef RIGHT
#define RIGHT_OR_WRONG(right, wrong) right
#else
#define RIGHT_OR_WRONG(right, wrong) wrong
#endif
#define CASE __attribute__((noinline)) static void

static volatile int sink;

struct big {
    alignas(64) char bytes[128];
};

CASE new_and_free()
{
    int *volatile p = new int(3);
    RIGHT_OR_WRONG(delete p, free(p)); // WRONG: wrong function
}

CASE malloc_and_delete()
{
    int *volatile p = static_cast<int *>(malloc(sizeof *p));
    RIGHT_OR_WRONG(free(p), delete p); // WRONG: wrong function
}

CASE array_and_delete()
{
    int *volatile p = new int[10];
    RIGHT_OR_WRONG(delete[] p, delete p); // WRONG: wrong function
}

CASE delete_twice()
{
    std::string *p = new std::string("a string that is longer than sixteen bytes"),
                *volatile again = p;
    delete p;
    RIGHT_OR_WRONG(sink = again != nullptr, operator delete(again)); // WRONG: double free
}

CASE containers() // nothing is wrong here
{
    std::vector<std::string> v;
    for (int i = 0; i < 50; i++)
        v.push_back(std::string(static_cast<size_t>(i), 'x'));
    auto shared = std::make_shared<std::vector<int>>(100);
    auto aligned = std::make_unique<big>();
    memset(aligned->bytes, 1, sizeof aligned->bytes);
    std::unique_ptr<int[]> array(new int[7]());
    for (auto &s : v)
        sink += static_cast<int>(s.size()) + (*shared)[3] + aligned->bytes[5] + array[2];
    std::vector<std::string> w(v);
    w.erase(w.begin(), w.begin() + 20);
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {{"new_and_free", new_and_free},
             {"malloc_and_delete", malloc_and_delete},
             {"array_and_delete", array_and_delete},
             {"delete_twice", delete_twice},
             {"containers", containers}};

int main(int argc, char **argv)
{
    for (const auto &c : cases) {
        if (argc < 2)
            puts(c.name);
        for (int k = 1; k < argc; k++)
            if (strcmp(argv[k], c.name) == 0 || strcmp(argv[k], "all") == 0)
                c.run();
    }
    return 0;
}
