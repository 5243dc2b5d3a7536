/* insnspecial.c - instructions whose results random sequences cannot compare, each checked by its
 * rule.
 *
 * Lines without a '#' are the same natively and under a translator on one machine. A broken rule is
 * a line "FAIL ..." and exit status 1. With --strict, what hardware leaves open but a recorder must
 * not: XSTATE_BV is a function of the register values alone.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rng.h"

#define AREA_MAX  8192
#define XSAVE_X87 1u
#define XSAVE_SSE 2u
#define XSAVE_AVX 4u

static bool strict;
static int failures;
static struct rng rng;
static sigjmp_buf after_fault;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("FAIL line %d: %s: ", __LINE__, #condition);                                    \
            printf(__VA_ARGS__);                                                                   \
            putchar('\n');                                                                         \
        }                                                                                          \
    } while (0)

static bool has(unsigned leaf, unsigned subleaf, char reg, unsigned bit)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d))
        return false;
    return (reg == 'a' ? a : reg == 'b' ? b : reg == 'c' ? c : d) >> bit & 1;
}

static void on_fault(int signo)
{
    siglongjmp(after_fault, signo);
}

/* So that the processor number and the APIC id stay the same. */
static void stay_on_one_cpu(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) {
            CPU_ZERO(&set);
            CPU_SET(cpu, &set);
            sched_setaffinity(0, sizeof set, &set);
            return;
        }
}

/* What a translated program does not see, and a native one may. */
enum { AMX_7_0 = 1 << 22 | 1 << 24 | 1 << 25, AMX_XCR0 = 3 << 17 };

static void hidden(unsigned *word, unsigned bits)
{
    CHECK(!strict || !(*word & bits), "%x is not hidden", *word & bits);
    *word &= ~bits;
}

static void print_leaf(unsigned leaf, unsigned subleaf)
{
    unsigned a, b, c, d;
    __cpuid_count(leaf, subleaf, a, b, c, d);
    if (leaf == 7 && subleaf == 0) {
        hidden(&b, 1u << 4 | 1u << 11); /* transactional memory */
        hidden(&d, AMX_7_0);
    } else if (leaf == 7 && subleaf == 1) {
        hidden(&a, 1u << 21);
        hidden(&d, 1u << 8);
    } else if (leaf == 0xd && subleaf == 0) {
        hidden(&a, AMX_XCR0);
        b = c = 0; /* sizes, with and without tiles */
    } else if (leaf == 0xd && subleaf == 1) {
        b = 0;
    }
    printf("cpuid %08x.%u %08x %08x %08x %08x\n", leaf, subleaf, a, b, c, d);
}

static void test_cpuid(void)
{
    unsigned a, b, c, d, top, extended_top;
    __cpuid(0, top, b, c, d);
    __cpuid(0x80000000, extended_top, b, c, d);
    for (unsigned leaf = 0; leaf <= top && leaf < 0x40; leaf++) {
        bool indexed = leaf == 4 || leaf == 7 || leaf == 0xb || leaf == 0xd || leaf == 0x14;
        for (unsigned sub = 0; sub < (indexed ? 4 : 1); sub++)
            print_leaf(leaf, sub);
    }
    for (unsigned leaf = 0x80000000; leaf <= extended_top && leaf < 0x80000040; leaf++)
        print_leaf(leaf, leaf == 0x8000001d);
    /* the upper halves go to zero */
    uint64_t rax = UINT64_MAX << 31, rbx = UINT64_MAX, rcx = UINT64_MAX << 32, rdx = UINT64_MAX;
    __asm__ volatile("cpuid" : "+a"(rax), "+b"(rbx), "+c"(rcx), "+d"(rdx));
    a = (unsigned)((rax | rbx | rcx | rdx) >> 32);
    CHECK(a == 0, "upper half %x", a);
}

static uint64_t rdtsc(void)
{
    uint64_t lo, hi;
    __asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi));
    CHECK((lo | hi) >> 32 == 0, "rdtsc upper halves");
    return hi << 32 | lo;
}

static uint64_t rdtscp(uint32_t *aux)
{
    uint64_t lo, hi, cx;
    __asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(cx));
    CHECK((lo | hi | cx) >> 32 == 0, "rdtscp upper halves");
    *aux = (uint32_t)cx;
    return hi << 32 | lo;
}

