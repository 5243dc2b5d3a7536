/* transfer.c - what a block does to what is wanted, worked out once.
 *
 * SPDX-License-Identifier: MIT
 *
 * For a run of simple instructions what was met so far is a tree. A root is for what is wanted of
 * the locations that the run may define, the *key*. A node stands before a question: is anything
 * wanted of what the instruction `asks` writes? Instructions without a question go to the way
 * between two nodes: which of them are in the slice, what becomes of locations (`clear`, then
 * `set`), and which accesses take wanted memory off or want more. Branches of the tree are grown
 * when they are first needed.
 *
 * 1. An instruction that defines a wanted location, or must be in the slice, asks nothing.
 * 2. Locations outside the key are defined by none of the run's instructions, so that they have no
 *    say; they stay, or are added to.
 * 3. The memory of a node's way is done in the order of the walk: of an instruction first what it
 *    writes, then what it reads.
 *
 * All of it goes when it takes more than `most_bytes`, and begins again.
 */
#include "slicer/walk/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "slicer/slice_private.h"

/* Values of slots, for sets that do not depend on them. */
static const uint64_t zeros[PLAN_SLOTS];

enum { NO_QUESTION = 0xff, ARENA_BYTES = 1 << 18 };
#define MOST_BYTES (192ull << 20)

/* An access of the way: takes what is wanted off, or adds to it. */
struct op {
    int64_t add;
    uint16_t slot, bytes;
    bool wants;
};

struct node {
    struct node *answer[2];
    uint64_t taken; /* so far */
    uint8_t asks;   /* the instruction; NO_QUESTION: the run is at its end */
    bool takes;     /* asking takes off, too: it writes once and for sure */
    uint16_t ops;
    const struct op *op;
    uint64_t change[]; /* clear of each word, then set of each */
};

struct transfer_root {
    struct node *node;
    bool take;
    uint64_t key[];
};

struct arena {
    struct arena *before;
    size_t used, room;
    uint64_t data[];
};

struct transfer {
    struct transfer_table table;
    struct transfer_options o;
    struct arena *arena;
    size_t bytes;
    struct transfer_block **list;
    size_t count, room;
};

/* ---- memory ---- */

static void *get(struct transfer *t, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    if (!t->arena || t->arena->room - t->arena->used < bytes) {
        size_t room = bytes > ARENA_BYTES ? bytes : ARENA_BYTES;
        struct arena *a = malloc(sizeof *a + room);
        if (!a)
            return NULL;
        *a = (struct arena){.before = t->arena, .room = room};
        t->arena = a;
        t->bytes += room;
    }
    void *p = (uint8_t *)t->arena->data + t->arena->used;
    t->arena->used += bytes;
    return p;
}

static void forget_roots(struct transfer *t)
{
    for (size_t i = 0; i < t->count; i++)
        for (unsigned k = 0; k < t->list[i]->pieces; k++) {
            struct transfer_piece *p = &t->list[i]->piece[k];
            free(p->root);
            p->root = NULL;
            p->last = NULL;
            p->roots = p->room = 0;
        }
    while (t->arena) {
        struct arena *before = t->arena->before;
        free(t->arena);
        t->arena = before;
    }
    t->bytes = 0;
}

struct transfer *transfer_new(const struct transfer_options *o)
{
    struct transfer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->o = *o;
    if (!o->most_bytes)
        t->o.most_bytes = MOST_BYTES;
    t->table.first = calloc(code_count(o->code) + 1, sizeof *t->table.first);
    if (!t->table.first) {
        free(t);
        return NULL;
    }
    return t;
}

static void block_free(struct transfer_block *x)
{
    for (unsigned k = 0; x->piece && k < x->pieces; k++)
        free(x->piece[k].word);
    free(x->piece);
    free(x->word);
    free(x->graph);
    free(x);
}

void transfer_free(struct transfer *t)
{
    if (!t)
        return;
    forget_roots(t);
    for (size_t i = 0; i < t->count; i++)
        block_free(t->list[i]);
    free(t->list);
    free(t->table.first);
    free(t);
}

/* ---- instructions ---- */

/* What an instruction does to locations. */
struct sets {
    struct loc_set def, use, kept;
};

static void add_spans(struct loc_set *set, const struct loc_span *span, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        loc_set_add(set, span[i].first, span[i].count);
}

