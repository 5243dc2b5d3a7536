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

static bool saves(const struct insn *in)
{
    static const uint16_t list[] = {
        ZYDIS_MNEMONIC_XSAVE,    ZYDIS_MNEMONIC_XSAVE64,  ZYDIS_MNEMONIC_XSAVEC,
        ZYDIS_MNEMONIC_XSAVEC64, ZYDIS_MNEMONIC_XSAVEOPT, ZYDIS_MNEMONIC_XSAVEOPT64,
        ZYDIS_MNEMONIC_FXSAVE,   ZYDIS_MNEMONIC_FXSAVE64,
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == in->mnemonic)
            return true;
    return false;
}

bool state_restores(const struct insn *in)
{
    return in->mnemonic == ZYDIS_MNEMONIC_XRSTOR || in->mnemonic == ZYDIS_MNEMONIC_XRSTOR64 ||
           in->mnemonic == ZYDIS_MNEMONIC_FXRSTOR || in->mnemonic == ZYDIS_MNEMONIC_FXRSTOR64;
}

bool state_is(const struct insn *in)
{
    return saves(in) || state_restores(in);
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
