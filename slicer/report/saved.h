/* saved.h - slices that were kept with a pinball, by name.
 *
 * SPDX-License-Identifier: MIT
 *
 * DIR/slices/NAME: a chunk of text (pinball/text.h) with the criterion, the options and figures,
 * then chunks with the nodes, each the distance from the one before, seven bits to a byte. Nothing
 * in a file is believed.
 */
#ifndef SLICER_REPORT_SAVED_H
#define SLICER_REPORT_SAVED_H

#include "pinball/beneath.h"
#include "slicer/criterion/pruning.h"
#include "slicer/report/report.h"

/* Add one to it with every change of what a file says or means: of its keys, or of what a number
 * stands for. Slices of other versions are refused: their names are the user's, who makes them
 * again. A file without a version is of the first. */
enum { SAVED_VERSION = 1 };

/* What the text says. */
struct saved {
    char *text; /* the criterion in the user's words */
    struct criterion criterion;
    enum slice_kind kind;
    char *target_text; /* of a chop: where it leads to */
    struct criterion target;
    struct slice_options options; /* `prune` is the list below */
    struct pruning pruning;
    struct report_limits limits; /* how it was shown; the strings are its own */
    bool has_from, has_to;       /* a window */
    struct position from, to;
    char about[COLLECT_ABOUT]; /* of the trace */
    uint64_t nodes, pairs, total;
};

/* The slice that all this asks for. NULL with *err set. */
struct slice *saved_make(struct study *s, struct saved *saved, struct err *err);

/* Takes limits off. And adds to them, as many as fit. */
void saved_unlimit(struct saved *saved);
int saved_limit(const char **list, size_t *count, const char *pattern, struct err *err);

/* A slice is written into a file that gets its name at the end. A study that is confined only puts:
 * its parent begins before and finishes after. */
struct saved_file {
    const char *name; /* the caller's */
    struct beneath_new file;
};
/* The name must be free: err->code EEXIST. */
int saved_begin(struct study *s, const char *name, struct saved_file *out, struct err *err);
int saved_put(const struct saved_file *file, const struct saved *saved, const struct slice *slice,
              struct err *err);
int saved_finish(struct saved_file *file, bool keep, struct err *err);

/* For a recording that is made of this one and leaves something out: another number for each
 * instruction; *gone: it is not there. `about` and `total` of *saved are those of the new one. */
struct saved_move {
    uint64_t (*fn)(const void *arg, uint64_t insn, bool *gone);
    const void *arg;
};
int saved_put_moved(int fd, const char *name, struct saved *saved, const struct slice *slice,
                    const struct saved_move *move, struct err *err);
/* What that has written is kept with the pinball of the directory. Its head says `about`, too:
 * relog_made. */
#define SAVED_MADE_OF "made-of"
int saved_carry(int fd, const char *dir, const char *name, struct err *err);

/* The text alone, of a pinball's directory. */
int saved_read(const char *dir, const char *name, struct saved *out, struct err *err);
void saved_deinit(struct saved *saved);

/* The nodes, for a study of the same pinball and window. NULL with *err set. */
struct slice *saved_slice(struct study *s, const char *name, const struct saved *saved,
                          struct err *err);

/* The names, sorted: *count of them. To be freed with saved_free_names(). NULL with *err set. */
char **saved_names(const char *dir, size_t *count, struct err *err);
void saved_free_names(char **names, size_t count);

int saved_delete(const char *dir, const char *name, struct err *err);

#endif
