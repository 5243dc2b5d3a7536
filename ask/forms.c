/* forms.c - rows as a table for people, as JSON, as CSV.
 *
 * SPDX-License-Identifier: MIT
 *
 * JSON is an object on its own line for each row, behind one that says what it is, and before one
 * that says how it ended: a reader needs no more than a line at a time. Text may be a stranger's:
 * all of it goes through base/plain.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/rows_int.h"
#include "base/array.h"
#include "base/plain.h"

enum {
    ROWS_VERSION = 1,  /* of the JSON; grows when a member goes or changes its meaning */
    TABLE_WAIT = 100,  /* rows by which the columns' widths are found */
    TABLE_WIDEST = 48, /* of a column that is not the last */
    CELL_TEXT = 32,
};

/* ---- a cell as text ---- */

/* Either the cell's own, or made in buf. */
static const char *cell_text(const struct rows_column *of, const struct rows_cell *c,
                             char buf[CELL_TEXT])
{
    if (!c->set)
        return "";
    switch (of->type) {
    case ROWS_NUMBER:
        snprintf(buf, CELL_TEXT, "%" PRIu64, c->number);
        return buf;
    case ROWS_SIGNED:
        snprintf(buf, CELL_TEXT, "%" PRId64, (int64_t)c->number);
        return buf;
    case ROWS_HEX:
        snprintf(buf, CELL_TEXT, "0x%" PRIx64, c->number);
        return buf;
    case ROWS_FLAG:
        return of->name;
    default:
        return c->text ? c->text : "";
    }
}

static bool is_number(enum rows_type type)
{
    return type == ROWS_NUMBER || type == ROWS_SIGNED;
}

/* ---- a table ---- */

static void widen(struct rows *r, const struct rows_row *row)
{
    char buf[CELL_TEXT];
    for (size_t i = 0; i < r->columns; i++) {
        size_t n = plain_width(cell_text(&r->column[i], &row->cell[i], buf));
        if (n > r->wide[i])
            r->wide[i] = (unsigned)n;
    }
}

/* What does not fit is cut, at a whole character, and an ellipsis says so. */
static void put_cut(FILE *out, const char *text, size_t columns)
{
    char one[PLAIN_ONE];
    size_t left = strlen(text), used = 0;
    bool whole = plain_width(text) <= columns;
    while (left) {
        size_t took = plain_one(PLAIN_TEXT, text, left, one);
        size_t wide = plain_width(one);
        if (!whole && used + wide + 1 > columns) {
            fputs("\u2026", out);
            return;
        }
        fputs(one, out);
        used += wide;
        text += took;
        left -= took;
    }
}

static void put_padded(FILE *out, const char *text, size_t columns, bool right)
{
    size_t n = plain_width(text), pad = n < columns ? columns - n : 0;
    if (right)
        fprintf(out, "%*s", (int)pad, "");
    put_cut(out, text, columns);
    if (!right)
        fprintf(out, "%*s", (int)pad, "");
}

/* A column without a width is left out. */
static void put_line(struct rows *r, const struct rows_row *row)
{
    FILE *out = r->options.out;
    size_t used = 0, last = r->columns;
    char buf[CELL_TEXT], number[CELL_TEXT] = "";
    while (last && !r->wide[last - 1])
        last--;
    if (row)
        snprintf(number, sizeof number, "#%" PRIu64, row->number);
    used += (size_t)fprintf(out, "%-5s", number);
    for (size_t i = 0; i < last; i++) {
        const struct rows_column *c = &r->column[i];
        if (!r->wide[i])
            continue;
        const char *text = row ? cell_text(c, &row->cell[i], buf) : c->name;
        fputs("  ", out);
        used += 2;
        if (i + 1 == last) {
            size_t room = r->options.width > used + 8 ? r->options.width - used : 8;
            put_cut(out, text, r->options.width ? room : SIZE_MAX - 1);
        } else {
            put_padded(out, text, r->wide[i], is_number(c->type));
            used += r->wide[i];
        }
    }
    fputc('\n', out);
}

/* Columns that are empty in all rows are left out; those of rows to come are not known. */
static void table_begin(struct rows *r, bool more)
{
    if (r->begun)
        return;
    r->begun = true;
    for (size_t i = 0; i < r->columns; i++) {
        size_t name = strlen(r->column[i].name);
        if ((r->wide[i] || more) && r->wide[i] < name)
            r->wide[i] = (unsigned)name;
        if (r->wide[i] > TABLE_WIDEST)
            r->wide[i] = TABLE_WIDEST;
    }
    if (r->count)
        put_line(r, NULL);
}

static void table_flush(struct rows *r, bool more)
{
    table_begin(r, more);
    for (size_t i = 0; i < r->kept_rows; i++) {
        put_line(r, &r->kept[i]);
        for (size_t c = 0; c < r->columns; c++)
            free(r->kept[i].cell[c].text);
    }
    r->kept_rows = 0;
}

