/* signed_table.c - a byte above 127 is an index below nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OTHER, LETTER, DIGIT };

static struct {
    int before[128];
    int kind[256];
} table;

static void make_table(void)
{
    for (int c = 0; c < 256; c++)
        table.kind[c] = c >= '0' && c <= '9'                 ? DIGIT
                        : (c | 32) >= 'a' && (c | 32) <= 'z' ? LETTER
                        : c > 127                            ? LETTER
                                                             : OTHER;
    for (int i = 0; i < 128; i++)
        table.before[i] = -1 - i % 3;
}

static int kind_of(const char *at)
{
#ifdef FIXED
    return table.kind[(unsigned char)*at];
#else
    const int *kind = table.kind;
    return kind[*at]; /* ROOT CAUSE */
#endif
}

static int count_words(const char *text)
{
    int words = 0, inside = 0;
    for (; *text; text++) {
        int now = kind_of(text) == LETTER;
        words += now && !inside;
        inside = now;
    }
    return words;
}

static int count_all(const char *const *text, int n)
{
    int words = 0;
    for (int i = 0; i < n; i++)
        words += count_words(text[i]);
    return words;
}

int main(void)
{
    static const char *const text[] = {"a plain sentence with 7 words in it", "and another",
                                       "na\xc3\xafve caf\xc3\xa9", "the end of it all"};
    make_table();
    int words = count_all(text, 4);
    printf("%d words\n", words);
    assert(words == 16);
    return 0;
}
