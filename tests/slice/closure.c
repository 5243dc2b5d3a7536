/* closure.c - slices checked by executing them: slice_closure PINBALL [SEED [CRITERIA]].
 *
 * SPDX-License-Identifier: MIT
 *
 * Draws criteria, takes their slices with several options, and checks each with a pattern, in a
 * soak with two; then takes nodes out at random, which must be found. closure.h says what is
 * checked.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pinball/pinball.h"
#include "tests/slice/closure.h"
#include "trace/collect.h"

enum { CRITERIA = 6, TRIES = 400, OUT = 3, AGAIN = 75, SKIP = 77, INSNS_MOST = 3000000 };

static struct {
    struct trace *trace;
    struct trace_index *index;
    struct closure_record record;
    uint64_t random;
    unsigned slices, failed, out, missed;
    uint64_t nodes, largest;
    bool soak; /* both patterns, and more nodes taken out */
} in;

static void die(const char *what)
{
    fprintf(stderr, "slice_closure: %s\n", what);
    exit(2);
}

static uint64_t draw(uint64_t below)
{
    in.random ^= in.random << 13;
    in.random ^= in.random >> 7;
    in.random ^= in.random << 17;
    return below ? (in.random * 0x2545f4914f6cdd1dull >> 11) % below : 0;
}

/* ---- criteria ---- */

static const struct trace_step *step_of(uint64_t node, struct trace_chunk *chunk, uint64_t *first)
{
    struct err err;
    uint32_t n = 0;
    while (n + 1 < trace_chunks(in.trace) && trace_chunk_first(in.trace, n + 1) <= node)
        n++;
    if ((!chunk->step || chunk->number != n) && trace_read(in.trace, n, chunk, &err))
        die(err.msg);
    uint32_t at = (uint32_t)(node - chunk->first_insn), i = 0;
    while (i + 1 < chunk->steps && chunk->step[i + 1].insn_at <= at)
        i++;
    *first = chunk->first_insn + chunk->step[i].insn_at;
    return &chunk->step[i];
}

/* Memory that an instruction writes, some time later; a register; all that an instruction uses. */
static struct slice_want draw_want(void)
{
    static struct trace_chunk chunk;
    uint64_t nodes = in.record.nodes, first;
    for (int i = 0; i < TRIES; i++) {
        uint64_t node = draw(3) ? draw(nodes) : nodes - 1 - draw(nodes / 20 + 1);
        const struct trace_step *st = step_of(node, &chunk, &first);
        const struct code_block *b = code_block(trace_code(in.trace), st->block);
        const struct code_insn *ci = &b->insn[node - first < b->insns ? node - first : 0];
        struct slice_want w = {.at = node, .thread = st->thread};
        uint64_t later = node + 1 + draw(1ull << draw(14));
        switch (draw(4)) {
        case 0:
            w.kind = SLICE_REGISTER;
            w.addr = draw(5) ? loc_gpr((unsigned)draw(GPR_COUNT)) : loc_vec((unsigned)draw(8));
            w.bytes = 8;
            return w;
        case 1:
            w.kind = SLICE_USES;
            return w;
        default:
            if (!ci->accesses || access_is_odd(&b->access[ci->access_at]) ||
                !b->access[ci->access_at].mem.write)
                continue;
            w.kind = SLICE_MEMORY;
            w.addr =
                access_extent(b, &b->access[ci->access_at], chunk.value + st->value_at, &w.bytes);
            w.bytes = w.bytes > 64 ? 64 : w.bytes;
            w.at = later < nodes && draw(4) ? later : nodes;
            return w;
        }
    }
    return (struct slice_want){.kind = SLICE_USES, .at = nodes - 1};
}

/* What the first instruction uses that both reads and writes memory which is read-only at the end:
 * a relocation. Drawn ones are rarely that. */
static bool find_relocation(struct slice_want *w)
{
    static struct trace_chunk chunk;
    struct err err;
    if (trace_read(in.trace, 0, &chunk, &err))
        die(err.msg);
    for (uint32_t i = 0; i < chunk.steps; i++) {
        const struct trace_step *st = &chunk.step[i];
        const struct code_block *b = code_block(trace_code(in.trace), st->block);
        uint64_t first = chunk.first_insn + st->insn_at, bytes;
        uint64_t end = i + 1 < chunk.steps ? chunk.first_insn + chunk.step[i + 1].insn_at : first;
        for (uint32_t k = 0; k < b->insns && first + k < end; k++) {
            const struct code_insn *ci = &b->insn[k];
            const struct plan_access *a = &b->access[ci->access_at];
            if (!ci->accesses || access_is_odd(a) || !a->mem.write || !a->mem.read)
                continue;
            gaddr addr = access_extent(b, a, chunk.value + st->value_at, &bytes);
            *w = (struct slice_want){.kind = SLICE_USES, .at = first + k, .thread = st->thread};
            if (trace_index_read_only(in.index, addr, bytes))
                return true;
        }
    }
    return false;
}

/* ---- slices ---- */

static const struct {
    struct slice_options options;
    const char *name;
    bool out; /* without any data node it must fail */
} kinds[] = {
    {{.edges = SLICE_ALL}, "all edges", false},
    {{.edges = SLICE_ALL, .keep_saves = true}, "all edges, saves kept", false},
    {{.edges = SLICE_VALUE | SLICE_ADDRESS}, "data", true},
    {{.edges = SLICE_VALUE | SLICE_ADDRESS, .keep_saves = true}, "data, saves kept", true},
    {{.edges = SLICE_VALUE}, "value", true},
    {{.edges = SLICE_VALUE | SLICE_ADDRESS, .relocated = true}, "with the loader's work", true},
};

