/* program.c - find a program as a shell does, and say why one cannot be run.
 *
 * SPDX-License-Identifier: MIT
 *
 * The rules for ELF files and `#!` lines are those of the kernel's fs/binfmt_elf.c and
 * fs/binfmt_script.c; the search and the statuses are bash's. All numbers in a file are untrusted.
 */
#define _GNU_SOURCE
#include "cli/program.h"

#include <byteswap.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    SCRIPT_LINE_MAX = 256, /* what the kernel reads of a `#!` line */
    SCRIPT_DEPTH_MAX = 5,  /* scripts whose interpreter is a script */
    PHDR_TABLE_MAX = 65536,
};

struct file {
    int fd;
    uint64_t size;
};

int program_self(char path[PATH_MAX], struct err *err)
{
    const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[n > 0 ? n : 0] = 0;
    return n < 0 ? err_set(err, "/proc/self/exe: %s", strerror(errno)) : 0;
}

static int refuse_errno(struct err *err, const char *what)
{
    int missing = errno == ENOENT;

    return err_set_code(err, missing ? CLI_NOT_FOUND : CLI_CANNOT_RUN, "%s%s", what,
                        strerror(errno));
}

#define refuse(err, ...) err_set_code(err, CLI_CANNOT_RUN, __VA_ARGS__)

/* ---- finding ---- */

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static bool may_execute(const char *path)
{
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* PATH, or what the system would use without one. The caller frees it. */
static char *search_path(void)
{
    const char *path = getenv("PATH");
    size_t size;
    char *copy;

    if (path)
        return strdup(path);
    size = confstr(_CS_PATH, NULL, 0);
    copy = malloc(size + 1);
    if (copy)
        copy[confstr(_CS_PATH, copy, size)] = '\0';
    return copy;
}

/* Takes the first executable in dirs, else the first file. An empty element is the working
 * directory. Returns false if there is neither. */
static bool search(char *dirs, const char *name, char path[PATH_MAX])
{
    char candidate[PATH_MAX], *dir;
    bool found = false;

    while ((dir = strsep(&dirs, ":"))) {
        int n = snprintf(candidate, sizeof candidate, "%s/%s", *dir ? dir : ".", name);

        if (n >= (int)sizeof candidate || !is_file(candidate))
            continue;
        if (may_execute(candidate)) {
            strcpy(path, candidate);
            return true;
        }
        if (!found)
            strcpy(path, candidate);
        found = true;
    }
    return found;
}

int program_find(const char *name, char path[PATH_MAX], struct err *err)
{
    bool found = false;
    char *dirs;

    if (strchr(name, '/')) {
        if (strlen(name) >= PATH_MAX)
            return refuse(err, "%s", strerror(ENAMETOOLONG));
        strcpy(path, name);
        return 0;
    }
    dirs = search_path();
    if (!dirs)
        return refuse(err, "%s", strerror(errno));
    if (*name)
        found = search(dirs, name, path);
    free(dirs);
    if (!found)
        return err_set_code(err, CLI_NOT_FOUND, "command not found");
    return 0;
}

/* ---- reading ---- */

static int file_open(const char *path, struct file *file, struct err *err)
{
    struct stat st;

    if (stat(path, &st))
        return refuse_errno(err, "");
    if (S_ISDIR(st.st_mode))
        return refuse(err, "%s", strerror(EISDIR));
    if (!S_ISREG(st.st_mode))
        return refuse(err, "not a regular file");
    if (!may_execute(path))
        return refuse_errno(err, "");
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return refuse_errno(err, "cannot be read: ");
    file->size = (uint64_t)st.st_size;
    return 0;
}

static void file_close(struct file *file)
{
    close(file->fd);
}

/* All of [offset, offset + size). `part` names it for the message. */
static int file_read(const struct file *file, uint64_t offset, void *buf, size_t size,
                     const char *part, struct err *err)
{
    uint64_t end;
    ssize_t n;

    if (__builtin_add_overflow(offset, size, &end) || end > file->size)
        return refuse(err, "truncated ELF file: its %s reaches beyond the end, %llu bytes", part,
                      (unsigned long long)file->size);
    n = pread(file->fd, buf, size, (off_t)offset);
    if (n < 0)
        return refuse_errno(err, "cannot be read: ");
    if ((size_t)n < size)
        return refuse(err, "cannot be read: the file has become shorter");
    return 0;
}

/* ---- ELF ---- */

static const struct machine {
    uint16_t number;
    const char *name;
} machines[] = {
    {EM_386, "i386"},
    {EM_X86_64, "x86-64"},
    {EM_ARM, "ARM"},
    {EM_AARCH64, "AArch64"},
    {EM_RISCV, "RISC-V"},
    {EM_PPC, "PowerPC"},
    {EM_PPC64, "PowerPC64"},
    {EM_S390, "S/390"},
    {EM_MIPS, "MIPS"},
    {EM_SPARC, "SPARC"},
    {EM_SPARCV9, "SPARC"},
    {EM_IA_64, "Itanium"},
    {EM_LOONGARCH, "LoongArch"},
};

static const char *machine_name(uint16_t number, char buf[32])
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (machines[i].number == number)
            return machines[i].name;
    snprintf(buf, 32, "machine %u", number);
    return buf;
}

