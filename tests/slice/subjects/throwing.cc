// throwing.cc - exceptions through frames with destructors; virtual functions. SPDX-License-Identifier: MIT
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct counted {
    static int alive;
    int value;
    explicit counted(int v) : value(v) { alive++; }
    ~counted() { alive -= value > 0; }
};
int counted::alive;

struct shape {
    virtual ~shape() = default;
    virtual int area(int x) const = 0;
};
struct square : shape {
    int area(int x) const override
    {
        if (x > 3)
            throw x * x;
        return x * x;
    }
};
struct box : shape {
    int area(int x) const override
    {
        counted c(x);
        square s;
        return s.area(x + 1) + c.value;
    }
};

int main(int argc, char **)
{
    int total = 0;
    box b;
    square s;
    const shape *all[] = {&b, &s};
    for (int i = 0; i < 6; i++) {
        try {
            counted c(i);
            total += all[i & 1]->area(i + argc - 1);
        } catch (int thrown) {
            total = total * 2 + thrown;
        }
    }
    std::printf("%d %d\n", total, counted::alive);
    return 0;
}
