/* errors.c - what the program did wrong with memory. SPDX-License-Identifier: MIT */
#include "facts/heap/words.h"

#include "ask/blocks.h"
#include "ask/location.h"

enum { AT, PLACE, KIND, BLOCK, SIZE, TIMES, WHAT };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},   [PLACE] = {"place", ROWS_PLACE},
    [KIND] = {"kind", ROWS_TEXT},   [BLOCK] = {"block", ROWS_HEX},
    [SIZE] = {"size", ROWS_NUMBER}, [TIMES] = {"times", ROWS_NUMBER},
    [WHAT] = {"what", ROWS_TEXT},
};

static int tell(struct asking *q, const struct heap *h, const struct heap_error *e, struct err *err)
{
    char text[HEAP_WORDS];
    struct position at = {
        .thread = trace_thread(q->study->trace, e->thread), .count = e->count, .pc = e->pc};
    rows_position(q->rows, AT, &at, e->insn);
    location_place(q, PLACE, heap_words_own(q->study, h, e));
    rows_text(q->rows, KIND, heap_words_kind(e->kind));
    if (e->block != HEAP_NONE) {
        rows_hex(q->rows, BLOCK, h->block[e->block].start);
        rows_number(q->rows, SIZE, h->block[e->block].size);
    }
    if (e->variable) {
        rows_hex(q->rows, BLOCK, e->variable);
        rows_number(q->rows, SIZE, e->variable_bytes);
    }
    rows_number(q->rows, TIMES, e->times);
    heap_words_error(q->study, h, e, false, text);
    rows_text(q->rows, WHAT, text);
    return rows_end(q->rows, err);
}

int ask_errors(struct asking *q, struct err *err)
{
    if (rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    struct heap *h = heap_of(q->study, q->given->allocator, err);
    const struct heap_errors *e = h ? heap_errors(h, q->study, err) : NULL;
    if (!e)
        return -1;
    int end = 0;
    for (size_t i = 0; !end && i < e->count; i++)
        end = tell(q, h, &e->list[i], err);
    blocks_note(q, h);
    return end;
}
