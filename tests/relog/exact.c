/* exact.c - recordings that leave something out, compared with the whole: relog_exact DIR ROOM SEED
 * CASES.
 *
 * SPDX-License-Identifier: MIT
 *
 * A case keeps random pieces of the execution, or the slice of a random instruction, with gaps of
 * any length or the usual ones; in a soak each slice with all gaps and with the usual ones. At each
 * kept statement all threads have the registers of the whole; at some of them, and at the last, all
 * memory and mappings are the same. At kept instructions the thread's registers and flags and all
 * that the instruction reads and will write are the same, and so is what it has written, behind it.
 * As many instructions are executed as were kept, and the recording verifies and ends as the whole
 * does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/pinball.h"
#include "pinball/record_gap.h"
#include "pinball/records.h"
#include "pinball/statements.h"
#include "pinball/text.h"
#include "relogger/relog.h"
#include "replayer/replay.h"
#include "slicer/criterion/criterion.h"
#include "slicer/slice.h"
#include "study/study.h"
#include "trace/access.h"
#include "trace/pass.h"

enum { THREADS = 256, MAPS = 4096, PIECE = 1 << 20, PLACES = 3000, MEMORIES = 25, LOOKS = 500 };

static uint64_t seed;
static char what[256];
static bool soak;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return below ? (seed >> 20) % below : 0;
}

/* A third of what a soak looks at. */
static uint64_t most(uint64_t in_soak)
{
    return getenv("DRDEBUG_SOAK") ? in_soak : in_soak / 3;
}

static void die(const char *why, const char *more)
{
    printf("FAILED: %s: %s: %s\n", what, why, more);
    exit(1);
}

/* ---- two replays at one place ---- */

static void compare_thread(struct replay *a, struct replay *b, uint32_t thread, const char *where)
{
    static struct program_registers x, y;
    char text[160];
    struct err err;
    if (replay_registers(a, thread, &x, &err) || replay_registers(b, thread, &y, &err))
        die(where, err.msg);
    if (x.count == y.count && x.rip == y.rip && x.rflags == y.rflags && x.fs_base == y.fs_base &&
        x.gs_base == y.gs_base && x.xsave_bytes == y.xsave_bytes &&
        !memcmp(x.gpr, y.gpr, sizeof x.gpr) && !memcmp(x.xsave, y.xsave, x.xsave_bytes))
        return;
    snprintf(text, sizeof text,
             "T%u: counts %" PRIu64 " %" PRIu64 ", pcs %" PRIx64 " %" PRIx64 ", flags %" PRIx64
             " %" PRIx64,
             thread, x.count, y.count, x.rip, y.rip, x.rflags, y.rflags);
    die(where, text);
}

static void compare_threads(struct replay *a, struct replay *b, const char *where)
{
    static struct program_thread x[THREADS], y[THREADS];
    size_t n = replay_threads(a, x, THREADS), m = replay_threads(b, y, THREADS);
    if (n != m)
        die(where, "another number of threads");
    for (size_t i = 0; i < n && i < THREADS; i++) {
        if (x[i].number != y[i].number || x[i].tid != y[i].tid)
            die(where, "other threads");
        compare_thread(a, b, x[i].number, where);
    }
}

static void compare_memory(struct replay *a, struct replay *b, const char *where)
{
    static struct program_map x[MAPS], y[MAPS];
    static uint8_t p[PIECE], q[PIECE];
    char text[80];
    size_t n = replay_maps(a, x, MAPS), m = replay_maps(b, y, MAPS);
    for (size_t i = 0; i < n && i < m && i < MAPS; i++)
        if (x[i].start != y[i].start || x[i].end != y[i].end || x[i].prot != y[i].prot ||
            x[i].file != y[i].file) {
            snprintf(text, sizeof text,
                     "mapping %zu: %" PRIx64 "-%" PRIx64 ", %" PRIx64 "-%" PRIx64, i, x[i].start,
                     x[i].end, y[i].start, y[i].end);
            die(where, text);
        }
    if (n != m)
        die(where, "another number of mappings");
    for (size_t i = 0; i < n && i < MAPS; i++)
        for (uint64_t at = x[i].start; at < x[i].end && (x[i].prot & 1); at += PIECE) {
            size_t bytes = x[i].end - at < PIECE ? (size_t)(x[i].end - at) : PIECE;
            size_t got = replay_read(a, at, p, bytes);
            /* Behind the end of a mapped file nobody can read; what leaves its mapping out has
             * zeros. */
            if (got > replay_read(b, at, q, bytes) || memcmp(p, q, got) != 0) {
                size_t k = 0;
                while (k < got && p[k] == q[k])
                    k++;
                snprintf(text, sizeof text, "memory at %" PRIx64 ": %02x, %02x", at + k, p[k],
                         q[k]);
                die(where, text);
            }
        }
}

