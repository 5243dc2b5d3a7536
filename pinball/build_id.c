/* build_id.c - kept.h's kept_build_id(): find the build-id of an ELF file.
 *
 * SPDX-License-Identifier: MIT
 *
 * Done while the recorded program waits, on files that may be anything, so it reads little and
 * gives up early: the program headers, then each PT_NOTE of a sane size.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pinball/kept.h"

enum { MAX_HEADERS = 64, MAX_NOTES = 4096 };

/* Looks through notes; true if it was among them. */
static bool find_note(const char *notes, size_t bytes, size_t align, char build_id[BUILD_ID_HEX])
{
    Elf64_Nhdr n;

    for (size_t at = 0; bytes - at >= sizeof n;) {
        memcpy(&n, notes + at, sizeof n);
        at += sizeof n;
        size_t name = (n.n_namesz + align - 1) / align * align;
        if (n.n_namesz > bytes || name > bytes - at || n.n_descsz > bytes - at - name)
            return false;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes + at, "GNU", 4) &&
            n.n_descsz > 0 && n.n_descsz <= (BUILD_ID_HEX - 1) / 2) {
            for (size_t i = 0; i < n.n_descsz; i++)
                snprintf(build_id + 2 * i, 3, "%02x", (unsigned char)notes[at + name + i]);
            return true;
        }
        at += name;
        size_t desc = (n.n_descsz + align - 1) / align * align;
        at += desc < bytes - at ? desc : bytes - at;
    }
    return false;
}

void kept_build_id(int fd, char build_id[BUILD_ID_HEX])
{
    Elf64_Phdr headers[MAX_HEADERS];
    char notes[MAX_NOTES];
    Elf64_Ehdr elf;

    build_id[0] = '\0';
    if (pread(fd, &elf, sizeof elf, 0) != sizeof elf || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof headers[0])
        return;
    size_t count = elf.e_phnum < MAX_HEADERS ? elf.e_phnum : MAX_HEADERS;
    ssize_t got = pread(fd, headers, count * sizeof headers[0], (off_t)elf.e_phoff);
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof headers[0]; i++) {
        size_t bytes = headers[i].p_filesz < sizeof notes ? headers[i].p_filesz : sizeof notes;
        if (headers[i].p_type != PT_NOTE)
            continue;
        ssize_t n = pread(fd, notes, bytes, (off_t)headers[i].p_offset);
        if (n > 0 && find_note(notes, (size_t)n, headers[i].p_align == 8 ? 8 : 4, build_id))
            return;
    }
}
