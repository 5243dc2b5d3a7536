/* collector.c - the streams of a traced replay become a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * The replaying process hands over two streams (debug/flow.h); here they become steps and notes.
 * They are private copies, each note well-formed; but what they say is not believed: a block that
 * does not follow from the one before it, as its last instruction has it, ends the work with an
 * error. So a trace that exists is a path through the code that was really there.
 */
#include "trace/collector.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/pcset.h"

enum { THREADS_MOST = 65535 };

struct run {
    uint32_t number; /* in positions */
    struct trace_state state;
    gaddr next; /* where it must go on; 0: not known */
};

struct collector {
    const struct collect_options *options;
    const char *path;
    struct trace_writer *writer;
    struct code *code;
    const struct code_block **block; /* by the process's numbers */
    uint32_t blocks;
    size_t block_room;
    struct run *run;
    uint32_t runs, now;
    size_t run_room;
    struct trace_chunk chunk;
    uint64_t words;  /* of the stream so far */
    uint64_t before; /* words of the streams that it goes on from */
    bool goes_on;    /* its first note is not there yet */
    uint64_t insns, steps;
    struct pcset *entry, *called, *returned, *tried, *done;
    struct pcset *target;
    struct pcset *stay;  /* of the whole recording, of which this one leaves something out */
    bool told;           /* ... of which something is known */
    uint32_t *seen_next; /* by block: what followed it last, whose transfer is noted */
    size_t seen_room;
};

static int nonsense(const struct collector *c, struct err *err, const char *what)
{
    return err_set(err, "trace: after %llu instructions: %s", (unsigned long long)c->insns, what);
}

/* ---- chunks ---- */

static int begin_chunk(struct collector *c, struct err *err)
{
    struct trace_chunk *ch = &c->chunk;
    if (!ch->step) {
        ch->step = malloc(sizeof *ch->step * TRACE_STEPS);
        ch->value = malloc(sizeof *ch->value * (TRACE_VALUES + PLAN_SLOTS));
        ch->note = malloc(sizeof *ch->note * TRACE_STEPS);
        ch->bytes = malloc(TRACE_BYTES);
    }
    if (!ch->step || !ch->value || !ch->note || !ch->bytes ||
        array_reserve(&ch->state, &ch->thread_room, c->runs + 1))
        return err_set(err, "no memory");
    for (uint32_t i = 0; i < c->runs; i++)
        ch->state[i] = c->run[i].state;
    ch->threads = c->runs;
    ch->steps = ch->values = ch->notes = ch->bytes_used = ch->insns = 0;
    return 0;
}

static int end_chunk(struct collector *c, struct err *err)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->chunk.steps; i++) { /* a cut came later than what followed it */
        c->chunk.step[i].insn_at = at;
        at += c->chunk.step[i].insns;
    }
    c->chunk.insns = at;
    c->chunk.threads = c->runs; /* those that came are there with nothing */
    if (trace_put(c->writer, &c->chunk, c->code, err))
        return -1;
    if (c->options->progress)
        c->options->progress(c->options->arg, c->insns);
    return begin_chunk(c, err);
}

static bool full(const struct collector *c)
{
    const struct trace_chunk *ch = &c->chunk;
    const uint32_t few = c->options->chunk_steps;
    return ch->steps == TRACE_STEPS || (few && ch->steps >= few) || ch->values >= TRACE_VALUES ||
           ch->notes >= TRACE_STEPS / 2 || ch->bytes_used >= TRACE_BYTES / 2;
}

/* ---- what the whole recording shows ---- */

/* Is it `mov rsp, x`? */
static bool sets_stack(const struct insn *in)
{
    struct insn_operands ops;
    insn_operands(in, &ops);
    return in->mnemonic == ZYDIS_MNEMONIC_MOV && ops.op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ops.op[0].reg.value == ZYDIS_REGISTER_RSP;
}

/* The stack was torn down right before the jump: it is a tail call. An unwinder of exceptions puts
 * the stack somewhere, pops where to go and goes there: that is a return. */
static bool leaves_frame(const struct code_block *b)
{
    struct insn_operands ops;
    if (b->insns < 2)
        return false;
    const struct insn *in = &b->insn[b->insns - 2].in;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_POP:
        return b->insns < 3 || !sets_stack(&b->insn[b->insns - 3].in);
    case ZYDIS_MNEMONIC_LEAVE:
        return true;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_LEA:
        insn_operands(in, &ops);
        return ops.op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               ops.op[0].reg.value == ZYDIS_REGISTER_RSP;
    default:
        return false;
    }
}