/* ---- what the new one says of itself ---- */

static struct statements places_of(struct pinball *p)
{
    struct statements out;
    struct err err;
    if (statements_read(p, &out, &err))
        die("statements", err.msg);
    return out;
}

static void go(struct replay *r, const struct position *to, const char *which)
{
    struct replay_stop stop;
    struct err err;
    char text[POSITION_TEXT + 40];
    if (replay_run(r, to, &stop, &err))
        die(which, err.msg);
    if (stop.why == STOP_POSITION)
        return;
    position_format(to, text);
    die(which, text);
}

static struct replay *open_replay(struct pinball *p)
{
    struct err err;
    struct replay *r = replay_new(p, &(struct replay_options){.engine = "exact=1"}, &err);
    if (!r)
        die("replay", err.msg);
    return r;
}

static void compare_places(struct pinball *whole, struct pinball *part)
{
    struct statements all = places_of(part);
    struct kept_statement s;
    struct replay *a = open_replay(whole), *b = open_replay(part);
    const uint64_t step = all.count / most(PLACES) + 1;
    const uint64_t each = all.count / step / most(MEMORIES) + 1;
    uint64_t done = 0;
    for (size_t i = 0; statements_get(&all, i, &s); i++) {
        const struct position at = {.thread = s.thread, .count = s.count, .pc = s.pc};
        const bool last = i + 1 == all.count;
        char text[POSITION_TEXT];
        if ((s.how & KEPT_IN_CALL) || (!last && draw(step) != 0))
            continue;
        position_format(&at, text);
        go(a, &at, "the whole");
        go(b, &at, "the part");
        compare_threads(a, b, text);
        if (last || !draw(each))
            compare_memory(a, b, text);
        done++;
    }
    if (!done)
        die("places", "none");
    replay_free(a);
    replay_free(b);
    statements_deinit(&all);
}

/* ---- what kept instructions read and write ---- */

struct range {
    uint64_t addr, bytes;
};

/* Before an instruction is executed: the memory that it accesses, and that the one before it did.
 */
struct look {
    struct position at;
    size_t first, ranges; /* in the list of ranges */
};

struct looks {
    struct look *list;
    size_t count, room;
    struct range *range;
    size_t ranges, range_room;
    bool switched; /* another thread runs since the last step */
};

static int note_switch(void *arg, const struct pass *p, struct err *err)
{
    (void)err;
    if (p->at.note->kind == FLOW_THREAD)
        ((struct looks *)arg)->switched = true;
    return 0;
}

static void add_ranges(struct looks *l, const struct pass_step *s, uint32_t insn)
{
    enum { MOST = 1 << 16 };
    for (uint16_t k = 0; k < s->block->accesses; k++) {
        const struct plan_access *a = &s->block->access[k];
        struct range r;
        if (a->insn != insn || access_is_odd(a))
            continue;
        r.addr = access_extent(s->block, a, s->values, &r.bytes);
        if (r.bytes > MOST)
            r.bytes = MOST;
        if (r.bytes && array_push(&l->range, &l->ranges, &l->range_room, r))
            die("memory", "none");
    }
}

