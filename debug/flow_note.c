/* flow_note.c - is a note of a trace well-formed? SPDX-License-Identifier: MIT */
#include "debug/flow_note.h"

#include <stdbool.h>

enum { FRAME_MOST = 1 << 20 }; /* bytes of a signal frame; with all of AMX it has 12,000 */

static bool in_memory(uint64_t addr, uint64_t bytes)
{
    return !bytes || (addr <= FLOW_ADDRESSES && bytes <= FLOW_ADDRESSES - addr);
}

static const char *check_ranges(const struct flow_range *r, const struct flow_note *n)
{
    const struct flow_range *end =
        (const struct flow_range *)((const uint8_t *)n + n->bytes - sizeof *r);
    for (; r <= end; r++) {
        if (r->how < FLOW_READ || r->how > FLOW_MOVE)
            return "an unknown kind of access";
        if (!in_memory(r->addr, r->bytes))
            return "an access to what is no memory";
    }
    return NULL;
}

static const char *check_signal(const struct flow_signal *s)
{
    if (s->end < s->frame || s->end - s->frame > FRAME_MOST ||
        !in_memory(s->frame, s->end - s->frame))
        return "a signal frame that is none";
    return NULL;
}

static const char *check_did(const struct flow_did *d)
{
    enum { KINDS = 3 }; /* of frames */
    const size_t frames = (d->note.bytes - sizeof *d) / sizeof *d->frame;
    for (size_t i = 0; i < frames; i++)
        if (d->frame[i].kind >= KINDS)
            return "a frame that is none";
    return NULL;
}

static const char *check_block(const struct flow_block *b)
{
    return b->insns > b->note.bytes - sizeof *b ? "a block without its instructions" : NULL;
}

const char *flow_note_check(const struct flow_note *n, size_t room)
{
    static const size_t least[] = {
        [FLOW_BLOCK] = sizeof(struct flow_block),   [FLOW_THREAD] = sizeof(struct flow_thread),
        [FLOW_CUT] = sizeof(struct flow_cut),       [FLOW_CALL] = sizeof(struct flow_call),
        [FLOW_SIGNAL] = sizeof(struct flow_signal), [FLOW_ACCESS] = sizeof(struct flow_access),
        [FLOW_BEGIN] = sizeof(struct flow_begin),   [FLOW_GAP] = sizeof(struct flow_gap),
        [FLOW_DID] = sizeof(struct flow_did),
    };
    if (room < sizeof *n || !n->kind || n->kind >= sizeof least / sizeof *least ||
        n->bytes < least[n->kind] || n->bytes > room || n->bytes % 8)
        return "a note that is none";
    switch (n->kind) {
    case FLOW_BLOCK:
        return check_block((const struct flow_block *)n);
    case FLOW_CALL:
        return check_ranges(((const struct flow_call *)n)->range, n);
    case FLOW_ACCESS:
        return check_ranges(((const struct flow_access *)n)->range, n);
    case FLOW_SIGNAL:
        return check_signal((const struct flow_signal *)n);
    case FLOW_DID:
        return check_did((const struct flow_did *)n);
    default:
        return NULL;
    }
}