static void learn(struct collector *c, const struct code_block *last, const struct code_block *next)
{
    if (last->number < c->seen_room && c->seen_next[last->number] == next->number + 1)
        return;
    if (last->number >= c->seen_room) {
        const size_t had = c->seen_room;
        if (array_reserve(&c->seen_next, &c->seen_room, (size_t)last->number + 1))
            return; /* slower, not wrong */
        memset(c->seen_next + had, 0, sizeof *c->seen_next * (c->seen_room - had));
    }
    c->seen_next[last->number] = next->number + 1;
    const struct insn *in = code_last(last);
    switch (in->kind) {
    case INSN_CALL:
    case INSN_CALL_IND:
        pcset_add(c->entry, next->pc, 0);
        pcset_add(c->called, in->pc, in->pc + in->len);
        break;
    case INSN_JMP_IND:
        pcset_add(c->target, in->pc, next->pc);
        if (in->rip_relative || leaves_frame(last))
            pcset_add(c->entry, next->pc, 0);
        break;
    case INSN_RET:
        pcset_add(c->returned, next->pc, 0);
        break;
    default:
        break;
    }
}

/* ---- steps ---- */

/* Where the thread may be after the block; 0: anywhere. */
static bool follows(const struct code_block *last, gaddr pc)
{
    const struct insn *in = code_last(last);
    switch (in->kind) {
    case INSN_PLAIN:
        return pc == last->end;
    case INSN_JMP:
    case INSN_CALL:
        return pc == in->target;
    case INSN_JCC:
    case INSN_JCXZ:
        return pc == in->target || pc == last->end;
    default:
        return true;
    }
}

static int add_step(struct collector *c, const struct code_block *b, const uint64_t *values,
                    struct err *err)
{
    struct run *r = &c->run[c->now];
    const struct code_block *last = r->state.last ? code_block(c->code, r->state.last - 1) : NULL;
    if (r->next ? r->next != b->pc : last && !follows(last, b->pc))
        return err_set(err, "trace: thread %u: 0x%llx does not follow 0x%llx", r->number,
                       (unsigned long long)b->pc,
                       (unsigned long long)(r->next ? r->next : code_last(last)->pc));
    if (last && !r->next)
        learn(c, last, b);
    if (full(c) && end_chunk(c, err))
        return -1;
    trace_state_enter(&r->state, c->code, b->pc);
    r->state.last = b->number + 1;
    r->next = 0;
    struct trace_chunk *ch = &c->chunk;
    ch->step[ch->steps++] = (struct trace_step){
        .block = b->number, .value_at = ch->values, .insns = b->insns, .thread = (uint16_t)c->now};
    if (b->slots)
        memcpy(ch->value + ch->values, values, 8u * b->slots);
    ch->values += b->slots;
    c->insns += b->insns;
    c->steps++;
    return 0;
}

/* Takes words up to `end`. */
static int take_words(struct collector *c, const uint64_t *word, size_t *at, size_t end,
                      struct err *err)
{
    while (*at < end) {
        uint64_t number = word[*at];
        const struct code_block *b = number < c->blocks ? c->block[number] : NULL;
        if (!b || end - *at - 1 < b->slots)
            return nonsense(c, err, "a block that was not told of");
        if (add_step(c, b, word + *at + 1, err))
            return -1;
        *at += 1u + b->slots;
    }
    return 0;
}

/* ---- notes ---- */

static int take_block(struct collector *c, const struct flow_block *f, struct err *err)
{
    size_t room = f->note.bytes - sizeof *f;
    /* They are numbered as they come; another program begins again. */
    if (f->number > c->blocks || f->insns > PLAN_INSNS || f->insns > room)
        return nonsense(c, err, "not a block");
    if (f->number == c->blocks && array_push(&c->block, &c->blocks, &c->block_room, NULL))
        return err_set(err, "no memory");
    const uint8_t *lens = (const uint8_t *)(f + 1);
    c->block[f->number] =
        code_add(c->code, f->pc, f->insns, lens, lens + f->insns, room - f->insns, err);
    return c->block[f->number] ? 0 : -1;
}

static int take_thread(struct collector *c, const struct flow_thread *f, struct err *err)
{
    for (c->now = 0; c->now < c->runs && c->run[c->now].number != f->thread; c->now++)
        ;
    if (c->now == c->runs) {
        if (c->runs == THREADS_MOST)
            return nonsense(c, err, "too many threads");
        const struct run new = {.number = f->thread, .state = {f->note.count, 0, 0}, .next = f->pc};
        if (array_reserve(&c->chunk.state, &c->chunk.thread_room, c->runs + 1) ||
            array_push(&c->run, &c->runs, &c->run_room, new))
            return err_set(err, "no memory");
        c->chunk.state[c->now] = new.state;
        if (!f->in_gap && !c->told) /* there it is wherever it is */
            pcset_add(c->entry, f->pc, 0);
    }
    return 0;
}

