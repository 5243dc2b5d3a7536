/* files.c - files of the recorded machine, for a debugger. SPDX-License-Identifier: MIT */
#include <string.h>

#include "pinball/pinball.h"
#include "replayer/timeline_private.h"

int timeline_file_find(struct timeline *t, const char *path, uint64_t *size)
{
    struct pinball *p = timeline_pinball(t);
    for (uint32_t i = 0; i < pinball_files(p); i++) {
        const struct kept_file *f = pinball_file(p, i);
        if (f->whole && f->path && !strcmp(f->path, path)) {
            *size = f->size;
            return (int)i;
        }
    }
    return -1;
}

int timeline_file_read(struct timeline *t, int file, uint64_t offset, void *out, size_t bytes,
                       struct err *err)
{
    return pinball_file_read(timeline_pinball(t), (uint32_t)file, offset, out, bytes, err);
}

const char *timeline_file_path(struct timeline *t, int file)
{
    struct pinball *p = timeline_pinball(t);
    if (file < 0 || (uint32_t)file >= pinball_files(p))
        return NULL;
    return pinball_file(p, (uint32_t)file)->path;
}
