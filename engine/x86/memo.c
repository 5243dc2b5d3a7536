/* memo.c - what the decoder said about instructions of the same form.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trie over the bytes of heads. Its edges, (node, byte) to a node or a form, are in one hash
 * table, since most nodes have few of them. A program uses a few thousand heads, the largest ten
 * times as many; different forms are a few hundred, since registers make no difference. When a
 * table is full all is forgotten.
 *
 * Invariants:
 * 1. No head is the beginning of another: where the displacement or immediate of an instruction
 *    begins, and whether it has one, is decided by the bytes before it.
 * 2. A form depends on no byte behind the head. insn.c says what does not hold for.
 */
#include "engine/x86/memo.h"

#include "engine/rt/rt.h"

enum {
    EDGE_BITS = 15,
    EDGES = 1 << EDGE_BITS,
    EDGES_USED = EDGES / 4 * 3,
    FORMS = 4096, /* slots, of which ... */
    FORMS_USED = FORMS / 2,
    IS_FORM = 1 << 15, /* the rest of `to` is a form's slot, else a node's number */
    FORM_AT = offsetof(struct insn, flags_read),
    FORM_BYTES = sizeof(struct insn) - FORM_AT,
};

/* Node 0 is the root, to which no edge leads. */
struct edge {
    uint16_t node, to; /* to: 0 when the entry is free */
    uint8_t byte;
};

struct form { /* all zero when free: no instruction has no length */
    uint8_t bytes[FORM_BYTES];
};

static struct edge edges[EDGES];
static struct form forms[FORMS];
static uint32_t edge_count, form_count, node_count;

static struct edge *edge_of(uint32_t node, uint8_t byte)
{
    uint32_t i = ((node << 8 | byte) * 0x9e3779b1u) >> (32 - EDGE_BITS);
    while (edges[i].to && (edges[i].node != node || edges[i].byte != byte))
        i = (i + 1) % EDGES;
    return &edges[i];
}

bool memo_find(struct insn *in, const uint8_t *bytes, size_t avail)
{
    uint32_t node = 0;
    for (size_t i = 0; i < avail; i++) {
        uint32_t to = edge_of(node, bytes[i])->to;
        if (!to)
            return false;
        if (to & IS_FORM) {
            memcpy((uint8_t *)in + FORM_AT, forms[to & ~IS_FORM].bytes, FORM_BYTES);
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
    edge_count = form_count = node_count = 0;
}

/* The slot of an equal form, or of a new one. */
static uint32_t form_of(const struct insn *in)
{
    static const struct form none;
    struct form want;
    uint32_t i = 0;
    memcpy(want.bytes, (const uint8_t *)in + FORM_AT, FORM_BYTES);
    for (size_t k = 0; k < FORM_BYTES; k++)
        i = (i ^ want.bytes[k]) * 0x9e3779b1u;
    for (i >>= 20; memcmp(&forms[i], &none, sizeof none); i = (i + 1) % FORMS)
        if (!memcmp(&forms[i], &want, sizeof want))
            return i;
    forms[i] = want;
    form_count++;
    return i;
}

void memo_add(const struct insn *in, const uint8_t *bytes, size_t head)
{
    uint32_t node = 0;
    if (edge_count + head > EDGES_USED || form_count == FORMS_USED)
        forget_all();
    for (size_t i = 0; i < head; i++) {
        struct edge *e = edge_of(node, bytes[i]);
        if (!e->to) {
            uint32_t to = i + 1 < head ? ++node_count : form_of(in) | IS_FORM;
            *e = (struct edge){.node = (uint16_t)node, .to = (uint16_t)to, .byte = bytes[i]};
            edge_count++;
        }
        rt_check((i + 1 == head) == ((e->to & IS_FORM) != 0));
        node = e->to;
    }
}
