/* sources.c - the source files that an ELF file's DWARF names.
 *
 * SPDX-License-Identifier: MIT
 *
 * libdw brings four more libraries along, and every start of drdebug would pay for them (0.4 ms of
 * dynamic linking). So it is loaded when it is needed, which is here only.
 */
#include "pinball/sources.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdio.h>

#define FUNCTIONS(_)                                                                               \
    _(dwarf_attr)                                                                                  \
    _(dwarf_begin)                                                                                 \
    _(dwarf_end)                                                                                   \
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

int sources_list(int fd, sources_found *found, void *arg, struct err *err)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    int stop = 0;

    if (load(err))
        return -1;
    Dwarf *dwarf = dw.dwarf_begin(fd, DWARF_C_READ);
    if (!dwarf)
        return 0;
    while (!stop && dw.dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        stop = list_unit(&die, found, arg, err);
    dw.dwarf_end(dwarf);
    return stop;
}
