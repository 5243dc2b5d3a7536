/* engine_cache_test.c - engine/core/cache.h: blocks, links, eviction.
 *
 * SPDX-License-Identifier: MIT
 *
 * The target's code is a row of slots of 16 bytes: `jne slot; jmp slot; nop...`, so that each slot
 * makes two blocks. The arenas are as small as the cache allows.
 */
#include "engine/core/cache.h"

#include <stdlib.h>
#include <string.h>

#include "engine/core/engine.h"
#include "tests/unit/engine_support.h"
#include "tests/unit/engine_verify.h"
#include "tests/unit/unit.h"

enum { SLOTS = 4096, SLOT = 16, JMP = 6 /* offset of a slot's second block */ };

static const gaddr BASE = 0x401000;
static const struct translate_options options = {.region = 1};
static uint8_t code[SLOTS * SLOT];

static gaddr slot_pc(int slot)
{
    return BASE + (gaddr)slot * SLOT;
}

static void put_rel32(uint8_t *at, const uint8_t *to)
{
    int32_t d = (int32_t)(to - (at + 4));
    memcpy(at, &d, 4);
}

static void make_slot(int slot, int jne_to, int jmp_to)
{
    uint8_t *p = code + slot * SLOT;
    memset(p, 0x90, SLOT);
    memcpy(p, (const uint8_t[]){0x0f, 0x85}, 2);
    put_rel32(p + 2, code + jne_to * SLOT);
    p[JMP] = 0xe9;
    put_rel32(p + JMP + 1, code + jmp_to * SLOT);
}

static struct block *make(gaddr pc)
{
    gaddr fault;
    struct block *b = translate(pc, &support_source, &options, &fault);
    assert_non_null(b);
    return b;
}

static void check(const struct block *b)
{
    const char *wrong = verify_block(b, &support_source, &options);
    if (wrong)
        fail_msg("%s", wrong);
}

static struct exit_site *direct(struct block *b, gaddr target)
{
    for (int i = 0; i < b->site_count; i++)
        if (b->site[i].kind == EXIT_DIRECT && b->site[i].target == target)
            return &b->site[i];
    return NULL;
}

static const uint8_t *leads_to(const struct exit_site *s)
{
    int32_t d;
    memcpy(&d, s->patch, 4);
    return s->patch + 4 + d;
}

static int start_empty(void **state)
{
    (void)state;
    cache_kill_all();
    for (int i = 0; i < SLOTS; i++)
        make_slot(i, (i + 1) % SLOTS, (i + SLOTS - 1) % SLOTS);
    support_code = (struct support_code){BASE, code, sizeof code, false};
    return 0;
}

static void finds_blocks_by_target_address(void **state)
{
    (void)state;
    assert_null(cache_find(BASE));
    struct block *b = make(BASE), *c = make(BASE + JMP);
    assert_ptr_equal(cache_find(BASE), b);
    assert_ptr_equal(cache_find(BASE + JMP), c);
    assert_null(cache_find(BASE + 1));
    cache_kill(b);
    assert_true(b->dead);
    assert_null(cache_find(BASE));
    assert_ptr_equal(cache_find(BASE + JMP), c);
}

static void finds_blocks_by_cache_address(void **state)
{
    (void)state;
    struct block *b = make(BASE), *c = make(BASE + JMP);
    for (uint32_t i = 0; i < b->host_len; i++)
        assert_ptr_equal(cache_block_at((uint64_t)b->host + i), b);
    assert_ptr_equal(cache_block_at((uint64_t)c->host), c);
    assert_null(cache_block_at((uint64_t)c->host + c->host_len));
    assert_null(cache_block_at((uint64_t)&b));
    assert_true(cache_contains((uint64_t)b->host));
    assert_false(cache_contains((uint64_t)&b));
    assert_int_equal(cache_from_low((uint32_t)(uint64_t)c->host), (uint64_t)c->host);
    cache_kill(b);
    assert_ptr_equal(cache_block_at((uint64_t)b->host), b); /* a thread may still fault in it */
}

