/* records.h - records for the supervisor, through the mailbox. SPDX-License-Identifier: MIT */
#ifndef DEBUG_TARGET_RECORDS_H
#define DEBUG_TARGET_RECORDS_H

#include "pinball/sink.h"

/* Hands whole records to the supervisor (TELL_RECORDS). Other messages may go through the mailbox
 * while a window fills. It never ends by itself, and has one writer at a time. */
extern const struct sink records_sink;

#endif
