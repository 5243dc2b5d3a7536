/* debug.c - the separate debug file of a module, on this machine.
 *
 * SPDX-License-Identifier: MIT
 *
 * By the build-id below /usr/lib/debug; else by the name in .gnu_debuglink, in the places where GDB
 * looks for it: beside the program, in .debug beside it, and under its path in /usr/lib/debug. A
 * file found by its name is taken if it is the one that belongs to the module: the same build-id,
 * or, if the module has none, the checksum that .gnu_debuglink has. beneath_open_plain() decides
 * which files a stranger's recording may have opened: none beside the program.
 */
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pinball/beneath.h"
#include "source/module.h"
#include "source/source_int.h"

#define DEBUG_FOLDER "/usr/lib/debug"

enum { PIECE = 1 << 16, PATH_BYTES = 4096 };

static int open_by_build_id(Elf *elf)
{
    char path[512];
    struct stat st;
    const void *id;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);

    if (bytes < 2)
        return -1;
    int n = snprintf(path, sizeof path, DEBUG_FOLDER "/.build-id/%02x/", *(const uint8_t *)id);
    for (ssize_t i = 1; i < bytes && n + 16 < (int)sizeof path; i++)
        n += snprintf(path + n, sizeof path - (size_t)n, "%02x", ((const uint8_t *)id)[i]);
    snprintf(path + n, sizeof path - (size_t)n, ".debug");
    return beneath_open_plain(path, &st);
}

/* CRC-32 as .gnu_debuglink has it. */
static uint32_t checksum(int fd)
{
    uint8_t bytes[PIECE];
    uint32_t crc = ~0u;
    off_t at = 0;

    for (ssize_t n; (n = pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++) {
            crc ^= bytes[i];
            for (int bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    return ~crc;
}

static bool has_build_id(int fd, const void *id, size_t bytes)
{
    const void *other;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool same = elf && dwelf_elf_gnu_build_id(elf, &other) == (ssize_t)bytes &&
                memcmp(id, other, bytes) == 0;

    elf_end(elf);
    return same;
}

static bool belongs(Elf *elf, int fd, uint32_t crc)
{
    const void *id;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);

    return bytes > 0 ? has_build_id(fd, id, (size_t)bytes) : checksum(fd) == crc;
}

static int open_by_name(const struct source_mod *m)
{
    static const struct {
        const char *before, *between;
    } places[] = {{"", ""}, {"", ".debug/"}, {DEBUG_FOLDER, ""}};
    const char *slash = strrchr(m->path, '/');
    GElf_Word crc;
    const char *name = dwelf_elf_gnu_debuglink(m->elf, &crc);

    if (!name || !name[0] || strchr(name, '/') || m->path[0] != '/')
        return -1;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_BYTES];
        struct stat st;
        int n = snprintf(path, sizeof path, "%s%.*s%s%s", places[i].before,
                         (int)(slash + 1 - m->path), m->path, places[i].between, name);
        int fd = n > 0 && n < (int)sizeof path ? beneath_open_plain(path, &st) : -1;
        if (fd >= 0 && belongs(m->elf, fd, crc))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

int source_debug_open(const struct source_mod *m)
{
    int fd = open_by_build_id(m->elf);
    return fd >= 0 ? fd : open_by_name(m);
}
