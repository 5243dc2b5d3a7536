/* memory.c - system calls that change the target's address space. SPDX-License-Identifier: MIT */
#include "engine/os/memory.h"

#include "engine/core/engine.h"
#include "engine/os/maps.h"
#include "engine/os/syscalls.h"
#include "engine/os/twin.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

static bool ours(gaddr start, uint64_t len)
{
    return range_overlaps(start, start + PAGE_UP(len));
}

long memory_mmap(struct thread *t, long *a)
{
    bool fixed = a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    if (fixed && ours((gaddr)a[0], (uint64_t)a[1]))
        return a[3] & MAP_FIXED_NOREPLACE ? -EEXIST : -ENOMEM;
    long r = syscalls_pass(t, __NR_mmap, a);
    if (SYS_FAILED(r)) {
        if (a[3] & MAP_FIXED) /* what was there may be gone */
            maps_changed((gaddr)a[0], (gaddr)a[0] + PAGE_UP((uint64_t)a[1]));
        return r;
    }
    gaddr start = (gaddr)r, end = start + PAGE_UP((uint64_t)a[1]);
    maps_changed(start, end);
    if ((a[2] & PROT_EXEC) && (a[3] & MAP_ANONYMOUS))
        maps_learn(start, end, (int)a[2], (a[3] & 3) != MAP_PRIVATE);
    return r;
}

long memory_munmap(struct thread *t, long *a)
{
    if (ours((gaddr)a[0], (uint64_t)a[1]))
        return -EINVAL;
    long r = syscalls_pass(t, __NR_munmap, a);
    if (!SYS_FAILED(r))
        maps_changed((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]);
    return r;
}

long memory_mprotect(struct thread *t, long *a)
{
    if (ours((gaddr)a[0], (uint64_t)a[1]))
        return -ENOMEM;
    maps_open((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]);
    long r = syscalls_pass(t, (int32_t)t->cpu.gpr[RAX], a);
    gaddr start = (gaddr)a[0], end = start + (uint64_t)a[1];
    const int plain = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (r == 0 && !(a[2] & ~plain))
        maps_protected(start, end, (int)a[2]);
    else
        maps_changed(start, end); /* a failed call may have done a part; a stack grows */
    return r;
}

long memory_mremap(struct thread *t, long *a)
{
    enum { TO_FIXED = 2 };
    if (ours((gaddr)a[0], (uint64_t)a[1]) ||
        ((a[3] & TO_FIXED) && ours((gaddr)a[4], (uint64_t)a[2])))
        return -EINVAL;
    maps_open((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]);
    long r = syscalls_pass(t, __NR_mremap, a);
    uint64_t longer = (uint64_t)a[1] > (uint64_t)a[2] ? (uint64_t)a[1] : (uint64_t)a[2];
    gaddr to = !SYS_FAILED(r) ? (gaddr)r : a[3] & TO_FIXED ? (gaddr)a[4] : (gaddr)a[0];
    maps_changed((gaddr)a[0], (gaddr)a[0] + longer); /* a failed call may have done a part */
    maps_changed(to, to + longer);
    return r;
}

long memory_brk(struct thread *t, long *a)
{
    static gaddr end;
    long r = syscalls_pass(t, __NR_brk, a);
    if (end > (gaddr)r && r > 0)
        maps_changed((gaddr)r, end);
    end = (gaddr)r;
    return r;
}

long memory_shmat(struct thread *t, long *a)
{
    enum { REMAP = 040000, STAT = 2 };
    uint64_t ds[14] = {0}; /* struct shmid64_ds: the size follows the 48 bytes of permissions */
    long r = syscalls_pass(t, __NR_shmat, a);
    if (!SYS_FAILED(r) && (a[2] & REMAP)) { /* whatever was there is gone */
        sys3(__NR_shmctl, a[0], STAT, (long)ds);
        maps_changed((gaddr)r, (gaddr)r + ds[6]);
    }
    return r;
}

/* It does not say how much went; but nothing that is private did. */
long memory_shmdt(struct thread *t, long *a)
{
    long r = syscalls_pass(t, __NR_shmdt, a);
    if (!SYS_FAILED(r))
        maps_changed_shared();
    return r;
}

/* MADV_FREE leaves it to the kernel's mood when pages go; here they go at once. What the kernel
 * refuses for it, but not for MADV_DONTNEED, it still refuses. */
long memory_madvise(struct thread *t, long *a)
{
    enum {
        DONTNEED = 4,
        FREE = 8,
        REMOVE = 9,
        DONTFORK = 10,
        WIPEONFORK = 18,
        DONTNEED_LOCKED = 24
    };
    if (ours((gaddr)a[0], (uint64_t)a[1]))
        return -EINVAL;
    maps_open((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]);
    long r = syscalls_pass(t, __NR_madvise, a);
    if (a[2] == DONTFORK || a[2] == WIPEONFORK)
        twin_advised();
    if (a[2] == FREE && (r == 0 || r == -ENOMEM))
        sys3(__NR_madvise, a[0], a[1], DONTNEED);
    if (a[2] == DONTNEED || a[2] == FREE || a[2] == REMOVE || a[2] == DONTNEED_LOCKED)
        maps_changed((gaddr)a[0], (gaddr)a[0] + (uint64_t)a[1]);
    return r;
}
