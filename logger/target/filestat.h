/* filestat.h - what the kernel says about a file. SPDX-License-Identifier: MIT */
#ifndef LOGGER_TARGET_FILESTAT_H
#define LOGGER_TARGET_FILESTAT_H

#include "engine/rt/sys.h"
#include "engine/rt/types.h"

enum { FILESTAT_REGULAR = 0100000, FILESTAT_DEVICE = 0020000, FILESTAT_TYPE = 0170000 };

/* As the kernel's struct stat. */
struct filestat {
    uint64_t dev, ino, nlink;
    uint32_t mode, uid, gid, pad;
    uint64_t rdev;
    int64_t size;
    uint64_t blocks[2], accessed[2], modified[2], rest[5]; /* times: seconds, nanoseconds */
};

static inline bool filestat_get(int fd, struct filestat *st)
{
    enum { EMPTY_PATH = 0x1000 };
    return sys4(__NR_newfstatat, fd, (long)"", (long)st, EMPTY_PATH) == 0;
}

static inline uint64_t filestat_modified_ns(const struct filestat *st)
{
    return st->modified[0] * 1000000000 + st->modified[1];
}

static inline uint32_t filestat_type(const struct filestat *st)
{
    return st->mode & FILESTAT_TYPE;
}

#endif
