/* locks_kept.h - locks kept beside the trace. SPDX-License-Identifier: MIT */
#ifndef FACTS_LOCKS_LOCKS_KEPT_H
#define FACTS_LOCKS_LOCKS_KEPT_H

#include "facts/locks/locks.h"

enum { LOCKS_VERSION = 3 }; /* one more if what is found changes */

/* False: there is nothing that can be used. */
bool locks_kept_get(struct study *s, struct locks *out);
void locks_kept_put(struct study *s, const struct locks *l);

#endif