static int check_machine(const Elf64_Ehdr *ehdr, struct err *err)
{
    bool big = ehdr->e_ident[EI_DATA] == ELFDATA2MSB;
    bool narrow = ehdr->e_ident[EI_CLASS] == ELFCLASS32;
    uint16_t number = big ? bswap_16(ehdr->e_machine) : ehdr->e_machine;
    char buf[32];

    if (!narrow && !big && number == EM_X86_64)
        return 0;
    return refuse(err, "a %sprogram for %s; only 64-bit x86-64 programs can be run",
                  narrow ? "32-bit " : "", machine_name(number, buf));
}

static int check_type(const Elf64_Ehdr *ehdr, struct err *err)
{
    switch (ehdr->e_type) {
    case ET_EXEC:
    case ET_DYN:
        return 0;
    case ET_REL:
        return refuse(err, "an object file that is not linked, not a program");
    case ET_CORE:
        return refuse(err, "a core file, not a program");
    default:
        return refuse(err, "an ELF file of type %u, not a program", ehdr->e_type);
    }
}

static int read_ehdr(const struct file *file, Elf64_Ehdr *ehdr, struct err *err)
{
    /* Class and machine lie at the same place in every ELF header, and a 32-bit one is shorter. */
    const size_t common = offsetof(Elf64_Ehdr, e_version);

    if (file_read(file, 0, ehdr, common, "header", err) || check_machine(ehdr, err) ||
        file_read(file, 0, ehdr, sizeof *ehdr, "header", err) || check_type(ehdr, err))
        return -1;
    if (ehdr->e_phentsize != sizeof(Elf64_Phdr) || ehdr->e_phnum == 0 ||
        ehdr->e_phnum > PHDR_TABLE_MAX / sizeof(Elf64_Phdr))
        return refuse(err, "damaged ELF file: no usable program headers");
    return 0;
}

static int check_segments(const struct file *file, const Elf64_Phdr *phdrs, unsigned count,
                          struct err *err)
{
    bool loads = false;

    for (unsigned i = 0; i < count; i++) {
        uint64_t end;

        if (phdrs[i].p_type != PT_LOAD)
            continue;
        loads = true;
        if (phdrs[i].p_filesz == 0)
            continue;
        if (__builtin_add_overflow(phdrs[i].p_offset, phdrs[i].p_filesz, &end) || end > file->size)
            return refuse(err,
                          "truncated ELF file: its segment %u reaches beyond the end, %llu bytes",
                          i, (unsigned long long)file->size);
    }
    return loads ? 0 : refuse(err, "damaged ELF file: nothing to load");
}