static int table_row(struct rows *r, struct err *err)
{
    if (r->begun) {
        put_line(r, &r->row);
        return 0;
    }
    widen(r, &r->row);
    if (array_append(&r->kept, &r->kept_rows, r->row))
        return err_set(err, "no memory");
    r->row = (struct rows_row){.thread = 0}; /* its cells are kept */
    if (r->kept_rows == TABLE_WAIT)
        table_flush(r, true);
    return 0;
}

static void table_end(struct rows *r)
{
    FILE *out = r->options.out;
    table_flush(r, false);
    if (!r->count)
        fputs(r->options.count ? "" : "nothing\n", out);
    for (size_t i = 0; i < r->notes; i++)
        plain_printf(out, "%s\n", r->note[i]);
}

/* ---- JSON ---- */

static void json_cell(FILE *out, const struct rows_column *of, const struct rows_cell *c)
{
    char buf[CELL_TEXT];
    if (of->type == ROWS_FLAG) {
        fputs(c->set ? "true" : "false", out);
    } else if (!c->set) {
        fputs("null", out);
    } else if (is_number(of->type)) {
        fputs(cell_text(of, c, buf), out);
    } else if (of->type == ROWS_PLACE) {
        fputs("{\"text\": ", out);
        plain_json(out, cell_text(of, c, buf));
        if (c->file) {
            fputs(", \"file\": ", out);
            plain_json(out, c->file);
            fprintf(out, ", \"line\": %" PRIu32, c->line);
        }
        if (c->function) {
            fputs(", \"function\": ", out);
            plain_json(out, c->function);
        }
        if (c->number)
            fprintf(out, ", \"pc\": \"0x%" PRIx64 "\"", c->number);
        fputc('}', out);
    } else {
        plain_json(out, cell_text(of, c, buf));
    }
}

static void json_begin(struct rows *r)
{
    FILE *out = r->options.out;
    if (r->begun)
        return;
    r->begun = true;
    fprintf(out, "{\"version\": %d, \"columns\": [", ROWS_VERSION);
    for (size_t i = 0; i < r->columns; i++) {
        fputs(i ? ", " : "", out);
        plain_json(out, r->column[i].name);
    }
    fputs("]}\n", out);
}

static void json_row(struct rows *r)
{
    FILE *out = r->options.out;
    json_begin(r);
    fprintf(out, "{\"row\": %" PRIu64, r->row.number);
    for (size_t i = 0; i < r->columns; i++) {
        fputs(", ", out);
        plain_json(out, r->column[i].name);
        fputs(": ", out);
        json_cell(out, &r->column[i], &r->row.cell[i]);
    }
    fputs("}\n", out);
}

static void json_end(struct rows *r)
{
    FILE *out = r->options.out;
    json_begin(r);
    fprintf(out, "{\"rows\": %" PRIu64 ", \"complete\": %s, \"notes\": [", r->count,
            r->cut || r->broken ? "false" : "true");
    for (size_t i = 0; i < r->notes; i++) {
        fputs(i ? ", " : "", out);
        plain_json(out, r->note[i]);
    }
    fputs("]}\n", out);
}

/* ---- CSV (RFC 4180) ---- */

static void csv_text(FILE *out, const char *text)
{
    char one[PLAIN_ONE];
    size_t left = strlen(text);
    if (!text[strcspn(text, ",\"\r\n\\")] && plain_width(text) == left) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    while (left) {
        size_t took = plain_one(PLAIN_TEXT, text, left, one);
        fputs(*text == '"' ? "\"\"" : one, out);
        text += took;
        left -= took;
    }
    fputc('"', out);
}

static void csv_begin(struct rows *r)
{
    if (r->begun)
        return;
    r->begun = true;
    fputs("row", r->options.out);
    for (size_t i = 0; i < r->columns; i++) {
        fputc(',', r->options.out);
        csv_text(r->options.out, r->column[i].name);
    }
    fputs("\r\n", r->options.out);
}

static void csv_row(struct rows *r)
{
    char buf[CELL_TEXT];
    csv_begin(r);
    fprintf(r->options.out, "%" PRIu64, r->row.number);
    for (size_t i = 0; i < r->columns; i++) {
        fputc(',', r->options.out);
        csv_text(r->options.out, cell_text(&r->column[i], &r->row.cell[i], buf));
    }
    fputs("\r\n", r->options.out);
}

/* ---- whichever it is ---- */

static int check(struct rows *r, struct err *err)
{
    return ferror(r->options.out) ? err_set(err, "the answer cannot be written") : 0;
}

int rows_write(struct rows *r, struct err *err)
{
    if (r->options.form == ROWS_TABLE && table_row(r, err))
        return -1;
    if (r->options.form == ROWS_JSON)
        json_row(r);
    if (r->options.form == ROWS_CSV)
        csv_row(r);
    return check(r, err);
}

int rows_write_end(struct rows *r, struct err *err)
{
    FILE *out = r->options.out;
    if (r->options.count && !r->options.group && r->options.form != ROWS_JSON) {
        fprintf(out, "%" PRIu64 "\n", r->count);
        return check(r, err);
    }
    if (r->options.form == ROWS_TABLE)
        table_end(r);
    if (r->options.form == ROWS_JSON)
        json_end(r);
    if (r->options.form == ROWS_CSV)
        csv_begin(r);
    return check(r, err);
}
