/* text.c - the text of source lines, from the pinball or from files on this machine.
 *
 * SPDX-License-Identifier: MIT
 *
 * A file is read once, whole. Files that were not found are remembered, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/names.h"
#include "source/source_int.h"

struct file {
    const char *name; /* interned: as asked for */
    char *text;       /* NULL: not found. Newlines are zeros. */
    uint32_t *line;   /* where lines begin */
    size_t lines;
    int64_t changed_s; /* since 1970 */
};

struct source_files {
    struct file *file;
    size_t files, latest;
    struct sourcefile_places places;
    source_packed *packed;
    void *packed_arg;
};

enum { TEXT_MAX_BYTES = 64 << 20 };

struct source_files *source_files_new(void)
{
    struct source_files *files = calloc(1, sizeof *files);

    if (files)
        files->places.as_named = true;
    return files;
}

/* Forgets what was read: what was missing may be there now. */
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
    free(files);
}

void source_set_places(struct source *s, const struct sourcefile_places *places)
{
    s->files->places = *places;
    forget(s->files);
}

void source_set_packed(struct source *s, source_packed *packed, void *arg)
{
    s->files->packed = packed;
    s->files->packed_arg = arg;
    forget(s->files);
}

/* The file's bytes with room for a zero, or NULL. */
static char *slurp(int fd, size_t size, size_t *bytes)
{
    char *text = malloc(size + 1);
    ssize_t n = 1;

    *bytes = 0;
    while (text && n > 0 && *bytes < size) {
        n = read(fd, text + *bytes, size - *bytes);
        if (n < 0 && errno == EINTR)
            n = 1;
        else
            *bytes += n > 0 ? (size_t)n : 0;
    }
    return text;
}

static char *find(const struct source_files *files, const char *name, size_t *bytes,
                  int64_t *changed_s)
{
    struct stat st;
    char *text = files->packed ? files->packed(files->packed_arg, name, bytes) : NULL;

    if (text)
        return text;
    int fd = sourcefile_open(&files->places, name, TEXT_MAX_BYTES, &st);
    if (fd < 0)
        return NULL;
    text = slurp(fd, (size_t)st.st_size, bytes);
    *changed_s = st.st_mtime;
    close(fd);
    return text;
}

static void read_file(struct source_files *files, struct file *file)
{
    size_t bytes = 0;
    bool begins = true;

    file->text = find(files, file->name, &bytes, &file->changed_s);
    if (file->text)
        file->text[bytes] = 0;
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
