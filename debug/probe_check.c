/* probe_check.c - are a list of probes and a row of values well-formed?
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/probe_check.h"

#include <stdbool.h>

#include "debug/bytecode.h"

/* ---- the list ---- */

static bool is_code(uint32_t at, uint32_t bytes, uint32_t all)
{
    return bytes <= AGENT_BYTES && at <= all && bytes <= all - at;
}

const char *probe_check_list(const struct probe_list *list, size_t bytes)
{
    const struct probe_place *p = (const struct probe_place *)(list + 1);
    uint32_t alike = 0; /* places at this pc before */
    if (bytes < sizeof *list || bytes > PROBE_LIST_BYTES || list->places > PROBES_MOST ||
        bytes - sizeof *list != (uint64_t)list->places * sizeof *p + list->code_bytes)
        return "a list of probes of another length";
    for (uint32_t i = 0; i < list->places; i++, p++) {
        const bool same = i && p->pc == p[-1].pc;
        if (p->index >= list->places || !is_code(p->when_at, p->when_bytes, list->code_bytes) ||
            !is_code(p->take_at, p->take_bytes, list->code_bytes))
            return "a probe outside of its list";
        if (i && p->pc < p[-1].pc)
            return "probes that are not sorted";
        alike = same ? alike + 1 : 0;
        if (alike >= PROBES_AT_PC)
            return "too many probes at one place";
    }
    return NULL;
}

/* ---- a row ---- */

static bool is_piece(const struct probe_piece *p)
{
    switch (p->kind) {
    case PIECE_MEMORY:
        return p->end != PIECE_ENDLESS;
    case PIECE_STRING:
        return true;
    case PIECE_REGISTER:
        return p->end == PIECE_WHOLE && p->bytes && p->bytes == agent_register_bytes(p->where);
    case PIECE_VALUE:
        return p->end == PIECE_WHOLE && p->bytes == 8;
    case PIECE_FAILED:
        return p->end == PIECE_WHOLE && !p->bytes && p->where && p->where < AGENT_RESULTS;
    default:
        return false;
    }
}

static const char *check_pieces(const uint8_t *at, size_t room)
{
    while (room) {
        const struct probe_piece *p = (const struct probe_piece *)at;
        if (room < sizeof *p || p->bytes > room - sizeof *p)
            return "a piece that is longer than its row";
        if (p->end > PIECE_ENDLESS || !is_piece(p))
            return "an unknown piece of a row";
        const size_t bytes = sizeof *p + (((size_t)p->bytes + 7) & ~(size_t)7);
        at += bytes; /* rows are multiples of 8: so it fits */
        room -= bytes;
    }
    return NULL;
}

const char *probe_check_row(const struct probe_taken *r, size_t room)
{
    if (room < sizeof *r || r->bytes < sizeof *r || r->bytes > room || r->bytes % 8 ||
        r->bytes > PROBE_ROW_BYTES)
        return "the length of a row";
    if (!r->thread || r->when >= AGENT_RESULTS || r->take >= AGENT_RESULTS || r->undone > 1)
        return "a row that is none";
    if ((r->undone || r->when) && r->bytes != sizeof *r)
        return "a row that has nothing, and pieces";
    return check_pieces((const uint8_t *)(r + 1), r->bytes - sizeof *r);
}
