/* index.c - blocks by the address of their target code.
 *
 * SPDX-License-Identifier: MIT
 *
 * Open addressing with linear probing; at most half of the slots are used, and the table doubles.
 * A slot holds half a pc and the block's distance from the runtime, within 2 GB of which all blocks
 * lie.
 */
#include "engine/core/index.h"

#include "engine/core/engine.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"

enum { FIRST_BITS = 12 };

struct slot {
    uint32_t tag;
    int32_t at; /* of the block; 0: free */
};

static struct slot *slots;
static uint32_t bits, count;

static uint32_t tag_of(gaddr pc)
{
    return (uint32_t)(pc ^ pc >> 32);
}

static uint32_t home_of(uint32_t tag)
{
    return tag * 0x9e3779b1u >> (32 - bits);
}

static uint32_t next_of(uint32_t i)
{
    return (i + 1) & ((1u << bits) - 1);
}

static struct block *block_of(const struct slot *s)
{
    return (struct block *)(engine.base + (gaddr)(int64_t)s->at);
}

struct block *index_find(gaddr pc)
{
    uint32_t tag = tag_of(pc);
    if (!slots)
        return NULL;
    for (uint32_t i = home_of(tag); slots[i].at; i = next_of(i))
        if (slots[i].tag == tag && block_of(&slots[i])->pc == pc)
            return block_of(&slots[i]);
    return NULL;
}

static void put(struct slot s)
{
    uint32_t i = home_of(s.tag);
    while (slots[i].at)
        i = next_of(i);
    slots[i] = s;
}

static void grow(void)
{
    struct slot *old = slots;
    uint32_t old_slots = old ? 1u << bits : 0;
    bits = old ? bits + 1 : FIRST_BITS;
    slots = range_table(sizeof *slots << bits);
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].at)
            put(old[i]);
    if (old)
        range_free(old, sizeof *old * old_slots);
}

void index_add(struct block *b)
{
    int64_t at = (int64_t)((gaddr)b - engine.base);
    rt_check(at && at == (int32_t)at);
    if (!slots || 2 * (count + 1) > 1u << bits)
        grow();
    put((struct slot){tag_of(b->pc), (int32_t)at});
    count++;
}

/* Those behind it move up, unless they would then lie before their home. */
void index_remove(const struct block *b)
{
    uint32_t i = home_of(tag_of(b->pc));
    while (block_of(&slots[i]) != b) {
        rt_check(slots[i].at);
        i = next_of(i);
    }
    for (uint32_t k = next_of(i); slots[k].at; k = next_of(k)) {
        uint32_t home = home_of(slots[k].tag);
        if (((k - home) & ((1u << bits) - 1)) >= ((k - i) & ((1u << bits) - 1))) {
            slots[i] = slots[k];
            i = k;
        }
    }
    slots[i].at = 0;
    count--;
}
