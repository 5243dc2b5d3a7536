/* state.c - registers that the lazy resolver saves and restores all at once.
 * SPDX-License-Identifier: MIT */
#include "trace/state.h"

#include <stdlib.h>
#include <string.h>

struct state {
    struct state *next;
    uint64_t serial; /* of the frame */
    uint8_t data[];
};

bool state_is(const struct insn *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        return true;
    default:
        return false;
    }
}

bool state_restores(const struct insn *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        return true;
    default:
        return false;
    }
}

bool state_keep(struct state **list, const struct frame *frame, const void *data, size_t bytes)
{
    struct state *s = malloc(sizeof *s + bytes);
    if (!s)
        return false;
    s->next = *list;
    s->serial = frame->serial;
    memcpy(s->data, data, bytes);
    *list = s;
    return true;
}

bool state_take(struct state **list, const struct frame *frame, void *data, size_t bytes)
{
    while (*list && (*list)->serial != frame->serial)
        list = &(*list)->next;
    struct state *s = *list;
    if (!s)
        return false;
    memcpy(data, s->data, bytes);
    *list = s->next;
    free(s);
    return true;
}

void state_free(struct state *list)
{
    while (list) {
        struct state *next = list->next;
        free(list);
        list = next;
    }
}
