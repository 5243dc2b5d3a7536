/* source.h - what debug information says about a recorded program's code: lines, functions, stops.
 *
 * SPDX-License-Identifier: MIT
 *
 * The caller adds the modules that the recorded process had mapped; addresses are those of that
 * process. Debug information is read (libdw) when a module is first asked about, and then kept in
 * sorted tables: source_line() is made for millions of calls. Missing information is no error:
 * without lines there are symbols, without symbols there is the module's name. Variables and frames
 * are in source/variable.h and source/frame.h.
 *
 * A source belongs to one thread. Strings that functions return belong to it and live as long.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/err.h"
#include "engine/rt/types.h"
#include "pinball/sourcefile.h"

struct source;

/* Codes of errors that a caller may want to know apart. */
enum source_error {
    SOURCE_NO_FILE = 1,  /* no module has lines of such a file; the message names similar ones */
    SOURCE_NO_LINE,      /* there is no code for the line; the message names lines near it */
    SOURCE_NO_FUNCTION,  /* no function has that name */
    SOURCE_NO_VARIABLE,  /* no variable of that name is visible */
    SOURCE_OPTIMIZED,    /* the variable has no place at this pc */
    SOURCE_UNKNOWN_PLACE /* its place depends on what the caller did not give */
};

struct source *source_new(void);
void source_free(struct source *s); /* NULL is allowed */

/* A copy of a text that lives as long as the source. */
const char *source_keep(struct source *s, const char *text);

/* ---- modules ---- */

struct source_mapping {
    gaddr start, end;
    uint64_t offset; /* in the file */
};

/* A file that was mapped. Its contents are those of `file`, or the `size` bytes at `bytes`; with
 * neither there are only names like `module+0x123` (a vDSO whose bytes nobody has). */
struct source_module {
    const char *path;  /* as recorded */
    const char *file;  /* NULL, or where its contents are on this machine */
    const void *bytes; /* NULL, or its contents, which must stay until the end */
    size_t size;
    const void
        *debug; /* NULL, or its separate debug file's contents; else looked for by build id */
    size_t debug_size;
    const struct source_mapping *mapping; /* where it was mapped; the load bias follows from them */
    size_t mappings;                      /* 0: all of it, at `bias` */
    gaddr bias; /* what is added to the file's addresses; used if there are no mappings */
};

/* A file whose contents cannot be used still counts as a module with a name; -1 is for an address
 * range that another module has. The strings and mappings are copied. */
int source_add(struct source *s, const struct source_module *module, struct err *err);

/* The program, if it has no debug information; NULL: it has, or there is none. */
const char *source_bare(struct source *s);

/* A number that changes when modules, or the debug files that are found for them, do. */
uint64_t source_identity(struct source *s);

/* ---- lines ---- */

struct source_line {
    const char *module;    /* as recorded; NULL: no module has this pc */
    const char *file;      /* with its directory; NULL: no line */
    const char *function;  /* the innermost one, inlined ones too; else the symbol; NULL: neither */
    const char *outer;     /* the one whose code this is: not inlined; NULL: no symbol */
    gaddr entry;           /* of `outer`; of the module if that is NULL */
    uint64_t offset;       /* pc - entry; in a function's cold part it is not small */
    uint32_t line, column; /* 0: none */
    uint32_t inlined;      /* how many inlined calls are around pc */
    bool stmt;             /* a row that begins a statement starts at exactly this pc */
    bool own;              /* the pc has a source line: not library code without source */
    bool lines;            /* the module has source lines, here or elsewhere */
};

/* Fills in what is known. Returns out->own. */
bool source_line(struct source *s, gaddr pc, struct source_line *out);

/* An inlined call around a pc. */
struct source_call {
    const char *function; /* that was inlined */
    const char *file;     /* where it was called */
    uint32_t line;
};

/* The inlined calls around pc from the innermost one out. Returns how many there are; fills in at
 * most `room`. */
size_t source_calls(struct source *s, gaddr pc, struct source_call *out, size_t room);

/* The line of a file to which code at pc, of the function that begins at `entry`, belongs if code
 * of other files in between counts to what was before; 0: none. `file` is a source_line's. */
uint32_t source_line_in(struct source *s, gaddr pc, gaddr entry, const char *file);

/* Lines of the innermost function at pc, inlined or not, of which statements begin there, and
 * nowhere is code that counts to them: the compiler made it one with that of another line. Returns
 * how many are filled in, ascending. */
size_t source_lines_merged(struct source *s, gaddr pc, const char *file, uint32_t *line,
                           size_t room);

/* How many of those calls a line that has code at pc is outside of: what it calls may begin there,
 * too. */
uint32_t source_line_depth(struct source *s, gaddr pc, const char *file, uint32_t line);

/* "file.c:12 in work", "puts+0x12 in libc.so.6", "[vdso]+0x123" or "0x123", cut to fit. */
void source_name(struct source *s, gaddr pc, char *buf, size_t room);

/* The contiguous piece of a function that pc is in, by debug information or else by symbols. False
 * if neither knows. */
bool source_function(struct source *s, gaddr pc, gaddr *start, gaddr *end);

/* The function at pc is known not to return to its caller: so declared, or one of those in
 * libraries that everybody knows (abort, exit, longjmp, ...). pc may be in a PLT stub of one. */
bool source_is_noreturn(struct source *s, gaddr pc);

/* pc is in the C library that was linked into a static program; by symbols, so false without. */
bool source_is_libc(struct source *s, gaddr pc);
/* Every symbol of code, of all modules: its name as the file has it, and where it is. */
void source_symbols_each(struct source *s, void (*fn)(void *arg, const char *name, gaddr pc),
                         void *arg);

/* ---- breakpoints: where GDB 13 stops ---- */

struct source_break {
    gaddr pc;
    gaddr row;                   /* of the line that was asked for, if a prologue is skipped */
    const char *file, *function; /* NULL: unknown */
    uint32_t line;               /* that stops there, perhaps one of several; 0 unknown */
};

/* The places of one breakpoint, in order of address. {0} is an empty list. */
struct source_breaks {
    struct source_break *at;
    size_t count;
};

void source_breaks_deinit(struct source_breaks *list);

/* `break FILE:LINE`. The file is given by its name or the end of its path. Like GDB, takes the next
 * line with code where the line has none. A list that was filled before is given back first. */
int source_breaks(struct source *s, const char *file, uint32_t line, struct source_breaks *out,
                  struct err *err);

/* `break FUNCTION`: past its prologue where GDB skips it, and where it was inlined. */
int source_breaks_function(struct source *s, const char *function, struct source_breaks *out,
                           struct err *err);

/* The same as text: `FILE:LINE`, `FUNCTION` or `*ADDRESS`. */
int source_breaks_at(struct source *s, const char *where, struct source_breaks *out,
                     struct err *err);

/* ---- text ---- */

/* Where the text of source files is looked for; at first as they are named. The folders' names must
 * stay. */
void source_set_places(struct source *s, const struct sourcefile_places *places);
/* Asked for a file's text before the places are: malloc()ed, with room for one more byte, or NULL.
 */
typedef char *source_packed(void *arg, const char *file, size_t *bytes);
void source_set_packed(struct source *s, source_packed *packed, void *arg);

/* The text of a line without its newline, or NULL. `file` is a source_line's, or any path. */
const char *source_text(struct source *s, const char *file, uint32_t line);
/* There is text, and it was changed after that time, in seconds since 1970. */
bool source_text_newer(struct source *s, const char *file, int64_t time_s);

#endif
