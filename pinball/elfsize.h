/* elfsize.h - whether an ELF file's debug information is as small as it looks.
 *
 * SPDX-License-Identifier: MIT
 *
 * Sections of debug information may be compressed, and libdw unpacks all of them at once. A file
 * that would become far larger than any compiler's output does is not given to it.
 */
#ifndef PINBALL_ELFSIZE_H
#define PINBALL_ELFSIZE_H

#include <stdbool.h>
#include <stddef.h>

/* False if the compressed sections claim more than 256 MiB and 16 times the file's size, or if it
 * is no ELF file of this machine's kind. */
bool elfsize_is_sane(const void *file, size_t bytes);

#endif
