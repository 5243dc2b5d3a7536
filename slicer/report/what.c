/* what.c - names for what flows along a dependence. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "slicer/report/report.h"
#include "source/access.h"
#include "source/registers.h"

const char *report_kind(unsigned kinds)
{
    if (kinds & SLICE_VALUE)
        return "data";
    if (kinds & SLICE_ADDRESS)
        return "address";
    return kinds & SLICE_CONTROL ? "control" : "";
}

static bool name_memory(struct study *s, const struct slice_dependence *d, char *buf, size_t room)
{
    struct source_frame node = {.cfa = d->node_cfa}, on = {.cfa = d->on_cfa};
    uint32_t bytes = d->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)d->bytes;
    return (d->on_pc && source_variable(s->source, d->on_pc, &on, d->addr, bytes, buf, room)) ||
           (d->node_pc &&
            source_variable(s->source, d->node_pc, &node, d->addr, bytes, buf, room)) ||
           (d->on_pc && source_access(s->source, d->on_pc, bytes, buf, room, NULL)) ||
           (d->node_pc && d->node != UINT64_MAX &&
            source_access(s->source, d->node_pc, bytes, buf, room, NULL));
}

static const char *register_variable(struct study *s, const struct slice_dependence *d)
{
    int reg = registers_number(d->addr);
    return reg >= 0 && d->node_pc ? source_register_variable(s->source, d->node_pc, (unsigned)reg)
                                  : NULL;
}

bool report_is_named(struct study *s, const struct slice_dependence *d)
{
    char unused[256];
    if (d->kind == SLICE_CONTROL)
        return false;
    return d->memory ? name_memory(s, d, unused, sizeof unused) : register_variable(s, d) != NULL;
}

static void name_register(struct study *s, const struct slice_dependence *d, char *buf, size_t room)
{
    const char *name = register_variable(s, d);
    char text[64];
    loc_name((struct loc_span){.first = d->addr & 0xfff, .count = d->bytes & 0xfff}, text,
             sizeof text);
    if (name)
        snprintf(buf, room, "%s", name);
    else if (d->addr >= LOC_CF && d->addr <= LOC_FLAGS_REST)
        snprintf(buf, room, "flags");
    else
        snprintf(buf, room, "%%%s", text);
}

void report_what(struct study *s, const struct slice_dependence *d, char *buf, size_t room)
{
    buf[0] = 0;
    if (d->kind == SLICE_CONTROL)
        return;
    if (!d->memory)
        name_register(s, d, buf, room);
    else if (!name_memory(s, d, buf, room))
        snprintf(buf, room, "%llu byte%s at 0x%llx", (unsigned long long)d->bytes,
                 d->bytes == 1 ? "" : "s", (unsigned long long)d->addr);
}

void report_left_out(const struct report_row *row, char *buf, size_t room)
{
    snprintf(buf, room, "(left out: %llu instruction%s)", (unsigned long long)row->left_out,
             row->left_out == 1 ? "" : "s");
}

bool report_insn(struct study *s, uint64_t insn, char *buf, size_t room)
{
    ZydisFormatter f;
    struct insn_operands x;
    struct study_insn in;
    struct err err;
    if (study_insn(s, insn, &in, &err) || in.block->gap)
        return false;
    const struct insn *is = &in.block->insn[in.index].in;
    if (!ZYAN_SUCCESS(ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_ATT)))
        return false;
    static const ZydisFormatterProperty unpadded[] = {
        ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
        ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING};
    for (size_t i = 0; i < sizeof unpadded / sizeof *unpadded; i++)
        ZydisFormatterSetProperty(&f, unpadded[i], ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    insn_operands(is, &x);
    return ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&f, &x.z, x.op, x.z.operand_count_visible,
                                                        buf, room, is->pc, ZYAN_NULL));
}