static const struct defuse *sets_of(const struct transfer *t, const struct transfer_block *x,
                                    unsigned i, struct sets *out)
{
    const struct defuse *du = code_defuse(t->o.code, x->b, i, x->flags, zeros);
    memset(out, 0, sizeof *out);
    if (!du)
        return NULL;
    add_spans(&out->def, du->def, du->defs);
    for (unsigned k = 0; k < du->uses; k++) {
        const struct loc_span *u = &du->use[k];
        if (u->kind == DEFUSE_KEPT)
            loc_set_add(&out->kept, u->first, u->count);
        else if (u->kind == DEFUSE_VALUE || t->o.addresses)
            loc_set_add(&out->use, u->first, u->count);
    }
    return du;
}

/* Has something besides its bytes a say in what it does? Then it must be looked at always. */
static bool is_odd(const struct code_block *b, unsigned i)
{
    const struct code_insn *ci = &b->insn[i];
    for (unsigned k = 0; k < ci->accesses; k++)
        if (access_is_odd(&b->access[ci->access_at + k]))
            return true;
    return code_varies(b, i) || ci->in.kind == INSN_SYSCALL || state_is(&ci->in);
}

static bool is_simple(const struct transfer *t, const struct code_block *b, unsigned i)
{
    const struct code_insn *ci = &b->insn[i];
    if (t->o.nothing_simple || is_odd(b, i) || ci->in.kind == INSN_RET)
        return false;
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct plan_access *a = &b->access[ci->access_at + k];
        if (a->mem.shape == ACCESS_TABLE || a->mem.shape == ACCESS_BITS)
            return false;
    }
    return t->o.keep_saves || (ci->saves < 0 && ci->restores < 0);
}

/* ---- blocks ---- */

struct words {
    unsigned count;
    struct transfer_word word[sizeof(struct loc_set) / 8];
};

/* A span's bits, or with a mask of 0 only the words that they are in. */
static void add_words(struct words *w, const struct loc_span *span, uint64_t mask)
{
    unsigned first = span->first, last = first + span->count - 1;
    for (unsigned at = first / 64; at <= last / 64; at++) {
        unsigned k = 0;
        uint64_t bits = ~0ull;
        if (at == first / 64)
            bits &= ~0ull << first % 64;
        if (at == last / 64)
            bits &= ~0ull >> (63 - last % 64);
        while (k < w->count && w->word[k].at != at)
            k++;
        if (k == w->count)
            w->word[w->count++] = (struct transfer_word){at, 0};
        w->word[k].bits |= bits & mask;
    }
}

/* What an instruction defines, and where else it has to do with locations. */
static void add_insn(const struct transfer *t, const struct defuse *du, struct words *w)
{
    for (unsigned k = 0; k < du->defs; k++)
        add_words(w, &du->def[k], ~0ull);
    for (unsigned k = 0; k < du->uses; k++)
        if (du->use[k].kind == DEFUSE_VALUE ||
            (du->use[k].kind == DEFUSE_ADDRESS && t->o.addresses))
            add_words(w, &du->use[k], 0);
}

static struct transfer_word *keep_words(const struct words *w)
{
    struct transfer_word *list = malloc(sizeof *list * (w->count + 1));
    if (list)
        memcpy(list, w->word, sizeof *list * w->count);
    return list;
}

static bool close_piece(struct transfer_block *x, struct transfer_piece *p, struct words *w)
{
    p->words = (uint8_t)w->count;
    p->word = keep_words(w);
    x->pieces += p->word != NULL;
    w->count = 0;
    return p->word;
}

