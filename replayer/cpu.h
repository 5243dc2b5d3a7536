/* cpu.h - can this CPU run what a recording ran? SPDX-License-Identifier: MIT */
#ifndef REPLAYER_CPU_H
#define REPLAYER_CPU_H

#include "base/err.h"

struct pinball;

/* -1 with a line that names what is missing. */
int cpu_check(struct pinball *pinball, struct err *err);

#endif
