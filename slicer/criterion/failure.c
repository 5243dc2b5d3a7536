/* failure.c - the criterion that a recording's failure suggests.
 *
 * SPDX-License-Identifier: MIT
 *
 * A fault: what the address was made from, or the divisor, of the instruction that was not
 * executed. A signal that the program raised (abort, assert): the branch that decided for the
 * innermost call of the user's own code that did not come back. From the allocator: the pointer it
 * was given, and the branch in it that decided to give up.
 */
#define _GNU_SOURCE /* sigabbrev_np */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/ends.h"
#include "slicer/criterion/criterion.h"
#include "trace/frames.h"

static gaddr pc_of(const struct study_insn *in)
{
    return in->block->insn[in->index].in.pc;
}

/* ---- faults ---- */

static int want_span(struct criterion *out, const struct place *p, unsigned first, unsigned count,
                     struct err *err)
{
    return criterion_want(out,
                          (struct slice_want){.kind = SLICE_REGISTER,
                                              .at = p->at,
                                              .thread = p->thread,
                                              .addr = first,
                                              .bytes = count},
                          err);
}

static void add_what(struct criterion *out, const char *text)
{
    size_t n = strlen(out->what);
    snprintf(out->what + n, sizeof out->what - n, "%s%s", n ? ", " : "", text);
}

static int want_address(struct study *s, const struct place_end *e, struct criterion *out,
                        struct err *err)
{
    uint64_t values[PLAN_SLOTS] = {0};
    const struct defuse *d =
        code_defuse(trace_code(s->trace), e->block, e->insns, DEFUSE_STACK_POINTER, values);
    for (unsigned i = 0; i < d->uses; i++) {
        char name[32] = "%";
        if (d->use[i].kind != DEFUSE_ADDRESS)
            continue;
        loc_name(d->use[i], name + 1, sizeof name - 1);
        add_what(out, name);
        if (want_span(out, &e->place, d->use[i].first, d->use[i].count, err))
            return -1;
    }
    return 0;
}

/* The value of a register at the fault. */
static uint64_t value_of(const struct program_registers *r, ZydisRegister reg)
{
    int n = insn_gpr_number(reg);
    return n < 0 ? 0 : r->gpr[n];
}

static int want_divisor(struct study *s, const struct place_end *e, struct criterion *out,
                        struct err *err)
{
    const struct insn *in = &e->block->insn[e->insns].in;
    struct insn_operands ops;
    insn_operands(in, &ops);
    const ZydisDecodedOperand *op = &ops.op[0];
    unsigned bytes = op->size / 8u;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && insn_gpr_number(op->reg.value) >= 0) {
        unsigned first = loc_gpr((unsigned)insn_gpr_number(op->reg.value));
        snprintf(out->what, sizeof out->what, "divisor %%%s",
                 ZydisRegisterGetString(op->reg.value));
        return want_span(out, &e->place, first, bytes, err);
    }
    if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
        return want_address(s, e, out, err);
    gaddr addr = in->target;
    if (!in->rip_relative) {
        struct program_registers *r = malloc(sizeof *r);
        if (!r)
            return err_set(err, "no memory");
        if (study_registers(s, &e->place.position, r, err)) {
            free(r);
            return -1;
        }
        addr = value_of(r, op->mem.base) + value_of(r, op->mem.index) * op->mem.scale +
               (uint64_t)op->mem.disp.value;
        free(r);
    }
    char name[200];
    struct source_frame frame = {.cfa = e->place.cfa};
    if (!source_variable(s->source, in->pc, &frame, addr, bytes, name, sizeof name))
        snprintf(name, sizeof name, "0x%llx %u", (unsigned long long)addr, bytes);
    snprintf(out->what, sizeof out->what, "divisor %.200s", name);
    return criterion_want(out,
                          (struct slice_want){.kind = SLICE_MEMORY,
                                              .at = e->place.at,
                                              .thread = e->place.thread,
                                              .addr = addr,
                                              .bytes = bytes},
                          err);
}

/* Is there an instruction that raised the signal? */
static bool is_fault(const struct place_end *e, int sig)
{
    if (sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE && sig != SIGILL && sig != SIGTRAP)
        return false;
    const struct insn *last = &e->block->insn[e->block->insns - 1].in;
    return e->insns < e->block->insns ? e->block->insn[e->insns].in.kind != INSN_SYSCALL
                                      : last->kind != INSN_SYSCALL;
}

