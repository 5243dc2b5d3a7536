/* source_int.h - what the files of source share: modules and their tables.
 *
 * SPDX-License-Identifier: MIT
 *
 * Tables hold the file's own addresses; the module's bias is added at the interface. They are read
 * when a module is first asked about and never change.
 */
#ifndef SOURCE_SOURCE_INT_H
#define SOURCE_SOURCE_INT_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "base/table.h"
#include "source/source.h"

enum { SOURCE_NONE = -1 };

/* A row of a line table: from addr on, code of this line. Line 0 ends what was before. */
struct source_row {
    uint64_t addr;
    const char *file; /* interned */
    uint32_t line;
    uint16_t column;
    bool stmt;
    bool body; /* the compiler says that the prologue ends here */
};

/* The rows of one file in one compilation unit, as GDB has them: by address, ends first. */
struct source_table {
    const char *file;
    struct source_row *row;
    size_t rows;
};

struct source_unit {
    Dwarf_Off die;     /* in the module's debug information: has the line table */
    Dwarf *dwarf;      /* where its entries are: there, or a file of its own (.dwo) */
    Dwarf_Off entries; /* the unit's own entry in that */
    struct source_table *table;
    size_t tables;
    bool llvm;     /* the producer */
    bool gcc;      /* version 4.5 or newer */
    bool loclists; /* a variable has a location list */
    bool tuned;    /* the compiler was told to optimize, or may have been */
    bool settled;  /* GCC's C: a variable of a function has its memory to itself */
    bool cxx;      /* names have scopes */
};

enum source_kind { SOURCE_FUNCTION, SOURCE_INLINED, SOURCE_BLOCK };

/* A function, an inlined one, or a block. */
struct source_scope {
    const char *name;      /* of functions */
    const char *call_file; /* where it was inlined */
    Dwarf_Off die;
    uint64_t entry;
    int32_t parent; /* SOURCE_NONE: none */
    int32_t variable;
    uint32_t unit;
    uint32_t line; /* of the declaration; of the call, if inlined */
    uint8_t kind;
    bool symbols; /* of a block: something is declared in it */
    bool noreturn;
};

struct source_range {
    uint64_t low, high;
    int32_t scope;
};

/* From addr on, up to the next one, the innermost scope is this. */
struct source_span {
    uint64_t addr;
    int32_t scope;
};

/* A named variable with a location or a constant value. */
struct source_var {
    const char *name;
    Dwarf_Off die;
    int32_t scope; /* SOURCE_NONE: a global or static */
    int32_t next;  /* of the same scope */
    uint32_t unit;
    uint64_t addr, bytes;      /* of globals and statics */
    bool tls, inner, external; /* addr is an offset in the thread's block; only a function sees it;
                                  other units do, too */
};

struct source_symbol {
    const char *name;
    uint64_t addr, bytes;
    uint8_t rank;     /* the smaller one names an address that several have */
    bool code, local; /* local: only its own unit may name it */
    bool chooses;     /* an indirect function, whose code says which one has the name */
};

struct source_alone {
    uint64_t key; /* the offset of the unit's entry plus one, or 1: no unit */
    struct source_mod *unit;
};

struct source_mod {
    char *path;
    struct source_mapping *mapping;
    size_t mappings, debug_size;
    uint64_t bias;
    int fd, debug_fd;
    const void *debug; /* as the caller said, of debug_size */
    Elf *elf, *debug_elf;
    Dwarf *dwarf;
    Dwarf_CFI *cfi, *debug_cfi;
    uint64_t text_low;            /* the lowest address of code */
    uint64_t libc_low, libc_high; /* a static program's C library; 0: not known */
    uint64_t tls_bytes, tls_align;
    bool executable; /* not a library */
    bool fixed;      /* its addresses are those of the process */
    bool debug_found, debug_begun, all_symbols;
    bool read; /* the tables below are there */
    bool part; /* of source/units.c: not the whole module */
    TABLE(struct source_alone) alone;

    struct source_unit *unit;
    struct source_row *row; /* of all units, one per address */
    struct source_scope *scope;
    struct source_range *range;
    struct source_span *span;
    struct source_var *var;
    int32_t *global;  /* numbers of variables with addresses, by address */
    int32_t *lasting; /* and of all that are of no frame, in the order of the debug information */
    size_t lastings;
    struct source_symbol *symbol;
    struct source_fde *fde, *debug_fde;
    struct source_site *site; /* of source/entry.c */
    size_t units, rows, scopes, ranges, spans, vars, globals, symbols, fdes, debug_fdes, sites;
    bool fdes_read, debug_fdes_read, sites_read;
};

/* Where in the process which module is. */
struct source_part {
    gaddr start, end;
    uint32_t module;
};

enum { SOURCE_ANSWERS = 4096 };

struct source_answer { /* what source_line() said about a pc */
    gaddr pc;
    bool given;
    struct source_line line;
};

struct source {
    struct source_mod **module;
    struct source_part *part; /* by address */
    size_t modules, parts;
    struct source_mod *latest; /* the last answer of source_module_at, and its part */
    struct source_part latest_part;
    struct source_names *names;
    struct source_files *files;
    struct source_answer answer[SOURCE_ANSWERS];
};

/* Makes room for one more element of an array whose room is the next power of two. */
void *source_grow(void *array, size_t count, size_t bytes);
#define SOURCE_PUSH(array, count)                                                                  \
    ((array) = source_grow((array), (count), sizeof *(array)), &(array)[(count)++])

/* The module at a pc with its tables, or NULL. *addr is the pc in the file's addresses. */
struct source_mod *source_module_at(struct source *s, gaddr pc, uint64_t *addr);
struct source_mod *source_module_find(struct source *s, gaddr pc, uint64_t *addr); /* bare */
void source_module_read(struct source *s, struct source_mod *m);

/* source/symbols.c */
void source_symbols_read(struct source *s, struct source_mod *m);
void source_symbols_all(struct source *s, struct source_mod *m); /* also those of the debug file */
const struct source_symbol *source_symbols_at(const struct source_mod *m, uint64_t addr);
/* source/rows.c */
void source_rows_read(struct source *s, struct source_mod *m);
const struct source_row *source_rows_at(const struct source_mod *m, uint64_t addr); /* or NULL */
uint64_t source_rows_end(const struct source_mod *m, const struct source_row *row);

/* source/scopes.c */
/* An entry of a unit by its offset; NULL if it cannot be read. */
Dwarf_Die *source_scopes_die(const struct source_mod *m, uint32_t unit, Dwarf_Off offset,
                             Dwarf_Die *die);
void source_scopes_read(struct source *s, struct source_mod *m);
int32_t source_scopes_at(const struct source_mod *m, uint64_t addr);       /* or SOURCE_NONE */
int32_t source_scopes_function(const struct source_mod *m, int32_t scope); /* not inlined */
/* The range of the scope that has addr; false if none has. */
bool source_scopes_range(const struct source_mod *m, int32_t scope, uint64_t addr, uint64_t *low,
                         uint64_t *high);
/* source/prologue.c: where GDB stops instead of at addr. */
uint64_t source_prologue_skip(const struct source_mod *m, uint64_t addr);

/* source/text.c */
struct source_files *source_files_new(void);
void source_files_free(struct source_files *files);

#endif
