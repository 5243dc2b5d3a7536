/* source_text.c - the text of source lines, from files on this machine.
 *
 * SPDX-License-Identifier: MIT
 *
 * A file is read once, whole; one that was not found is remembered, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "slicer/source_int.h"

struct file {
    const char *name; /* interned: as asked for */
    char *text;       /* NULL: not found. Newlines are zeros. */
    uint32_t *line;   /* where lines begin */
    size_t lines;
    int64_t changed_s; /* since 1970 */
};

struct source_files {
    struct file *file;
    char **folder;
    size_t files, folders, latest;
};

enum { TEXT_MAX_BYTES = 64 << 20 };

struct source_files *source_files_new(void)
{
    return calloc(1, sizeof(struct source_files));
}

/* Forgets what was read. */
static void forget(struct source_files *files)
{
    for (size_t i = 0; i < files->files; i++) {
        free(files->file[i].text);
        free(files->file[i].line);
    }
    free(files->file);
    files->file = NULL;
    files->files = files->latest = 0;
}

void source_files_free(struct source_files *files)
{
    if (!files)
        return;
    forget(files);
    for (size_t i = 0; i < files->folders; i++)
        free(files->folder[i]);
    free(files->folder);
    free(files);
}

void source_add_folder(struct source *s, const char *folder)
{
    char *copy = strdup(folder);

    if (!copy)
        abort();
    *SOURCE_PUSH(s->files->folder, s->files->folders) = copy;
    forget(s->files); /* what was missing may be there */
}

/* The file's bytes and a zero, or NULL. */
static char *slurp(const char *path, size_t *bytes, int64_t *changed_s)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    struct stat st;
    long size;

    if (!f)
        return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && size <= TEXT_MAX_BYTES &&
        fseek(f, 0, SEEK_SET) == 0 && (text = malloc((size_t)size + 1))) {
        *bytes = fread(text, 1, (size_t)size, f);
        text[*bytes] = 0;
        *changed_s = fstat(fileno(f), &st) == 0 ? st.st_mtime : 0;
    }
    fclose(f);
    return text;
}

/* As named; else in each folder by ends of the path, the longest first. */
static char *find(const struct source_files *files, const char *name, size_t *bytes,
                  int64_t *changed_s)
{
    char path[4096];
    char *text = slurp(name, bytes, changed_s);

    for (size_t i = 0; !text && i < files->folders; i++)
        for (const char *end = name; !text && end; end = strchr(end, '/')) {
            end += *end == '/';
            int n = snprintf(path, sizeof path, "%s/%s", files->folder[i], end);
            if (n > 0 && n < (int)sizeof path)
                text = slurp(path, bytes, changed_s);
        }
    return text;
}

static void read_file(struct source_files *files, struct file *file)
{
    size_t bytes = 0;
    bool begins = true;

    file->text = find(files, file->name, &bytes, &file->changed_s);
    for (size_t i = 0; file->text && i < bytes; i++) {
        char *c = &file->text[i];
        if (begins)
            *SOURCE_PUSH(file->line, file->lines) = (uint32_t)i;
        begins = *c == '\n';
        if (begins && i && c[-1] == '\r')
            c[-1] = 0;
        if (begins)
            *c = 0;
    }
}

static const struct file *file_of(struct source *s, const char *name)
{
    struct source_files *files = s->files;
    size_t i = files->latest;

    if (i >= files->files || files->file[i].name != name) {
        name = source_names_add(s->names, name);
        for (i = 0; i < files->files && files->file[i].name != name; i++)
            ;
        if (i == files->files) {
            struct file *file = SOURCE_PUSH(files->file, files->files);
            *file = (struct file){.name = name};
            read_file(files, file);
        }
        files->latest = i;
    }
    return &files->file[i];
}

const char *source_text(struct source *s, const char *name, uint32_t line)
{
    const struct file *file = name ? file_of(s, name) : NULL;

    return file && line && line <= file->lines ? file->text + file->line[line - 1] : NULL;
}

bool source_text_newer(struct source *s, const char *name, int64_t time_s)
{
    const struct file *file = name ? file_of(s, name) : NULL;

    return file && file->text && file->changed_s > time_s;
}