static int want_uses(struct criterion *out, const struct place_end *e, uint64_t at, struct err *err)
{
    return criterion_want(
        out, (struct slice_want){.kind = SLICE_USES, .at = at, .thread = e->place.thread}, err);
}

static int fault(struct study *s, const struct place_end *e, int sig, struct criterion *out,
                 struct err *err)
{
    if (e->insns == e->block->insns) { /* a transfer to where no code is */
        snprintf(out->what, sizeof out->what, "where it went");
        return want_uses(out, e, e->first + e->insns - 1, err);
    }
    int bad = sig == SIGFPE ? want_divisor(s, e, out, err) : want_address(s, e, out, err);
    if (bad || out->wants)
        return bad;
    /* No register has a say: why did it come here? */
    if (e->executed == UINT64_MAX)
        return err_set(err, "the trace begins at the fault: nothing is before it");
    snprintf(out->what, sizeof out->what, "what led here");
    return want_uses(out, e, e->executed, err);
}

/* ---- signals that the program raised ---- */

/* The branch that decided that instruction `at` was executed; UINT64_MAX: none. */
static int deciding_branch(struct study *s, const struct place_end *e, uint64_t at,
                           uint64_t *branch, struct err *err)
{
    struct slice_want want = {.kind = SLICE_USES, .at = at, .thread = e->place.thread};
    struct slice_options o = {.edges = SLICE_CONTROL};
    struct study_insn in;
    struct slice *slice = slice_backward(s->index, &want, 1, &o, err);
    if (!slice)
        return -1;
    int bad = 0;
    for (*branch = at; (*branch = slice_previous(slice, *branch)) != UINT64_MAX;) {
        bad = study_insn(s, *branch, &in, err);
        uint8_t kind = bad ? 0 : in.block->insn[in.index].in.kind;
        if (bad || kind == INSN_JCC || kind == INSN_JCXZ || kind == INSN_JMP_IND)
            break;
    }
    slice_free(slice);
    return bad;
}

static bool is_allocator(struct study *s, gaddr entry, bool *pointer)
{
    static const struct {
        const char *name;
        bool pointer, begins; /* takes one; also other functions whose names begin so */
    } list[] = {
        {"free", true, false},
        {"cfree", true, false},
        {"__libc_free", true, false},
        {"realloc", true, false},
        {"__libc_realloc", true, false},
        {"malloc", false, false},
        {"__libc_malloc", false, false},
        {"calloc", false, false},
        {"__libc_calloc", false, false},
        {"memalign", false, false},
        {"__libc_memalign", false, false},
        {"aligned_alloc", false, false},
        {"posix_memalign", false, false},
        {"valloc", false, false},
        {"pvalloc", false, false},
        /* C++'s operators, of symbols and of debug information */
        {"_Znw", false, true},
        {"_Zna", false, true},
        {"_Zdl", true, true},
        {"_Zda", true, true},
        {"operator new", false, true},
        {"operator delete", true, true},
    };
    struct source_line l;
    source_line(s->source, entry, &l);
    for (size_t i = 0; l.outer && i < sizeof list / sizeof *list; i++) {
        size_t n = strlen(list[i].name);
        if (strncmp(l.outer, list[i].name, n) != 0 || (l.outer[n] && !list[i].begins))
            continue;
        *pointer = list[i].pointer;
        return true;
    }
    return false;
}

/* The outermost call of the allocator from call number `from` inwards, which need not be the user's
 * own (strdup calls it, too), and the innermost: an operator calls malloc. */
static bool find_allocator(struct study *s, const struct place_end *e, size_t from, size_t *outer,
                           size_t *inner, bool *pointer)
{
    bool any = false, takes = false;
    for (size_t i = from + 1; i-- > 0;) {
        if (e->call[i].maker == FRAME_NO_MAKER || !is_allocator(s, e->call[i].entry, &takes))
            continue;
        *inner = i;
        if (!any) {
            *outer = i;
            *pointer = takes;
        }
        any = true;
    }
    return any;
}

