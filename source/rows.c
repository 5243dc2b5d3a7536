/* rows.c - line tables, with the rows that GDB keeps.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB does not keep a unit's line table as the compiler wrote it, and where it stops depends on
 * what it keeps. What can be observed:
 * 1. Rows are kept apart by file. Where the file changes, the old file's rows end (line 0), and
 * rows of it at that very address are lost.
 * 2. A row that is no statement does not change the file at an address at which a statement began.
 * 3. A row of the same line as the one before is dropped if the line has discriminators.
 * 4. Rows of line 0 are ignored.
 * From these tables one is made for the module, with one row per address, for source_line().
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "source/names.h"
#include "source/source_int.h"

/* What is remembered from row to row. */
struct machine {
    struct source *s;
    struct source_unit *unit;
    struct source_table *last; /* of the last row that was kept */
    uint32_t last_line;
    uint64_t last_addr;
    bool stmt_at_addr;
    int previous_line;
    bool discriminators; /* the line has some */
};

static struct source_table *table_of(struct machine *machine, const char *file)
{
    struct source_unit *unit = machine->unit;

    for (size_t i = unit->tables; i-- > 0;)
        if (unit->table[i].file == file)
            return &unit->table[i];
    size_t last = machine->last ? (size_t)(machine->last - unit->table) : 0;
    struct source_table *table = SOURCE_PUSH(unit->table, unit->tables);
    *table = (struct source_table){.file = file};
    if (machine->last)
        machine->last = &unit->table[last];
    return table;
}

static void push(struct source_table *table, const struct source_row *row)
{
    *SOURCE_PUSH(table->row, table->rows) = *row;
}

/* Ends the rows of a file at addr. Rows that would be empty are lost. */
static void finish(struct source_table *table, uint64_t addr)
{
    bool any = false;
    uint32_t line = 0;

    if (!table)
        return;
    while (table->rows) {
        struct source_row *last = &table->row[table->rows - 1];
        any = true;
        line = last->line;
        if (last->addr != addr)
            break;
        table->rows--;
    }
    if (any && line)
        push(table, &(struct source_row){.addr = addr, .file = table->file});
}

static void keep(struct machine *machine, Dwarf_Line *line, struct source_row *row, bool end)
{
    struct source_table *table = table_of(machine, row->file);
    bool changed = table != machine->last;
    bool same_addr = machine->last_addr == row->addr;
    unsigned int discriminator = 0;

    dwarf_linediscriminator(line, &discriminator);
    if ((int)row->line != machine->previous_line)
        machine->discriminators = false;
    machine->discriminators |= discriminator != 0;
    machine->previous_line = (int)row->line;

    bool ignore =
        !end && ((changed && same_addr && !row->stmt && machine->stmt_at_addr) || row->line == 0);
    if ((changed && !ignore) || end)
        finish(machine->last, row->addr);
    if (!end && !ignore &&
        (changed || row->line != machine->last_line || !machine->discriminators)) {
        push(table, row);
        machine->last = table;
        machine->last_line = row->line;
    }
    if (!same_addr)
        machine->stmt_at_addr = false;
    machine->last_addr = row->addr;
    machine->stmt_at_addr |= row->stmt;
}

static int by_address(const struct source_row *x, const struct source_row *y)
{
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (!x->line != !y->line)
        return x->line ? 1 : -1;
    return 0;
}

/* Merges from[low..middle) and from[middle..high) into `to`. */
static void merge(const struct source_row *from, size_t low, size_t middle, size_t high,
                  struct source_row *to)
{
    size_t a = low, b = middle;

    for (size_t i = low; i < high; i++)
        to[i] = b >= high || (a < middle && by_address(&from[a], &from[b]) <= 0) ? from[a++]
                                                                                 : from[b++];
}

/* Sorts without changing the order of equal rows, which qsort() does not promise. */
static void sort(struct source_row *row, size_t rows)
{
    size_t i = 1;

    while (i < rows && by_address(&row[i - 1], &row[i]) <= 0)
        i++;
    if (i >= rows)
        return;
    struct source_row *other = malloc(rows * sizeof *other);
    if (!other)
        abort();
    for (size_t width = 1; width < rows; width *= 2) {
        for (size_t low = 0; low < rows; low += 2 * width) {
            size_t middle = low + width < rows ? low + width : rows;
            size_t high = low + 2 * width < rows ? low + 2 * width : rows;
            merge(row, low, middle, high, other);
        }
        memcpy(row, other, rows * sizeof *row);
    }
    free(other);
}

