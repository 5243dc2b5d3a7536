/* extend.h - a trace goes on: what was recorded since comes behind it. SPDX-License-Identifier: MIT
 *
 * The steps are those of a trace that was made at once. In the last tick of the thread that
 * stopped, the old replay went by single instructions or left a block in the middle. So all steps
 * since that tick are given up, back to one that was entered by a tick from the step before it.
 * There a replay can go on.
 */
#ifndef TRACE_EXTEND_H
#define TRACE_EXTEND_H

#include "trace/collector.h"

/* Hands what `old` holds before that step to a new collector. 1: the streams of a replay that was
 * traced from *at on come next; 0: there is no such step, and the collector has got nothing; -1. */
int extend_begin(struct collector *c, struct trace *old, struct position *at, struct err *err);

#endif
