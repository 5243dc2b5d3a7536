/* link.h - link the runtime and the decoder library into one image.
 *
 * SPDX-License-Identifier: MIT
 *
 * A small static linker for exactly two shared objects: the runtime, which is part of this program,
 * and Debian's libZydis. Every relocation becomes either a constant or "add the base".
 */
#ifndef ENGINE_HOST_LINK_H
#define ENGINE_HOST_LINK_H

#include "base/err.h"
#include "engine/start/boot.h"

struct image *link_image(struct err *err); /* NULL with *err set */
void link_free(struct image *im);

#endif
