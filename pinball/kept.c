/* kept.c - the files that a recording keeps: their list.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct {
    const char *name, *folder;
} kinds[] = {
    [KEPT_MAPPED] = {"mapped", "files"},
    [KEPT_DEBUG] = {"debug", "debug"},
    [KEPT_SOURCE] = {"source", "sources"},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

void kept_name(char *name, size_t room, enum kept_kind kind, const char *sha256)
{
    snprintf(name, room, "%s/%s", kinds[kind].folder, sha256);
}

void kept_text(struct text *text, const struct kept_file *file, size_t first_range)
{
    text_addf(text, "number", "%u", file->number);
    text_add(text, "kind", kinds[file->kind].name);
    text_addf(text, "size", "%llu", (unsigned long long)file->size);
    text_add(text, "path", file->path);
    if (file->build_id)
        text_add(text, "build_id", file->build_id);
    if (file->waiting)
        text_add(text, "waiting", file->waiting);
    for (size_t i = first_range; i < file->ranges; i++)
        text_addf(text, "range", "%llu %llu %s", (unsigned long long)file->range[i].offset,
                  (unsigned long long)file->range[i].bytes, file->range[i].sha256);
}

static bool is_hex(const char *text, size_t min, size_t max)
{
    size_t n = strspn(text, "0123456789abcdef");

    return text[n] == '\0' && n >= min && n <= max;
}

/* `OFFSET BYTES SHA256` */
static int parse_range(const char *value, uint64_t size, struct kept_range *range)
{
    char word[2][24];
    const char *p = value;

    for (int i = 0; i < 2; i++) {
        size_t n = strcspn(p, " ");
        if (n >= sizeof word[i] || p[n] != ' ')
            return -1;
        memcpy(word[i], p, n);
        word[i][n] = '\0';
        p += n + 1;
    }
    if (text_number(word[0], &range->offset) || text_number(word[1], &range->bytes) ||
        !is_hex(p, SHA256_HEX - 1, SHA256_HEX - 1))
        return -1;
    memcpy(range->sha256, p, SHA256_HEX);
    return range->offset <= size && range->bytes <= size - range->offset ? 0 : -1;
}

static int add_ranges(struct kept_file *file, const struct lines *lines)
{
    struct kept_range range;

    for (size_t i = 0; i < lines->count; i++)
        if (strcmp(lines->line[i].key, "range") == 0 &&
            (parse_range(lines->line[i].value, file->size, &range) ||
             array_append(&file->range, &file->ranges, range)))
            return -1;
    return 0;
}

static int parse_kind(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return i;
    return -1;
}

static void free_file(struct kept_file *file)
{
    if (!file)
        return;
    free((char *)file->path);
    free((char *)file->build_id);
    free((char *)file->waiting);
    free(file->range);
    free(file);
}

static struct kept_file *new_file(const struct lines *lines, uint64_t number, uint64_t size)
{
    const char *path = text_get(lines, "path"), *kind = text_get(lines, "kind");
    const char *build_id = text_get(lines, "build_id");
    struct kept_file *file = calloc(1, sizeof *file);

    if (!file)
        return NULL;
    file->number = (uint32_t)number;
    file->size = size;
    if (!path || !kind || parse_kind(kind) < 0 || (build_id && !is_hex(build_id, 2, 128)))
        goto fail;
    file->kind = (enum kept_kind)parse_kind(kind);
    file->path = strdup(path);
    file->build_id = build_id ? strdup(build_id) : NULL;
    if (!file->path || (build_id && !file->build_id))
        goto fail;
    return file;
fail:
    free_file(file);
    return NULL;
}

static int append(struct kept *kept, struct kept_file *file)
{
    if (!file)
        return -1;
    if (array_append(&kept->file, &kept->files, file)) {
        free_file(file);
        return -1;
    }
    return 0;
}

static int set_waiting(struct kept_file *file, const char *waiting)
{
    free((char *)file->waiting);
    file->waiting = waiting ? strdup(waiting) : NULL;
    return waiting && !file->waiting ? -1 : 0;
}

static int add(struct kept *kept, const struct lines *lines)
{
    const char *number_text = text_get(lines, "number"), *size_text = text_get(lines, "size");
    uint64_t number, size;

    if (!number_text || !size_text || text_number(number_text, &number) ||
        text_number(size_text, &size) || size > INT64_MAX)
        return -1;
    if (number > kept->files || number >= UINT32_MAX)
        return -1;
    if (number == kept->files && append(kept, new_file(lines, number, size)))
        return -1;
    struct kept_file *file = kept->file[number];
    if (file->size != size || set_waiting(file, text_get(lines, "waiting")))
        return -1;
    return add_ranges(file, lines);
}

int kept_add(struct kept *kept, const char *text, size_t bytes, struct err *err)
{
    struct lines lines;

    if (text_parse(&lines, text, bytes, err))
        return -1;
    int bad = add(kept, &lines);
    text_free_lines(&lines);
    if (bad)
        return err_set(err, "does not describe a kept file");
    kept->entries++;
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const struct kept_range *x = a, *y = b;

    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

int kept_sort(struct kept *kept, struct err *err)
{
    for (size_t n = 0; n < kept->files; n++) {
        struct kept_file *f = kept->file[n];
        if (f->ranges > 0)
            qsort(f->range, f->ranges, sizeof *f->range, by_offset);
        for (size_t i = 1; i < f->ranges; i++)
            if (f->range[i].offset - f->range[i - 1].offset < f->range[i - 1].bytes)
                return err_set(err, "ranges of file %zu overlap", n);
        f->whole =
            !f->waiting && (f->size == 0 || (f->ranges == 1 && f->range[0].bytes == f->size));
    }
    return 0;
}

void kept_deinit(struct kept *kept)
{
    for (size_t n = 0; n < kept->files; n++)
        free_file(kept->file[n]);
    free(kept->file);
    *kept = (struct kept){0};
}
