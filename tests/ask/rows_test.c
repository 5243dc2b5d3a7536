/* rows_test.c - rows as tables, JSON and CSV, whatever is in their cells. SPDX-License-Identifier:
 * MIT */
#define _GNU_SOURCE /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/rows.h"

static int failures;

static void check(const char *what, const char *is, const char *wanted)
{
    if (strcmp(is, wanted) == 0)
        return;
    printf("%s:\n--- is\n%s--- wanted\n%s", what, is, wanted);
    failures++;
}

enum { AT, PLACE, NAME, SIZE, OFF, FLAG };
static const struct rows_column columns[] = {
    [AT] = {"at", ROWS_POSITION},   [PLACE] = {"place", ROWS_PLACE}, [NAME] = {"name", ROWS_TEXT},
    [SIZE] = {"size", ROWS_NUMBER}, [OFF] = {"off", ROWS_SIGNED},    [FLAG] = {"odd", ROWS_FLAG},
};

static int row(struct rows *r, uint32_t thread, uint64_t order, const char *name, uint64_t size)
{
    struct position at = {.thread = thread, .count = order, .pc = 0x1000 + order};
    struct err err;
    rows_position(r, AT, &at, order);
    rows_place(r, PLACE, &(struct rows_place){"/a/b.c", (uint32_t)order, "f", 0x1000});
    rows_text(r, NAME, name);
    rows_number(r, SIZE, size);
    rows_signed(r, OFF, -(int64_t)size);
    rows_flag(r, FLAG, size & 1);
    return rows_end(r, &err);
}

/* Rows with everything that a name may hold. */
static char *make(struct rows_options o)
{
    char *text = NULL;
    size_t bytes;
    struct err err;
    o.out = open_memstream(&text, &bytes);
    struct rows *r = rows_new(&o, &err);
    if (!r || rows_begin(r, columns, sizeof columns / sizeof *columns, &err)) {
        fprintf(o.out, "error: %s\n", err.msg);
        fclose(o.out);
        rows_free(r);
        return text;
    }
    int end = row(r, 1, 10, "plain", 3);
    end = end ? end : row(r, 2, 20, "a,\"b\"\n\x1b[31m", 4);
    end = end ? end : row(r, 1, 30, NULL, 5);
    end = end ? end : row(r, 2, 40, "plain", 7);
    rows_note(r, "a note");
    if (end < 0 || rows_finish(r, false, &err))
        fprintf(o.out, "error: %s\n", err.msg);
    rows_free(r);
    fclose(o.out);
    return text;
}

static void expect(const char *what, struct rows_options o, const char *wanted)
{
    char *text = make(o);
    check(what, text, wanted);
    free(text);
}

int main(void)
{
    expect("table", (struct rows_options){.form = ROWS_TABLE},
           "       at          place   name             size  off  odd\n"
           "#1     T1:10:100a  b.c:10  plain               3   -3  odd\n"
           "#2     T2:20:1014  b.c:20  a,\"b\"\\n\\x1b[31m     4   -4  \n"
           "#3     T1:30:101e  b.c:30                      5   -5  odd\n"
           "#4     T2:40:1028  b.c:40  plain               7   -7  odd\n"
           "a note\n");
    expect(
        "json", (struct rows_options){.form = ROWS_JSON, .limit = 2},
        "{\"version\": 1, \"columns\": [\"at\", \"place\", \"name\", \"size\", \"off\", \"odd\"]}\n"
        "{\"row\": 1, \"at\": \"T1:10:100a\", \"place\": {\"text\": \"b.c:10\", \"file\": \"/a/b.c\", \"line\": 10, "
        "\"function\": \"f\", \"pc\": \"0x1000\"}, \"name\": \"plain\", \"size\": 3, \"off\": -3, \"odd\": true}\n"
        "{\"row\": 2, \"at\": \"T2:20:1014\", \"place\": {\"text\": \"b.c:20\", \"file\": \"/a/b.c\", \"line\": 20, "
        "\"function\": \"f\", \"pc\": \"0x1000\"}, \"name\": \"a,\\\"b\\\"\\u000a\\u001b[31m\", \"size\": 4, \"off\": -4, "
        "\"odd\": false}\n"
        "{\"rows\": 2, \"complete\": false, \"notes\": [\"a note\", \"that is the limit; there may be more\"]}\n");
    expect("csv of a thread", (struct rows_options){.form = ROWS_CSV, .thread = 2},
           "row,at,place,name,size,off,odd\r\n"
           "1,T2:20:1014,b.c:20,\"a,\"\"b\"\"\\n\\x1b[31m\",4,-4,\r\n"
           "2,T2:40:1028,b.c:40,plain,7,-7,odd\r\n");
    expect("after", (struct rows_options){.form = ROWS_CSV, .after = 30},
           "row,at,place,name,size,off,odd\r\n"
           "1,T1:30:101e,b.c:30,,5,-5,odd\r\n"
           "2,T2:40:1028,b.c:40,plain,7,-7,odd\r\n");
    expect("count", (struct rows_options){.form = ROWS_TABLE, .count = true}, "4\n");
    expect(
        "groups", (struct rows_options){.form = ROWS_CSV, .group = "name,odd"},
        "row,count,name,odd\r\n1,2,plain,odd\r\n2,1,,odd\r\n3,1,\"a,\"\"b\"\"\\n\\x1b[31m\",\r\n");
    expect("no such column", (struct rows_options){.form = ROWS_CSV, .group = "nam"},
           "error: --group-by nam: the columns are at, place, name, size, off, odd\n");
    expect("narrow", (struct rows_options){.form = ROWS_CSV, .group = "size", .limit = 1},
           "row,count,size\r\n1,1,3\r\n");
    printf("%d failures\n", failures);
    return failures != 0;
}
