/* remap.c - code of hot loops is unmapped, mapped anew and moved, by the same thread and by
 * another; hot loops fork and start threads. Prints what differs from what C computes.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    RWX = PROT_READ | PROT_WRITE | PROT_EXEC,
    PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS
};

typedef uint32_t function(uint32_t);

static int wrong;

static void expect(const char *what, unsigned detail, uint64_t got, uint64_t want)
{
    if (got != want) {
        printf("%s %u: %lx instead of %lx\n", what, detail, got, want);
        wrong++;
    }
}

static uint32_t call(const uint8_t *code, uint32_t x)
{
    return ((function *)(uintptr_t)code)(x);
}

/* eax = turns * n, by a loop */
static void write_loop(uint8_t *code, uint32_t n)
{
    uint8_t loop[] = {0x31, 0xc0, 0x05, 0, 0, 0, 0, 0xff, 0xcf, 0x75, 0xf7, 0xc3};
    memcpy(loop + 3, &n, 4);
    memcpy(code, loop, sizeof loop);
}

static void mapped_anew(void)
{
    uint8_t *const place = (uint8_t *)0x31000000;
    for (unsigned i = 1; i < 40; i++) {
        mmap(place, PAGE, RWX, PRIVATE | MAP_FIXED, -1, 0);
        write_loop(place, i);
        if (i % 3)
            mprotect(place, PAGE, PROT_READ | PROT_EXEC);
        for (int k = 0; k < 20; k++)
            expect("mapped anew", i, call(place, 100), 100 * i);
        if (i % 2)
            munmap(place, PAGE);
    }
}

static void moved(void)
{
    uint8_t *place[2] = {(uint8_t *)0x32000000, (uint8_t *)0x412300000000};
    mmap(place[0], PAGE, RWX, PRIVATE | MAP_FIXED, -1, 0);
    for (unsigned i = 1; i < 40; i++) {
        uint8_t *from = place[(i + 1) % 2], *to = place[i % 2];
        write_loop(from, i);
        expect("to be moved", i, call(from, 300), 300 * i);
        mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
        expect("moved", i, call(to, 300), 300 * i);
    }
}

static sigjmp_buf gone;

static void on_fault(int sig)
{
    (void)sig;
    siglongjmp(gone, 1);
}

/* What is no longer mapped or executable is not run, however hot it was. */
static void taken_away(void)
{
    uint8_t *code = mmap(NULL, PAGE, RWX, PRIVATE, -1, 0);
    signal(SIGSEGV, on_fault);
    for (volatile unsigned i = 0; i < 30; i++) {
        volatile unsigned calls = 0;
        write_loop(code, 1);
        if (!sigsetjmp(gone, 1))
            for (;;) {
                call(code, 50);
                if (++calls == 100)
                    i % 2 ? mprotect(code, PAGE, PROT_READ) : munmap(code, PAGE);
            }
        expect("taken away", i, calls, 100);
        if (i % 2)
            mprotect(code, PAGE, RWX);
        else
            mmap(code, PAGE, RWX, PRIVATE | MAP_FIXED, -1, 0);
    }
    signal(SIGSEGV, SIG_DFL);
}

/* lea eax, [rdi + n]; ret: n is written by another thread while this one calls it. */
static struct {
    uint8_t *code;
    volatile uint32_t seen;
} shared;

static void *patch_it(void *arg)
{
    for (uint32_t n = 1; n <= 60; n++) {
        memcpy(shared.code + 2, &n, 4);
        while (shared.seen != n)
            sched_yield();
    }
    return arg;
}

static void patched_by_another_thread(void)
{
    pthread_t thread;
    uint32_t last = 0;
    shared.code = mmap(NULL, PAGE, RWX, PRIVATE, -1, 0);
    memcpy(shared.code, (const uint8_t[]){0x8d, 0x87, 0, 0, 0, 0, 0xc3}, 7);
    pthread_create(&thread, NULL, patch_it, NULL);
    while (last < 60) {
        uint32_t got = call(shared.code, 0);
        if (got == last)
            continue;
        expect("patched by another thread", last, got, last + 1);
        shared.seen = last = got;
    }
    pthread_join(thread, NULL);
}

static uint64_t step(uint64_t x)
{
    return (x ^ x >> 7) * 0x9e3779b97f4a7c15u + 1;
}

static uint64_t steps(uint64_t x, unsigned n)
{
    while (n--)
        x = step(x);
    return x;
}

static void forks_in_a_loop(void)
{
    uint64_t x = 1;
    for (unsigned i = 0; i < 8000; i++) {
        x = step(x);
        if (i % 1000 != 500)
            continue;
        pid_t child = fork();
        if (!child) { /* goes on in the same hot loop, and further */
            for (unsigned k = i + 1; k < 8000; k++)
                x = step(x);
            _exit(x == steps(1, 8000) ? 3 : 4);
        }
        int status = 0;
        waitpid(child, &status, 0);
        expect("fork in a loop", i, (uint64_t)status, 3 << 8);
    }
    expect("fork in a loop, parent", 0, x, steps(1, 8000));
}

static void *run_steps(void *arg)
{
    uint64_t *x = arg;
    for (unsigned i = 0; i < 3000; i++)
        *x = step(*x);
    return NULL;
}

static void starts_threads_in_a_loop(void)
{
    uint64_t x = 1, value[8];
    pthread_t thread[8];
    for (unsigned i = 0; i < 8000; i++) {
        x = step(x);
        if (i % 1000 == 500) {
            value[i / 1000] = i;
            pthread_create(&thread[i / 1000], NULL, run_steps, &value[i / 1000]);
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        pthread_join(thread[i], NULL);
        expect("thread of a loop", i, value[i], steps(i * 1000 + 500, 3000));
    }
    expect("thread of a loop, its maker", 0, x, steps(1, 8000));
}

/* The library's code is hot, goes, and comes again, perhaps elsewhere. */
static void library_comes_and_goes(void)
{
    for (unsigned i = 0; i < 6; i++) {
        void *lib = dlopen(i % 2 ? "libm.so.6" : "libanl.so.1", RTLD_NOW),
             *m = dlopen("libm.so.6", RTLD_NOW);
        double (*cube_root)(double) = m ? (double (*)(double))(uintptr_t)dlsym(m, "cbrt") : NULL;
        double sum = 0;
        for (int k = 0; k < 800 && cube_root; k++)
            sum += cube_root(k * k * k);
        expect("library", i, (uint64_t)(sum + 0.5), 799 * 800 / 2);
        if (lib)
            dlclose(lib);
        if (m)
            dlclose(m);
    }
}

int main(void)
{
    mapped_anew();
    moved();
    taken_away();
    patched_by_another_thread();
    forks_in_a_loop();
    starts_threads_in_a_loop();
    library_comes_and_goes();
    puts(wrong ? "wrong" : "right");
    return wrong;
}