static bool cut_pieces(struct transfer *t, struct transfer_block *x)
{
    const struct code_block *b = x->b;
    struct words now, all;
    now.count = all.count = 0;
    struct transfer_piece *p = x->piece = calloc(b->insns + 1u, sizeof *p);
    bool ok = p != NULL, open = false;
    for (unsigned i = 0; ok && i < b->insns; i++) {
        const struct code_insn *ci = &b->insn[i];
        const struct defuse *du = code_defuse(t->o.code, b, i, x->flags, zeros);
        struct words one;
        one.count = 0;
        if (!du)
            return false;
        add_insn(t, du, &one);
        bool simple = one.count <= TRANSFER_WORDS && is_simple(t, b, i);
        if (open && (!simple || now.count + one.count > TRANSFER_WORDS)) {
            ok = close_piece(x, p++, &now);
            open = false;
        }
        add_insn(t, du, &now);
        for (unsigned k = 0; k < du->defs; k++)
            add_words(&all, &du->def[k], ~0ull);
        if (!open)
            *p = (struct transfer_piece){.first = (uint8_t)i, .simple = simple};
        p->end = (uint8_t)(i + 1);
        for (unsigned k = 0; k < ci->accesses; k++)
            p->writes |= b->access[ci->access_at + k].mem.write;
        open = simple;
        if (simple || !ok)
            continue;
        p->look = is_odd(b, i);
        p->saves = ci->saves >= 0;
        x->look |= p->look;
        x->saves |= p->saves;
        ok = close_piece(x, p++, &now);
    }
    if (ok && open)
        ok = close_piece(x, p, &now);
    x->words = all.count;
    x->word = keep_words(&all);
    return ok && x->word;
}

/* Which blocks of the function's graph its instructions are in. */
static bool find_graphs(struct transfer_block *x)
{
    const struct code_block *b = x->b;
    x->graph = malloc(sizeof *x->graph * b->insns);
    if (!x->graph)
        return false;
    for (unsigned i = 0; i < b->insns; i++) {
        int32_t block = cfg_block_of(x->function, b->insn[i].in.pc);
        if (!x->graphs || x->graph[x->graphs - 1].block != block)
            x->graph[x->graphs++] = (struct transfer_graph){block, 0};
        x->graph[x->graphs - 1].insns |= 1ull << i;
    }
    int32_t last = x->graph[x->graphs - 1].block;
    const struct cfg_block *g = last == CFG_NONE ? NULL : cfg_block(x->function, last);
    x->last = last;
    x->branches = g && g->last == code_last(b)->pc && cfg_is_branch(g);
    return true;
}

struct transfer_block *transfer_add(struct transfer *t, const struct code_block *b, gaddr entry,
                                    const struct cfg_function *function, unsigned flags)
{
    if (array_reserve(&t->list, &t->room, t->count + 1))
        return NULL;
    struct transfer_block *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->entry = entry;
    x->function = function;
    x->b = b;
    x->flags = flags;
    x->last = x->seen = CFG_NONE;
    if (!cut_pieces(t, x) || !find_graphs(x)) {
        block_free(x);
        return NULL;
    }
    x->next = t->table.first[b->number];
    t->table.first[b->number] = t->list[t->count++] = x;
    return x;
}

bool transfer_matters(const struct transfer_block *x, const struct loc_set *reg,
                      struct wanted *memory, const uint64_t *values)
{
    for (unsigned i = 0; i < x->words; i++)
        if (reg->bits[x->word[i].at] & x->word[i].bits)
            return true;
    for (unsigned k = 0; memory->live && k < x->b->accesses; k++) {
        const struct plan_access *a = &x->b->access[k];
        if (a->mem.write && wanted_any(memory, code_address(a, values), a->mem.bytes))
            return true;
    }
    return false;
}

/* ---- growing ---- */

/* The state between two instructions while a way is worked out. */
struct state {
    uint64_t key[TRANSFER_WORDS], clear[TRANSFER_WORDS], set[TRANSFER_WORDS];
    struct op op[2 * PLAN_ACCESSES];
    unsigned ops;
    uint64_t taken;
};

static void add_op(struct state *s, const struct plan_access *a, bool wants)
{
    s->op[s->ops++] = (struct op){a->add, a->slot, a->mem.bytes, wants};
}

/* Instruction i is in the slice. `done`: what it writes has been taken off. */
static void take(const struct transfer_block *x, const struct transfer_piece *p,
                 const struct defuse *du, const struct sets *in, unsigned i, bool done,
                 struct state *s)
{
    const struct plan_access *a = &x->b->access[x->b->insn[i].access_at];
    s->taken |= 1ull << i;
    for (unsigned k = 0; k < p->words; k++) {
        unsigned at = p->word[k].at;
        uint64_t now = (s->key[k] & ~s->clear[k]) | s->set[k];
        uint64_t stays = now & in->kept.bits[at] & in->def.bits[at];
        s->clear[k] |= in->def.bits[at];
        s->set[k] = (s->set[k] & ~in->def.bits[at]) | in->use.bits[at] | stays;
    }
    for (unsigned k = 0; k < du->accesses && !done; k++)
        if (du->access[k].at.write && !du->access[k].may)
            add_op(s, &a[k], false);
    for (unsigned k = 0; k < du->accesses; k++)
        if (du->access[k].at.read)
            add_op(s, &a[k], true);
}

