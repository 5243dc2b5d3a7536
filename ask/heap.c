/* heap.c - the blocks that were allocated, or the one that an address is in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "facts/heap/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/blocks.h"
#include "ask/location.h"
#include "slicer/criterion/criterion.h"
#include "source/expression.h"
#include "study/past.h"

enum { AT, ALLOCATED, BLOCK, SIZE, BY, FREED_AT, FREED, OFFSET, STATE };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},    [ALLOCATED] = {"allocated", ROWS_PLACE},
    [BLOCK] = {"block", ROWS_HEX},   [SIZE] = {"size", ROWS_NUMBER},
    [BY] = {"by", ROWS_TEXT},        [FREED_AT] = {"freed_at", ROWS_POSITION},
    [FREED] = {"freed", ROWS_PLACE}, [OFFSET] = {"offset", ROWS_SIGNED},
    [STATE] = {"state", ROWS_TEXT},
};
enum { PLAIN_COLUMNS = OFFSET, ALL_COLUMNS = STATE + 1 };

static void tell_block(struct asking *q, const struct heap *h, uint32_t block)
{
    const struct heap_block *b = &h->block[block];
    const struct heap_call *made = &h->call[b->allocated];
    struct position at = blocks_position(q->study, h, b->allocated);
    rows_position(q->rows, AT, &at, made->first);
    if (rows_shows(q->rows, ALLOCATED))
        location_own(q, ALLOCATED, heap_caller(h, q->study, made->stack));
    rows_hex(q->rows, BLOCK, b->start);
    rows_number(q->rows, SIZE, b->size);
    rows_text(q->rows, BY, heap_words_function(h, b->allocated));
    if (b->freed == HEAP_NONE)
        return;
    at = blocks_position(q->study, h, b->freed);
    rows_position(q->rows, FREED_AT, &at, h->call[b->freed].first);
    if (rows_shows(q->rows, FREED))
        location_own(q, FREED, heap_caller(h, q->study, h->call[b->freed].stack));
}

static int tell_all(struct asking *q, const struct heap *h, struct err *err)
{
    int end = rows_begin(q->rows, columns, PLAIN_COLUMNS, err);
    for (size_t i = 0; !end && i < h->blocks; i++) {
        tell_block(q, h, (uint32_t)i);
        end = rows_end(q->rows, err);
        end = end ? end : q->interrupted();
    }
    return end;
}

/* ---- the block of an address ---- */

static int read_pointer(struct asking *q, const struct place *p, const char *what, gaddr *out,
                        struct err *err)
{
    struct expression *e = malloc(sizeof *e);
    const struct expression_read *r = NULL;
    int bad = e ? criterion_reads(q->study, p, what, e, err) : err_set(err, "no memory");
    for (size_t i = 0; !bad && i < e->reads; i++)
        if (!e->read[i].address)
            r = r ? r : &e->read[i];
    if (!bad && (!r || r->bytes != sizeof *out))
        bad = err_set_code(err, ASK_USAGE, "%s is no pointer: give one, or an address", what);
    struct past *past = bad ? NULL : study_past(q->study, p->at, &p->position, err);
    struct program_registers *regs = malloc(sizeof *regs);
    if (!bad && (!past || !regs))
        bad = -1;
    if (!bad && r->memory)
        bad = past_read(past, r->addr, out, sizeof *out) == sizeof *out
                  ? 0
                  : err_set(err, "%s cannot be read there", what);
    else if (!bad)
        bad = r->addr >= LOC_VEC ? err_set(err, "%s is in no general register there", what)
                                 : past_registers(past, p->position.thread, regs, err);
    if (!bad && !r->memory)
        *out = regs->gpr[r->addr / LOC_GPR_BYTES];
    past_free(past);
    free(regs);
    free(e);
    return bad ? -1 : 0;
}

static int read_address(struct asking *q, struct place *p, gaddr *addr, struct err *err)
{
    char text[LOCATION_TEXT] = "", all[LOCATION_TEXT + 8], what[CRITERION_TEXT], *end;
    size_t used = 0;
    for (int i = 0; i < q->given->words; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 q->given->word[i]);
        if (used >= sizeof text)
            return err_set_code(err, ASK_USAGE, "more words than anybody means");
    }
    int without = criterion_place(q->study, text, what, p, err);
    if (without == 1) {
        snprintf(all, sizeof all, "%s at end", text);
        without = criterion_place(q->study, all, what, p, err);
    }
    if (without)
        return -1;
    *addr = strtoull(what, &end, 0);
    return *what && !*end ? 0 : read_pointer(q, p, what, addr, err);
}

static int tell_one(struct asking *q, const struct heap *h, struct err *err)
{
    enum { FAR = 4096 };
    struct place p = {0};
    gaddr addr = 0;
    if (read_address(q, &p, &addr, err)) {
        place_deinit(&p);
        return -1;
    }
    uint64_t insn = p.at;
    place_deinit(&p);
    if (rows_begin(q->rows, columns, ALL_COLUMNS, err))
        return -1;
    uint32_t block = heap_find(h, addr, insn, true);
    bool beside = block == HEAP_NONE;
    if (beside)
        block = heap_before(h, addr, insn, FAR);
    if (block == HEAP_NONE) {
        rows_note(q->rows, "0x%" PRIx64 " is in no block, and none is near before it", addr);
        return 0;
    }
    const struct heap_block *b = &h->block[block];
    tell_block(q, h, block);
    rows_signed(q->rows, OFFSET, (int64_t)(addr - b->start));
    rows_text(q->rows, STATE,
              beside          ? "behind its end"
              : b->to >= insn ? "allocated"
                              : "freed before");
    return rows_end(q->rows, err);
}

int ask_heap(struct asking *q, struct err *err)
{
    const struct heap *h = heap_of(q->study, q->given->allocator, err);
    if (!h)
        return -1;
    blocks_note(q, h);
    return q->given->words ? tell_one(q, h, err) : tell_all(q, h, err);
}
