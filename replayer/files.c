/* files.c - files of the recorded machine, for a debugger. SPDX-License-Identifier: MIT */
#include <string.h>

#include "pinball/beneath.h"
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

/* ---- separate debug files ---- */

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), k = strlen(end);
    return n > k && strcmp(path + n - k, end) == 0;
}

/* In the folder of a kept file, or in .debug there. */
static bool is_beside(struct timeline *t, const char *path)
{
    static const char below[] = ".debug/";
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0, k = sizeof below - 1;
    if (folder > k && !memcmp(path + folder - k, below, k))
        folder -= k;
    for (int i = 0; folder; i++) {
        const char *kept = timeline_file_path(t, i);
        const char *end = kept ? strrchr(kept, '/') : NULL;
        if (!kept)
            return false;
        if (end && (size_t)(end + 1 - kept) == folder && !memcmp(kept, path, folder))
            return true;
    }
    return false;
}

int timeline_debug_file(struct timeline *t, const char *path, uint64_t *size)
{
    static const char folder[] = "/usr/lib/debug/";
    bool usual = !strncmp(path, folder, sizeof folder - 1) && !strstr(path, "/../");
    struct stat st;
    if (!ends_with(path, ".debug") ||
        !(usual || (pinball_is_own(timeline_pinball(t)) && is_beside(t, path))))
        return -1;
    int fd = beneath_open_plain(path, &st);
    if (fd >= 0)
        *size = (uint64_t)st.st_size;
    return fd;
}
