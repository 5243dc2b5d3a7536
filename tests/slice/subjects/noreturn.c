/* noreturn.c - for the oracle: functions that never return, called and not called.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf home;
static int sum, bad;

__attribute__((noinline, noreturn)) static void give_up(int n)
{
    bad += n;
    if (n > 50)
        abort();
    longjmp(home, n);
}

__attribute__((noinline)) static int check(int n, const char *text)
{
    if (n < 0)
        exit(3);
    for (int i = 0; text[i]; i++) {
        if (text[i] == '!') {
            if (n % 3 == 0)
                give_up(n % 7 + 1);
            bad++;
        }
        n += text[i];
    }
    if (n == 12345)
        give_up(100);
    return n;
}

int main(void)
{
    static const char *const words[] = {"one", "two!", "thr!ee", "four", "!five!"};
    volatile unsigned i = 0;
    if (setjmp(home))
        sum -= bad;
    while (i < 20) {
        unsigned k = i;
        i = k + 1;
        sum += check((int)k, words[k % 5]);
    }
    printf("%d %d\n", sum, bad);
    return 0;
}
