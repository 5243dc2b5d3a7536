/* maps.h - which memory of the target is code, and who changes it.
 *
 * SPDX-License-Identifier: MIT
 *
 * The kernel's own list is the truth; this is a cache of its executable part. Regions are learned
 * from /proc/self/maps when code is first met there, or from the target's mmap, and forgotten when
 * a system call touches them. Reading /proc/self/maps is slow: mprotect, which code generators call
 * all the time, does not make it necessary again.
 *
 * Changes to code are seen in one of three ways, per page (struct codepage):
 *  - not writable: only system calls can change it, and they come through here;
 *  - writable: write-protected while translations exist; the fault drops them and opens the page;
 *  - shared mapping, memfd, or written often: blocks compare their own bytes at entry.
 */
#ifndef ENGINE_OS_MAPS_H
#define ENGINE_OS_MAPS_H

#include "engine/core/translate.h"
#include "engine/rt/types.h"

/* The end of a process's addresses. */
#define MAPS_USER_TOP 0x7ffffffff000ull

struct region {
    gaddr start, end;
    int prot;
    bool shared; /* other mappings of the same object may write it */
};

extern const struct code_source maps_source;

/* Lists the executable regions, if /proc/self/maps does not. */
extern void (*maps_list)(void (*fn)(struct region));

/* All that /proc/self/maps lists, the runtime's own, too; false: it cannot be read. */
bool maps_all(void (*fn)(struct region));

/* The executable region around pc; NULL when pc is not in executable memory. */
const struct region *maps_exec(gaddr pc);

/* May the target write at addr? Asks the kernel each time, by a list that can be long. */
bool maps_writable(gaddr addr);
bool maps_shared(gaddr addr); /* other processes may write there */

/* The path of the file that is mapped at addr, as the kernel lists it; false: there is none. */
bool maps_path(gaddr addr, char *out, size_t size);
/* The same, and where the mapping lies: *at, which begins *offset bytes into the file. */
bool maps_file(gaddr addr, char *out, size_t size, struct region *at, uint64_t *offset);

/* The target's memory call touched [start, end): forget it and drop its translations. */
void maps_changed(gaddr start, gaddr end);
void maps_changed_shared(void); /* somewhere in memory that is shared */
/* mprotect changed the rights of [start, end), and nothing else: what was known of it still is. */
void maps_protected(gaddr start, gaddr end, int prot);
/* mmap gave executable memory */
void maps_learn(gaddr start, gaddr end, int prot, bool shared);

/* A write fault at addr: true if it was ours; the page is writable now and its blocks are gone. */
bool maps_write_fault(gaddr addr);

/* Make protected pages of a range (or all) writable again, so that the kernel can write, move and
 * show them as they are. Returns how many there were. */
int maps_open(gaddr start, gaddr end);
int maps_open_all(void);

/* vDSO entry points are replaced by plain system calls when translated. */
void maps_vdso(gaddr ehdr);
bool maps_has_vdso(void);                 /* not since the target unmapped it */
gaddr maps_vdso_start(void);              /* 0: none */
gaddr maps_vdso_symbol(const char *name); /* the real one; 0 if there is none */

#endif