static void test_time(void)
{
    uint64_t last = rdtsc(), first = last;
    uint32_t aux = 0;
    unsigned backwards = 0;
    for (int i = 0; i < 5000; i++) {
        uint64_t now = i & 1 && has(0x80000001, 0, 'd', 27) ? rdtscp(&aux) : rdtsc();
        backwards += now < last;
        last = now;
    }
    CHECK(!backwards, "%u steps back", backwards);
    CHECK(last > first, "the clock stands");
    usleep(1000);
    CHECK(rdtsc() - last > 1000, "the clock stands while sleeping");
}

static void test_cpu_number(void)
{
    uint32_t aux = 0;
    uint64_t limit = 0, pid = 0;
    unsigned char found;
    if (!has(0x80000001, 0, 'd', 27))
        return;
    rdtscp(&aux);
    CHECK((int)(aux & 0xfff) == sched_getcpu(), "rdtscp says %u, the kernel %d", aux,
          sched_getcpu());
    __asm__ volatile("lsl %k2, %k0; setz %1" : "+r"(limit), "=q"(found) : "r"(0x7b) : "cc");
    CHECK(found && (limit & 0xfff) == (aux & 0xfff), "lsl %lx, rdtscp %x", limit, aux);
    if (!has(7, 0, 'c', 22))
        return;
    __asm__ volatile("rdpid %0" : "=r"(pid));
    CHECK(pid == aux, "rdpid %lx, rdtscp %x", pid, aux);
}

