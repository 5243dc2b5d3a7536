/* unit.h - cmocka, with the headers it expects to find before it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
