/* numbers.c - numbers of instructions by position: numbers PINBALL.
 *
 * SPDX-License-Identifier: MIT
 *
 * A pass over the whole trace says which instruction is where. For some of them, in all threads,
 * number_find() must say the same, which reads a few chunks only; a place that the trace does not
 * have, it must not find.
 */
#include <stdio.h>
#include <stdlib.h>

#include "study/study.h"
#include "trace/number.h"
#include "trace/pass.h"

enum { LOOKS = 200 };

static void die(const char *what, const struct position *at)
{
    char text[POSITION_TEXT] = "";
    if (at)
        position_format(at, text);
    fprintf(stderr, "numbers: %s %s\n", text, what);
    exit(1);
}

static void compare(struct trace *trace, const struct position *at, uint64_t number)
{
    const struct position none = {
        .thread = at->thread, .count = at->count, .pc = at->pc ^ 1ull << 46};
    struct err err = {.code = 0};
    uint64_t found;
    if (number_find(trace, at, &found, &err) != 1)
        die("not found", at);
    if (found != number) {
        fprintf(stderr, "expected %llu, found %llu\n", (unsigned long long)number,
                (unsigned long long)found);
        die("another instruction", at);
    }
    if (number_find(trace, &none, &found, &err) != 0)
        die("found, and is not there", &none);
}

int main(int argc, char **argv)
{
    struct study_options options = {.trace = NULL};
    struct err err = {.code = 0};
    struct pass pass;
    struct pass_step st;
    int more;
    struct study *s = argc == 2 ? study_collect(argv[1], &options, &err) : NULL;
    if (!s || pass_init(&pass, s->trace, &err))
        die(s || argc == 2 ? err.msg : "usage: numbers PINBALL", NULL);
    const uint64_t apart = trace_insns(s->trace) / LOOKS + 1;
    uint64_t next = 0, looks = 0;
    while ((more = pass_next(&pass, &st, &err)) == 1) {
        if (st.insn + st.step->insns <= next || !st.step->insns)
            continue;
        const unsigned i = next > st.insn ? (unsigned)(next - st.insn) : 0;
        const struct position at = {.thread = trace_thread(s->trace, st.step->thread),
                                    .count = st.count,
                                    .pc = st.block->insn[i].in.pc};
        compare(s->trace, &at, st.insn + i);
        next = st.insn + i + apart;
        looks++;
    }
    if (more || looks < LOOKS / 2)
        die(more ? err.msg : "too few instructions", NULL);
    printf("%llu of %llu instructions in %u chunks\n", (unsigned long long)looks,
           (unsigned long long)trace_insns(s->trace), trace_chunks(s->trace));
    pass_deinit(&pass);
    study_close(s);
    return 0;
}
