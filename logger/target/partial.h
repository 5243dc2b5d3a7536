/* partial.h - what memory calls did before they failed.
 *
 * SPDX-License-Identifier: MIT
 *
 * mprotect, madvise and mremap go from mapping to mapping, and what they have done stays done when
 * they fail at one of them; mmap and mremap to a fixed place have cleared it by then. A replay
 * cannot repeat why and where a kernel gives up: that depends on locked pages, limits, drivers. So
 * the log says what is left.
 */
#ifndef LOGGER_TARGET_PARTIAL_H
#define LOGGER_TARGET_PARTIAL_H

/* The call failed with -error: notes down what it did, before it is noted itself. */
void partial_note(long nr, const long a[6], long error);

#endif
