/* partial.h - what memory calls did before they failed.
 *
 * SPDX-License-Identifier: MIT
 *
 * mprotect, madvise and mremap go from mapping to mapping and leave done what they have done when
 * one of them cannot be; mmap and mremap to a fixed place have cleared it by then. Why a kernel
 * gives up, and where, cannot be repeated: it depends on locked pages, limits, drivers. So the log
 * says what is left.
 */
#ifndef LOGGER_TARGET_PARTIAL_H
#define LOGGER_TARGET_PARTIAL_H

/* The call failed with -error: notes down what it did, before it is noted itself. */
void partial_note(long nr, const long a[6], long error);

#endif
