/* shared.c - memory that several threads touch. SPDX-License-Identifier: MIT
 *
 * The state of a word is the thread that alone was there, plus one, or MANY; with WRITTEN if
 * somebody wrote.
 */
#include "facts/order/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MANY = 0x7fff, WRITTEN = 0x8000 };

void shared_deinit(struct shared *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->page[i].state);
        free(s->page[i].own);
    }
    free(s->page);
    numbers_deinit(&s->pages);
    *s = (struct shared){0};
}

/* The page with that number, which is made if need be. NULL: no memory. */
static struct shared_page *page_of(struct shared *s, uint64_t page, uint32_t thread)
{
    uint32_t number = s->recent[page % SHARED_RECENT].number;
    if (s->recent[page % SHARED_RECENT].page == page + 1)
        return &s->page[number];
    number = numbers_add(&s->pages, page, 0);
    if (number == NUMBERS_NONE ||
        (number == s->count &&
         array_append(&s->page, &s->count, (struct shared_page){.first = (uint16_t)thread}))) {
        s->failed = true;
        return NULL;
    }
    s->recent[page % SHARED_RECENT].page = page + 1;
    s->recent[page % SHARED_RECENT].number = number;
    return &s->page[number];
}

static uint16_t alone(uint32_t thread)
{
    return thread < MANY - 1 ? (uint16_t)(thread + 1) : (uint16_t)MANY;
}

/* A second thread came. */
static int divide(struct shared *s, struct shared_page *p)
{
    p->state = malloc(sizeof *p->state * SHARED_WORDS);
    for (unsigned i = 0; p->state && i < SHARED_WORDS; i++)
        p->state[i] = (uint16_t)(alone(p->first) | (p->written ? WRITTEN : 0));
    s->failed = s->failed || !p->state;
    return p->state ? 0 : -1;
}

static void touch_page(struct shared *s, uint32_t thread, uint64_t addr, uint64_t end, bool write)
{
    struct shared_page *p = page_of(s, addr / SHARED_PAGE, thread);
    if (!p)
        return;
    if (!p->state && p->first == thread) {
        p->written = p->written || write;
        return;
    }
    if (!p->state && divide(s, p))
        return;
    for (uint64_t w = addr / 8; w * 8 < end; w++) {
        uint16_t *state = &p->state[w % SHARED_WORDS];
        uint16_t who = (*state & MANY) == alone(thread) ? alone(thread) : MANY;
        *state = (uint16_t)((*state & WRITTEN) | who | (write ? WRITTEN : 0));
    }
}

void shared_touch(struct shared *s, uint32_t thread, uint64_t addr, uint64_t bytes, bool write)
{
    uint64_t end = addr + bytes;
    while (addr < end) {
        uint64_t next = (addr / SHARED_PAGE + 1) * SHARED_PAGE;
        touch_page(s, thread, addr, next < end ? next : end, write);
        addr = next;
    }
}

bool shared_has(const struct shared_page *p, uint64_t addr)
{
    return p->state[addr % SHARED_PAGE / 8] == (MANY | WRITTEN);
}

void shared_settle(struct shared *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct shared_page *p = &s->page[i];
        for (unsigned w = 0; p->state && !p->any && w < SHARED_WORDS; w++)
            p->any = shared_has(p, w * 8);
        if (p->any)
            continue;
        free(p->state);
        p->state = NULL;
    }
}

struct shared_page *shared_find(struct shared *s, uint64_t addr)
{
    uint64_t page = addr / SHARED_PAGE;
    uint32_t number = s->recent[page % SHARED_RECENT].number;
    if (s->recent[page % SHARED_RECENT].page != page + 1) {
        number = numbers_find(&s->pages, page, 0);
        if (number == NUMBERS_NONE)
            return NULL;
        s->recent[page % SHARED_RECENT].page = page + 1;
        s->recent[page % SHARED_RECENT].number = number;
    }
    return s->page[number].any ? &s->page[number] : NULL;
}

static void forget_page(struct shared_page *p)
{
    if (p && p->own)
        memset(p->own, 0, sizeof *p->own * SHARED_WORDS);
}

/* By the range's pages, or by all that there are, if these are fewer. */
void shared_forget(struct shared *s, uint64_t addr, uint64_t bytes)
{
    uint64_t first = addr / SHARED_PAGE, end = (addr + bytes + SHARED_PAGE - 1) / SHARED_PAGE;
    if (end - first < s->count) {
        for (uint64_t page = first; page < end; page++)
            forget_page(shared_find(s, page * SHARED_PAGE));
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->pages.pair[i][0] >= first && s->pages.pair[i][0] < end)
            forget_page(&s->page[i]);
}
