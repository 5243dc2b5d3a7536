/* words.c - what a row of a story did, in words. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "slicer/story/story.h"

enum { WHAT_ROOM = 200, PLACE_ROOM = 60 };

const char *story_how(enum story_how how)
{
    static const char *const words[] = {
#define HOW(name, rank, text) [STORY_##name] = (text),
#include "slicer/story/hows.def"
#undef HOW
    };
    return words[how];
}

static void append(char *out, size_t room, const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, room - used, "%s%s", used ? ", " : "", text);
}

/* `carried by get:12, memcpy (3 copies)`: with lines of the row's file. */
static void append_carriers(struct study *s, const struct report *r, const struct story_row *row,
                            char *out, size_t room)
{
    char text[WHAT_ROOM] = "carried by ", number[64];
    struct source_line l;
    for (uint32_t i = 0; i < row->carriers && i < STORY_CARRIERS; i++) {
        size_t used = strlen(text);
        bool here = study_line(s, row->carried[i], &l) && l.file == r->row[row->row].file;
        snprintf(number, sizeof number, ":%" PRIu32, l.line);
        snprintf(text + used, sizeof text - used, "%s%.40s%s", i ? ", " : "", row->carrier[i],
                 here ? number : "");
    }
    if (!row->carriers)
        return;
    snprintf(number, sizeof number, "%s (%" PRIu64 " cop%s)",
             row->carriers > STORY_CARRIERS ? ", ..." : "", row->copies,
             row->copies == 1 ? "y" : "ies");
    strncat(text, number, sizeof text - strlen(text) - 1);
    append(out, room, text);
}

/* `decided at :30, :32`: lines of the same function, as a rule of the same file. */
static void append_lines(struct study *s, const struct report *r, const struct report_row *is,
                         const char *what, const uint32_t *line, uint32_t lines, char *out,
                         size_t room)
{
    char text[WHAT_ROOM], place[PLACE_ROOM];
    snprintf(text, sizeof text, "%s ", what);
    for (uint32_t i = 0; i < lines; i++) {
        const struct report_row *x = &r->row[line[i]];
        size_t used = strlen(text);
        if (x->file && is->file && !strcmp(x->file, is->file))
            snprintf(place, sizeof place, ":%" PRIu32, x->line);
        else
            study_place(s, x->pc, place, sizeof place);
        snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", place);
    }
    if (lines)
        append(out, room, text);
}

static void append_merged(const struct story_row *row, char *out, size_t room)
{
    char text[WHAT_ROOM] = "same code as ";
    for (uint32_t i = 0; i < row->mergeds; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s:%" PRIu32, i ? ", " : "", row->merged[i]);
    }
    if (row->mergeds)
        append(out, room, text);
}

/* Lines that called the row's function, of one file. */
static void append_calls(const struct report *r, const struct story_row *row, char *out,
                         size_t room)
{
    char text[WHAT_ROOM] = "";
    const char *file = row->calls ? r->row[row->call[0]].file : NULL;
    for (uint32_t i = 0; file && i < row->calls; i++) {
        const struct report_row *x = &r->row[row->call[i]];
        size_t used = strlen(text);
        const char *slash = strrchr(file, '/');
        if (!i)
            snprintf(text, sizeof text, "called at %.100s:%" PRIu32, slash ? slash + 1 : file,
                     x->line);
        else if (x->file == file)
            snprintf(text + used, sizeof text - used, ", %" PRIu32, x->line);
    }
    if (file)
        append(out, room, text);
}

/* The user's call that an instruction's function was inlined in; false: none. */
static bool find_inlined(struct study *s, gaddr pc, struct source_call *out)
{
    enum { INLINED_MOST = 16 };
    struct source_call call[INLINED_MOST];
    size_t n = source_calls(s->source, pc, call, INLINED_MOST);
    for (size_t i = 0; i < n && i < INLINED_MOST; i++)
        if (call[i].file && strncmp(call[i].file, "/usr/", 5) != 0) {
            *out = call[i];
            return true;
        }
    return false;
}

/* Which calls the line belongs to, if its function was inlined there. */
static void append_inlined(struct study *s, const struct report *r, const struct story_row *row,
                           char *out, size_t room)
{
    struct source_call first, call;
    struct source_line own;
    uint32_t line[STORY_SITES] = {0}, lines = 0;
    char text[WHAT_ROOM];
    if (!source_line(s->source, row->at.pc, &own) || own.file != r->row[row->row].file ||
        !find_inlined(s, row->at.pc, &first))
        return;
    const char *slash = strrchr(first.file, '/');
    snprintf(text, sizeof text, "inlined at %.100s:%" PRIu32, slash ? slash + 1 : first.file,
             first.line);
    for (uint32_t i = 0; i < row->alsos; i++) {
        bool known = !find_inlined(s, row->also[i], &call) || call.line == first.line ||
                     strcmp(call.file, first.file) != 0;
        for (uint32_t k = 0; k < lines; k++)
            known = known || line[k] == call.line;
        if (known)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, ", %" PRIu32, line[lines++] = call.line);
    }
    append(out, room, text);
}

void story_words(struct study *s, const struct report *r, const struct story_row *row,
                 const char *value, char *out, size_t room)
{
    const struct slice_dependence *use = &row->use;
    char what[WHAT_ROOM] = "", text[WHAT_ROOM];
    out[0] = 0;
    bool told = use->memory || value || !r->row[row->row].file || report_is_named(s, use);
    if (use->kind && use->kind != SLICE_CONTROL &&
        told) /* a register alone tells a reader nothing */
        report_what(s, use, what, sizeof what);
    if (what[0] && value)
        snprintf(out, room, "%s = %s", what, value);
    else if (what[0])
        snprintf(out, room, "%s", what);
    if (row->outside[0])
        append(out, room, row->outside);
    if (row->across.kind) {
        snprintf(text, sizeof text, "read by T%" PRIu32,
                 trace_thread(s->trace, row->across.node_thread));
        append(out, room, text);
    }
    if (row->race)
        append(out, room, race_name(row->race));
    if (row->mark) {
        const char *detail = row->detail ? row->detail : "";
        bool all = row->mark == MARK_FREED && detail[0]; /* it says so itself */
        snprintf(text, sizeof text, "%s%s%s", all ? "" : findings_word(row->mark),
                 all || !detail[0]          ? ""
                 : row->mark == MARK_REUSED ? ", "
                                            : " ",
                 detail);
        append(out, room, text);
    }
    append_lines(s, r, &r->row[row->row], "with", row->part, row->parts, out, room);
    append_lines(s, r, &r->row[row->row], "decided at", row->decision, row->decisions, out, room);
    append_merged(row, out, room);
    append_calls(r, row, out, room);
    append_carriers(s, r, row, out, room);
    append_inlined(s, r, row, out, room);
    if (row->count > 1) {
        snprintf(text, sizeof text, "%" PRIu64 " times", row->count);
        append(out, room, text);
    }
}
