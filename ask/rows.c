/* rows.c - rows: cells, which rows are wanted, counting. How they look is in forms.c.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* vasprintf */
#include "ask/rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ask/rows_int.h"
#include "base/array.h"
#include "base/search.h"

/* ---- begin and end ---- */

struct rows *rows_new(const struct rows_options *options, struct err *err)
{
    struct rows *r = calloc(1, sizeof *r);
    if (!r) {
        err_set(err, "no memory");
        return NULL;
    }
    r->options = *options;
    return r;
}

static void forget_cells(struct rows_row *row)
{
    for (size_t i = 0; i < ROWS_COLUMNS; i++)
        free(row->cell[i].text);
    *row = (struct rows_row){.thread = 0};
}

void rows_free(struct rows *r)
{
    if (!r)
        return;
    forget_cells(&r->row);
    for (size_t i = 0; i < r->kept_rows; i++)
        forget_cells(&r->kept[i]);
    free(r->kept);
    for (size_t i = 0; i < r->groups; i++)
        forget_cells(&r->group[i].row);
    free(r->group);
    for (size_t i = 0; i < r->notes; i++)
        free(r->note[i]);
    free(r->note);
    for (size_t i = 0; i < ROWS_COLUMNS; i++)
        free(r->name[i]);
    free(r);
}

