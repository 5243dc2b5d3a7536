/* slice_text.c - pieces of text that slices are printed with. SPDX-License-Identifier: MIT */
#include "cli/slice_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/plain.h"

enum { WIDTH_ELSEWHERE = 50, WIDTH_LEAST = 30, WIDTH_MOST = 160 };

const char *slice_text_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void slice_text_padded(const char *text, size_t columns)
{
    plain_put(stdout, PLAIN_TEXT, text);
    for (size_t n = plain_width(text); n < columns; n++)
        putchar(' ');
}

void slice_text_place(const struct report_row *r, const struct report_row *before, char *out)
{
    bool same = before && before->file == r->file;
    if (r->file)
        snprintf(out, SLICE_TEXT_PLACE, "T%" PRIu32 " %.200s:%" PRIu32, r->thread,
                 same ? "" : slice_text_base(r->file), r->line);
    else
        snprintf(out, SLICE_TEXT_PLACE, "T%" PRIu32, r->thread);
}

/* Cuts what is safe to print to the width of the column. */
static void cut(char *text, size_t width, size_t room)
{
    if (plain_width(text) <= width)
        return;
    size_t columns = 0, i = 0;
    for (; text[i] && columns < width - 3; i++)
        columns += ((unsigned char)text[i + 1] & 0xc0) != 0x80;
    snprintf(text + i, room - i, "...");
}

size_t slice_text_width(size_t others)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
        return WIDTH_ELSEWHERE;
    size_t left = size.ws_col > others ? size.ws_col - others : 0;
    return left < WIDTH_LEAST ? WIDTH_LEAST : left > WIDTH_MOST ? WIDTH_MOST : left;
}

/* Where the row is, and its last instruction. */
static void without_source(struct study *s, const struct report_row *r, char *out, size_t room)
{
    char insn[100];
    if (r->left_out) {
        report_left_out(r, out, room);
        return;
    }
    if (r->file && r->function)
        snprintf(out, room, "in %s", r->function);
    else
        source_name(s->source, r->pc, out, room);
    size_t used = strlen(out);
    if (r->nodes && report_insn(s, r->last, insn, sizeof insn) && used < room)
        snprintf(out + used, room - used, ": %s", insn);
}

void slice_text_line(struct study *s, const struct report_row *r, size_t width, char *out,
                     size_t room)
{
    char line[SLICE_TEXT_LINE];
    const char *text = r->file ? source_text(s->source, r->file, r->line) : NULL;
    size_t n = 0;
    if (!text)
        without_source(s, r, line, sizeof line);
    for (text += text ? strspn(text, " \t") : 0; text && *text && n + 1 < sizeof line; text++) {
        bool blank = *text == ' ' || *text == '\t' || *text == '\r';
        if (!blank || (n && line[n - 1] != ' '))
            line[n++] = blank ? ' ' : *text;
    }
    while (n && line[n - 1] == ' ')
        n--;
    if (text)
        line[n] = 0;
    plain_copy(line, out, room);
    cut(out, width, room);
}
