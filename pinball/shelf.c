/* shelf.c - contents of files that many recordings of one process keep. SPDX-License-Identifier:
 * MIT
 */
#include "pinball/shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/writer_private.h"

struct shelved {
    char identity[IDENTITY_BYTES];
    char *data;
    size_t bytes;
};

struct shelf {
    struct shelved *file;
    size_t files, bytes;
};

struct shelf *shelf_new(void)
{
    return calloc(1, sizeof(struct shelf));
}

void shelf_free(struct shelf *shelf)
{
    for (size_t i = 0; shelf && i < shelf->files; i++)
        free(shelf->file[i].data);
    if (shelf)
        free(shelf->file);
    free(shelf);
}

char *shelf_find(const struct shelf *shelf, const char *identity, size_t *bytes)
{
    for (size_t i = 0; i < shelf->files; i++)
        if (strcmp(shelf->file[i].identity, identity) == 0) {
            *bytes = shelf->file[i].bytes;
            return shelf->file[i].data;
        }
    return NULL;
}

bool shelf_put(struct shelf *shelf, const char *identity, char *data, size_t bytes)
{
    struct shelved new = {.data = data, .bytes = bytes};
    if (bytes > WRITER_WHOLE_BYTES - shelf->bytes)
        return false;
    snprintf(new.identity, sizeof new.identity, "%s", identity);
    if (array_append(&shelf->file, &shelf->files, new))
        return false;
    shelf->bytes += bytes;
    return true;
}
