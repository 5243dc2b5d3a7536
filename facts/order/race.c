/* race.c - dependences across threads that nothing orders. SPDX-License-Identifier: MIT */
#include "facts/order/race.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "facts/order/parts.h"
#include "source/atomic.h"

/* How an instruction accesses memory, by address of the instruction. */
struct form {
    gaddr pc;
    uint8_t load, store; /* bytes of a plain move; 0: it is none, or not always */
    bool scalar;         /* of a general register's size, more than a byte, and no string's */
};

/* What was found about a dependence that nothing orders: loops have the same ones again and again.
 */
struct verdict {
    gaddr on_pc, node_pc, on_cfa, node_cfa;
    uint64_t addr, bytes;
    bool overwrites;
    enum race race;
};

enum { VERDICTS = 1024 };

struct order {
    struct verdict verdict[VERDICTS];
    struct sync sync;
    struct clocks *clocks;
    struct form *form; /* by pc */
    size_t forms;
};

/* ---- plain moves ---- */

static bool is_move(const struct insn *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVD:
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_VMOVD:
    case ZYDIS_MNEMONIC_VMOVQ:
    case ZYDIS_MNEMONIC_VMOVSS:
    case ZYDIS_MNEMONIC_VMOVSD:
        return true;
    case ZYDIS_MNEMONIC_MOVSD: /* also the name of a string instruction */
        return in->modrm_at != 0;
    default:
        return false;
    }
}

static struct form form_of(const struct code_block *b, const struct code_insn *ci)
{
    struct form f = {.pc = ci->in.pc};
    const struct plan_access *a = &b->access[ci->access_at];
    uint16_t bytes = ci->accesses == 1 && is_move(&ci->in) ? a->mem.bytes : 0;
    f.scalar = ci->in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && ci->accesses == 1 &&
               a->mem.shape == ACCESS_PLAIN && a->mem.bytes > 1 && a->mem.bytes <= 8;
    if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
        f.load = a->mem.read ? (uint8_t)bytes : 0;
        f.store = a->mem.write ? (uint8_t)bytes : 0;
    }
    return f;
}

static int by_pc(const void *a, const void *b)
{
    const struct form *x = a, *y = b;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

/* Instructions with memory operands; where code changed, what all of them have in common. */
static int list_forms(struct order *f, struct code *code, struct err *err)
{
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < code_count(code); i++)
        count += code_block(code, i)->insns;
    f->form = malloc(sizeof *f->form * (count + 1));
    if (!f->form)
        return err_set(err, "no memory");
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        for (unsigned k = 0; k < b->insns; k++)
            if (b->insn[k].accesses)
                f->form[f->forms++] = form_of(b, &b->insn[k]);
    }
    qsort(f->form, f->forms, sizeof *f->form, by_pc);
    for (size_t i = 0; i < f->forms; i++) {
        struct form *last = kept ? &f->form[kept - 1] : NULL;
        if (!last || last->pc != f->form[i].pc) {
            f->form[kept++] = f->form[i];
            continue;
        }
        last->load = last->load == f->form[i].load ? last->load : 0;
        last->store = last->store == f->form[i].store ? last->store : 0;
        last->scalar = last->scalar && f->form[i].scalar;
    }
    f->forms = kept;
    return 0;
}

static const struct form *find_form(const struct order *f, gaddr pc)
{
    struct form key = {.pc = pc};
    return bsearch(&key, f->form, f->forms, sizeof key, by_pc);
}

/* Both are moves of the same word, all of it. */
static bool are_moves(const struct order *f, const struct race_flow *d)
{
    const struct form *read = find_form(f, d->read.pc), *write = find_form(f, d->write.pc);
    uint8_t bytes = !read ? 0 : d->overwrites ? read->store : read->load;
    return bytes && write && bytes == write->store && d->bytes == bytes && d->addr % bytes == 0;
}

/* ---- what a dependence is ---- */

static struct order *order_of(const struct study *s)
{
    return s->fact[STUDY_ORDER].made;
}

static void free_order(void *made)
{
    struct order *f = made;
    sync_deinit(&f->sync);
    clocks_free(f->clocks);
    free(f->form);
    free(f);
}

static int prepare(struct study *s, struct err *err)
{
    struct order *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, "no memory");
    if (!sync_init(&f->sync, s, err) && !list_forms(f, trace_code(s->trace), err)) {
        s->fact[STUDY_ORDER].made = f;
        s->fact[STUDY_ORDER].free = free_order;
        return 0;
    }
    free_order(f);
    return -1;
}

