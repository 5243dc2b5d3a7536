// complains.cc - programs that notice themselves that something is wrong. SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

static int scale = 7; /* CAUSE */

static int pick(int n)
{
    return n * scale; /* PICK */
}

static void die(const char *why, int n)
{
    std::fprintf(stderr, "complains: %s: %d\n", why, n);
    std::exit(1); /* EXIT */
}

int main(int argc, char **argv)
{
    int k = pick(argc), *list = new int[argc + 8]();
    if (!std::strcmp(argv[1], "throws") && k > 10)
        throw std::runtime_error("too many"); /* THROWS */
    if (!std::strcmp(argv[1], "dies") && k > 10)
        die("too many", k); /* DIES */
    if (!std::strcmp(argv[1], "overflows"))
        list[k] = 3; /* OVERFLOWS */
    if (!std::strcmp(argv[1], "adds"))
        std::printf("%d\n", k * 200000000); /* ADDS */
    return 0;
}
