/* module.h - a module's file, and its units one by one. SPDX-License-Identifier: MIT */
#ifndef SOURCE_MODULE_H
#define SOURCE_MODULE_H

#include "source/source_int.h"

/* Adds a unit without its tables. `entries` is `die`, or the unit's entry in a file of its own. */
void source_unit_add(struct source_mod *m, Dwarf_Die *die, Dwarf_Die *entries);

/* source/units.c: as source_module_at(), if the tables of the pc's own unit are enough. */
struct source_mod *source_units_at(struct source *s, gaddr pc, uint64_t *addr);
/* Are both of one module? Either may be NULL, or a part. */
bool source_units_same(const struct source_mod *m, const struct source_mod *other);
void source_units_free(struct source_mod *m);
void source_units_forget(struct source_mod *m); /* frees what was read of units */

/* source/elf.c: the file itself. */
void source_elf_open(struct source_mod *m, const struct source_module *module);
void source_elf_close(struct source_mod *m);
int source_debug_open(const struct source_mod *m);
void source_elf_find_debug(struct source_mod *m); /* finds the file that has debug information */
void source_elf_debug(struct source_mod *m);      /* and unpacks it */
uint64_t source_elf_identity(struct source_mod *m);
/* Reads from the file as it is mapped. Returns how many bytes there are, up to `bytes`. */
size_t source_elf_bytes(const struct source_mod *m, uint64_t addr, void *buf, size_t bytes);
const char *source_elf_section(const struct source_mod *m, uint64_t addr); /* its name, or NULL */
/* Is there a section with contents of which `is` says so? `unnamed`: the answer where their names
 * cannot be read. */
typedef bool source_section(const char *name, Elf_Scn *section, const GElf_Shdr *header,
                            const void *arg);
bool source_elf_any(Elf *elf, bool unnamed, source_section *is, const void *arg);

/* source/strings.c: false if the tables of all units cannot have a row of such a file, such a
 * variable of no frame, or a type that is atomic. Then they need not be read. */
bool source_strings_file(struct source_mod *m, const char *file); /* NULL: any */
bool source_strings_variable(struct source_mod *m, const char *name);
bool source_strings_atomics(struct source_mod *m);

#endif