static void finds_the_last_fault_point_before_an_address(void **state)
{
    static const uint8_t loads[] = {0x8b, 0x03, 0x8b, 0x4b, 0x08, 0x8b, 0x13, 0xc3};

    (void)state;
    support_code = (struct support_code){BASE, loads, sizeof loads, false};
    struct block *b = make(BASE);
    assert_int_equal(b->point_count, 4);
    assert_null(cache_fault_point(b, (uint64_t)b->host));
    for (int i = 0; i < 4; i++) {
        uint64_t at = (uint64_t)b->host + b->point[i].host_off;
        assert_ptr_equal(cache_fault_point(b, at), &b->point[i]);
        assert_ptr_equal(cache_fault_point(b, at + 1), &b->point[i]);
    }
    assert_int_equal(b->point[1].guest_off, 2);
    assert_int_equal(b->point[2].guest_off, 5);
    assert_int_equal(b->point[3].guest_off, 7);
}

static void a_link_leads_to_the_entry_that_ticks_or_not(void **state)
{
    (void)state;
    struct block *b = make(slot_pc(1)), *forward = make(slot_pc(2));
    struct block *jmp = make(slot_pc(1) + JMP), *back = make(slot_pc(0));
    struct exit_site *s = direct(b, slot_pc(2)), *t = direct(jmp, slot_pc(0));
    assert_ptr_equal(leads_to(s), s->stub);
    cache_link(s, forward);
    cache_link(t, back);
    assert_ptr_equal(leads_to(s), forward->host + forward->plain_off);
    assert_ptr_equal(leads_to(t), back->host + back->tick_off);
    check(b);
    check(jmp);
}

static void killing_a_block_unlinks_all_that_lead_to_it(void **state)
{
    enum { N = 10 };
    struct exit_site *s[N];

    (void)state;
    struct block *to = make(slot_pc(100));
    for (int i = 0; i < N; i++) {
        make_slot(i, 100, 100);
        s[i] = direct(make(slot_pc(i)), slot_pc(100));
        cache_link(s[i], to);
    }
    cache_kill(s[4]->block); /* from the middle of the list */
    assert_ptr_equal(leads_to(s[4]), s[4]->stub);
    cache_kill(to);
    for (int i = 0; i < N; i++) {
        assert_ptr_equal(leads_to(s[i]), s[i]->stub);
        assert_null(s[i]->to);
        check(s[i]->block);
    }
    struct block *again = make(slot_pc(100));
    cache_link(s[3], again);
    assert_ptr_equal(s[3]->to, again);
}

static void a_block_linked_to_itself_can_be_killed(void **state)
{
    (void)state;
    make_slot(5, 5, 5);
    struct block *b = make(slot_pc(5));
    struct exit_site *s = direct(b, slot_pc(5));
    cache_link(s, b);
    assert_ptr_equal(leads_to(s), b->host + b->tick_off);
    cache_kill(b);
    assert_ptr_equal(leads_to(s), s->stub);
    cache_kill(b); /* twice is once */
}

static void dead_and_transient_blocks_are_never_linked(void **state)
{
    const struct translate_options one = {.one = true, .region = 1};
    gaddr fault;

    (void)state;
    struct block *b = make(slot_pc(1)), *to = make(slot_pc(2));
    struct block *once = translate(slot_pc(3), &support_source, &one, &fault);
    assert_true(once->transient);
    assert_null(cache_find(slot_pc(3)));
    cache_link(direct(once, slot_pc(4)), make(slot_pc(4)));
    assert_null(direct(once, slot_pc(4))->to);
    struct exit_site *s = direct(b, slot_pc(2));
    cache_link(s, once);
    assert_null(s->to);
    cache_kill(b);
    cache_link(s, to);
    assert_null(s->to);
    assert_null(to->in);
    cache_kill(once);
}

