/* cursor.h - the event log, one record after the other.
 *
 * SPDX-License-Identifier: MIT
 *
 * Asks the supervisor for the next piece when one is used up.
 */
#ifndef REPLAYER_TARGET_CURSOR_H
#define REPLAYER_TARGET_CURSOR_H

#include "engine/rt/types.h"
#include "pinball/record.h"

const struct record *cursor_peek(void); /* NULL: the log ends here */
/* The next one, if it is of one of these kinds, which may be skipped; else NULL. Its size is the
 * caller's to check. */
const struct record *cursor_peek_also(enum record_kind kind, enum record_kind other);
void cursor_retry(void); /* ... and may have more now */
void cursor_next(void);
void cursor_where(uint64_t *chunk, uint64_t *offset); /* of the next record */
uint64_t cursor_number(void);                         /* records taken so far */
bool cursor_grant(gaddr near, uint64_t bytes, gaddr *start);
void cursor_ranges(void (*fn)(gaddr start, uint64_t bytes)); /* those that were granted so far */

#endif
