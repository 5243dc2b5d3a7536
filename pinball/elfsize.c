/* elfsize.c - whether an ELF file's debug information is as small as it looks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/elfsize.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

enum { RATIO = 16 };
static const uint64_t FREE = 256ull << 20;

/* The bytes at an offset, or NULL. */
static const char *at(const char *file, size_t bytes, uint64_t offset, size_t want)
{
    return offset <= bytes && want <= bytes - offset ? file + offset : NULL;
}

/* What a section claims to unpack to; `.zdebug` is the older way. */
static uint64_t unpacked(const char *file, size_t bytes, const Elf64_Shdr *s)
{
    Elf64_Chdr h;
    const char *p = at(file, bytes, s->sh_offset, sizeof h);

    if (!p || s->sh_type == SHT_NOBITS)
        return 0;
    memcpy(&h, p, sizeof h);
    if (s->sh_flags & SHF_COMPRESSED)
        return h.ch_size;
    if (memcmp(p, "ZLIB", 4) != 0)
        return 0;
    uint64_t size;
    memcpy(&size, p + 4, sizeof size);
    return __builtin_bswap64(size);
}

bool elfsize_is_sane(const void *file, size_t bytes)
{
    uint64_t sum = 0, most = FREE + RATIO * (uint64_t)bytes;
    Elf64_Shdr s;
    Elf64_Ehdr e;

    /* libdw may understand what this function does not: other sizes and orders of bytes, archives,
     * headers whose stated size it ignores. */
    if (bytes < sizeof e)
        return false;
    memcpy(&e, file, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_ident[EI_DATA] != ELFDATA2LSB || (e.e_shoff && e.e_shentsize != sizeof s))
        return false;
    /* More than 0xff00 sections are counted in the first one. */
    const char *first = at(file, bytes, e.e_shoff, sizeof s);
    if (!first)
        return true;
    memcpy(&s, first, sizeof s);
    uint64_t count = e.e_shnum ? e.e_shnum : s.sh_size;
    for (uint64_t i = 0; i < count && i < bytes / sizeof s; i++) {
        const char *p = at(file, bytes, e.e_shoff + i * sizeof s, sizeof s);
        if (!p)
            break;
        memcpy(&s, p, sizeof s);
        if (__builtin_add_overflow(sum, unpacked(file, bytes, &s), &sum) || sum > most)
            return false;
    }
    return true;
}
