/* study_private.h - between the files of a study. SPDX-License-Identifier: MIT */
#ifndef STUDY_STUDY_PRIVATE_H
#define STUDY_STUDY_PRIVATE_H

#include "study/study.h"

struct study_private {
    struct trace_chunk chunk; /* that was read last for study_insn() */
    bool chunk_read;
    void **contents; /* of modules that are only in the pinball */
    size_t contents_count;
    struct sourcefile_places places; /* the user's */
    int64_t made_s;                  /* when it was recorded; 0: not known */
    struct study_text {
        const char *name; /* its address says which file it is */
        bool readable;    /* there is text */
    } * known;
    size_t files;
    int unnamed;           /* the trace's file, if there is no place for one with a name; else -1 */
    struct broker *broker; /* of broker.h, in a study that is confined; else NULL */
    bool has_from;         /* a window begins here: */
    struct position from;
    bool modules;              /* debug information is wanted without a trace */
    struct past *end;          /* NULL: nobody wanted it yet */
    struct timeline *timeline; /* of writer.h; NULL: nobody wanted it yet */
    bool keeps;                /* what is found out is kept beside the trace */
    bool cached;               /* the trace is in the user's cache, ... */
    int held;                  /* ... and says that it is in use; -1: not */
};

/* study/cache.c: where a trace is in the user's cache. NULL: there is none. To be freed. */
char *study_cache_place(const char *about);
/* The file is in use as long as what is returned is open; -1: there is none. */
int study_cache_hold(const char *path);
/* Removes other traces of the cache than `path` that were not used for long, and the oldest of them
 * until all together take no more than that; none that somebody holds. */
struct study_cache_limits {
    uint64_t bytes, seconds;
};
void study_cache_tidy(const char *path, const struct study_cache_limits *limits);

/* study/modules.c: what was mapped, for source.h. */
int study_source_open(struct study *s, struct err *err);
void study_source_close(struct study *s);

#endif
