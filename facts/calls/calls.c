/* calls.c - every execution of the functions that a name means.
 *
 * SPDX-License-Identifier: MIT
 *
 * An execution is told when it and all that began before it are over: until then it waits.
 */
#include "facts/calls/calls.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"

/* Where an instance of an inlined function begins. */
struct site {
    uint32_t block;
    uint16_t insn;
    bool inside;       /* the instruction before it in its block is the instance's */
    uint32_t function; /* number in the list */
    /* What was said of the block before, plus one. */
    uint32_t asked;
    bool was_inside;
};

struct waiting {
    struct call call;
    bool over;
};

struct finder {
    struct study *study;
    const struct calls_options *o;
    struct functions *functions;
    struct follow follow;
    struct waiting *wait; /* the first `done` of them were told */
    size_t waits, wait_room, done;
    uint64_t gone;     /* before these */
    struct site *site; /* by block and instruction */
    size_t sites, site_room;
};

static void deinit(struct finder *f)
{
    follow_deinit(&f->follow);
    free(f->wait);
    free(f->site);
}

/* ---- which blocks ---- */

static int by_entry(const void *key, const void *element)
{
    gaddr pc = *(const gaddr *)key;
    const struct functions_one *one = element;
    return pc < one->entry ? -1 : pc > one->entry;
}

/* The first one of those that begin at pc; NULL: none does. */
static const struct functions_one *at_pc(const struct functions *l, gaddr pc)
{
    const struct functions_one *one =
        l->count ? bsearch(&pc, l->at, l->count, sizeof *l->at, by_entry) : NULL;
    while (one && one > l->at && one[-1].entry == pc)
        one--;
    return one;
}

/* ---- stubs ---- */

/* Functions that only stubs know by name: a pass shows where these lead, and then all executions
 * can be found, those too that did not come that way. A function that was never executed is not
 * where a stub led: libraries have old versions of a name beside the one that is bound. */
static bool is_unknown(const struct finder *f, const struct functions_one *stub)
{
    const struct functions *l = f->functions;
    const struct code *code = trace_code(f->study->trace);
    for (uint32_t i = 0; i < code_count(code); i++) {
        uint32_t function = f->follow.block[i].function;
        if (function != FOLLOW_NO_FUNCTION && l->at[function].name == stub->name)
            return false;
    }
    return true;
}

static int learn(void *arg, struct follow *w, uint32_t thread, struct follow_call *c,
                 struct err *err)
{
    uint32_t *function = arg; /* by block */
    (void)thread, (void)err;
    function[w->step->block] = c->function;
    return 0;
}

/* In the pattern's modules, and in none with a stub that is wanted: these jump to themselves to be
 * bound. */
static bool may_be_target(const struct finder *f, gaddr pc)
{
    struct source_line at;
    if (!functions_in_module(f->study->source, f->o->pattern, pc))
        return false;
    source_line(f->study->source, pc, &at);
    for (size_t i = 0; i < f->functions->count; i++)
        if (f->functions->at[i].kind == FUNCTIONS_STUB && f->functions->at[i].module == at.module)
            return false;
    return true;
}

static int follow_stubs(struct finder *f, struct err *err)
{
    struct follow w;
    struct code *code = trace_code(f->study->trace);
    uint32_t *function = calloc(code_count(code) + 1u, sizeof *function);
    const struct follow_visitor v = {.arg = function, .begin = learn};
    if (!function)
        return err_set(err, "no memory");
    int end = follow_init(&w, f->study->trace, err);
    for (uint32_t i = 0; !end && i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        const struct functions_one *one = at_pc(f->functions, b->pc);
        function[i] = FOLLOW_NO_FUNCTION;
        if (one && one->kind == FUNCTIONS_STUB) {
            w.block[i].function = (uint32_t)(one - f->functions->at);
            w.block[i].flags |= FOLLOW_STUB;
        } else if (b->entry && !one && may_be_target(f, b->pc)) {
            w.block[i].flags |= FOLLOW_TARGET;
        }
    }
    if (!end) {
        w.functions = (uint32_t)f->functions->count;
        end = follow_study(&w, f->study, &v, err);
        follow_deinit(&w);
    }
    for (uint32_t i = 0; !end && i < code_count(code); i++)
        if (function[i] != FOLLOW_NO_FUNCTION) {
            f->follow.block[i].function = function[i];
            f->follow.block[i].flags |= FOLLOW_START;
        }
    free(function);
    return end;
}

