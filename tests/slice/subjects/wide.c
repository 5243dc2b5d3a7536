/* wide.c - values in all kinds of vector registers and in mask registers while signals are handled;
 * the handler changes one in its frame. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int handled;
static uint8_t in[64], low[64], high[64];
static uint64_t mask = 0x1234, mask_out;

static void on_signal(int sig, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    (void)info;
    handled += sig;
    u->uc_mcontext.fpregs->_xmm[3].element[1] = (uint32_t)handled;
}

__attribute__((target("avx512f,avx512bw"))) static void zmm(long pid)
{
    long nr = SYS_tgkill;
    __asm__ volatile("vmovdqu64 %[in], %%zmm3\n\t"
                     "vmovdqu64 %[in], %%zmm20\n\t"
                     "kmovq %[mask], %%k3\n\t"
                     "syscall\n\t"
                     "vmovdqu64 %%zmm3, %[low]\n\t"
                     "vmovdqu64 %%zmm20, %[high]\n\t"
                     "kmovq %%k3, %[mask_out]\n\t"
                     : "+a"(nr), [low] "=m"(low), [high] "=m"(high), [mask_out] "=m"(mask_out)
                     : "D"(pid), "S"(pid), "d"((long)SIGUSR1), [in] "m"(in), [mask] "m"(mask)
                     : "rcx", "r11", "memory", "xmm3", "xmm20", "k3");
}

__attribute__((target("avx"))) static void ymm(long pid)
{
    long nr = SYS_tgkill;
    __asm__ volatile("vmovdqu %[in], %%ymm3\n\t"
                     "syscall\n\t"
                     "vmovdqu %%ymm3, %[low]\n\t"
                     : "+a"(nr), [low] "=m"(low)
                     : "D"(pid), "S"(pid), "d"((long)SIGUSR1), [in] "m"(in)
                     : "rcx", "r11", "memory", "xmm3");
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    unsigned sum = 0;
    (void)argv;
    sigaction(SIGUSR1, &action, NULL);
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < sizeof in; i++)
            in[i] = (uint8_t)(i * (unsigned)argc + sum);
        mask += sum;
        if (__builtin_cpu_supports("avx512bw"))
            zmm(getpid());
        else if (__builtin_cpu_supports("avx"))
            ymm(getpid());
        for (unsigned i = 0; i < sizeof low; i++)
            sum += low[i] ^ high[i];
        sum += (unsigned)mask_out;
    }
    printf("%u\n", sum);
    return 0;
}