/* CF tells whether there was a number, the other flags are 0, no number gives 0. */
#define RANDOM_CASE(insn, type)                                                                    \
    static bool insn##_##type(uint64_t *value)                                                     \
    {                                                                                              \
        uint64_t flags, out = 0xa5a5a5a5a5a5a5a5, before = out;                                    \
        __asm__ volatile("stc; " #insn " %" type##_REG "0; pushfq; popq %1"                        \
                         : "+r"(out), "=r"(flags)                                                  \
                         :                                                                         \
                         : "cc", "memory");                                                        \
        CHECK((flags & 0x8d4) == 0, #insn " flags %lx", flags);                                    \
        *value = out & type##_MASK;                                                                \
        CHECK((out & type##_KEPT) == (before & type##_KEPT), #insn " upper bits %lx", out);        \
        CHECK(flags & 1 || !*value, #insn " gave %lx without CF", out);                            \
        return flags & 1;                                                                          \
    }
#define w16_REG  "w"
#define w32_REG  "k"
#define w64_REG  "q"
#define w16_MASK 0xffffu
#define w32_MASK 0xffffffffu
#define w64_MASK UINT64_MAX
#define w16_KEPT (~(uint64_t)0xffff)
#define w32_KEPT 0u
#define w64_KEPT 0u
RANDOM_CASE(rdrand, w16)
RANDOM_CASE(rdrand, w32)
RANDOM_CASE(rdrand, w64)
RANDOM_CASE(rdseed, w16)
RANDOM_CASE(rdseed, w32)
RANDOM_CASE(rdseed, w64)

static void test_one_random(const char *name, bool (*draw)(uint64_t *), unsigned bits)
{
    uint64_t value, all = 0, none = UINT64_MAX;
    unsigned drawn = 0;
    for (int tries = 0; tries < 100000 && drawn < 64; tries++)
        if (draw(&value)) {
            drawn++;
            all |= value;
            none &= value;
        }
    CHECK(drawn == 64, "%s: %u numbers", name, drawn);
    CHECK(all == UINT64_MAX >> (64 - bits) && !none, "%s: or %lx, and %lx", name, all, none);
}

static void test_random(void)
{
    if (has(1, 0, 'c', 30)) {
        test_one_random("rdrand16", rdrand_w16, 16);
        test_one_random("rdrand32", rdrand_w32, 32);
        test_one_random("rdrand64", rdrand_w64, 64);
    }
    if (has(7, 0, 'b', 18)) {
        test_one_random("rdseed16", rdseed_w16, 16);
        test_one_random("rdseed32", rdseed_w32, 32);
        test_one_random("rdseed64", rdseed_w64, 64);
    }
}

static uint64_t xgetbv(uint32_t index)
{
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(index));
    return (uint64_t)hi << 32 | lo;
}

/* One XSAVE area in the state the tests want to see. */
struct area {
    _Alignas(64) uint8_t b[AREA_MAX];
};

static uint64_t area_word(const struct area *a, size_t at)
{
    uint64_t word;
    memcpy(&word, a->b + at, 8);
    return word;
}

static size_t component(unsigned index, size_t *size)
{
    unsigned a, b, c, d;
    __cpuid_count(0xd, index, a, b, c, d);
    *size = a;
    return b;
}

enum save { SAVE_XSAVE, SAVE_XSAVEOPT, SAVE_XSAVEC, SAVE_KINDS };
static const char *const save_names[] = {"xsave", "xsaveopt", "xsavec"};

static bool have_save(enum save kind)
{
    return kind == SAVE_XSAVE || has(0xd, 1, 'a', kind == SAVE_XSAVEOPT ? 0 : 1);
}

/* Load `from`, save into `to`, reload the C environment's state: the compiler must not see any of
 * it. */
static void round_trip(const struct area *from, struct area *to, enum save kind, uint64_t mask)
{
    static struct area host;
    uint32_t lo = (uint32_t)mask, hi = (uint32_t)(mask >> 32);
    __asm__ volatile("xsave64 (%0)" : : "r"(host.b), "a"(lo), "d"(hi) : "memory");
    switch (kind) {
    case SAVE_XSAVE:
        __asm__ volatile("xrstor64 (%1); xsave64 (%0); xrstor64 (%2)"
                         :
                         : "r"(to->b), "r"(from->b), "r"(host.b), "a"(lo), "d"(hi)
                         : "memory");
        break;
    case SAVE_XSAVEOPT:
        __asm__ volatile("xrstor64 (%1); xsaveopt64 (%0); xrstor64 (%2)"
                         :
                         : "r"(to->b), "r"(from->b), "r"(host.b), "a"(lo), "d"(hi)
                         : "memory");
        break;
    default:
        __asm__ volatile("xrstor64 (%1); xsavec64 (%0); xrstor64 (%2)"
                         :
                         : "r"(to->b), "r"(from->b), "r"(host.b), "a"(lo), "d"(hi)
                         : "memory");
    }
}

/* The extended components of vector state: AVX, and AVX-512's three. */
static const unsigned vector_components[] = {2, 5, 6, 7};
#define VECTOR_COMPONENTS (sizeof vector_components / sizeof *vector_components)

static uint64_t vector_mask(void)
{
    return xgetbv(0) & (XSAVE_X87 | XSAVE_SSE | XSAVE_AVX | 0xe0);
}

/* Random values in the components of `present`; the others are in their initial state. */
static void fill_area(struct area *a, uint64_t present)
{
    uint32_t mxcsr = 0x1f80 | (rng_u64(&rng) & 0xe03f);
    uint16_t control = 0x37f & ~(uint16_t)(rng_u64(&rng) & 0x300);

    memset(a, 0, sizeof *a);
    memcpy(a->b + 512, &present, 8);
    memcpy(a->b + 24, present & XSAVE_SSE ? &mxcsr : &(uint32_t){0x1f80}, 4);
    if (present & XSAVE_X87) {
        memcpy(a->b, &control, 2);
        a->b[4] = (uint8_t)rng_u64(&rng);
        for (int i = 0; i < 8 * 10; i++)
            a->b[32 + i / 10 * 16 + i % 10] = (uint8_t)rng_u64(&rng);
    }
    if (present & XSAVE_SSE)
        for (int i = 0; i < 256; i++)
            a->b[160 + i] = (uint8_t)rng_u64(&rng);
    for (size_t i = 0; i < VECTOR_COMPONENTS; i++) {
        size_t size, at = component(vector_components[i], &size);
        for (size_t j = 0; present >> vector_components[i] & 1 && j < size; j++)
            a->b[at + j] = (uint8_t)rng_u64(&rng);
    }
}

/* Where XSAVEC puts a component: packed in order, some aligned to 64. */
static size_t compact_offset(unsigned index, uint64_t mask)
{
    size_t at = 576, size;
    for (unsigned i = 2; i <= index; i++) {
        unsigned a, b, c, d;
        __cpuid_count(0xd, i, a, b, c, d);
        if (c & 2)
            at = (at + 63) & ~(size_t)63;
        if (i == index)
            return at;
        component(i, &size);
        if (mask >> i & 1)
            at += size;
    }
    return at;
}

static bool same_component(const struct area *from, const struct area *to, enum save kind,
                           unsigned index, uint64_t mask)
{
    size_t size, at = component(index, &size);
    size_t where = kind == SAVE_XSAVEC ? compact_offset(index, mask) : at;
    if (area_word(to, 512) >> index & 1)
        return !memcmp(from->b + at, to->b + where, size);
    for (size_t i = 0; i < size; i++) /* saved as initial: it must have been all zero */
        if (from->b[at + i])
            return false;
    return true;
}

static void check_saved(const struct area *from, const struct area *to, enum save kind,
                        uint64_t mask)
{
    uint64_t present = area_word(from, 512), saved = area_word(to, 512);
    const char *name = save_names[kind];

    CHECK((saved & present) == present, "%s: XSTATE_BV %lx of %lx", name, saved, present);
    CHECK(!strict || saved == present, "%s: XSTATE_BV %lx of %lx", name, saved, present);
    CHECK(area_word(to, 520) == (kind == SAVE_XSAVEC ? mask | (uint64_t)1 << 63 : 0),
          "%s: XCOMP_BV %lx", name, area_word(to, 520));
    if (present & XSAVE_X87)
        for (int i = 0; i < 8; i++)
            CHECK(!memcmp(from->b + 32 + 16 * i, to->b + 32 + 16 * i, 10), "%s: st%d", name, i);
    if (present & XSAVE_X87)
        CHECK(!memcmp(from->b, to->b, 5), "%s: x87 control", name);
    if (present & XSAVE_SSE)
        CHECK(!memcmp(from->b + 160, to->b + 160, 256), "%s: xmm", name);
    if (present & XSAVE_SSE)
        CHECK(!memcmp(from->b + 24, to->b + 24, 4), "%s: mxcsr", name);
    for (size_t i = 0; i < VECTOR_COMPONENTS; i++)
        if (mask >> vector_components[i] & 1)
            CHECK(same_component(from, to, kind, vector_components[i], mask), "%s: component %u",
                  name, vector_components[i]);
}

static void spin(void)
{
    for (volatile int i = 0; i < 3000; i++)
        ;
}

static void test_xsave(void)
{
    static struct area from, to, again;
    uint64_t mask;

    if (!has(1, 0, 'c', 27))
        return;
    mask = vector_mask();
    unsigned enabled = (unsigned)xgetbv(0);
    hidden(&enabled, AMX_XCR0);
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    if (strict)
        CHECK(syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == -1 && errno == EOPNOTSUPP,
              "permission to use tiles: %s", strerror(errno));
    printf("xcr0 %x\n", enabled);
    if (has(0xd, 1, 'a', 2))
        CHECK((xgetbv(1) & ~xgetbv(0)) == 0, "xgetbv(1) %lx", xgetbv(1));
    for (int i = 0; i < 400; i++) {
        enum save kind = (enum save)(i % SAVE_KINDS);
        uint64_t present = i & 8 ? mask : rng_u64(&rng) & mask;
        if (!have_save(kind))
            continue;
        fill_area(&from, present);
        memset(&to, 0xa5, sizeof to);
        memset(to.b + 512, 0, 64);
        round_trip(&from, &to, kind, mask);
        check_saved(&from, &to, kind, mask);
        if (!strict || i % 16)
            continue;
        for (int j = 0; j < 200; j++) { /* the same bytes every time, whatever interrupts */
            memset(&again, 0xa5, sizeof again);
            memset(again.b + 512, 0, 64);
            spin();
            round_trip(&from, &again, kind, mask);
            CHECK(!memcmp(to.b + 24, again.b + 24, sizeof to - 24), "%s: other bytes",
                  save_names[kind]);
        }
    }
}

/* Registers made zero by hand are as initial as those made so by vzeroall. */
static void test_zeroed_vectors(void)
{
    static struct area by_hand, by_insn;
    if (!has(1, 0, 'c', 27) || !(vector_mask() & XSAVE_AVX))
        return;
#define SAVE_ZEROED(area, zero)                                                                    \
    __asm__ volatile(                                                                              \
        "vpcmpeqd %%xmm1, %%xmm1, %%xmm1; vinsertf128 $1, %%xmm1, %%ymm1, %%ymm1;" zero            \
        "xsave64 (%0)"                                                                             \
        :                                                                                          \
        : "r"((area).b), "a"(XSAVE_AVX), "d"(0)                                                    \
        : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",        \
          "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")
    SAVE_ZEROED(by_insn, "vzeroall;");
    SAVE_ZEROED(by_hand, "vzeroall; vpcmpeqd %%xmm1, %%xmm1, %%xmm1;"
                         "vinsertf128 $1, %%xmm1, %%ymm1, %%ymm1; vpxor %%xmm1, %%xmm1, %%xmm1;");
    CHECK(!strict || area_word(&by_insn, 512) == 0, "vzeroall: %lx", area_word(&by_insn, 512));
    CHECK(!strict || area_word(&by_hand, 512) == 0, "vpxor: %lx", area_word(&by_hand, 512));
}

static void test_fxsave(void)
{
    static struct area from, to, host;
    for (int i = 0; i < 50; i++) {
        fill_area(&from, XSAVE_X87 | XSAVE_SSE);
        memset(&to, 0, sizeof to);
        __asm__ volatile("fxsave64 %2; fxrstor64 %1; fxsave64 %0; fxrstor64 %2"
                         : "=m"(to), "+m"(from), "+m"(host));
        CHECK(!memcmp(from.b, to.b, 5), "x87 control");
        CHECK(!memcmp(from.b + 160, to.b + 160, 256), "xmm");
        CHECK(!memcmp(from.b + 24, to.b + 24, 4), "mxcsr");
    }
}

static void test_fnstenv(void)
{
    struct {
        uint16_t control, r0, status, r1, tags, r2;
        uint32_t ip;
        uint16_t cs, opcode;
        uint32_t dp, ds;
    } env;
    uint64_t place;
    __asm__ volatile("fninit; leaq 1f(%%rip), %1; 1: fld1; fldz; fstp %%st(0); 2: fld1; fnstenv %0;"
                     "leaq 2b(%%rip), %1; fninit"
                     : "=m"(env), "=&r"(place)
                     :
                     : "st", "st(1)", "st(2)", "memory");
    printf("fnstenv control %04x status %04x tags %04x\n", env.control, env.status, env.tags);
    printf("# fnstenv: the instruction pointer is %s\n",
           env.ip == (uint32_t)place ? "the program's" : "not the program's");
}

static void test_mxcsr(void)
{
    uint32_t old, got;
    __asm__ volatile("stmxcsr %0" : "=m"(old));
    for (unsigned bits = 0; bits < 0x10000; bits += 0x41) {
        uint32_t want = bits | 0x1f80;
        __asm__ volatile("ldmxcsr %1; stmxcsr %0" : "=m"(got) : "m"(want));
        CHECK(got == want, "%x became %x", want, got);
    }
    __asm__ volatile("ldmxcsr %0" : : "m"(old));
    int signo = sigsetjmp(after_fault, 1);
    if (!signo)
        __asm__ volatile("ldmxcsr %0" : : "m"((uint32_t){0xffff1f80}));
    CHECK(signo == SIGSEGV, "reserved bits: signal %d", signo);
}

__attribute__((no_stack_protector)) static void test_fsbase(void)
{
    static uint64_t words[8] = {0x1122334455667788, 2, 3, 4};
    uint64_t base = 0, other = (uint64_t)words, inside = 0, got = 0, by_call = 0, gs = 1;

    if (!has(7, 0, 'b', 0) || sigsetjmp(after_fault, 1)) {
        puts("no fsgsbase");
        return;
    }
    __asm__ volatile("rdfsbase %0" : "=r"(base));
    syscall(SYS_arch_prctl, ARCH_GET_FS, &by_call);
    CHECK(base == by_call, "rdfsbase %lx, arch_prctl %lx", base, by_call);
    __asm__ volatile("wrfsbase %3; rdfsbase %0; movq %%fs:0, %1; movq %%fs:8, %%rax; wrfsbase %2"
                     : "=&r"(got), "=&r"(inside)
                     : "r"(base), "r"(other)
                     : "rax", "memory");
    CHECK(got == other, "rdfsbase %lx after wrfsbase %lx", got, other);
    CHECK(inside == words[0], "fs:0 is %lx", inside);
    __asm__ volatile("rdgsbase %0" : "=r"(gs));
    printf("gsbase %" PRIx64 "\n", gs);
}

/* rcx gets the return address, r11 the flags, nothing else changes but rax. */
static void test_syscall(void)
{
    for (int i = 0; i < 64; i++) {
        uint64_t flags = 2 | (rng_u64(&rng) & 0x8d5), want = rng_u64(&rng);
        uint64_t rcx, r11, place, after, kept, rax = i & 1 ? SYS_getpid : 100000;
        register uint64_t r8 __asm__("r8") = want;
        register uint64_t r9 __asm__("r9") = ~want;
        register uint64_t r10 __asm__("r10") = want;
        __asm__ volatile("pushq %[flags]; popfq; syscall; 1: movq %%r11, %[r11]; pushfq;"
                         "popq %[after]; cld; leaq 1b(%%rip), %[place]"
                         : "+a"(rax),
                           "=&c"(rcx), [r11] "=&r"(r11), [after] "=&r"(after), [place] "=&r"(place),
                           "+r"(r8), "+r"(r9), "+r"(r10)
                         : [flags] "r"(flags)
                         : "r11", "cc", "memory");
        kept = (r8 ^ r9 ^ r10) == ~want && r8 == want;
        CHECK(rcx == place, "rcx %lx, not %lx", rcx, place);
        CHECK((r11 & 0x8d5) == (flags & 0x8d5), "r11 %lx, flags %lx", r11, flags);
        CHECK((after & 0x8d5) == (flags & 0x8d5), "flags %lx, not %lx", after, flags);
        CHECK(rax == (i & 1 ? (uint64_t)getpid() : (uint64_t)-38), "rax %lx", rax);
        CHECK(kept, "r8-r10");
    }
}

static void test_descriptors(void)
{
    static const uint16_t selectors[] = {0, 0x10, 0x23, 0x2b, 0x33, 0x63, 0x83, 0x107};
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        uint64_t limit = 0xaa, rights = 0xbb, selector = selectors[i];
        uint8_t has_limit, has_rights, can_read, can_write;
        __asm__ volatile(
            "lsl %k6, %k0; setz %2; lar %k6, %k1; setz %3; verr %w6; setz %4; verw %w6; setz %5"
            : "+r"(limit), "+r"(rights), "=&q"(has_limit), "=&q"(has_rights), "=&q"(can_read),
              "=&q"(can_write)
            : "r"(selector)
            : "cc");
        printf("selector %02x limit %d %" PRIx64 " rights %d %" PRIx64 " read %d write %d\n",
               selectors[i], has_limit, limit, has_rights, rights, can_read, can_write);
    }
    if (!has(7, 0, 'c', 2))
        return; /* without UMIP these tell kernel addresses of the processor */
    uint8_t gdt[10] = {0}, idt[10] = {0};
    uint64_t msw = UINT64_MAX, task = UINT64_MAX, local = UINT64_MAX;
    __asm__ volatile("sgdt %0; sidt %1; smsw %2; str %3; sldt %4"
                     : "=m"(gdt), "=m"(idt), "+r"(msw), "+r"(task), "+r"(local));
    printf("smsw %" PRIx64 " str %" PRIx64 " sldt %" PRIx64 " tables", msw, task, local);
    for (int i = 0; i < 10; i++)
        printf(" %02x%02x", gdt[i], idt[i]);
    putchar('\n');
}

static void test_avx512(void)
{
    if (!has(1, 0, 'c', 27) || (xgetbv(0) & 0xe6) != 0xe6 || !has(7, 0, 'b', 16))
        return;
    uint64_t in[8], out[8], mask = 0;
    for (int i = 0; i < 8; i++)
        in[i] = rng_u64(&rng);
    memset(out, 0, sizeof out);
    __asm__ volatile("vmovdqu64 %2, %%zmm17; vpaddq %%zmm17, %%zmm17, %%zmm31;"
                     "movl $0x5a, %%eax; kmovw %%eax, %%k3; vmovdqu64 %%zmm31, %0%{%%k3%};"
                     "kmovw %%k3, %%eax; movq %%rax, %1; vpxord %%zmm17, %%zmm17, %%zmm17;"
                     "vpxord %%zmm31, %%zmm31, %%zmm31; vzeroupper"
                     : "+m"(out), "+m"(mask)
                     : "m"(in)
                     : "rax", "memory");
    for (int i = 0; i < 8; i++)
        CHECK(out[i] == (0x5a >> i & 1 ? 2 * in[i] : 0), "lane %d", i);
    CHECK(mask == 0x5a, "mask %lx", mask);
}

int main(int argc, char **argv)
{
    strict = argc > 1 && !strcmp(argv[1], "--strict");
    if (argc > 1 + strict) {
        fputs("usage: insnspecial [--strict]\n", stderr);
        return 2;
    }
    rng_init(&rng, 1, 1);
    struct sigaction action = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    stay_on_one_cpu();
    test_cpuid();
    test_time();
    test_cpu_number();
    test_random();
    test_xsave();
    test_zeroed_vectors();
    test_fxsave();
    test_fnstenv();
    test_mxcsr();
    test_fsbase();
    test_syscall();
    test_descriptors();
    test_avx512();
    printf("%d failures\n", failures);
    return failures != 0;
}