const struct sync *race_sync(struct study *s, struct err *err)
{
    return order_of(s) || !prepare(s, err) ? &order_of(s)->sync : NULL;
}

const struct clocks *race_clocks(struct study *s, struct err *err)
{
    const struct sync *sync = race_sync(s, err);
    if (sync && !order_of(s)->clocks)
        order_of(s)->clocks = clocks_new(s, sync, NULL, err);
    return sync ? order_of(s)->clocks : NULL;
}

static bool is_allocator(struct study *s, gaddr pc)
{
    struct source_line l;
    source_line(s->source, pc, &l);
    return parts_allocates(l.module);
}

/* Is an access to a word, as its instruction says, or the kernel's to that of a futex? */
static bool is_word(const struct order *f, const struct form *form, const struct race_flow *d)
{
    if (form)
        return form->scalar;
    size_t i = sync_find(&f->sync, d->addr);
    return i < f->sync.variables && f->sync.variable[i].start <= d->addr &&
           d->addr + d->bytes <= f->sync.variable[i].end;
}

/* Allocators that are libraries, and the C library, look at some of their data without their locks,
 * and know what they do; the dynamic loader binds a symbol when it is first called, and who finds
 * it bound needs no more. But the C library's functions for strings and its system calls access
 * what is the user's. */
static bool is_internal(struct study *s, const struct race_flow *d)
{
    const struct order *f = order_of(s);
    const struct form *read = find_form(f, d->read.pc), *write = find_form(f, d->write.pc);
    enum part writer = parts_code(s, d->write.pc);
    struct source_line l;
    enum part other = parts_code(s, d->read.pc);
    if (writer == PART_LOADER || (d->overwrites && other == PART_LOADER) ||
        (is_allocator(s, d->write.pc) && is_allocator(s, d->read.pc)))
        return true;
    source_line(s->source, d->addr, &l);
    return writer == PART_LIBRARY && other != PART_OTHER &&
           (parts_module(l.module) != PART_OTHER || (is_word(f, read, d) && is_word(f, write, d)));
}

/* The two accesses are not ordered. Their places, and what each of them did, decide. */
static enum race judge(struct study *s, const struct race_flow *d)
{
    struct source_frame on = {.cfa = d->write.cfa}, node = {.cfa = d->read.cfa};
    if (is_internal(s, d))
        return RACE_NONE;
    enum source_atomic type = source_atomic_at(s->source, d->write.pc, &on, d->addr);
    if (type == SOURCE_ATOMIC_UNKNOWN)
        type = source_atomic_at(s->source, d->read.pc, &node, d->addr);
    if (type == SOURCE_ATOMIC_YES)
        return RACE_NONE;
    return type == SOURCE_ATOMIC_UNKNOWN && are_moves(order_of(s), d) ? RACE_MAYBE : RACE_CERTAIN;
}

enum race race_judge(struct study *s, const struct race_flow *d)
{
    uint64_t h = hash_fold(d->write.pc ^ d->read.pc << 20, d->addr << 40);
    struct verdict *v = &order_of(s)->verdict[h >> 54];
    if (v->on_pc != d->write.pc || v->node_pc != d->read.pc || v->addr != d->addr ||
        v->bytes != d->bytes || v->overwrites != d->overwrites || v->on_cfa != d->write.cfa ||
        v->node_cfa != d->read.cfa)
        *v = (struct verdict){.on_pc = d->write.pc,
                              .node_pc = d->read.pc,
                              .on_cfa = d->write.cfa,
                              .node_cfa = d->read.cfa,
                              .addr = d->addr,
                              .bytes = d->bytes,
                              .overwrites = d->overwrites,
                              .race = judge(s, d)};
    return v->race;
}

int race_find(struct study *s, const struct race_flow *d, enum race *out, struct err *err)
{
    *out = RACE_NONE;
    if (d->write.thread == d->read.thread)
        return 0;
    const struct clocks *clocks = race_clocks(s, err);
    if (!clocks)
        return -1;
    struct clocks_point write = {d->write.thread, d->write.insn};
    struct clocks_point read = {d->read.thread, d->read.insn};
    if (!clocks_before(clocks, write, read))
        *out = race_judge(s, d);
    return 0;
}

const char *race_name(enum race race)
{
    static const char *const name[] = {"", "race?", "race"};
    return name[race];
}
