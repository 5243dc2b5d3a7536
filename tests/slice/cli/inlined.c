/* inlined.c - names that mean one thing in an inlined function and another one around its call.
 *
 * SPDX-License-Identifier: MIT
 */
volatile int depth = 1, level = 2, only = 3, calls = 4, gone = 5, sink;
static volatile int shade = 6;

static inline __attribute__((always_inline)) void touch(void)
{
    static volatile int calls;
    calls++;       /* STATIC */
    sink += depth; /* TOUCH */
    sink += shade; /* SHADE */
}

static inline __attribute__((always_inline)) int inner(volatile int *p)
{
    volatile int level = *p + 1; /* LEVEL */
    int gone = level + 4;
    touch();       /* FROM INNER */
    sink += level; /* INNER */
    {
        volatile int depth = level * 2; /* IN BLOCK */
        sink += depth;                  /* END OF BLOCK */
    }
    sink += depth; /* BEHIND BLOCK */
    return level + gone;
}

__attribute__((noinline)) int outer(int n)
{
    volatile int depth = n;
    volatile int shade = n + 1;
    volatile int mine = n + 2;
    sink += inner(&depth);        /* CALL */
    sink += depth + shade + mine; /* OUTER */
    return sink;
}

int main(int argc, char **argv)
{
    (void)argv;
    return outer(argc + 4) + calls == 0 && gone && only;
}