/* The path in the first PT_INTERP; "" if there is none. */
static int read_interp(const struct file *file, const Elf64_Phdr *phdrs, unsigned count,
                       char interp[PATH_MAX], struct err *err)
{
    interp[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        size_t size = phdrs[i].p_filesz;

        if (phdrs[i].p_type != PT_INTERP)
            continue;
        if (size < 2 || size > PATH_MAX)
            return refuse(err, "damaged ELF file: its interpreter's name is %zu bytes long", size);
        if (file_read(file, phdrs[i].p_offset, interp, size, "interpreter's name", err))
            return -1;
        if (interp[size - 1] != '\0' || interp[0] == '\0')
            return refuse(err, "damaged ELF file: its interpreter has no proper name");
        return 0;
    }
    return 0;
}

/* `interp` gets the ELF interpreter's path, "" for a program without one. */
static int check_elf(const struct file *file, char interp[PATH_MAX], struct err *err)
{
    Elf64_Ehdr ehdr;
    Elf64_Phdr *phdrs;
    size_t size;
    int rc = -1;

    if (read_ehdr(file, &ehdr, err))
        return -1;
    size = ehdr.e_phnum * sizeof *phdrs;
    phdrs = malloc(size);
    if (!phdrs)
        return refuse(err, "%s", strerror(errno));
    if (file_read(file, ehdr.e_phoff, phdrs, size, "program header table", err) == 0 &&
        check_segments(file, phdrs, ehdr.e_phnum, err) == 0)
        rc = read_interp(file, phdrs, ehdr.e_phnum, interp, err);
    free(phdrs);
    return rc;
}

static bool is_elf(const struct file *file)
{
    char magic[SELFMAG];

    return pread(file->fd, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* The interpreter of an ELF file is an ELF file itself; one that it might name is not looked at. */
static int check_elf_interp(const char *path, struct err *err)
{
    char ignored[PATH_MAX];
    struct file file;
    int rc = file_open(path, &file, err);

    if (rc == 0) {
        rc = is_elf(&file) ? check_elf(&file, ignored, err) : refuse(err, "not an ELF file");
        file_close(&file);
    }
    if (rc)
        err_set_code(err, err->code, "ELF interpreter %.256s: %s", path, err->msg);
    return rc;
}

/* ---- scripts ---- */

static int read_script(const struct file *file, char interp[PATH_MAX], struct err *err)
{
    char line[SCRIPT_LINE_MAX + 1] = "";
    ssize_t n = pread(file->fd, line, SCRIPT_LINE_MAX, 0);
    size_t length;
    char *name;

    if (n < 0)
        return refuse_errno(err, "cannot be read: ");
    if (n == 0)
        return refuse(err, "the file is empty");
    if (n < 2 || memcmp(line, "#!", 2) != 0)
        return refuse(err, "neither an ELF program nor a script with a #! line");
    name = line + 2 + strspn(line + 2, " \t");
    length = strcspn(name, " \t\n");
    if (length == 0)
        return refuse(err, "a script with no interpreter on its #! line");
    if (name + length >= line + SCRIPT_LINE_MAX)
        return refuse(err, "a script whose #! line is too long");
    memcpy(interp, name, length);
    interp[length] = '\0';
    return 0;
}

/* One file of the chain. `next` gets the interpreter if it is a script, else "". */
static int check_one(const char *path, char next[PATH_MAX], struct err *err)
{
    char interp[PATH_MAX];
    struct file file;
    int rc;

    next[0] = '\0';
    if (file_open(path, &file, err))
        return -1;
    if (is_elf(&file)) {
        rc = check_elf(&file, interp, err);
        if (rc == 0 && *interp)
            rc = check_elf_interp(interp, err);
    } else {
        rc = read_script(&file, next, err);
    }
    file_close(&file);
    return rc;
}

int program_check(const char *path, struct err *err)
{
    char current[PATH_MAX], next[PATH_MAX];

    if (check_one(path, next, err))
        return -1;
    for (int depth = 0; *next; depth++) {
        if (depth == SCRIPT_DEPTH_MAX)
            return refuse(err,
                          "its interpreter is a script, whose interpreter is a script, and so on");
        strcpy(current, next);
        if (check_one(current, next, err))
            return err_set_code(err, err->code, "interpreter %s: %s", current, err->msg);
    }
    return 0;
}
