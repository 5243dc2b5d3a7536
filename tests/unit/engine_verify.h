/* engine_verify.h - is a translated block right? Shown without running it.
 *
 * SPDX-License-Identifier: MIT
 *
 * The emitted code is decoded and followed from each of the block's entries with made-up register
 * values, next to the target's own instructions. What the translator adds is interpreted; a copied
 * instruction must be the target's, with operands at the same addresses, and then gives the
 * registers it writes the same new values on both sides. So CPU features that this machine lacks
 * are covered, too. It shows that
 *
 *  1. all of the block up to its literal decodes, every byte of it is reached, every jump leads to
 * an instruction, entries are instructions;
 *  2. fault points are in order, lie on instructions, and give back the target's exact state there;
 *  3. nothing reads or writes memory but copies, the push of a call's return address, the pop of a
 * return, the look at the block's own bytes, and engine slots behind gs;
 *  4. at every exit, site, pc, target, tick and stub are right and all registers are the target's;
 *  5. flags are only given up at entries that the target's code, read on, does not need;
 *  6. the tool's probes come where instrument.h says, each once.
 */
#ifndef TESTS_UNIT_ENGINE_VERIFY_H
#define TESTS_UNIT_ENGINE_VERIFY_H

#include "engine/core/superblock.h"
#include "engine/core/translate.h"

/* NULL, or what is wrong in one line (valid until the next call). `src` serves what was translated.
 */
const char *verify_block(const struct block *b, const struct code_source *src,
                         const struct translate_options *opt);

/* The same of the superblock of a path, whose blocks are in the cache. Of a superblock it shows
 * besides
 *
 *  7. at every instruction, side exit, lookup and turn of a loop the ticks that are owed and paid
 * add up to those that the target's code has made;
 *  8. a predicted target is told from others;
 *  9. a budget is looked at where the target ticks, and nowhere else.
 */
const char *verify_superblock(const struct block *b, const struct path *path,
                              const struct code_source *src, const struct translate_options *opt);

#endif