/* An instruction that is begun again behind a switch has no position of its own. */
static void add_look(struct looks *l, struct trace *t, const struct pass_step *s, uint32_t i,
                     size_t first)
{
    const struct look k = {.at = {.thread = trace_thread(t, s->step->thread),
                                  .count = s->count,
                                  .pc = s->block->insn[i].in.pc},
                           .first = first,
                           .ranges = l->ranges - first};
    if ((i || !l->switched || s->block->insn[i].in.kind != INSN_SYSCALL) &&
        array_push(&l->list, &l->count, &l->room, k))
        die("memory", "none");
}

/* All instructions of a random piece out of as many as it takes to have LOOKS of them, each. */
static struct looks find_looks(struct trace *t, const struct pieces *kept)
{
    enum { OF_PIECE = 40 };
    struct looks l = {.count = 0};
    struct pass p;
    struct pass_step s;
    struct err err;
    size_t next = 0, before = 0;
    int more;
    const uint64_t one_of = kept->insns / most(LOOKS) + 1;
    bool taken = true;
    if (pass_init(&p, t, &err))
        die("the trace", err.msg);
    p.note = note_switch;
    p.arg = &l;
    while ((more = pass_next(&p, &s, &err)) > 0) {
        for (uint32_t i = 0; i < s.step->insns && !s.block->gap; i++) {
            const uint64_t insn = s.insn + i;
            while (next < kept->pieces && kept->piece[next].first + kept->piece[next].insns <= insn)
                next++;
            if (next == kept->pieces || insn < kept->piece[next].first)
                continue;
            if (insn == kept->piece[next].first) {
                taken = !draw(one_of);
                before = l.ranges;
            }
            if (!taken || insn - kept->piece[next].first >= OF_PIECE)
                continue;
            const size_t own = l.ranges;
            add_ranges(&l, &s, i);
            add_look(&l, t, &s, i, before);
            before = own;
        }
        l.switched = false;
    }
    if (more)
        die("the trace", err.msg);
    pass_deinit(&p);
    return l;
}

static void compare_range(struct replay *a, struct replay *b, const struct range *r,
                          const char *where)
{
    static uint8_t p[1 << 16], q[1 << 16];
    char text[80];
    const size_t n = replay_read(a, r->addr, p, r->bytes), m = replay_read(b, r->addr, q, r->bytes);
    if (n == m && !memcmp(p, q, n))
        return;
    snprintf(text, sizeof text, "%" PRIu64 " bytes at %" PRIx64, r->bytes, r->addr);
    die(where, text);
}

static void compare_looks(struct pinball *whole, struct pinball *part, const struct looks *l)
{
    struct replay *a = open_replay(whole), *b = open_replay(part);
    for (size_t i = 0; i < l->count; i++) {
        const struct look *k = &l->list[i];
        char text[POSITION_TEXT];
        position_format(&k->at, text);
        go(a, &k->at, "the whole");
        go(b, &k->at, "the part");
        compare_thread(a, b, k->at.thread, text);
        for (size_t n = 0; n < k->ranges; n++)
            compare_range(a, b, &l->range[k->first + n], text);
    }
    replay_free(a);
    replay_free(b);
}

/* ---- how it runs and ends ---- */

static void take_count(void *arg, const char *line)
{
    const char *at = strstr(line, "icount: instructions=");
    if (at)
        *(uint64_t *)arg = strtoull(strchr(at, '=') + 1, NULL, 10);
}

static struct replay_stop run_all(struct pinball *p, uint64_t *count)
{
    struct err err;
    struct replay_stop stop;
    struct replay *r = replay_new(
        p, &(struct replay_options){.verify = true, .message = take_count, .arg = count}, &err);
    if (!r || replay_tool(r, "icount", &err) || replay_run(r, NULL, &stop, &err) ||
        replay_tool(r, NULL, &err))
        die("run", err.msg);
    replay_free(r);
    return stop;
}

static uint64_t switches_of(struct pinball *p)
{
    static uint8_t data[8 << 20];
    uint64_t n = 0, bytes, records;
    struct err err;
    for (uint64_t i = 0; i < pinball_chunks(p); i++) {
        pinball_chunk_info(p, i, &bytes, &records);
        if (pinball_read_chunk(p, i, data, sizeof data, &err))
            die("events", err.msg);
        for (const struct record *r = records_first(data, bytes); r;
             r = records_next(r, data + bytes))
            n += r->kind == RECORD_SWITCH;
    }
    return n;
}

