/* program.h - what one sees of a program that is stopped: registers, threads, memory's layout.
 *
 * SPDX-License-Identifier: MIT
 *
 * Plain data, the same for a program that is replayed and for one that is alive.
 */
#ifndef DEBUG_PROGRAM_H
#define DEBUG_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program_registers {
    uint64_t gpr[16], rip, rflags, fs_base, gs_base;
    uint64_t count;
    uint32_t thread;
    int32_t tid, pid;
    size_t xsave_bytes;
    uint8_t xsave[8192]; /* standard format */
};

struct program_map {
    uint64_t start, end;
    int prot;
    bool shared;
    int file; /* kept file number; -1: anonymous */
    uint64_t offset;
};

struct program_thread {
    uint32_t number;
    int32_t tid;
    char name[16];
};

#endif
