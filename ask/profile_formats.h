/* profile_formats.h - a profile as other programs read it. SPDX-License-Identifier: MIT */
#ifndef ASK_PROFILE_FORMATS_H
#define ASK_PROFILE_FORMATS_H

#include <stdio.h>

#include "facts/calls/profile.h"

/* For callgrind_annotate and kcachegrind. */
void profile_write_callgrind(FILE *out, const struct profile *p);
/* For flame graphs: `main;work;add 123`. */
void profile_write_folded(FILE *out, const struct profile *p);

#endif