static bool defines(const struct transfer_piece *p, const struct sets *in, const struct state *s)
{
    for (unsigned k = 0; k < p->words; k++)
        if (((s->key[k] & ~s->clear[k]) | s->set[k]) & in->def.bits[p->word[k].at])
            return true;
    return false;
}

static bool writes(const struct defuse *du)
{
    for (unsigned k = 0; k < du->accesses; k++)
        if (du->access[k].at.write)
            return true;
    return false;
}

static bool writes_once(const struct defuse *du)
{
    unsigned n = 0;
    for (unsigned k = 0; k < du->accesses; k++)
        n += du->access[k].at.write ? du->access[k].may ? 2 : 1 : 0;
    return n == 1;
}

static struct node *make_node(struct transfer *t, const struct transfer_piece *p,
                              const struct state *s, unsigned asks, bool takes)
{
    struct node *n = get(t, sizeof *n + 16u * p->words);
    struct op *op = s->ops ? get(t, sizeof *op * s->ops) : NULL;
    if (!n || (s->ops && !op))
        return NULL;
    if (op)
        memcpy(op, s->op, sizeof *op * s->ops);
    *n = (struct node){.taken = s->taken,
                       .asks = (uint8_t)asks,
                       .takes = takes,
                       .ops = (uint16_t)s->ops,
                       .op = op};
    memcpy(n->change, s->clear, 8u * p->words);
    memcpy(n->change + p->words, s->set, 8u * p->words);
    return n;
}

/* From instruction i on down, to the next question or the end. `first`: what is known of i. */
enum known { KNOWN_NOTHING, KNOWN_TAKEN, KNOWN_WANTED, KNOWN_WANTED_GONE };

static struct node *grow(struct transfer *t, const struct transfer_block *x,
                         const struct transfer_piece *p, unsigned i, enum known known,
                         struct state *s)
{
    for (; i-- > p->first; known = KNOWN_NOTHING) {
        struct sets in;
        const struct defuse *du = sets_of(t, x, i, &in);
        if (!du)
            return NULL;
        if (known != KNOWN_NOTHING || defines(p, &in, s))
            take(x, p, du, &in, i, known == KNOWN_WANTED_GONE, s);
        else if (writes(du))
            return make_node(t, p, s, i, writes_once(du));
    }
    return make_node(t, p, s, NO_QUESTION, false);
}

static struct node *grow_answer(struct transfer *t, const struct transfer_block *x,
                                const struct transfer_piece *p, const struct transfer_root *r,
                                const struct node *n, bool yes)
{
    struct state s = {.taken = n->taken};
    memcpy(s.key, r->key, 8u * p->words);
    memcpy(s.clear, n->change, 8u * p->words);
    memcpy(s.set, n->change + p->words, 8u * p->words);
    if (!yes)
        return grow(t, x, p, n->asks, KNOWN_NOTHING, &s);
    return grow(t, x, p, n->asks + 1u, n->takes ? KNOWN_WANTED_GONE : KNOWN_WANTED, &s);
}

static struct transfer_root *make_root(struct transfer *t, const struct transfer_block *x,
                                       const struct transfer_piece *p, const uint64_t *key,
                                       bool with_last)
{
    struct state s = {0};
    struct transfer_root *r = get(t, sizeof *r + 8u * p->words);
    if (!r)
        return NULL;
    memcpy(r->key, key, 8u * p->words);
    memcpy(s.key, key, 8u * p->words);
    r->take = with_last;
    r->node = grow(t, x, p, p->end, with_last ? KNOWN_TAKEN : KNOWN_NOTHING, &s);
    return r->node ? r : NULL;
}

/* ---- roots ---- */

static bool is_root(const struct transfer_root *r, const struct transfer_piece *p,
                    const uint64_t *key, bool with_last)
{
    if (r->take != with_last)
        return false;
    for (unsigned k = 0; k < p->words; k++)
        if (r->key[k] != key[k])
            return false;
    return true;
}

/* Not one of base/table.h: a key has as many words as its piece, and a piece mostly a root or two.
 */
