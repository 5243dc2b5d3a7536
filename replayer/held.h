/* held.h - how much memory do processes really hold?
 *
 * SPDX-License-Identifier: MIT
 *
 * Not address space, which costs nothing: pages, swapped ones too, page tables, and shared memory
 * that is open but nowhere mapped. What several of the processes share counts once.
 */
#ifndef REPLAYER_HELD_H
#define REPLAYER_HELD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Together. Exact if it is more than `enough`, otherwise an upper bound, which is quicker: the
 * kernel walks all page tables for exact numbers. */
uint64_t held_bytes(const pid_t *pid, size_t count, uint64_t enough);

#endif
