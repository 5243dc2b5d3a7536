/* bookmarks.c - places that somebody wants to find again. SPDX-License-Identifier: MIT
 *
 * A bookmark is a note of the pinball: `bookmark POSITION NOTE`. A later one of the same position
 * takes the place of the earlier one.
 */
#include "replayer/bookmarks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/pinball.h"
#include "pinball/text.h"

/* Each is compared with all before it. */
enum { BOOKMARKS = 10000 };
static const char key[] = "bookmark";

static bool same(const struct position *a, const struct position *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

static int put(struct bookmarks *b, const struct position *at, const char *note, struct err *err)
{
    char *copy = strdup(note);
    size_t i = 0;
    while (i < b->count && !same(&b->list[i].at, at))
        i++;
    if (i == BOOKMARKS) {
        free(copy);
        return err_set(err, "more than %d bookmarks", BOOKMARKS);
    }
    if (!copy ||
        (i == b->count && array_append(&b->list, &b->count, (struct bookmark){.at = *at}))) {
        free(copy);
        return err_set(err, "no memory");
    }
    free(b->list[i].note);
    b->list[i].note = copy;
    return 0;
}

int bookmarks_read(struct bookmarks *b, const struct pinball *pinball, struct err *err)
{
    const char *name, *value;
    for (size_t place = 0; pinball_note_line(pinball, &place, &name, &value);) {
        char text[POSITION_TEXT];
        struct position at = {0};
        struct err bad;
        size_t n = strcspn(value, " ");
        if (strcmp(name, key) || n >= sizeof text)
            continue;
        memcpy(text, value, n);
        text[n] = 0;
        if (position_parse(text, &at, &bad))
            continue; /* a later version's */
        if (put(b, &at, value[n] ? value + n + 1 : "", err))
            return -1;
    }
    return 0;
}

int bookmarks_add(struct bookmarks *b, struct pinball *pinball, const struct position *at,
                  const char *note, struct err *err)
{
    char place[POSITION_TEXT];
    struct text text = {0};
    if (put(b, at, note, err))
        return -1;
    position_format(at, place);
    text_addf(&text, key, "%s%s%s", place, *note ? " " : "", note);
    int result = pinball_note(pinball, text.data, text.bytes, err);
    text_deinit(&text);
    return result;
}

void bookmarks_deinit(struct bookmarks *b)
{
    for (size_t i = 0; i < b->count; i++)
        free(b->list[i].note);
    free(b->list);
    *b = (struct bookmarks){0};
}