/* ---- inlined ones ---- */

static int add_sites(struct finder *f, const struct code_block *b, struct err *err)
{
    const struct functions *l = f->functions;
    for (uint16_t i = 0; i < b->insns; i++) {
        const gaddr pc = b->insn[i].in.pc;
        const struct functions_one *one = at_pc(l, pc);
        for (; one && one < l->at + l->count && one->entry == pc; one++) {
            if (one->kind != FUNCTIONS_INLINED)
                continue;
            bool inside = i && functions_within(f->study->source, one, b->insn[i - 1].in.pc);
            struct site new = {.block = b->number,
                               .insn = i,
                               .inside = inside,
                               .function = (uint32_t)(one - l->at)};
            if (array_push(&f->site, &f->sites, &f->site_room, new))
                return err_set(err, "no memory");
            f->follow.block[b->number].flags |= FOLLOW_WITHIN;
        }
    }
    return 0;
}

/* ---- all of them ---- */

static int plan(struct finder *f, struct err *err)
{
    const struct functions *l = f->functions;
    struct code *code = trace_code(f->study->trace);
    bool inlined = false;
    for (size_t i = 0; i < l->count; i++)
        inlined |= l->at[i].kind == FUNCTIONS_INLINED;
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        const struct functions_one *one = at_pc(l, b->pc);
        if (one && one->kind == FUNCTIONS_WHOLE) {
            f->follow.block[i].function = (uint32_t)(one - l->at);
            f->follow.block[i].flags |= FOLLOW_START;
        }
        if (inlined && add_sites(f, b, err))
            return -1;
    }
    f->follow.functions = (uint32_t)l->count;
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct functions_one *one = at_pc(l, code_block(code, i)->pc);
        if (one && one->kind == FUNCTIONS_STUB && is_unknown(f, one))
            return follow_stubs(f, err);
    }
    return 0;
}

/* ---- the pass ---- */

static struct waiting *wait_for(struct finder *f, const struct call *call, bool over,
                                struct err *err)
{
    struct waiting new = {*call, over};
    if (!array_push(&f->wait, &f->waits, &f->wait_room, new))
        return &f->wait[f->waits - 1];
    err_set(err, "no memory");
    return NULL;
}

static struct position position_of(const struct finder *f, struct follow *w, uint32_t thread,
                                   gaddr pc)
{
    if (f->o->countless)
        return (struct position){.thread = trace_thread(w->trace, thread), .pc = pc};
    struct position at = follow_position(w);
    at.pc = pc;
    return at;
}

static int begin(void *arg, struct follow *w, uint32_t thread, struct follow_call *c,
                 struct err *err)
{
    struct finder *f = arg;
    struct call call = {.at = position_of(f, w, thread, c->entry),
                        .first = c->first,
                        .end = UINT64_MAX,
                        .from = c->from,
                        .function = &f->functions->at[c->function],
                        .depth = c->depth,
                        .again = c->again,
                        .how = c->how,
                        .ended = FOLLOW_RUNNING};
    c->own = f->gone + f->waits;
    return wait_for(f, &call, false, err) ? 0 : -1;
}

