/* failure.c - the criterion that a recording's failure suggests.
 *
 * SPDX-License-Identifier: MIT
 *
 * A fault: fault.h. A signal that the program raised (abort, assert): the branch that decided for
 * the innermost call of the user's own code that did not come back. From the allocator: the pointer
 * it was given, and the branch in it that decided to give up.
 */
#define _GNU_SOURCE /* sigabbrev_np */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/ends.h"
#include "slicer/criterion/failure.h"
#include "slicer/criterion/fault.h"
#include "trace/frames.h"

static gaddr pc_of(const struct study_insn *in)
{
    return in->block->insn[in->index].in.pc;
}

/* ---- signals that the program raised ---- */

/* The branch that decided that instruction `at` was executed; UINT64_MAX: none. */
static int deciding_branch(struct study *s, uint32_t thread, uint64_t at, uint64_t *branch,
                           struct err *err)
{
    struct slice_want want = {.kind = SLICE_USES, .at = at, .thread = thread};
    struct slice_options o = {.edges = SLICE_CONTROL};
    struct study_insn in;
    struct slice_figures figures = {.from = 0};
    struct slice *slice = slice_backward(s->index, &want, 1, &o, err);
    if (!slice)
        return -1;
    int bad = 0;
    slice_figures(slice, &figures);
    for (*branch = at; (*branch = slice_previous(slice, *branch)) != UINT64_MAX;) {
        bad = study_insn(s, *branch, &in, err);
        uint8_t kind = bad ? 0 : in.block->insn[in.index].in.kind;
        if (bad || kind == INSN_JCC || kind == INSN_JCXZ || kind == INSN_JMP_IND)
            break;
    }
    slice_free(slice);
    if (bad || *branch != UINT64_MAX || !figures.from || figures.stopped)
        return bad;
    /* It is before what was looked at. */
    return trace_index_reach(s->index, 0, err) ? -1 : deciding_branch(s, thread, at, branch, err);
}

bool failure_is_allocator(struct study *s, gaddr entry, bool *pointer)
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
        if (e->call[i].maker == FRAME_NO_MAKER ||
            !failure_is_allocator(s, e->call[i].entry, &takes))
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

int failure_branch(struct study *s, uint32_t thread, uint64_t at, struct criterion *out,
                   struct err *err)
{
    struct slice_want want = {.kind = SLICE_USES, .at = at, .thread = thread};
    uint64_t branch;
    if (deciding_branch(s, thread, at, &branch, err))
        return -1;
    want.at = branch == UINT64_MAX ? at : branch;
    return criterion_want(out, want, err);
}

/* Wants the branch that decided for call number i. */
static int want_branch(struct study *s, const struct place_end *e, size_t i, struct criterion *out,
                       struct err *err)
{
    return failure_branch(s, e->place.thread, e->call[i].maker, out, err);
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
        if (criterion_want_span(out, &p, loc_gpr(RDI), LOC_GPR_BYTES, err))
            return -1;
    }
    for (size_t i = outer; i-- > 0 && i + 3 > inner;)
        if (e->call[i].maker != FRAME_NO_MAKER && want_branch(s, e, i, out, err))
            return -1;
    return 0;
}

/* ---- all of it ---- */

static int no_failure(uint32_t reason, struct err *err)
{
    static const char other[] =
        "say what the slice is of: `VARIABLE at FILE:LINE`, `uses of FILE:LINE`, `VARIABLE at "
        "end`, or with `--of-output PATTERN` a line that it wrote";
    if (reason == END_EXIT)
        return err_set(err, "the program did not fail; %s", other);
    return err_set(err, "the recording does not end with a fault, an abort or a deadlock; %s",
                   other);
}

int criterion_may_fail(struct study *s, bool *message, struct err *err)
{
    struct position at;
    int status;
    uint32_t reason = study_end(s, &status, &at);
    *message = reason == END_EXIT && status & 0xff;
    return reason == END_EXIT && !*message ? no_failure(reason, err) : 0;
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
    if (was_ended(reason, status)) {
        if (criterion_deadlock(s, out, err))
            return -1;
        note_signal(out, reason, status);
        if (out->wants)
            return 0;
    }
    bool exits = reason == END_EXIT && status & 0xff;
    if (reason != END_SIGNAL && !exits)
        return no_failure(reason, err);
    if (place_end(s, at.thread, &e, err))
        return -1;
    out->thread = e.place.thread;
    out->position = e.place.position;
    out->pc = e.place.line_pc;
    int bad = failure_reported(s, &e, out, err);
    if (!bad && !out->wants)
        bad = exits                  ? failure_exit(s, &e, o->message, out, err)
              : fault_is(&e, status) ? fault_want(s, &e, status, out, err)
                                     : raised(s, &e, out, err);
    note_signal(out, reason, status);
    if (exits)
        snprintf(out->note, sizeof out->note, "exit status %d", status & 0xff);
    place_end_deinit(&e);
    return bad ? -1 : 0;
}