/* Wants the branch that decided for call number i. */
static int want_branch(struct study *s, const struct place_end *e, size_t i, struct criterion *out,
                       struct err *err)
{
    uint64_t branch;
    if (deciding_branch(s, e, e->call[i].maker, &branch, err))
        return -1;
    return want_uses(out, e, branch == UINT64_MAX ? e->call[i].maker : branch, err);
}

static int raised(struct study *s, const struct place_end *e, struct criterion *out,
                  struct err *err)
{
    size_t own = e->own, outer = 0, inner = 0;
    size_t from = own < e->calls ? own : e->calls - 1;
    struct study_insn in;
    bool pointer = false;
    if (own == e->calls) {
        size_t any = 0;
        while (any < e->calls && e->call[any].maker == FRAME_NO_MAKER)
            any++;
        if (any == e->calls)
            return err_set(err, "no call led to the end in this trace");
        own = any;
    }
    if (study_insn(s, e->call[own].maker, &in, err))
        return -1;
    out->pc = pc_of(&in);
    snprintf(out->what, sizeof out->what, "the branch that led here");
    if (!find_allocator(s, e, from, &outer, &inner, &pointer))
        return want_branch(s, e, own, out, err);
    /* The allocator's own calls are further in; the one it was left by decided. */
    snprintf(out->what, sizeof out->what,
             pointer ? "the pointer, and why the allocator gave up" : "why the allocator gave up");
    if (pointer) {
        struct place p = e->place;
        p.at = e->call[outer].maker + 1;
        if (want_span(out, &p, loc_gpr(RDI), LOC_GPR_BYTES, err))
            return -1;
    }
    for (size_t i = outer; i-- > 0 && i + 3 > inner;)
        if (e->call[i].maker != FRAME_NO_MAKER && want_branch(s, e, i, out, err))
            return -1;
    return 0;
}

/* ---- all of it ---- */

static int no_failure(uint32_t reason, int status, struct err *err)
{
    static const char other[] = "say what the slice is of: `VARIABLE at FILE:LINE`, `uses of "
                                "FILE:LINE`, or `VARIABLE at end`";
    if (reason == END_EXIT && status & 0xff)
        return err_set(err,
                       "the program ended by itself, with status %d, not by a fault or abort; %s",
                       status & 0xff, other);
    if (reason == END_EXIT)
        return err_set(err, "the program did not fail; %s", other);
    return err_set(err, "the recording does not end with a fault, an abort or a deadlock; %s",
                   other);
}

/* Did something from outside end it, which is how a program that hangs ends? */
static bool was_ended(uint32_t reason, int status)
{
    const struct ends_row *row = ends_row(reason);
    return (row && row->outside) ||
           (reason == END_SIGNAL &&
            (status == SIGTERM || status == SIGINT || status == SIGALRM || status == SIGHUP ||
             status == SIGQUIT || status == SIGKILL || status == SIGXCPU || status == SIGVTALRM ||
             status == SIGPROF || status == SIGUSR1 || status == SIGUSR2));
}

static void note_signal(struct criterion *out, uint32_t reason, int status)
{
    const char *name = reason == END_SIGNAL ? sigabbrev_np(status) : NULL;
    if (reason == END_SIGNAL)
        snprintf(out->note, sizeof out->note, "SIG%s", name ? name : "?");
}

int criterion_failure(struct study *s, const struct criterion_options *o, struct criterion *out,
                      struct err *err)
{
    struct position at;
    struct place_end e;
    int status;
    uint32_t reason = study_end(s, &status, &at);
    (void)o;
    if (was_ended(reason, status)) {
        if (criterion_deadlock(s, out, err))
            return -1;
        note_signal(out, reason, status);
        if (out->wants)
            return 0;
    }
    if (reason != END_SIGNAL)
        return no_failure(reason, status, err);
    if (place_end(s, at.thread, &e, err))
        return -1;
    out->thread = e.place.thread;
    out->position = e.place.position;
    out->pc = e.place.line_pc;
    int bad = is_fault(&e, status) ? fault(s, &e, status, out, err) : raised(s, &e, out, err);
    note_signal(out, reason, status);
    place_end_deinit(&e);
    return bad ? -1 : 0;
}
