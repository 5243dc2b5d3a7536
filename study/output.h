/* output.h - lines that the program wrote, and which of its calls wrote their bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * Found by a plain replay, which needs no trace. A pattern is /REGEX/, a glob for the whole line if
 * it has one of *?[, or else a part of the line.
 */
#ifndef STUDY_OUTPUT_H
#define STUDY_OUTPUT_H

#include <regex.h>

#include "study/study.h"

struct output_pattern {
    enum { OUTPUT_ALL, OUTPUT_REGEX, OUTPUT_GLOB, OUTPUT_PART } kind;
    const char *text; /* the caller's */
    regex_t regex;
};

/* -1 with *err set: it is no regular expression. */
int output_pattern_parse(const char *text, struct output_pattern *out, struct err *err);
bool output_pattern_takes(const struct output_pattern *p, const char *line);
void output_pattern_deinit(struct output_pattern *p);

/* Bytes `from` on of what the call at this position wrote. */
struct output_piece {
    struct position at;
    uint64_t from, bytes;
};

enum { OUTPUT_TEXT = 200 };

struct output_line {
    char text[OUTPUT_TEXT]; /* as much as fits, zeros are blanks */
    bool error;             /* written to standard error */
    struct output_piece *piece;
    size_t pieces;
};

/* The last line that the pattern takes (NULL: any); with `errors`, of those on standard error. 1;
 * 0: there is none; -1 with *err set. An empty line is none. */
int output_find(struct study *s, const char *pattern, bool errors, struct output_line *out,
                struct err *err);
void output_line_deinit(struct output_line *line);

#endif
