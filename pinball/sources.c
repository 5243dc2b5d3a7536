/* sources.c - the source files that an ELF file's DWARF names.
 *
 * SPDX-License-Identifier: MIT
 *
 * libdw brings four more libraries along, and every start of drdebug would pay for them (0.4 ms of
 * dynamic linking). So it is loaded only here, when it is needed. It may read a stranger's file:
 * that happens in a confined process, which writes the names into a pipe.
 */
#define _GNU_SOURCE /* pipe2 */
#include "pinball/sources.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/memory.h"
#include "pinball/elfsize.h"

enum { NAMES_MOST = 64 << 20 }; /* bytes */

#define FUNCTIONS(_)                                                                               \
    _(dwarf_attr)                                                                                  \
    _(dwarf_begin)                                                                                 \
    _(dwarf_filesrc)                                                                               \
    _(dwarf_formstring)                                                                            \
    _(dwarf_get_units)                                                                             \
    _(dwarf_getsrcfiles)

#define MEMBER(name) __typeof__(name) *name;
#define LOAD(name)   || !(*(void **)&dw.name = dlsym(library, #name))

static struct {
    FUNCTIONS(MEMBER)
} dw;

static int load(struct err *err)
{
    static void *library;

    if (!library)
        library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library FUNCTIONS(LOAD))
        return err_set(err, "sources cannot be found: %s", dlerror());
    return 0;
}

/* One compilation unit's. */
static int list_unit(Dwarf_Die *unit, sources_found *found, void *arg, struct err *err)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    size_t count;

    if (dw.dwarf_getsrcfiles(unit, &files, &count))
        return 0;
    const char *folder = dw.dwarf_formstring(dw.dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    for (size_t i = 0; i < count; i++) {
        const char *name = dw.dwarf_filesrc(files, i, NULL, NULL);
        char path[PATH_MAX];
        if (!name || (name[0] != '/' && (!folder || folder[0] != '/')))
            continue;
        int n = name[0] == '/' ? snprintf(path, sizeof path, "%s", name)
                               : snprintf(path, sizeof path, "%s/%s", folder, name);
        if (n < 0 || (size_t)n >= sizeof path)
            continue;
        int stop = found(arg, path, err);
        if (stop)
            return stop;
    }
    return 0;
}

static bool is_sane(int fd)
{
    struct stat st;

    if (fstat(fd, &st) || st.st_size <= 0)
        return false;
    void *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        return false;
    bool sane = elfsize_is_sane(file, (size_t)st.st_size);
    munmap(file, (size_t)st.st_size);
    return sane;
}

static void list_all(int fd, sources_found *found, void *arg)
{
    struct err err;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    int stop = 0;
    Dwarf *dwarf = is_sane(fd) ? dw.dwarf_begin(fd, DWARF_C_READ) : NULL;

    while (dwarf && !stop && dw.dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        stop = list_unit(&die, found, arg, &err);
}

/* ---- in a process of its own ---- */

static int write_name(void *arg, const char *path, struct err *err)
{
    (void)err;
    return fwrite(path, strlen(path) + 1, 1, arg) == 1 ? 0 : -1;
}

static _Noreturn void be_reader(int fd, int out)
{
    struct err err;
    FILE *names = fdopen(out, "w");

    if (!names || confine_self(&err))
        _exit(1);
    list_all(fd, write_name, names);
    _exit(fflush(names) != 0);
}

/* Names that end in NUL. */
static int read_names(FILE *names, sources_found *found, void *arg, struct err *err)
{
    char path[PATH_MAX];
    size_t n = 0, all = 0;

    for (int c, stop; (c = getc(names)) != EOF;) {
        if (n == sizeof path || ++all > NAMES_MOST)
            return err_set(err, "too many source files are named");
        path[n++] = (char)c;
        if (c == 0 && (stop = found(arg, path, err)))
            return stop;
        n = c == 0 ? 0 : n;
    }
    return 0;
}

/* The file may have ended its reader: the names up to there count. */
int sources_list(int fd, sources_found *found, void *arg, struct err *err)
{
    int end[2], result;

    if (load(err) || memory_check_setting(err))
        return -1;
    if (pipe2(end, O_CLOEXEC))
        return err_set(err, "sources cannot be found: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_reader(fd, end[1]);
    close(end[1]);
    FILE *names = fdopen(end[0], "r");
    result = child < 0 || !names ? err_set(err, "sources cannot be found: %s", strerror(errno))
                                 : read_names(names, found, arg, err);
    if (names)
        fclose(names);
    else
        close(end[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return result;
}
