/* shared.h - memory that several threads touch, at least one of them to write.
 *
 * SPDX-License-Identifier: MIT
 *
 * In words of 8 bytes, by pages. Most pages have one thread alone, and cost a few bytes; so a first
 * pass over a trace, which says what was touched, is cheap, and a second one has only the words
 * that are left to think about. A page that a second thread comes to may keep some words that it
 * need not: what the first one did before is not known by word.
 */
#ifndef FACTS_ORDER_SHARED_H
#define FACTS_ORDER_SHARED_H

#include "facts/order/numbers.h"

enum { SHARED_PAGE = 4096, SHARED_WORDS = SHARED_PAGE / 8, SHARED_RECENT = 256 };

struct shared_page {
    uint16_t *state; /* by word; NULL: one thread alone was here */
    uint32_t *own;   /* by word: of use to who asks; NULL: not yet */
    uint16_t first;  /* thread that came first */
    bool written;    /* by that one, while it was alone */
    bool any;        /* after shared_settle(): some word is shared */
    uint8_t mark;    /* of use to who asks */
};

struct shared {
    struct numbers pages;
    struct shared_page *page; /* by number */
    size_t count;
    struct {
        uint64_t page; /* plus one */
        uint32_t number;
    } recent[SHARED_RECENT];
    bool failed; /* no memory: what is here is not right any more */
};

void shared_deinit(struct shared *s); /* {0} is empty */

void shared_touch(struct shared *s, uint32_t thread, uint64_t addr, uint64_t bytes, bool write);
/* All was told: forgets pages without shared words. */
void shared_settle(struct shared *s);

/* After that. The page of an address, if some of its words are shared; else NULL. */
struct shared_page *shared_find(struct shared *s, uint64_t addr);
bool shared_has(const struct shared_page *p, uint64_t addr);
/* What is kept in `own` of pages of the range becomes 0. */
void shared_forget(struct shared *s, uint64_t addr, uint64_t bytes);

#endif
