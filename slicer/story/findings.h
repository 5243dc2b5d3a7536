/* findings.h - what facts say of the lines of a slice: errors with memory, patterns of races.
 *
 * SPDX-License-Identifier: MIT
 *
 * A slice has what happened. That an update was lost, that a block was freed before or is smaller
 * than what was written is no dependence: it is told beside the story.
 */
#ifndef SLICER_STORY_FINDINGS_H
#define SLICER_STORY_FINDINGS_H

#include "facts/heap/heap.h"
#include "slicer/report/report.h"

/* Larger traces are not searched: it takes passes over all of them. */
enum {
    FINDINGS_MOST = 4,
    FINDINGS_MARKS = 64,
    FINDINGS_TEXT = 1024,
    FINDINGS_DETAIL = 128,
    FINDINGS_INSNS = 50000000
};

enum mark {
    MARK_NONE,
#define MARK(name, word) MARK_##name,
#include "slicer/story/marks.def"
#undef MARK
};

/* An error as a mark on dependences. */
struct findings_mark {
    enum mark mark;
    uint32_t row;                 /* of the report: of the write, or of the read */
    uint64_t insn, last;          /* from the first time to the last */
    gaddr low, high;              /* bytes that it touched */
    uint64_t freed;               /* when the block was; UINT64_MAX: it was not */
    uint64_t asked, asked_last;   /* the call that allocated the block, or none */
    char detail[FINDINGS_DETAIL]; /* who, how far: "freed at main.c:12 by T1" */
};

struct finding {
    const char *kind;     /* "overflow", "lost update" */
    struct position at;   /* of the access, ... */
    struct position then; /* ... and of the other thread's; thread 0: none */
    uint32_t row;         /* of the report: where it was */
    bool beside;          /* no line of it is a row, which only has the same memory */
    gaddr made;           /* the call that allocated the block that it is about; 0: none */
    char text[FINDINGS_TEXT];
};

struct findings {
    struct finding list[FINDINGS_MOST]; /* the nearest to the criterion first */
    size_t count, more;                 /* more: that are not told */
    struct findings_mark mark[FINDINGS_MARKS];
    size_t marks;
    struct study *study;
    const struct heap *heap; /* NULL: its blocks are not known */
    char unsought[256];      /* why not all were looked for; "": they were */
};

/* What cannot be found out does not cost the slice. NULL with *err set: no memory. */
struct findings *findings_new(struct study *s, const struct report *r, struct err *err);
void findings_free(struct findings *f); /* NULL is allowed */

struct slice_dependence;
/* The mark of a dependence between these rows; `on` is not looked at if nobody made the value.
 * *detail, unless NULL, is what is known about it. */
enum mark findings_mark(const struct findings *f, const struct slice_dependence *d, uint32_t row,
                        uint32_t on, const char **detail);
const char *findings_word(enum mark mark); /* "overflow" */

#endif
