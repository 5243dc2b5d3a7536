/* brief.c - the memory accesses of a block, in short. SPDX-License-Identifier: MIT */
#include "facts/order/brief.h"

#include <stdlib.h>

#include "trace/access.h"

int briefs_init(struct briefs *b, struct code *code, struct err *err)
{
    *b = (struct briefs){.blocks = code_count(code)};
    b->list = calloc(b->blocks + 1, sizeof *b->list);
    return b->list ? 0 : err_set(err, "no memory");
}

void briefs_deinit(struct briefs *b)
{
    for (uint32_t i = 0; b->list && i < b->blocks; i++)
        free(b->list[i]);
    free(b->list);
    *b = (struct briefs){0};
}

const struct brief *briefs_make(struct briefs *briefs, const struct code_block *b)
{
    struct brief *list = malloc(sizeof *list * (b->accesses + 1u)), *out = list;
    if (!list)
        return NULL;
    for (uint16_t k = 0; k < b->accesses; k++) {
        const struct plan_access *a = &b->access[k];
        const struct insn *in = &b->insn[a->insn].in;
        bool stack = in->mnemonic == ZYDIS_MNEMONIC_PUSH || in->mnemonic == ZYDIS_MNEMONIC_POP ||
                     in->kind == INSN_CALL || in->kind == INSN_RET;
        if (stack || access_is_odd(a))
            continue;
        bool simple = a->mem.shape == ACCESS_PLAIN && a->mem.bytes && a->mem.bytes <= 16;
        *out++ = (struct brief){.add = a->add,
                                .slot = a->slot,
                                .access = k,
                                .insn = a->insn,
                                .more = simple ? (uint8_t)(a->mem.bytes - 1) : BRIEF_NOT_SIMPLE,
                                .write = a->mem.write};
    }
    out->insn = BRIEF_END;
    return briefs->list[b->number] = list;
}
