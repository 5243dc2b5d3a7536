/* boot.h - how the runtime comes into a process: the image, and what it is told.
 *
 * SPDX-License-Identifier: MIT
 *
 * The runtime and the decoder library are linked into one image of position-independent bytes by
 * host/link.c. A tracer (inject.c) copies it into a process that has just exec'ed, together with
 * struct image, so that the process can do the same for its next execve: it copies the constant
 * parts on from where they run, and keeps only the rest a second time. Shared by the in-target
 * runtime and the host side; no libc.
 */
#ifndef ENGINE_START_BOOT_H
#define ENGINE_START_BOOT_H

#include "engine/x86/cpu.h"

enum { IMAGE_PARTS = 4 };

/* A stretch of the image that has bytes; all others are zero. */
struct image_part {
    uint64_t at, bytes;
    const uint8_t *from; /* its bytes; those of a written part lie behind struct image */
    uint64_t written;    /* relocated at the start, or written later */
};

struct image {
    uint64_t total;       /* bytes of this struct and what lies behind it */
    uint64_t image_bytes; /* multiple of the page size */
    uint64_t entry;       /* offset of runtime_start in the image */
    uint64_t boot;        /* offset of the runtime's struct boot in the image */
    struct image_part part[IMAGE_PARTS];
    uint64_t reloc_count;
    uint32_t reloc[]; /* offsets of words that want the base added, all in written parts */
};

enum { BOOT_OPTIONS = 256, BOOT_STACK = 64 << 10 };

/* Filled by the tracer. */
struct boot {
    gaddr base;
    uint64_t bytes;       /* the whole range: image, stack, struct image */
    gaddr image;          /* struct image */
    struct cpu_state cpu; /* at the program's first instruction */
    uint64_t mask;        /* blocked signals */
    int32_t tracer;       /* a child of ours that is about to end */
    gaddr filters;        /* seccomp filters of the old program, seccomp_unpack() */
    uint64_t filter_bytes;
    uint32_t wrfsbase; /* replay: the kernel lets us use the fsgsbase instructions */
    gaddr mailbox;     /* replay: memory shared with the supervisor (debug/mailbox.h); else 0 */
    char options[BOOT_OPTIONS];
};

/* The written parts as they have to be at `base`, in image_bytes of zeroed memory at `copy`. The
 * rest of its struct boot is for the caller to fill in. */
struct boot *inject_relocate(uint8_t *copy, const struct image *im, gaddr base);

/* What tracer and tracee tell each other, in memory they share. */
struct inject_job {
    const struct image *image;
    uint64_t mask;
    const void *filters;
    uint64_t filter_bytes;
    int32_t tracee; /* thread id */
    int32_t tracer; /* its process id: a child of the tracee, without exit signal */
    uint32_t go;    /* tracee: the tracer may seize */
    uint32_t ready; /* tracer: 1 seized, 2 failed */
    uint32_t done;  /* tracer: nothing here is used any more */
    int32_t error;
    char options[BOOT_OPTIONS];
};

/* The tracer's whole life, in a process of its own: seizes, waits for the exec, injects, detaches.
 */
void inject_tracer(struct inject_job *job);

/* The tracee's side: lets the tracer go ahead and waits until it has seized. Returns 0 or -errno.
 */
int inject_ready(struct inject_job *job);

/* Waits for the end of a tracer that has done its work, or was killed. */
void inject_reap(int32_t tracer);

#endif
