/* failing.h - memory runs out when a test says so.
 *
 * SPDX-License-Identifier: MIT
 *
 * For tests that are linked with --wrap of malloc(), calloc() and realloc(). A test tries what it
 * is about with each allocation failing in turn, and sees that the error is told or that nothing
 * else is different:
 *
 *     for (uint64_t n = 0; failed; n++) {
 *         failing_begin(n);
 *         ...
 *         failed = failing_end();
 *     }
 */
#ifndef TESTS_UNIT_FAILING_H
#define TESTS_UNIT_FAILING_H

#include <stdbool.h>
#include <stdint.h>

/* Allocation number n from here on, and no other, fails. */
void failing_begin(uint64_t n);
/* None fails any more. Did it? */
bool failing_end(void);

#endif
