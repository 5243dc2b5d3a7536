/* slice_known.c - the slice of a program that says itself what is in it: subjects/known.S.
 *
 * SPDX-License-Identifier: MIT
 *
 *     slice_known PINBALL TRACE
 *
 * The slice of rdi at the end must hold the instructions that begin with a ds prefix, at least one
 * execution of each, and no others. So what docs/slicing.md says is also what was meant.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pinball/pinball.h"
#include "slicer/slice.h"
#include "trace/collect.h"
#include "trace/index.h"

enum { MARK = 0x3e };

static void fail(const char *what)
{
    fprintf(stderr, "slice_known: %s\n", what);
    exit(2);
}

/* Is an execution of the instruction in the slice? */
static bool is_in(struct trace *trace, const struct slice *slice, gaddr pc)
{
    struct trace_chunk c = {0};
    struct err err;
    bool in = false;
    for (uint32_t n = 0; n < trace_chunks(trace); n++) {
        if (trace_read(trace, n, &c, &err))
            fail(err.msg);
        for (uint32_t s = 0; s < c.steps; s++) {
            const struct code_block *b = code_block(trace_code(trace), c.step[s].block);
            for (unsigned i = 0; i < c.step[s].insns; i++)
                in |= b->insn[i].in.pc == pc &&
                      slice_has(slice, c.first_insn + c.step[s].insn_at + i);
        }
    }
    trace_chunk_deinit(&c);
    return in;
}

static int check(struct trace *trace, const struct slice *slice)
{
    const struct code *code = trace_code(trace);
    int bad = 0, marked = 0;
    for (uint32_t n = 0; n < code_count(code); n++)
        for (unsigned i = 0; i < code_block(code, n)->insns; i++) {
            const struct insn *in = &code_block(code, n)->insn[i].in;
            bool want = in->bytes[0] == MARK;
            marked += want;
            if (is_in(trace, slice, in->pc) == want)
                continue;
            printf("0x%llx %s: %s\n", (unsigned long long)in->pc, insn_name(in),
                   want ? "missing" : "too much");
            bad++;
        }
    printf("%d instructions are marked, %d are wrong\n", marked, bad);
    return bad || !marked;
}

int main(int argc, char **argv)
{
    struct err err;
    struct collect_result collected;
    if (argc != 3)
        fail("usage: slice_known PINBALL TRACE");
    struct pinball *pinball = pinball_open(argv[1], &err);
    if (!pinball ||
        collect(pinball, argv[2], &(struct collect_options){.from = NULL}, &collected, &err))
        fail(err.msg);
    struct trace *trace = trace_open(argv[2], &err);
    struct trace_index *index = trace ? trace_index_new(trace, pinball, &err) : NULL;
    if (!index)
        fail(err.msg);
    struct slice_want want = {.kind = SLICE_REGISTER,
                              .at = trace_insns(trace),
                              .addr = loc_gpr(RDI),
                              .bytes = LOC_GPR_BYTES};
    struct slice *slice =
        slice_backward(index, &want, 1, &(struct slice_options){.edges = SLICE_ALL}, &err);
    if (!slice)
        fail(err.msg);
    int bad = check(trace, slice);
    slice_free(slice);
    trace_index_free(index);
    trace_close(trace);
    pinball_close(pinball);
    return bad;
}
