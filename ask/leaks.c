/* leaks.c - blocks that nothing points to at the end. SPDX-License-Identifier: MIT */
#include "facts/heap/leaks.h"

#include <inttypes.h>

#include "ask/blocks.h"
#include "ask/location.h"

enum { AT, PLACE, BLOCKS, BYTES, LEAK, STACK };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},       [PLACE] = {"place", ROWS_PLACE},
    [BLOCKS] = {"blocks", ROWS_NUMBER}, [BYTES] = {"bytes", ROWS_NUMBER},
    [LEAK] = {"leak", ROWS_TEXT},       [STACK] = {"stack", ROWS_TEXT},
};

/* "list.c:12 main.c:20 ...": who called, the innermost first. */
static void stack_text(struct study *s, const struct heap *h, uint32_t stack, char *buf,
                       size_t room)
{
    const struct heap_stack *k = &h->stack[stack];
    size_t used = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < k->count && used + 1 < room; i++) {
        char place[HEAP_WORDS / 4];
        heap_words_place(s, h->frame[k->first + i], place, sizeof place);
        int n = snprintf(buf + used, room - used, "%s%s", i ? ", " : "", place);
        used += n > 0 ? (size_t)n : 0;
    }
}

static int tell(struct asking *q, const struct heap *h, const struct heap_leak *l, struct err *err)
{
    const struct heap_call *c = &h->call[h->block[l->block].allocated];
    struct position at = blocks_position(q->study, h, h->block[l->block].allocated);
    char text[HEAP_WORDS];
    rows_position(q->rows, AT, &at, c->first);
    location_own(q, PLACE, heap_caller(h, q->study, l->stack));
    rows_number(q->rows, BLOCKS, l->blocks);
    rows_number(q->rows, BYTES, l->bytes);
    rows_text(q->rows, LEAK, l->direct ? "direct" : "indirect");
    stack_text(q->study, h, l->stack, text, sizeof text);
    rows_text(q->rows, STACK, text);
    return rows_end(q->rows, err);
}

int ask_leaks(struct asking *q, struct err *err)
{
    if (rows_begin(q->rows, columns, sizeof columns / sizeof *columns, err))
        return -1;
    struct heap *h = heap_of(q->study, q->given->allocator, err);
    struct heap_leaks leaks;
    if (!h || heap_leaks(h, q->study, &leaks, err))
        return -1;
    int end = 0;
    for (size_t i = 0; !end && i < leaks.count; i++)
        end = tell(q, h, &leaks.list[i], err);
    rows_note(q->rows, "%" PRIu64 " %s not freed, but can be reached", leaks.reachable,
              leaks.reachable == 1 ? "block is" : "blocks are");
    blocks_note(q, h);
    heap_leaks_deinit(&leaks);
    return end;
}