/* libdw sorts rows by address and has the ends of sequences come first. A row without bytes, at the
 * very end of its sequence, is then behind that end, and would hold for all that follows. It cannot
 * be told from the first row of another sequence but by the unit's ranges. */
static bool is_behind_end(Dwarf_Die *unit, Dwarf_Addr addr, Dwarf_Addr inside)
{
    return inside < addr && dwarf_haspc(unit, inside) == 1 && dwarf_haspc(unit, addr) == 0;
}

static void read_unit(struct source *s, struct source_mod *m, struct source_unit *unit)
{
    struct machine machine = {.s = s, .unit = unit, .last_addr = UINT64_MAX};
    Dwarf_Die die;
    Dwarf_Lines *lines;
    Dwarf_Addr before = UINT64_MAX, ended = UINT64_MAX; /* the last row's address, the last end */
    size_t count;

    if (!dwarf_offdie(m->dwarf, unit->die, &die) || dwarf_getsrclines(&die, &lines, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr addr;
        int number = 0, column = 0;
        bool stmt = false, end = false, body = false;
        const char *file = dwarf_linesrc(line, NULL, NULL);
        /* What the linker threw away begins at 0. */
        if (!file || dwarf_lineaddr(line, &addr) || addr < m->text_low)
            continue;
        dwarf_lineendsequence(line, &end);
        if (!end && addr == ended && is_behind_end(&die, addr, before))
            continue;
        if (end)
            ended = addr;
        else
            before = addr;
        dwarf_lineno(line, &number);
        dwarf_linecol(line, &column);
        dwarf_linebeginstatement(line, &stmt);
        dwarf_lineprologueend(line, &body);
        struct source_row row = {
            addr, source_names_path(s->names, file), (uint32_t)number, (uint16_t)column, stmt,
            body};
        keep(&machine, line, &row, end);
        if (end)
            machine = (struct machine){.s = s, .unit = unit, .last_addr = UINT64_MAX};
    }
    for (size_t i = 0; i < unit->tables; i++)
        sort(unit->table[i].row, unit->table[i].rows);
}

/* Among the rows at one address, the last one with a line counts, but one that begins a statement
 * comes before one that does not. */
static struct source_row choose(const struct source_row *row, size_t count)
{
    struct source_row best = row[count - 1];

    for (size_t i = count; i-- > 0 && !best.stmt;)
        if (row[i].line && (!best.line || row[i].stmt))
            best = row[i];
    return best;
}

void source_rows_read(struct source *s, struct source_mod *m)
{
    struct source_row *all = NULL;
    size_t count = 0, room = 0;

    for (size_t i = 0; i < m->units; i++) {
        read_unit(s, m, &m->unit[i]);
        for (size_t t = 0; t < m->unit[i].tables; t++)
            room += m->unit[i].table[t].rows;
    }
    if (!room)
        return;
    all = malloc(room * sizeof *all);
    if (!all)
        abort();
    for (size_t i = 0; i < m->units; i++)
        for (size_t t = 0; t < m->unit[i].tables; t++) {
            const struct source_table *table = &m->unit[i].table[t];
            if (table->rows)
                memcpy(all + count, table->row, table->rows * sizeof *all);
            count += table->rows;
        }
    sort(all, count);
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && all[i + n].addr == all[i].addr; n++)
            ;
        all[m->rows++] = choose(&all[i], n);
    }
    m->row = all;
}

const struct source_row *source_rows_at(const struct source_mod *m, uint64_t addr)
{
    size_t next = search_upto(m->row, m->rows, addr, addr);

    return next && m->row[next - 1].line ? &m->row[next - 1] : NULL;
}

uint64_t source_rows_end(const struct source_mod *m, const struct source_row *row)
{
    size_t next = (size_t)(row - m->row) + 1;

    return next < m->rows ? m->row[next].addr : UINT64_MAX;
}
