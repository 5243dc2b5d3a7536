/* trace_fuzz.c - arbitrary bytes as a trace: refused with a message or read, never more.
 *
 * SPDX-License-Identifier: MIT
 *
 * Read once as they are, and once as chunks that are not compressed, with all sums and numbers made
 * right, for no fuzzer guesses those. What was read is gone through as slices do, frames and all.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pinball/chunk.h"
#include "trace/index.h"
#include "trace/pass.h"

enum { MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Passes that begin in the middle of a trace want it; this one does not. */
int trace_index_reach(struct trace_index *s, uint32_t chunk, struct err *err)
{
    (void)s;
    (void)chunk;
    return err_set(err, "not here");
}

static void reseal(uint8_t *data, size_t size)
{
    struct chunk c;
    uint64_t n = 0;
    for (size_t at = 0; size - at >= sizeof c;) {
        size_t left = size - at - sizeof c;
        memcpy(&c, data + at, sizeof c);
        size_t stored = c.raw < left ? c.raw : left;
        struct chunk new = {.kind = CHUNK_TRACE, .sequence = n++, .raw = stored, .extra = c.extra};
        chunk_seal(&new, data + at + sizeof c, stored);
        memcpy(data + at, &new, sizeof new);
        at += sizeof c + stored;
    }
}

static int read_all(struct trace *t, struct err *err)
{
    struct trace_chunk chunk = {0};
    struct pass pass;
    struct pass_step step;
    const gaddr *list;
    int bad = 0;
    for (uint32_t n = 0; n < trace_chunks(t) && !bad; n++) {
        bad = trace_read(t, n, &chunk, err);
        for (uint32_t i = 0; !bad && i < chunk.steps; i++)
            if (chunk.step[i].thread >= trace_threads(t) ||
                !code_block(trace_code(t), chunk.step[i].block))
                abort();
        if (!bad && trace_chunk_first(t, n + 1) - trace_chunk_first(t, n) != chunk.insns)
            abort();
    }
    trace_chunk_deinit(&chunk);
    for (uint32_t i = 0; i < code_count(trace_code(t)); i++) {
        gaddr pc = code_last(code_block(trace_code(t), i))->pc;
        trace_is_entry(t, pc);
        trace_stays(t, pc);
        trace_targets(t, pc, &list);
    }
    if (bad || pass_init(&pass, t, err))
        return -1;
    while ((bad = pass_next(&pass, &step, err)) == 1)
        ;
    pass_deinit(&pass);
    return bad;
}

static void read_trace(const uint8_t *data, size_t size)
{
    struct err err = {.msg = ""};
    char path[64];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct trace *t = trace_open(path, &err);
    if ((!t || read_all(t, &err)) && !strstr(err.msg, path)) {
        fprintf(stderr, "no file in the message '%s'\n", err.msg);
        abort();
    }
    trace_close(t);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    uint8_t *sealed = malloc(size + 1);
    if (!ready)
        insn_init();
    ready = true;
    if (!sealed || size > MAX_BYTES) {
        free(sealed);
        return -1;
    }
    read_trace(data, size);
    memcpy(sealed, data, size);
    reseal(sealed, size);
    read_trace(sealed, size);
    free(sealed);
    return 0;
}