static bool is_word(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

static bool has_column(const struct rows *r, const char *name)
{
    for (size_t i = 0; i < r->columns; i++)
        if (!strcmp(r->column[i].name, name))
            return true;
    return false;
}

static bool has_type(const struct rows *r, enum rows_type type)
{
    for (size_t i = 0; i < r->columns; i++)
        if (r->column[i].type == type)
            return true;
    return false;
}

/* What is in other columns can be counted by, too: the thread, a place's function and file. */
static const struct part {
    const char *name;
    enum rows_type of, type;
} parts[] = {{"thread", ROWS_POSITION, ROWS_NUMBER},
             {"function", ROWS_PLACE, ROWS_TEXT},
             {"file", ROWS_PLACE, ROWS_TEXT}};

static void add_parts(struct rows *r)
{
    r->given = r->columns;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (r->columns < ROWS_COLUMNS && is_word(r->options.group, parts[i].name) &&
            !has_column(r, parts[i].name) && has_type(r, parts[i].of))
            r->column[r->columns++] = (struct rows_column){parts[i].name, parts[i].type};
}

static void fill_parts(struct rows *r)
{
    const struct rows_cell *place = NULL;
    for (size_t i = 0; !place && i < r->given; i++)
        if (r->column[i].type == ROWS_PLACE && r->row.cell[i].set)
            place = &r->row.cell[i];
    for (unsigned i = (unsigned)r->given; i < r->columns; i++)
        if (r->column[i].type == ROWS_NUMBER)
            rows_number(r, i, r->row.thread);
        else if (place)
            rows_text(r, i, strcmp(r->column[i].name, "file") ? place->function : place->file);
}

static int choose_groups(struct rows *r, struct err *err)
{
    size_t wanted = 1, found = 0;
    for (const char *c = r->options.group; *c; c++)
        wanted += *c == ',';
    add_parts(r);
    for (size_t i = 0; i < r->columns; i++)
        found += r->grouped[i] = is_word(r->options.group, r->column[i].name);
    if (found == wanted)
        return 0;
    char names[512] = "";
    for (size_t i = 0; i < r->given; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 r->column[i].name);
    return err_set(err, "--group-by %s: the columns are %s", r->options.group, names);
}

int rows_begin(struct rows *r, const struct rows_column *column, size_t n, struct err *err)
{
    if (n > ROWS_COLUMNS)
        return err_set(err, "more than %d columns", ROWS_COLUMNS);
    memcpy(r->column, column, n * sizeof *column);
    for (size_t i = 0; i < n; i++)
        if (!(r->column[i].name = r->name[i] = strdup(column[i].name)))
            return err_set(err, "no memory");
    r->columns = n;
    return r->options.group ? choose_groups(r, err) : 0;
}

/* ---- cells ---- */

static struct rows_cell *cell_of(struct rows *r, unsigned column)
{
    return column < r->columns ? &r->row.cell[column] : &r->nowhere;
}

static void set_text(struct rows *r, struct rows_cell *c, const char *text)
{
    free(c->text);
    c->text = text ? strdup(text) : NULL;
    c->set = text != NULL;
    r->no_memory |= text && !c->text;
}

void rows_text(struct rows *r, unsigned column, const char *text)
{
    set_text(r, cell_of(r, column), text);
}

void rows_printf(struct rows *r, unsigned column, const char *fmt, ...)
{
    struct rows_cell *c = cell_of(r, column);
    va_list args;
    free(c->text);
    c->text = NULL;
    va_start(args, fmt);
    c->set = vasprintf(&c->text, fmt, args) >= 0;
    va_end(args);
    if (!c->set)
        c->text = NULL;
    r->no_memory |= !c->set;
}

void rows_number(struct rows *r, unsigned column, uint64_t number)
{
    struct rows_cell *c = cell_of(r, column);
    c->number = number;
    c->set = true;
}

void rows_signed(struct rows *r, unsigned column, int64_t number)
{
    rows_number(r, column, (uint64_t)number);
}

void rows_hex(struct rows *r, unsigned column, uint64_t number)
{
    rows_number(r, column, number);
}

void rows_flag(struct rows *r, unsigned column, bool set)
{
    cell_of(r, column)->set = set;
}

/* "main.c:12": people want the file's name, programs all of its path. */
void rows_place(struct rows *r, unsigned column, const struct rows_place *place)
{
    struct rows_cell *c = cell_of(r, column);
    const char *slash = place->file ? strrchr(place->file, '/') : NULL;
    const char *name = slash ? slash + 1 : place->file;
    if (name)
        rows_printf(r, column, "%s:%" PRIu32, name, place->line);
    else if (place->function)
        rows_printf(r, column, "%s", place->function);
    else
        rows_printf(r, column, "0x%" PRIx64, place->pc);
    c->file = place->file;
    c->function = place->function;
    c->line = place->line;
    c->number = place->pc;
}

void rows_position(struct rows *r, unsigned column, const struct position *at, uint64_t order)
{
    struct rows_cell *c = cell_of(r, column);
    char text[POSITION_TEXT];
    position_format(at, text);
    set_text(r, c, text);
    if (r->row.placed)
        return;
    r->row.placed = true;
    r->row.order = order;
    r->row.thread = at->thread;
}

void rows_thread(struct rows *r, uint32_t thread)
{
    r->row.thread = thread;
}

void rows_also(struct rows *r, uint32_t thread)
{
    r->row.also = thread;
}

void rows_order(struct rows *r, uint64_t order)
{
    r->row.placed = true;
    r->row.order = order;
}

uint32_t rows_only(const struct rows *r)
{
    return r->options.thread;
}

/* ---- rows ---- */

static bool is_wanted(const struct rows *r)
{
    const struct rows_options *o = &r->options;
    if (o->thread && r->row.thread != o->thread && r->row.also != o->thread)
        return false;
    return !r->row.placed || r->row.order >= o->after;
}

static int compare_grouped(const struct rows *r, const struct rows_row *a, const struct rows_row *b)
{
    for (size_t i = 0; i < r->columns; i++) {
        const struct rows_cell *x = &a->cell[i], *y = &b->cell[i];
        if (!r->grouped[i])
            continue;
        if (x->set != y->set)
            return x->set - y->set;
        int d = x->text && y->text      ? strcmp(x->text, y->text)
                : x->number < y->number ? -1
                                        : x->number > y->number;
        if (d)
            return d;
    }
    return 0;
}

/* Groups are sorted, so that one is found by halves. */
static int count_group(struct rows *r, struct err *err)
{
    const size_t low =
        search_first(r->groups, i, compare_grouped(r, &r->row, &r->group[i].row) > 0);
    if (low < r->groups && !compare_grouped(r, &r->row, &r->group[low].row)) {
        r->group[low].count++;
        return 0;
    }
    if (array_push(&r->group, &r->groups, &r->group_room, (struct rows_group){.count = 1}))
        return err_set(err, "no memory");
    memmove(&r->group[low + 1], &r->group[low], (r->groups - 1 - low) * sizeof *r->group);
    r->group[low] = (struct rows_group){.row = r->row, .count = 1};
    r->row = (struct rows_row){.thread = 0}; /* its cells are the group's now */
    return 0;
}

int rows_end(struct rows *r, struct err *err)
{
    int end = 0;
    if (r->no_memory)
        return err_set(err, "no memory");
    if (!is_wanted(r)) {
        forget_cells(&r->row);
        return 0;
    }
    r->row.number = ++r->count;
    if (r->options.group)
        fill_parts(r);
    if (r->options.group)
        end = count_group(r, err);
    else if (!r->options.count)
        end = rows_write(r, err);
    forget_cells(&r->row);
    if (end)
        return end;
    /* Only a list is cut: a count is of all of them. */
    if (r->options.limit && r->count >= r->options.limit && !r->options.group &&
        !r->options.count) {
        r->cut = true;
        return 1;
    }
    return 0;
}

void rows_note(struct rows *r, const char *fmt, ...)
{
    char *text;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0 || array_append(&r->note, &r->notes, text)) {
        r->no_memory = true;
        if (n >= 0)
            free(text);
    }
}

