/* cfg.c - functions that were made, and questions about them. SPDX-License-Identifier: MIT */
#include "trace/graph/cfg.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "trace/graph/cfg_private.h"

struct cfg {
    struct cfg_program program;
    struct cfg_build build;
    struct cfg_function **slot; /* hash table by entry, NULL: free */
    size_t slots, functions;
};

enum { SLOTS_FIRST = 1024 };

struct cfg *cfg_new(const struct cfg_program *program, struct err *err)
{
    struct cfg *cfg = calloc(1, sizeof *cfg);
    if (!cfg || !(cfg->slot = calloc(SLOTS_FIRST, sizeof(cfg->slot[0])))) {
        free(cfg);
        err_set(err, "out of memory");
        return NULL;
    }
    cfg->program = *program;
    cfg->slots = SLOTS_FIRST;
    insn_init(); /* again, perhaps: it does no harm */
    return cfg;
}

void cfg_free(struct cfg *cfg)
{
    if (!cfg)
        return;
    for (size_t i = 0; i < cfg->slots; i++)
        cfg_function_free(cfg->slot[i]);
    cfg_build_deinit(&cfg->build);
    free(cfg->slot);
    free(cfg);
}

/* Not one of base/table.h: an entry may be any number, so there is none that says "free". */
static struct cfg_function **slot_of(struct cfg_function **slot, size_t slots, gaddr entry)
{
    size_t i = hash_word(entry);
    for (i &= slots - 1; slot[i] && slot[i]->entry != entry; i = (i + 1) & (slots - 1))
        ;
    return &slot[i];
}

static int grow(struct cfg *cfg)
{
    size_t slots = 2 * cfg->slots;
    struct cfg_function **slot = calloc(slots, sizeof(*slot));
    if (!slot)
        return -1;
    for (size_t i = 0; i < cfg->slots; i++)
        if (cfg->slot[i])
            *slot_of(slot, slots, cfg->slot[i]->entry) = cfg->slot[i];
    free(cfg->slot);
    cfg->slot = slot;
    cfg->slots = slots;
    return 0;
}

enum { MOST_MEMOS = 1 << 16 };

const struct cfg_function *cfg_function(struct cfg *cfg, gaddr entry, struct err *err)
{
    struct cfg_function **slot = slot_of(cfg->slot, cfg->slots, entry);
    if (*slot)
        return *slot;
    struct cfg_function *f = cfg_build(&cfg->build, &cfg->program, entry);
    if (!f || postdom_compute(f) < 0)
        goto fail;
    for (f->memos = 16; f->memos < f->insns && f->memos < MOST_MEMOS;)
        f->memos *= 2;
    if (f->blocks > 1)
        f->memo = calloc(f->memos, sizeof *f->memo);
    if (2 * cfg->functions >= cfg->slots && grow(cfg) < 0)
        goto fail;
    cfg->functions++;
    *slot_of(cfg->slot, cfg->slots, entry) = f;
    return f;
fail:
    cfg_function_free(f);
    err_set(err, "out of memory for the control flow graph of the function at 0x%llx",
            (unsigned long long)entry);
    return NULL;
}

void cfg_function_free(struct cfg_function *f)
{
    if (!f)
        return;
    free(f->block);
    free(f->succ);
    free(f->len);
    free(f->memo);
    free(f);
}

gaddr cfg_entry(const struct cfg_function *f)
{
    return f->entry;
}

uint32_t cfg_block_count(const struct cfg_function *f)
{
    return f->blocks;
}

uint32_t cfg_insn_count(const struct cfg_function *f)
{
    return f->insns;
}

static bool has_insn(const struct cfg_function *f, const struct cfg_block *block, gaddr pc)
{
    if (pc == block->first || pc == block->last)
        return true;
    if (pc > block->last)
        return false;
    gaddr at = block->first;
    for (const uint8_t *len = f->len + block->insn_at; at < pc; len++)
        at += *len;
    return at == pc;
}

static int32_t find_block(const struct cfg_function *f, gaddr pc)
{
    size_t low = search_upto(f->block, f->blocks, first, pc);
    while (low-- > 0 && pc - f->block[low].first <= f->longest) {
        if (has_insn(f, &f->block[low], pc))
            return (int32_t)low;
        if (!f->overlaps)
            break;
    }
    return CFG_NONE;
}

int32_t cfg_block_of(const struct cfg_function *f, gaddr pc)
{
    struct cfg_memo *m = f->memo ? &f->memo[hash_word(pc) & (f->memos - 1)] : NULL;
    if (m && m->pc == pc)
        return m->block;
    int32_t b = find_block(f, pc);
    if (m)
        *m = (struct cfg_memo){pc, b};
    return b;
}

const struct cfg_block *cfg_block(const struct cfg_function *f, int32_t b)
{
    return &f->block[b];
}

const int32_t *cfg_successors(const struct cfg_function *f, int32_t b)
{
    return f->succ + f->block[b].succ_at;
}

bool cfg_postdominates(const struct cfg_function *f, int32_t s, int32_t x)
{
    if (s == CFG_EXIT || x == CFG_EXIT)
        return s == CFG_EXIT;
    return f->block[x].tree_at - f->block[s].tree_at < f->block[s].tree_size;
}

bool cfg_depends(const struct cfg_function *f, int32_t s, int32_t b, int32_t x)
{
    if (s == CFG_EXIT || !cfg_postdominates(f, s, x))
        return false;
    return s == b || !cfg_postdominates(f, s, b);
}

bool cfg_frame_pointer(const struct cfg_function *f)
{
    return f->frame_pointer;
}