static void a_killed_block_leaves_the_lookup_tables(void **state)
{
    (void)state;
    struct block *b = make(BASE), *c = make(BASE + JMP);
    struct lookup_entry *e = cache_lookup(BASE);
    struct lookup_entry *f = cache_lookup(BASE + JMP);
    *e = (struct lookup_entry){BASE, b->host};
    *f = (struct lookup_entry){BASE + JMP, c->host};
    cache_kill(b);
    assert_int_not_equal(e->pc, BASE);
    /* The empty entry is never found: its pc belongs to another entry. */
    assert_ptr_not_equal(cache_lookup(e->pc), e);
    assert_int_equal(f->pc, BASE + JMP);
}

static void kills_the_blocks_of_a_range_of_pages(void **state)
{
    const int per_page = (int)PAGE_BYTES / SLOT;
    struct block *b[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        b[i] = make(slot_pc(i * per_page));
    cache_kill_range(BASE + PAGE_BYTES + 5, BASE + 2 * PAGE_BYTES + 1);
    assert_false(b[0]->dead || b[3]->dead);
    assert_true(b[1]->dead && b[2]->dead);
    cache_kill_range(0, 1ull << 47); /* so long that it goes through the table instead */
    assert_true(b[0]->dead && b[3]->dead);
}

static void a_block_over_a_page_end_belongs_to_both_pages(void **state)
{
    static const uint8_t mov[] = {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0xc3};
    const gaddr pc = 0x7ffffc;

    (void)state;
    support_code = (struct support_code){pc, mov, sizeof mov, false};
    struct block *b = make(pc);
    assert_int_equal(b->len, 10); /* ret is in the next page, in a block of its own */
    struct block *ret = make(pc + 10);
    assert_ptr_equal(cache_page_find(0x7ff000), b->pages[0].page);
    assert_ptr_equal(cache_page_find(0x800000), b->pages[1].page);
    cache_kill_range(0x800000, 0x800001);
    assert_true(b->dead && ret->dead);
    b = make(pc);
    ret = make(pc + 10);
    cache_kill_range(0x7ff000, 0x800000);
    assert_true(b->dead && !ret->dead);
    assert_ptr_equal(cache_page_find(0x800000)->links->block, ret);
}

/* Whether flags are dead at a jump is seen at its target. */
static void a_block_depends_on_pages_it_looked_at(void **state)
{
    const int there = 8 * (int)PAGE_BYTES / SLOT;

    (void)state;
    for (int way = 0; way < 2; way++) {
        make_slot(0, 1, there);
        struct block *b = make(BASE + JMP), *other = make(slot_pc(there));
        assert_int_equal(b->page_count, 2);
        if (way)
            cache_kill(b);
        else
            cache_kill(other);
        assert_true(b->dead != other->dead);
        cache_kill_range(slot_pc(there), slot_pc(there) + 1);
        assert_true(b->dead && other->dead);
    }
}

static void count_page(struct codepage *p, void *arg)
{
    assert_true(p->addr >= BASE && p->addr < BASE + 4 * PAGE_BYTES);
    ++*(int *)arg;
}

static void visits_the_known_pages_of_a_range(void **state)
{
    int n = 0;

    (void)state;
    cache_page(BASE)->writes = 7;
    cache_page(BASE + 3 * PAGE_BYTES);
    assert_int_equal(cache_page(BASE)->writes, 7);
    assert_null(cache_page_find(0x123456789000));
    cache_pages(BASE, BASE + 4 * PAGE_BYTES, count_page, &n);
    assert_in_range(n, 2, 4);
}

/* ---- eviction ---- */

static int alive(void)
{
    int n = 0;
    for (int i = 0; i < SLOTS; i++)
        n += cache_find(slot_pc(i)) != NULL;
    return n;
}

static void evicts_old_blocks_when_full(void **state)
{
    uint64_t before = cache_generation;

    (void)state;
    for (int i = 0; cache_generation < before + 20; i++) {
        gaddr pc = slot_pc(i % SLOTS);
        struct block *old = cache_find(pc);
        struct block *b = old ? old : make(pc);
        struct block *last = cache_find(slot_pc((i + SLOTS - 1) % SLOTS));
        if (i && last)
            cache_link(direct(last, pc), b);
        assert_ptr_equal(cache_find(pc), b);
        if (i > 100 * SLOTS)
            fail_msg("nothing is evicted");
        if (i % SLOTS == SLOTS - 1 && alive() == SLOTS)
            cache_kill_all(); /* all fit: make them again */
    }
    assert_true(cache_stats.evicted + cache_stats.killed > 0);
    for (int i = 0; i < SLOTS; i++)
        if (cache_find(slot_pc(i)))
            check(cache_find(slot_pc(i)));
}

static void transient_blocks_do_not_fill_the_cache(void **state)
{
    const struct translate_options one = {.one = true, .region = 1};
    uint64_t before = cache_generation;
    gaddr fault;

    (void)state;
    while (cache_generation < before + 10) {
        struct block *b = translate(slot_pc(9), &support_source, &one, &fault);
        assert_non_null(b);
        assert_ptr_equal(cache_block_at((uint64_t)b->host), b);
    }
}

/* ---- anything, in any order ---- */

static void check_links(const struct block *b)
{
    for (int k = 0; k < b->site_count; k++) {
        struct exit_site *s = &b->site[k];
        if (s->kind != EXIT_DIRECT)
            continue;
        assert_true(!s->to || (!s->to->dead && s->to->pc == s->target));
        assert_true(!s->to || *s->in_prev == s);
    }
    for (const struct exit_site *s = b->in; s; s = s->in_next)
        assert_true(s->to == b && !s->block->dead);
}

static void survives_random_use(void **state)
{
    enum { USED = 300 };

    (void)state;
    srand(1);
    for (int i = 0; i < USED; i++)
        make_slot(i, rand() % USED, rand() % USED);
    for (int n = 0; n < 30000; n++) {
        gaddr pc = slot_pc(rand() % USED) + (rand() % 2 ? JMP : 0);
        struct block *b = cache_find(pc);
        int what = rand() % 100;
        if (!b) {
            b = make(pc);
            assert_ptr_equal(cache_find(pc), b);
        } else if (what < 10) {
            cache_kill(b);
            assert_null(cache_find(pc));
        } else if (what < 90) {
            struct exit_site *s = &b->site[rand() % b->site_count];
            struct block *to = s->kind == EXIT_DIRECT ? cache_find(s->target) : NULL;
            if (to)
                cache_link(s, to);
        } else if (what == 90) {
            cache_kill_range(pc, pc + 1);
        }
        if (n % 10 == 0 && (b = cache_find(pc)) != NULL)
            check_links(b);
        if (n % 50 == 0 && b && !b->dead)
            check(b);
    }
}

static int init(void **state)
{
    support_init(0);
    return start_empty(state);
}

#define TEST(f) cmocka_unit_test_setup(f, start_empty)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finds_blocks_by_target_address),
        TEST(finds_blocks_by_cache_address),
        TEST(finds_the_last_fault_point_before_an_address),
        TEST(a_link_leads_to_the_entry_that_ticks_or_not),
        TEST(killing_a_block_unlinks_all_that_lead_to_it),
        TEST(a_block_linked_to_itself_can_be_killed),
        TEST(dead_and_transient_blocks_are_never_linked),
        TEST(a_killed_block_leaves_the_lookup_tables),
        TEST(kills_the_blocks_of_a_range_of_pages),
        TEST(a_block_over_a_page_end_belongs_to_both_pages),
        TEST(a_block_depends_on_pages_it_looked_at),
        TEST(visits_the_known_pages_of_a_range),
        TEST(evicts_old_blocks_when_full),
        TEST(transient_blocks_do_not_fill_the_cache),
        TEST(survives_random_use),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