static void print_question(const struct closure_question *q, const char *name)
{
    static const char *const kind[] = {"memory", "registers", "uses"};
    const struct slice_want *w = q->want;
    printf("  %s: %s at %llu, thread %u, 0x%llx, %llu bytes; %llu nodes; pattern %u\n", name,
           kind[w->kind], (unsigned long long)w->at, w->thread, (unsigned long long)w->addr,
           (unsigned long long)w->bytes, (unsigned long long)slice_count(q->slice), q->pattern);
}

/* Where the instruction of a node is. */
static gaddr node_pc(uint64_t node)
{
    static struct trace_chunk chunk;
    struct err err;
    for (uint32_t c = 0; !trace_read(in.trace, c, &chunk, &err); c++)
        for (uint32_t i = chunk.steps; chunk.first_insn <= node && i-- > 0;) {
            uint64_t first = chunk.first_insn + chunk.step[i].insn_at;
            const struct code_block *b = code_block(trace_code(in.trace), chunk.step[i].block);
            if (first <= node && node - first < b->insns)
                return b->insn[node - first].in.pc;
        }
    return 0;
}

/* A slice without one of its nodes is not closed. */
static void take_out(struct closure_question *q, const char *name)
{
    struct err err;
    for (int i = 0; i < (in.soak ? OUT : 1) && slice_count(q->slice); i++) {
        uint64_t node = slice_next(q->slice, draw(q->want->at + 1));
        if (node == UINT64_MAX || (q->want->kind == SLICE_USES && node == q->want->at))
            continue;
        bool idle = false;
        q->without = node;
        q->idle = &idle;
        q->quiet = true;
        int end = closure_check(in.index, &in.record, q, &err);
        q->quiet = false;
        q->without = UINT64_MAX;
        q->idle = NULL;
        if (end < 0)
            die(err.msg);
        in.out += !idle;
        if (!end && !idle) {
            in.missed++;
            printf("node %llu at 0x%llx is not missed\n", (unsigned long long)node,
                   (unsigned long long)node_pc(node));
            print_question(q, name);
        }
    }
}

static void check_want(const struct slice_want *w)
{
    struct err err;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct slice *slice = slice_backward(in.index, w, 1, &kinds[k].options, &err);
        if (!slice)
            die(err.msg);
        struct closure_question q = {.slice = slice,
                                     .want = w,
                                     .wants = 1,
                                     .options = &kinds[k].options,
                                     .without = UINT64_MAX};
        in.slices++;
        in.nodes += slice_count(slice);
        in.largest = slice_count(slice) > in.largest ? slice_count(slice) : in.largest;
        for (q.pattern = in.soak ? 0 : draw(2); q.pattern < 2; q.pattern += in.soak ? 1 : 2) {
            int end = closure_check(in.index, &in.record, &q, &err);
            if (end < 0)
                die(err.msg);
            if (end) {
                in.failed++;
                print_question(&q, kinds[k].name);
            }
        }
        q.pattern = 0;
        if (kinds[k].out)
            take_out(&q, kinds[k].name);
        slice_free(slice);
    }
}

static struct pinball *open_all(const char *path)
{
    struct err err;
    struct collect_result collected;
    struct collect_options options = {0};
    char file[] = "/tmp/closure.XXXXXX";
    int fd = mkstemp(file);
    struct pinball *pinball = pinball_open(path, &err);
    if (fd < 0 || !pinball || collect(pinball, file, &options, &collected, &err))
        die(err.msg);
    close(fd);
    in.trace = trace_open(file, &err);
    unlink(file);
    in.index = in.trace ? trace_index_new(in.trace, pinball, &err) : NULL;
    if (!in.index)
        die(err.msg);
    return pinball;
}

int main(int argc, char **argv)
{
    struct err err;
    if (argc < 2)
        die("usage: slice_closure PINBALL [SEED [CRITERIA]]");
    setvbuf(stdout, NULL, _IOLBF, 0);
    in.soak = getenv("DRDEBUG_SOAK");
    if (closure_init())
        die("cannot execute instructions here");
    in.random = 0x9e3779b97f4a7c15ull + (argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
    unsigned long wants = argc > 3 ? strtoul(argv[3], NULL, 0) : CRITERIA;
    struct pinball *pinball = open_all(argv[1]);
    if (trace_insns(in.trace) > INSNS_MOST) {
        printf("skipped: %llu instructions\n", (unsigned long long)trace_insns(in.trace));
        return SKIP;
    }
    if (closure_record(in.index, pinball, &in.record, &err)) {
        if (in.record.unlucky)
            return AGAIN;
        die(err.msg);
    }
    printf("%llu instructions, %u threads: %llu executed, "
           "%llu of them copies, %llu taken from the replay at %llu "
           "places, %u wrong\n",
           (unsigned long long)in.record.nodes, in.record.threads,
           (unsigned long long)in.record.executed, (unsigned long long)in.record.copies,
           (unsigned long long)in.record.external, (unsigned long long)in.record.syncs,
           in.record.wrong);
    struct slice_want w;
    if (find_relocation(&w))
        check_want(&w);
    for (unsigned long i = 0; i < wants; i++) {
        w = draw_want();
        check_want(&w);
    }
    printf("%u slices of %llu nodes on average, the largest has %llu: %u are not closed; of %u "
           "nodes taken out %u were not missed\n",
           in.slices, (unsigned long long)(in.nodes / (in.slices ? in.slices : 1)),
           (unsigned long long)in.largest, in.failed, in.out, in.missed);
    closure_record_deinit(&in.record);
    trace_index_free(in.index);
    trace_close(in.trace);
    pinball_close(pinball);
    return in.failed || in.missed || in.record.wrong;
}
