/* writer.h - the last write to memory before the end of a recording. SPDX-License-Identifier: MIT
 *
 * By a watchpoint, backwards: it needs no trace. A study that is confined asks the broker.
 */
#ifndef STUDY_WRITER_H
#define STUDY_WRITER_H

#include "study/study.h"

enum { WRITER_BYTES = 4096 };

struct writer_write {
    struct position at; /* of the instruction that writes; thread 0: there is none */
    uint64_t ticks;     /* of all threads, before it */
};

/* 0, or -1 with *err set. At most WRITER_BYTES. */
int writer_last(struct study *s, gaddr addr, uint32_t bytes, struct writer_write *out,
                struct err *err);

#endif
