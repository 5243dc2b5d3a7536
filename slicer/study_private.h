/* study_private.h - between the files of a study. SPDX-License-Identifier: MIT */
#ifndef SLICER_STUDY_PRIVATE_H
#define SLICER_STUDY_PRIVATE_H

#include "slicer/study.h"

struct study_private {
    struct trace_chunk chunk; /* that was read last for study_insn() */
    bool chunk_read;
    void **contents; /* of modules that are only in the pinball */
    size_t contents_count;
    char *folder;       /* temporary: debug files and sources that were packed with the pinball */
    const char **known; /* files, by address of their names ... */
    bool *readable;     /* ... and whether there is text */
    size_t files;
    bool temporary;          /* the trace goes at the end */
    struct race_facts *race; /* of race.h, when they were first wanted */
    bool cached;             /* the trace is in the user's cache, ... */
    int held;                /* ... and says that it is in use; -1: not */
};

/* study_cache.c: where a trace is in the user's cache. NULL: there is none. To be freed. */
char *study_cache_place(const char *about);
/* The file is in use as long as what is returned is open; -1: there is none. */
int study_cache_hold(const char *path);
/* Removes other traces of the cache than `path` that were not used for long, and the oldest of them
 * until all together take no more than that; none that somebody holds. */
struct study_cache_limits {
    uint64_t bytes, seconds;
};
void study_cache_tidy(const char *path, const struct study_cache_limits *limits);

/* study_source.c: what was mapped, for source.h. */
int study_source_open(struct study *s, struct err *err);
void study_source_close(struct study *s);

#endif
