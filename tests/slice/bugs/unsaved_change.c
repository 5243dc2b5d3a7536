/* unsaved_change.c - one way of changing a record forgets to say that it was changed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 6

struct page {
    int dirty, used;
    char text[32];
};

static struct page cache[PAGES];
static char disk[PAGES][32];

static void set_text(int page, const char *text)
{
    snprintf(cache[page].text, sizeof cache[page].text, "%s", text);
    cache[page].dirty = 1;
}

static void append_text(int page, const char *text)
{
    size_t n = strlen(cache[page].text);
    snprintf(cache[page].text + n, sizeof cache[page].text - n, "%s", text); /* ROOT CAUSE */
#ifdef FIXED
    cache[page].dirty = 1;
#endif
}

static void save(void)
{
    for (int i = 0; i < PAGES; i++)
        if (cache[i].dirty) {
            memcpy(disk[i], cache[i].text, sizeof disk[i]);
            cache[i].dirty = 0;
        }
}

static void load(void)
{
    for (int i = 0; i < PAGES; i++) {
        memcpy(cache[i].text, disk[i], sizeof disk[i]);
        cache[i].used = 0;
    }
}

static size_t total(void)
{
    size_t n = 0;
    for (int i = 0; i < PAGES; i++)
        n += strlen(cache[i].text);
    return n;
}

int main(void)
{
    size_t before, after;
    for (int i = 0; i < PAGES; i++)
        set_text(i, "some text");
    append_text(2, ", and more");
    save();
    append_text(4, " later");
    before = total();
    save();
    load();
    after = total();
    printf("%zu, %zu\n", before, after);
    assert(before == after);
    return 0;
}
