/* memo.c - what the decoder said about instructions of the same form.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trie over the bytes of heads. Its edges, (node, byte) to a node or a leaf, are in one hash
 * table, since most nodes have few of them. A program uses a few thousand heads, the largest ten
 * times as many. A leaf has the registers and the number of a form. There are a few hundred forms,
 * which stay in the processor's cache. When a table is full, everything is forgotten.
 *
 * Invariants:
 * 1. No head is the beginning of another: where the displacement or immediate of an instruction
 *    begins, and whether it has one, is decided by the bytes before it.
 * 2. A leaf depends on no byte behind the head. insn.c names the exceptions.
 */
#include "engine/x86/memo.h"

#include "base/hash.h"
#include "engine/rt/rt.h"

enum {
    EDGE_BITS = 15,
    EDGES = 1 << EDGE_BITS,
    EDGES_USED = EDGES / 4 * 3,
    FORMS = 4096, /* slots, of which ... */
    FORMS_USED = FORMS / 2,
    IS_LEAF = 1 << 15, /* the rest of `to` is a leaf's number, else a node's */
    FORM_AT = offsetof(struct insn, flags_read),
    FORM_BYTES = offsetof(struct insn, too_long) + sizeof(bool) - FORM_AT,
    FORM_WORDS = 3,
};
_Static_assert(FORM_BYTES <= 8 * FORM_WORDS, "struct form");

/* Node 0 is the root, to which no edge leads. */
struct edge {
    uint16_t node, to; /* to: 0 when the entry is free */
    uint8_t byte;
};

struct leaf {
    uint16_t form, gprs_read, gprs_kill;
};

struct form { /* all zero when free: no instruction has no length */
    uint64_t word[FORM_WORDS];
};

static struct edge edges[EDGES];
static struct leaf leaves[EDGES_USED];
static struct form forms[FORMS];
static uint32_t edge_count, leaf_count, form_count, node_count;

static struct edge *edge_of(uint32_t node, uint8_t byte)
{
    uint32_t i = ((node << 8 | byte) * 0x9e3779b1u) >> (32 - EDGE_BITS);
    while (edges[i].to && (edges[i].node != node || edges[i].byte != byte))
        i = (i + 1) % EDGES;
    return &edges[i];
}

static void use_leaf(struct insn *in, const struct leaf *l)
{
    in->gprs_read = l->gprs_read;
    in->gprs_kill = l->gprs_kill;
    memcpy((uint8_t *)in + FORM_AT, &forms[l->form], FORM_BYTES);
}

bool memo_find(struct insn *in, const uint8_t *bytes, size_t avail)
{
    uint32_t node = 0;
    for (size_t i = 0; i < avail; i++) {
        uint32_t to = edge_of(node, bytes[i])->to;
        if (!to)
            return false;
        if (to & IS_LEAF) {
            use_leaf(in, &leaves[to & ~IS_LEAF]);
            return in->len <= avail;
        }
        node = to;
    }
    return false;
}

static void forget_all(void)
{
    memset(edges, 0, sizeof edges);
    memset(forms, 0, sizeof forms);
    edge_count = leaf_count = form_count = node_count = 0;
}

/* The slot of an equal form, or of a new one. */
static uint32_t form_of(const struct insn *in)
{
    struct form want = {{0}};
    memcpy(&want, (const uint8_t *)in + FORM_AT, FORM_BYTES);
    uint64_t h = 0;
    for (int k = 0; k < FORM_WORDS; k++)
        h = hash_fold(h ^ h >> 32, want.word[k]);
    for (uint32_t i = h >> 52;; i = (i + 1) % FORMS) {
        const uint64_t *w = forms[i].word;
        if (w[0] == want.word[0] && w[1] == want.word[1] && w[2] == want.word[2])
            return i;
        if (!(w[0] | w[1] | w[2])) {
            forms[i] = want;
            form_count++;
            return i;
        }
    }
}

static uint32_t leaf_new(const struct insn *in)
{
    leaves[leaf_count] = (struct leaf){(uint16_t)form_of(in), in->gprs_read, in->gprs_kill};
    return leaf_count++ | IS_LEAF;
}

void memo_add(const struct insn *in, const uint8_t *bytes, size_t head)
{
    uint32_t node = 0;
    if (edge_count + head > EDGES_USED || form_count == FORMS_USED)
        forget_all();
    for (size_t i = 0; i < head; i++) {
        struct edge *e = edge_of(node, bytes[i]);
        if (!e->to) {
            uint32_t to = i + 1 < head ? ++node_count : leaf_new(in);
            *e = (struct edge){.node = (uint16_t)node, .to = (uint16_t)to, .byte = bytes[i]};
            edge_count++;
        }
        rt_check((i + 1 == head) == ((e->to & IS_LEAF) != 0));
        node = e->to;
    }
}