static size_t slot_of(const struct transfer_piece *p, const uint64_t *key, bool with_last)
{
    uint64_t h = with_last;
    for (unsigned k = 0; k < p->words; k++)
        h = hash_fold(h, key[k]);
    size_t i = (h >> 32) & (p->room - 1);
    while (p->root[i] && !is_root(p->root[i], p, key, with_last))
        i = (i + 1) & (p->room - 1);
    return i;
}

static bool more_roots(struct transfer_piece *p)
{
    struct transfer_root **old = p->root;
    size_t room = p->room;
    p->room = room ? 2 * room : 4;
    p->root = calloc(p->room, sizeof *p->root);
    if (!p->root) {
        p->root = old;
        p->room = room;
        return false;
    }
    for (size_t i = 0; i < room; i++)
        if (old[i])
            p->root[slot_of(p, old[i]->key, old[i]->take)] = old[i];
    free(old);
    return true;
}

static struct transfer_root *find_root(struct transfer *t, const struct transfer_block *x,
                                       struct transfer_piece *p, const uint64_t *key,
                                       bool with_last)
{
    if (t->bytes > t->o.most_bytes)
        forget_roots(t);
    if (2 * p->roots >= p->room && !more_roots(p))
        return NULL;
    size_t i = slot_of(p, key, with_last);
    if (!p->root[i]) {
        p->root[i] = make_root(t, x, p, key, with_last);
        p->roots += p->root[i] != NULL;
    }
    return p->last = p->root[i];
}

/* ---- running ---- */

static inline gaddr address(const struct op *op, const uint64_t *values)
{
    return (gaddr)op->add + (op->slot == PLAN_NONE ? 0 : values[op->slot]);
}

static inline bool do_ops(const struct transfer *t, const struct node *n, const uint64_t *values,
                          struct wanted *memory)
{
    for (unsigned i = 0; i < n->ops; i++) {
        const struct op *op = &n->op[i];
        gaddr addr = address(op, values);
        if (!op->wants)
            wanted_take(memory, addr, op->bytes);
        else if (!t->o.constant(t->o.ctx, addr, op->bytes) && !wanted_add(memory, addr, op->bytes))
            return false;
    }
    return true;
}

/* Is anything wanted of what the instruction writes? */
static inline bool answer(const struct transfer_block *x, const struct node *n,
                          const uint64_t *values, struct wanted *memory)
{
    const struct code_insn *ci = &x->b->insn[n->asks];
    const struct plan_access *a = &x->b->access[ci->access_at];
    if (!memory->live)
        return false;
    for (unsigned k = 0; k < ci->accesses; k++) {
        if (!a[k].mem.write)
            continue;
        gaddr addr = (gaddr)a[k].add + (a[k].slot == PLAN_NONE ? 0 : values[a[k].slot]);
        if (n->takes)
            return wanted_take(memory, addr, a[k].mem.bytes);
        if (wanted_any(memory, addr, a[k].mem.bytes))
            return true;
    }
    return false;
}

bool transfer_run(struct transfer *t, const struct transfer_block *x, struct transfer_piece *p,
                  bool with_last, const uint64_t *values, struct loc_set *reg,
                  struct wanted *memory, uint64_t *taken)
{
    uint64_t key[TRANSFER_WORDS], any = 0;
    for (unsigned k = 0; k < p->words; k++)
        any |= key[k] = reg->bits[p->word[k].at] & p->word[k].bits;
    if (!any && !with_last && (!p->writes || !memory->live))
        return true;
    struct transfer_root *r = p->last;
    if ((!r || !is_root(r, p, key, with_last)) && !(r = find_root(t, x, p, key, with_last)))
        return false;
    struct node *n = r->node;
    while (do_ops(t, n, values, memory)) {
        if (n->asks == NO_QUESTION) {
            for (unsigned k = 0; n->taken && k < p->words; k++) {
                uint64_t *bits = &reg->bits[p->word[k].at];
                *bits = (*bits & ~n->change[k]) | n->change[p->words + k];
            }
            *taken |= n->taken;
            return true;
        }
        bool yes = answer(x, n, values, memory);
        if (!n->answer[yes] && !(n->answer[yes] = grow_answer(t, x, p, r, n, yes)))
            return false;
        n = n->answer[yes];
    }
    return false;
}
