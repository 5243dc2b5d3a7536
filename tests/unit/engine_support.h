/* engine_support.h - the engine's parts outside a target, for tests.
 *
 * SPDX-License-Identifier: MIT
 *
 * Stands in for core/dispatch.c, core/instrument.c and rt/rt.c: it defines the engine's globals and
 * makes a fatal error of the engine an abort() that sanitizers and libFuzzer see. Target code comes
 * from a buffer. One thread only.
 */
#ifndef TESTS_UNIT_ENGINE_SUPPORT_H
#define TESTS_UNIT_ENGINE_SUPPORT_H

#include "engine/core/cache.h"
#include "engine/core/instrument.h"
#include "engine/core/thread.h"
#include "engine/core/translate.h"

/* The target's code: `size` bytes at pc, executable; all else is not. */
struct support_code {
    gaddr pc;
    const uint8_t *bytes;
    size_t size;
    bool check; /* blocks have to check their own bytes */
};
extern struct support_code support_code;
extern const struct code_source support_source;

/* Once per process: an address range, decoder, cache of the given arena size, and one thread. */
void support_init(uint64_t arena_bytes);
extern struct thread *support_thread;

/* What the probes of the next translations are: PROBE_* bits for every instruction, 0 for none. */
void support_probe_all(unsigned wanted);

/* Makes `code` the target's code and translates its start. NULL as translate(). */
struct block *support_translate(gaddr pc, const void *code, size_t size);

#endif
