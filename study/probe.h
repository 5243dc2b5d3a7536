/* probe.h - values taken at places of a recording that is studied.
 *
 * SPDX-License-Identifier: MIT
 *
 * What probes and rows are: replayer/probes.h. A study that is confined has the broker replay
 * (broker.h), and gets the rows from there. The study's window holds for probes, too. Its trace is
 * not needed.
 */
#ifndef STUDY_PROBE_H
#define STUDY_PROBE_H

#include "replayer/probes.h"
#include "study/study.h"

struct study_probe_options {
    /* A part of the study's window; NULL: all of it. */
    const struct position *from, *to;
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* ticks; total 0: not known */
    bool (*stop)(void *arg); /* asked now and then: has the user had enough? NULL: never */
    void *arg;               /* of these two */
};

/* Replays the recording once, from its begin to the window's end; `fn` gets rows of the window.
 * 0: all of them; 1: `fn` or options->stop had enough; -1 with *err set. options may be NULL. */
int study_probe(struct study *s, const struct probe *list, size_t n,
                const struct study_probe_options *options, probe_fn *fn, void *arg,
                struct err *err);

#endif
