/* pinball_steplist_test.c - the packed list of kept statements against a plain one, and arbitrary
 * bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "pinball/steplist.h"

enum { STATEMENTS = 20000, THREADS = 5, CODE = 400, ASKED = 3000, DAMAGES = 300 };

static uint64_t state = 17;
static struct kept_statement plain[STATEMENTS];
static int failures;

static uint64_t draw(uint64_t below)
{
    return hash_draw(&state) % below;
}

static void expect(bool good, const char *what, size_t i)
{
    if (good)
        return;
    printf("FAILED: %s, statement %zu\n", what, i);
    failures++;
}

/* Loops mostly, which are left now and then; code far away; threads in turns, one after the other
 * begins. */
static void make(void)
{
    static struct kept_statement last[THREADS];
    uint32_t t = 0;
    for (size_t i = 0; i < STATEMENTS; i++) {
        if (!draw(50))
            t = (uint32_t)draw(1 + i * THREADS / STATEMENTS);
        struct kept_statement *s = &last[t];
        const uint64_t way = draw(10) ? 0 : draw(CODE);
        s->thread = 7 * t + 1;
        s->count = s->last_count + 1 + (way ? draw(3) : 0);
        s->pc = way == 1 ? UINT64_MAX - 1 : 0x401000 + (s->last_pc * 7 + way * 11) % CODE;
        s->last_count = s->count + !draw(20);
        s->last_pc = s->pc + draw(2);
        s->depth = draw(8) ? s->depth : (uint32_t)draw(30);
        s->how = (uint32_t)draw(4) & (uint32_t)draw(4);
        plain[i] = *s;
    }
}

static void compare(const struct steplist *l, size_t count)
{
    struct kept_statement s;
    expect(steplist_count(l) == count, "another number", steplist_count(l));
    for (size_t k = 0; k < ASKED; k++) {
        const size_t i = draw(2) ? k % count : draw(count);
        steplist_get(l, i, &s);
        expect(!memcmp(&s, &plain[i], sizeof s), "is another", i);
    }
}

static void ask(const struct steplist *l, size_t count)
{
    for (size_t k = 0; k < ASKED / 10; k++) {
        const struct kept_statement *of = &plain[draw(count)];
        const uint64_t at = of->count + draw(3) - 1, pc = of->pc + draw(3) - 1;
        struct kept_statement s;
        size_t want = count, found = count;
        for (size_t i = 0; i < count; i++)
            if (plain[i].thread == of->thread &&
                (plain[i].count < at || (plain[i].count == at && plain[i].pc <= pc)))
                want = i;
        if (!steplist_last(l, of->thread, at, pc, &found, &s))
            found = count;
        else
            expect(!memcmp(&s, &plain[found], sizeof s), "the last one is another", found);
        expect(found == want, "another is the last", want);
    }
    size_t i;
    struct kept_statement s;
    expect(!steplist_last(l, 1000, 0, 0, &i, &s), "a thread that is not there", 0);
}

static struct steplist *unpack(const uint8_t *bytes, size_t count, int *status)
{
    struct steplist *l = steplist_new();
    struct err err;
    const size_t half = count / 2;
    if (!l || steplist_put(l, bytes, half) || steplist_put(l, bytes + half, count - half))
        exit(2);
    while ((*status = steplist_read(l, &err)) > 0)
        ;
    return l;
}

/* Whatever the bytes are: an error, or a list of which each statement can be had. */
static void damage(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count);
    unsigned refused = 0;
    for (unsigned k = 0; k < DAMAGES; k++) {
        struct kept_statement s;
        int status;
        size_t n = draw(4) ? count : draw(count);
        memcpy(copy, bytes, count);
        for (uint64_t changes = draw(4); changes > 0; changes--)
            copy[draw(count)] = (uint8_t)draw(256);
        struct steplist *l = unpack(copy, n, &status);
        refused += status < 0;
        for (size_t i = 0; status == 0 && i < steplist_count(l); i += 1 + draw(500))
            steplist_get(l, i, &s);
        steplist_free(l);
    }
    expect(refused > 0, "nothing is refused", 0);
    free(copy);
}

int main(void)
{
    size_t bytes;
    int status;
    make();
    struct steplist *l = steplist_new();
    for (size_t i = 0; i < STATEMENTS; i++)
        if (steplist_add(l, &plain[i]))
            return 2;
    const uint8_t *packed = steplist_packed(l, &bytes);
    compare(l, STATEMENTS);
    ask(l, STATEMENTS);
    struct steplist *other = unpack(packed, bytes, &status);
    expect(status == 0, "is not read", 0);
    compare(other, STATEMENTS);
    ask(other, STATEMENTS);
    struct kept_statement last[1];
    steplist_get(other, STATEMENTS - 1, last);
    expect(!steplist_add(other, last) && steplist_count(other) == STATEMENTS + 1, "goes on", 0);
    damage(packed, bytes);
    steplist_free(other);
    steplist_free(l);
    puts(failures ? "bad" : "good");
    return failures != 0;
}