/* Instructions that are begun, and begun again for a fault or a signal, are counted, too; and
 * system calls that were begun before a gap, or end behind one. */
static void compare_runs(struct pinball *whole, struct pinball *part, uint64_t insns,
                         uint64_t expected)
{
    uint64_t n = 0, m = 0;
    char text[120];
    struct replay_stop a = run_all(whole, &n), b = run_all(part, &m);
    if (a.why != b.why || a.reason != b.reason || a.status != b.status || a.ticks != b.ticks ||
        a.at.thread != b.at.thread || a.at.count != b.at.count || a.at.pc != b.at.pc)
        die("the end", "another one");
    snprintf(text, sizeof text,
             "%" PRIu64 " of the whole, which has %" PRIu64 "; %" PRIu64
             " of the part, to be %" PRIu64,
             n, insns, m, expected);
    if (n < insns || m < expected || m - expected > n - insns + switches_of(whole))
        die("instructions executed", text);
}

/* ---- cases ---- */

static int by_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static struct pieces random_pieces(uint64_t insns)
{
    const size_t wanted = 1 + draw(insns < 4000 ? insns / 40 + 1 : 100);
    struct piece *p = calloc(wanted + 1, sizeof *p);
    struct pieces out = {.piece = p};
    for (size_t i = 0; i < wanted; i++)
        p[i] =
            (struct piece){.first = draw(insns), .insns = 1 + draw(1ull << draw(12)), .depth = 1};
    p[wanted] = (struct piece){.first = insns - 1, .insns = 1, .depth = 1};
    qsort(p, wanted + 1, sizeof *p, by_first);
    for (size_t i = 0; i <= wanted; i++) {
        const struct piece *last = out.pieces ? &p[out.pieces - 1] : NULL;
        struct piece next = p[i];
        if (last && last->first + last->insns > next.first)
            continue;
        const uint64_t end = i < wanted ? p[i + 1].first : insns;
        if (next.first + next.insns > end)
            next.insns = end - next.first;
        if (next.insns)
            p[out.pieces++] = next;
    }
    for (size_t i = 0; i < out.pieces; i++)
        out.insns += p[i].insns;
    return out;
}

/* The slice of the failure, if it ends in one, or of a random instruction of the second half. */
static struct pieces slice_pieces(struct study *s, bool of_failure)
{
    struct pieces out;
    struct criterion c = {.wants = 0};
    struct err err;
    const uint64_t insns = trace_insns(s->trace);
    const struct slice_want random = {.kind = SLICE_USES, .at = insns - 1 - draw(insns / 2)};
    if (of_failure && criterion_find(s, &(struct criterion_options){.text = NULL}, &c, &err))
        die("the failure", err.msg);
    struct slice *slice =
        slice_backward(s->index, of_failure ? c.want : &random, of_failure ? c.wants : 1,
                       &(struct slice_options){0}, &err);
    if (!slice || pieces_find(s, &(struct pieces_rule){.slice = slice}, &out, &err))
        die("slice", err.msg);
    slice_free(slice);
    criterion_deinit(&c);
    return out;
}

/* The recording is traced like any other, with one instruction for each gap; and once more with the
 * same pieces it is the same, whatever gaps it had. */
