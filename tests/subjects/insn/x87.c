/* x87.c - x87: 80-bit values, stack moves, transcendental results, environment, exceptions, MMX. */
#include "subject.h"
#include <math.h>

static void show(const char *name, long double v)
{
    uint8_t b[16] = {0};
    memcpy(b, &v, 10);
    say("%s", name);
    for (int i = 9; i >= 0; i--)
        say("%02x", b[i]);
    say("\n");
}

int main(void)
{
    volatile long double x = 1.25L, y = 3.0L;
    show("div ", x / y);
    show("sqrt ", sqrtl(y));
    long double r, r2;
    __asm__ volatile("fpatan" : "=t"(r) : "0"(x), "u"(y) : "st(1)");
    show("fpatan ", r);
    __asm__ volatile("fyl2x" : "=t"(r) : "0"(x), "u"(y) : "st(1)");
    show("fyl2x ", r);
    __asm__ volatile("fsincos" : "=t"(r), "=u"(r2) : "0"(x));
    show("fsincos ", r);
    show("        ", r2);
    __asm__ volatile("f2xm1" : "=t"(r) : "0"(0.3L));
    show("f2xm1 ", r);
    __asm__ volatile("1:\tfprem\n\tfnstsw %%ax\n\tsahf\n\tjp 1b"
                     : "=t"(r)
                     : "0"(1e30L), "u"(7.0L)
                     : "ax", "cc");
    show("fprem ", r);
    uint8_t env[28], bcd[10];
    uint16_t sw;
    __asm__ volatile("fninit\n\tfld1\n\tfldz\n\tfdivrp\n\tfnstsw %0\n\tfnstenv %1\n\tfninit"
                     : "=a"(sw), "=m"(env));
    say("status %x control %02x%02x tag %02x%02x\n", sw, env[1], env[0], env[9], env[8]);
    __asm__ volatile("fbstp %0" : "=m"(bcd) : "t"(-123456789.0L) : "st");
    say("bcd %02x %02x %02x\n", bcd[0], bcd[4], bcd[9]);
    uint64_t m = 0;
    __asm__ volatile("movq %1, %%mm0\n\tpaddb %%mm0, %%mm0\n\tmovq %%mm0, %0\n\temms"
                     : "=m"(m)
                     : "r"(0x0102030405060708UL)
                     : "mm0");
    say("mmx %lx\n", m);
    uint8_t state[108];
    __asm__ volatile("fninit\n\tfldpi\n\tfldl2e\n\tfnsave %0\n\tfrstor %0\n\tfaddp\n\tfstpt %1"
                     : "=m"(state), "=m"(r));
    show("fnsave ", r);
    return 0;
}