/* ---- the end ---- */

static int by_count(const void *a, const void *b)
{
    const struct rows_group *x = a, *y = b;
    return x->count > y->count ? -1 : x->count < y->count;
}

/* The groups as rows of their own: the most frequent one first. */
static int write_groups(struct rows *r, struct err *err)
{
    size_t columns = 0;
    unsigned from[ROWS_COLUMNS];
    struct rows_column column[ROWS_COLUMNS];
    column[columns++] = (struct rows_column){"count", ROWS_NUMBER};
    for (unsigned i = 0; i < r->columns && columns < ROWS_COLUMNS; i++)
        if (r->grouped[i]) {
            from[columns] = i;
            column[columns++] = r->column[i];
        }
    if (r->groups)
        qsort(r->group, r->groups, sizeof *r->group, by_count);
    memcpy(r->column, column, columns * sizeof *column);
    r->columns = columns;
    r->count = 0;
    for (size_t g = 0; g < r->groups; g++) {
        struct rows_row *of = &r->group[g].row;
        r->cut = r->options.limit && g == r->options.limit;
        if (r->cut)
            break;
        rows_number(r, 0, r->group[g].count);
        for (size_t i = 1; i < columns; i++) {
            r->row.cell[i] = of->cell[from[i]];
            of->cell[from[i]].text = NULL;
        }
        r->row.number = ++r->count;
        int bad = rows_write(r, err);
        forget_cells(&r->row);
        if (bad)
            return bad;
    }
    return 0;
}

FILE *rows_foreign(struct rows *r)
{
    r->foreign = true;
    return r->options.out;
}

int rows_finish(struct rows *r, bool interrupted, struct err *err)
{
    if (r->foreign)
        return ferror(r->options.out) ? err_set(err, "the answer cannot be written") : 0;
    if (r->options.group && r->columns && write_groups(r, err))
        return -1;
    r->broken = interrupted;
    if (interrupted)
        rows_note(r, "interrupted: there may be more");
    else if (r->cut)
        rows_note(r, "that is the limit; there may be more");
    if (r->no_memory)
        return err_set(err, "no memory");
    return rows_write_end(r, err);
}

bool rows_shows(const struct rows *r, unsigned column)
{
    return r->options.group ? r->grouped[column] : !r->options.count;
}

uint64_t rows_count(const struct rows *r)
{
    return r->count;
}
