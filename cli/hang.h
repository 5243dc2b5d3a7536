/* hang.h - what `drdebug slice --at failure` says first of a program that hung.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_HANG_H
#define CLI_HANG_H

#include "cli/slice_options.h"

/* Prints it if the recording ended so and text is wanted. It needs no trace, so it comes before one
 * is made; where it cannot be told the slice is the answer. */
void hang_print(const struct slice_options_given *a);

#endif
