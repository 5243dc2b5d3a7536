/* functions_int.h - for the files that know about functions. SPDX-License-Identifier: MIT */
#ifndef SOURCE_FUNCTIONS_INT_H
#define SOURCE_FUNCTIONS_INT_H

#include <elfutils/libdw.h>

#include "source/functions.h"

/* The entry of the function, or of the inlined instance, that begins there. NULL: none. */
Dwarf_Die *functions_entry(struct source *s, const struct functions_one *f, Dwarf_Die *die);

#endif
