/* arguments.c - the arguments that the program was recorded with, and `run ARGS`.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "debug/gdbstub/server_private.h"

enum { MAX_BYTES = 256 << 10 };

/* Appends the string, with its end; false if it cannot be read, or all get too long. */
static bool add_string(struct server *s, uint64_t at)
{
    char piece[256];

    while (s->arguments.bytes < MAX_BYTES) {
        size_t n = state_memory(s, at, piece, sizeof piece);
        const char *end = memchr(piece, '\0', n);
        reply_bytes(&s->arguments, piece, end ? (size_t)(end - piece) + 1 : n);
        if (end || !n)
            return end && !s->arguments.failed;
        at += n;
    }
    return false;
}

/* The program is at its first instruction: the stack has argc, and then argv. */
void arguments_note(struct server *s)
{
    struct registers regs;
    uint64_t count, at;
    struct err err;

    if (state_registers(s, 0, &regs, &err) || !state_word(s, regs.r.gpr[4], &count))
        return;
    for (uint64_t i = 1; i < count; i++)
        if (!state_word(s, regs.r.gpr[4] + 8 + 8 * i, &at) || !add_string(s, at))
            return;
}

/* What a shell would do with it is not the program's. */
static bool is_redirection(const char *word)
{
    const char *past = word + strspn(word, "0123456789&");

    return *past == '<' || *past == '>';
}

bool arguments_are(const struct server *s, struct args *words, char separator)
{
    const struct reply *all = &s->arguments;
    char word[4096];
    struct args part;
    size_t at = 0;
    bool any = false;

    while (args_until(words, separator, &part)) {
        if (!args_string(&part, word, sizeof word))
            return false;
        if (is_redirection(word))
            continue;
        any = true;
        if (at >= all->bytes || strcmp(word, all->data + at) != 0)
            return false;
        at += strlen(word) + 1;
    }
    return !any || at == all->bytes;
}