/* What is left out is an instruction of its own, with bytes that no compiler makes. */
static int take_gap(struct collector *c, const struct flow_gap *g, struct err *err)
{
    static const uint8_t lens[] = {CODE_GAP_BYTES};
    const struct code_block *b = code_add(c->code, g->pc, 1, lens, code_gap, CODE_GAP_BYTES, err);
    return b ? add_step(c, b, NULL, err) : -1;
}

static void take_cut(struct collector *c, const struct flow_cut *f)
{
    struct run *r = &c->run[c->now];
    struct trace_chunk *ch = &c->chunk;
    struct trace_step *s = ch->steps ? &ch->step[ch->steps - 1] : NULL;
    if (!s || s->thread != c->now || s->insns != code_block(c->code, s->block)->insns)
        return;
    const struct code_block *b = code_block(c->code, s->block);
    for (uint16_t i = 0; i < b->insns; i++)
        if (b->insn[i].in.pc == f->pc) {
            if (b->insn[i].in.kind == INSN_SYSCALL)
                pcset_add(c->tried, f->pc, 0);
            c->insns -= (uint64_t)(b->insns - i);
            s->insns = i;
            r->next = f->pc;
            r->state.settled = 1;
            return;
        }
}

static void keep_note(struct collector *c, const struct flow_note *n)
{
    struct trace_chunk *ch = &c->chunk;
    ch->note[ch->notes++] = (struct trace_note){ch->steps, ch->bytes_used};
    struct flow_note *kept = memcpy(ch->bytes + ch->bytes_used, n, n->bytes);
    kept->at += c->before;
    ch->bytes_used += n->bytes;
}

/* The thread that runs is named again where a stream goes on. */
static int take_first(struct collector *c, const struct flow_note *n, struct err *err)
{
    c->goes_on = false;
    return n->kind == FLOW_THREAD && c->runs &&
                   c->run[c->now].number == ((const struct flow_thread *)n)->thread
               ? 0
               : nonsense(c, err, "the replay goes on elsewhere");
}

static int take_note(struct collector *c, const struct flow_note *n, struct err *err)
{
    struct trace_chunk *ch = &c->chunk;
    if (c->goes_on)
        return take_first(c, n, err);
    if (n->kind == FLOW_BLOCK)
        return take_block(c, (const struct flow_block *)n, err);
    if (n->kind != FLOW_THREAD && !c->runs)
        return nonsense(c, err, "no thread");
    if (n->kind == FLOW_GAP)
        return take_gap(c, (const struct flow_gap *)n, err);
    if (n->kind == FLOW_CUT)
        take_cut(c, (const struct flow_cut *)n);
    /* Notes stay with the step they belong to. */
    if (ch->notes == TRACE_STEPS || n->bytes > TRACE_BYTES - ch->bytes_used)
        return nonsense(c, err, "too many notes");
    if (n->kind == FLOW_THREAD && take_thread(c, (const struct flow_thread *)n, err))
        return -1;
    struct run *r = &c->run[c->now];
    trace_state_note(&r->state, n);
    if (n->kind == FLOW_CALL) {
        r->next = ((const struct flow_call *)n)->next;
        pcset_add(c->done,
                  r->state.last ? code_last(code_block(c->code, r->state.last - 1))->pc : 0, 0);
    } else if (n->kind == FLOW_SIGNAL) {
        r->next = ((const struct flow_signal *)n)->handler;
        pcset_add(c->entry, r->next, 0);
    } else if (n->kind == FLOW_DID) {
        r->next = ((const struct flow_did *)n)->pc;
    }
    keep_note(c, n);
    return 0;
}

static void deinit(struct collector *c)
{
    trace_abandon(c->writer);
    code_free(c->code);
    trace_chunk_deinit(&c->chunk);
    free(c->block);
    free(c->run);
    free(c->seen_next);
    pcset_free(c->entry);
    pcset_free(c->called);
    pcset_free(c->returned);
    pcset_free(c->tried);
    pcset_free(c->done);
    pcset_free(c->target);
    pcset_free(c->stay);
}

static int init(struct collector *c, const char *path, const struct collect_options *o,
                struct err *err)
{
    *c = (struct collector){.options = o, .path = path};
    c->code = code_new();
    c->entry = pcset_new();
    c->called = pcset_new();
    c->returned = pcset_new();
    c->tried = pcset_new();
    c->done = pcset_new();
    c->target = pcset_new();
    c->stay = pcset_new();
    if (!c->code || !c->entry || !c->called || !c->returned || !c->tried || !c->done ||
        !c->target || !c->stay)
        return err_set(err, "no memory");
    c->writer = trace_create(path, o->unnamed ? o->fd : -1, err);
    return !c->writer || begin_chunk(c, err) ? -1 : 0;
}