/* Tells what need not wait any longer. */
static int tell(struct finder *f, struct err *err)
{
    int end = 0;
    for (; !end && f->done < f->waits && f->wait[f->done].over; f->done++)
        end = f->o->fn(f->o->arg, &f->wait[f->done].call, err);
    if (2 * f->done >= f->waits) {
        f->gone += f->done;
        f->waits -= f->done;
        memmove(f->wait, f->wait + f->done, f->waits * sizeof *f->wait);
        f->done = 0;
    }
    return end;
}

static int over(void *arg, struct follow *w, uint32_t thread, struct follow_call *c,
                enum follow_end how, struct err *err)
{
    struct finder *f = arg;
    struct waiting *wait = &f->wait[c->own - f->gone];
    const struct follow_thread *t = &w->thread[thread];
    wait->over = true;
    wait->call.ended = (uint8_t)how;
    wait->call.inclusive = follow_inclusive(t, c);
    wait->call.self = follow_self(t, c);
    if (how != FOLLOW_RUNNING) {
        if (!f->o->countless)
            wait->call.last = follow_last(w, thread);
        wait->call.end = t->last_insn;
    }
    return wait == f->wait + f->done ? tell(f, err) : 0;
}

/* Was the block that the thread executed before this one, in the same execution, left inside? */
static bool came_from_inside(struct finder *f, struct site *site, uint32_t before)
{
    if (!before || site->asked == before)
        return before && site->was_inside;
    const struct code_block *b = code_block(trace_code(f->study->trace), before - 1);
    site->asked = before;
    site->was_inside =
        functions_within(f->study->source, &f->functions->at[site->function], code_last(b)->pc);
    return site->was_inside;
}

static int within(void *arg, struct follow *w, const struct trace_step *step, struct err *err)
{
    struct finder *f = arg;
    for (struct site *s = &f->site[search_below(f->site, f->sites, block, step->block)];
         s < f->site + f->sites && s->block == step->block; s++) {
        if (s->insn >= step->insns ||
            (s->insn ? s->inside : came_from_inside(f, s, w->thread[step->thread].block)))
            continue;
        const struct functions_one *one = &f->functions->at[s->function];
        struct follow_thread *t = &w->thread[step->thread];
        struct call call = {.at = position_of(f, w, step->thread, one->entry),
                            .first = w->chunk.first_insn + step->insn_at + s->insn,
                            .end = UINT64_MAX,
                            .function = one,
                            .depth = t->calls ? t->call[t->calls - 1].depth + 1 : 0,
                            .how = FOLLOW_INLINED,
                            .ended = FOLLOW_RETURNED};
        if (!wait_for(f, &call, true, err))
            return -1;
    }
    return f->done < f->waits && f->wait[f->done].over ? tell(f, err) : 0;
}

int calls_find(struct study *study, const struct calls_options *o, struct functions *functions,
               struct err *err)
{
    struct finder f = {.study = study, .o = o, .functions = functions};
    const struct follow_visitor v = {
        .arg = &f, .begin = begin, .end = over, .within = within, .watch = o->watch};
    int end = functions_find(study->source, o->pattern, functions, err);
    if (!end)
        end = follow_init(&f.follow, study->trace, err);
    if (!end)
        end = plan(&f, err);
    if (!end)
        end = follow_study(&f.follow, study, &v, err);
    deinit(&f);
    return end;
}

/* ---- words ---- */

const char *calls_how(const struct call *call)
{
    static const char *const word[] = {[FOLLOW_CALLED] = "",
                                       [FOLLOW_JUMPED] = "tail",
                                       [FOLLOW_SIGNAL] = "signal",
                                       [FOLLOW_THREAD] = "thread",
                                       [FOLLOW_INLINED] = "inlined"};
    return word[call->how];
}

const char *calls_ended(const struct call *call)
{
    static const char *const word[] = {[FOLLOW_RETURNED] = "",
                                       [FOLLOW_TAIL] = "tail",
                                       [FOLLOW_UNWOUND] = "unwound",
                                       [FOLLOW_RUNNING] = "running"};
    return word[call->ended];
}