static void relog_again(struct study *s, const char *dir, const struct pieces *kept, uint64_t gap)
{
    struct relog_result result;
    struct pieces_moved moved;
    struct pieces same = {.pieces = kept->pieces, .insns = kept->insns};
    struct text head = {0};
    struct err err;
    char again[4200], text[100];
    bool gone;
    struct study *part = study_open(dir, &(struct study_options){0}, &err);
    if (!part || pieces_move(&moved, kept, gap, &err))
        die("the part's trace", err.msg);
    snprintf(text, sizeof text, "%" PRIu64 ", to be %" PRIu64, trace_insns(part->trace),
             moved.total);
    if (trace_insns(part->trace) != moved.total)
        die("instructions of the part's trace", text);
    same.piece = malloc(kept->pieces * sizeof *same.piece);
    for (size_t i = 0; i < kept->pieces; i++) {
        same.piece[i] = kept->piece[i];
        same.piece[i].first = pieces_moved(&moved, kept->piece[i].first, &gone);
        same.piece[i].behind_run = draw(2) && same.piece[i].behind_run;
        if (gone)
            die("the part's trace", "a kept instruction is not there");
    }
    snprintf(again, sizeof again, "%s.again", dir);
    text_add(&head, "relog_of", "a test");
    const struct relog_options o = {.gap = draw(2) ? 0 : gap, .head = &head};
    if (relog(part->pinball, part->trace, &same, again, &o, &result, &err))
        die("once more", err.msg);
    struct pinball *p = pinball_open(again, &err);
    if (!p)
        die("once more", err.msg);
    compare_places(s->pinball, p);
    pinball_close(p);
    pieces_moved_deinit(&moved);
    pieces_deinit(&same);
    text_deinit(&head);
    study_close(part);
}

static void one_gap(struct study *s, const char *dir, struct pieces *kept, uint64_t gap)
{
    const uint64_t insns = trace_insns(s->trace);
    struct relog_result result;
    struct text head = {0};
    struct err err;
    text_add(&head, "relog_of", "a test");
    const struct relog_options o = {.gap = gap, .head = &head};
    if (gap && draw(2) && relog_weigh(s->trace, kept, gap, &err))
        die("weigh", err.msg);
    if (relog(s->pinball, s->trace, kept, dir, &o, &result, &err))
        die("relog", err.msg);
    struct pinball *part = pinball_open(dir, &err);
    if (!part)
        die("open", err.msg);
    compare_runs(s->pinball, part, insns, insns - kept->piece[0].first - result.out);
    compare_places(s->pinball, part);
    struct looks looks = find_looks(s->trace, kept);
    compare_looks(s->pinball, part, &looks);
    free(looks.list);
    free(looks.range);
    printf("%s: %" PRIu64 " of %" PRIu64 " kept, %" PRIu64 " gaps, %zu instructions looked at\n",
           what, kept->insns, insns, result.gaps, looks.count);
    pinball_close(part);
    relog_again(s, dir, kept, gap);
    text_deinit(&head);
}

/* In a soak each slice has all gaps, and then the usual ones. */
static void one_case(struct study *s, const char *room, unsigned number)
{
    static const uint64_t gaps[] = {0, 0, 50, 500, RELOG_GAP};
    const bool sliced = number % 2, both = sliced && soak;
    bool failed = sliced && draw(2) && !criterion_may_fail(s, &(bool){false}, &(struct err){0});
    const uint64_t insns = trace_insns(s->trace), gap = gaps[draw(insns < 10 * RELOG_GAP ? 4 : 5)];
    struct pieces kept = sliced ? slice_pieces(s, failed) : random_pieces(insns);
    for (unsigned turn = 0; turn < 1u + both; turn++) {
        const uint64_t own = !both ? gap : turn ? RELOG_GAP : 0;
        char dir[4096];
        snprintf(what, sizeof what, "case %u, %s, gap %" PRIu64, number,
                 failed   ? "the failure's slice"
                 : sliced ? "a slice"
                          : "pieces",
                 own);
        snprintf(dir, sizeof dir, "%s/part.%u.%u", room, number, turn);
        one_gap(s, dir, &kept, own);
    }
    pieces_deinit(&kept);
}

int main(int argc, char *argv[])
{
    struct err err;
    if (argc != 5)
        return 2;
    soak = getenv("DRDEBUG_SOAK") && *getenv("DRDEBUG_SOAK");
    seed = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
    snprintf(what, sizeof what, "seed %s", argv[3]);
    struct study *s = study_open(argv[1], &(struct study_options){0}, &err);
    if (!s)
        die("open", err.msg);
    for (unsigned i = 0; i < strtoul(argv[4], NULL, 10); i++)
        one_case(s, argv[2], i);
    study_close(s);
    printf("good: %s cases\n", argv[4]);
    return 0;
}
