/* probe_check.h - are a list of probes and a row of values well-formed?
 *
 * SPDX-License-Identifier: MIT
 *
 * Rows come from a replaying process, and a list may come from a confined one; both may have been
 * taken over. After these checks a reader finds all that the headers promise.
 */
#ifndef DEBUG_PROBE_CHECK_H
#define DEBUG_PROBE_CHECK_H

#include <stddef.h>

#include "debug/probe.h"

/* In private memory, aligned to 8. NULL: it is good; else what is wrong with it. */
const char *probe_check_list(const struct probe_list *list, size_t bytes);
const char *probe_check_row(const struct probe_taken *row, size_t room);

#endif