/* Another program has been executed: the trace is of that. */
static bool begins_anew(const struct collector *c, const void *notes, size_t bytes)
{
    const struct flow_note *n = notes;
    return c->words && bytes >= sizeof *n && n->kind == FLOW_THREAD && !n->at;
}

struct collector *collector_new(const char *path, const struct collect_options *o, struct err *err)
{
    struct collector *c = malloc(sizeof *c);
    if (!c) {
        err_set(err, "no memory");
        return NULL;
    }
    if (!init(c, path, o, err))
        return c;
    collector_free(c);
    return NULL;
}

void collector_free(struct collector *c)
{
    if (c)
        deinit(c);
    free(c);
}

static int restart(struct collector *c, struct err *err)
{
    const struct collect_options *o = c->options;
    const char *path = c->path;
    deinit(c);
    return init(c, path, o, err);
}

int collector_take(void *arg, const void *words, size_t words_bytes, const void *notes,
                   size_t notes_bytes, struct err *err)
{
    struct collector *c = arg;
    size_t at = 0, total = words_bytes / 8;
    if (begins_anew(c, notes, notes_bytes) && restart(c, err))
        return -1;
    for (size_t i = 0; i < notes_bytes;) {
        const struct flow_note *n = (const struct flow_note *)((const uint8_t *)notes + i);
        if (n->at < c->words + at || n->at > c->words + total)
            return nonsense(c, err, "a note out of order");
        if (take_words(c, words, &at, n->at - c->words, err) || take_note(c, n, err))
            return -1;
        i += n->bytes;
    }
    if (take_words(c, words, &at, total, err))
        return -1;
    c->words += total;
    return 0;
}

void collector_go_on(struct collector *c)
{
    c->before += c->words;
    c->words = 0;
    c->blocks = 0;
    c->goes_on = true;
}

/* ---- all of it ---- */

static bool any_failed(const struct collector *c)
{
    const struct pcset *const set[] = {c->entry, c->called, c->returned, c->tried,
                                       c->done,  c->target, c->stay};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (pcset_failed(set[i]))
            return true;
    return false;
}

/* Calls that were made and whose next instruction no return ever went to. */
static struct pcset *stays(struct collector *c)
{
    struct pcset *out = pcset_new();
    gaddr key, value;
    for (size_t i = 0; out && c->told && pcset_next(c->stay, &i, &key, &value);)
        pcset_add(out, key, 0);
    if (c->told)
        return out;
    for (size_t i = 0; out && pcset_next(c->called, &i, &key, &value);)
        if (!pcset_has(c->returned, value))
            pcset_add(out, key, 0);
    for (size_t i = 0; out && pcset_next(c->tried, &i, &key, &value);)
        if (!pcset_has(c->done, key))
            pcset_add(out, key, 0);
    return out;
}

void collector_way(struct collector *c, enum trace_way kind, gaddr pc, gaddr to)
{
    c->told = true;
    if (kind == TRACE_ENTRY)
        pcset_add(c->entry, pc, 0);
    else if (kind == TRACE_TARGET)
        pcset_add(c->target, pc, to);
    else if (kind == TRACE_STAYS)
        pcset_add(c->stay, pc, 0);
}

int collector_finish(struct collector *c, const struct trace_map *map, size_t maps,
                     const char *about, struct err *err)
{
    uint32_t *thread = malloc(sizeof *thread * (c->runs + 1));
    struct pcset *stay = stays(c);
    int bad = -1;
    if (!thread || !stay) {
        err_set(err, "no memory");
        goto done;
    }
    for (uint32_t i = 0; i < c->runs; i++)
        thread[i] = c->run[i].number;
    struct trace_rest rest = {.code = c->code,
                              .thread = thread,
                              .threads = c->runs,
                              .map = map,
                              .maps = maps,
                              .about = about};
    rest.entry = pcset_keys(c->entry, &rest.entries);
    rest.stay = pcset_keys(stay, &rest.stays);
    rest.target = pcset_pairs(c->target, &rest.targets);
    if (!rest.entry || !rest.stay || !rest.target || any_failed(c) || pcset_failed(stay)) {
        err_set(err, "no memory");
        goto done;
    }
    bad = end_chunk(c, err) || trace_finish(c->writer, &rest, err) ? -1 : 0;
    if (!bad)
        c->writer = NULL;
done:
    pcset_free(stay);
    free(thread);
    return bad;
}

void collector_result(const struct collector *c, struct collect_result *out)
{
    out->insns = c->insns;
    out->steps = c->steps;
    out->threads = c->runs;
    out->blocks = code_count(c->code);
}
