/* snapshot.c - the target's memory: the initial state, and hashes of it later on.
 *
 * SPDX-License-Identifier: MIT
 *
 * The initial state is what execve left: the program, its interpreter, the stack, the vDSO. Files
 * are kept as files, since their bytes come back when the program gives the pages up
 * (MADV_DONTNEED). Pages that are no longer the file's, and everything else, are copied.
 */
#include "logger/target/snapshot.h"

#include "debug/target/tell.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/fpstate.h"
#include "engine/os/kernel.h"
#include "engine/os/maps.h"
#include "engine/os/twin.h"
#include "engine/rt/maplist.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/log.h"
#include "logger/target/mapped.h"
#include "logger/target/outputs.h"
#include "logger/target/record.h"

enum { RLIMIT_STACK_ = 3 };

static bool is_zero(gaddr page)
{
    const uint64_t *p = (const uint64_t *)page;
    for (size_t i = 0; i < PAGE_BYTES / 8; i++)
        if (p[i])
            return false;
    return true;
}

static void write_pages(gaddr start, gaddr end)
{
    for (gaddr a = start; a < end;) {
        gaddr from = a;
        while (a < end && is_zero(a))
            a += PAGE_BYTES;
        from = a;
        while (a < end && !is_zero(a))
            a += PAGE_BYTES;
        log_data(from, a - from, 0);
    }
}

/* Is it the mapping's own page, not the file's? (pagemap: present or swapped, and anonymous.) */
static bool is_own(uint64_t entry)
{
    const uint64_t there = 3ull << 62, of_file = 1ull << 61;
    return (entry & there) && !(entry & of_file);
}

/* Pages of a file's private mapping that differ from it; if nobody can tell, all. */
void snapshot_own_pages(gaddr start, gaddr end)
{
    long fd = sys4(__NR_openat, -100, (long)"/proc/self/pagemap", 02000000, 0);
    for (gaddr a = start; a < end; a += PAGE_BYTES) {
        uint64_t entry;
        if (sys4(__NR_pread64, fd, (long)&entry, 8, (long)(a / PAGE_BYTES * 8)) != 8 ||
            is_own(entry))
            log_data(a, PAGE_BYTES, 0);
    }
    if (!SYS_FAILED(fd))
        sys1(__NR_close, fd);
}

static void write_map(const struct maplist_entry *l)
{
    uint32_t file = MAP_FILE_NONE;
    uint64_t size = 0;
    bool unreadable = rt_prefix(l->path, "[vvar") || !(l->prot & PROT_READ);
    if (l->path[0] == '/') {
        file = mapped_keep(-1, l->path, l->dev, l->ino, l->offset, l->end - l->start, &size);
        mapped_note(l->start, l->end - l->start, l->dev, l->ino, l->offset, size);
    }
    struct record_map *m = log_begin(RECORD_MAP, sizeof *m);
    m->start = l->start;
    m->bytes = l->end - l->start;
    m->prot = (uint32_t)l->prot;
    m->flags = MAP_PRIVATE;
    m->file = file;
    m->object = 0;
    m->offset = l->offset;
    m->size = size;
    log_commit();
    if (file == MAP_FILE_NONE && !unreadable)
        write_pages(l->start, l->end);
    else if (file != MAP_FILE_NONE && (l->prot & PROT_WRITE))
        snapshot_own_pages(l->start, l->end);
}

/* Descriptors that the program may write to. */
static void write_descriptors(void)
{
    enum { FDS = 1024, GETFL = 3, ACCMODE = 3 };
    outputs_begin();
    for (int fd = 0; fd < FDS; fd++) {
        long flags = sys2(__NR_fcntl, fd, GETFL);
        if (flags >= 0 && (flags & ACCMODE))
            mapped_inherited(fd);
    }
}

static gaddr stack_end;

static void write_start(struct thread *t)
{
    uint64_t limit[2] = {8 << 20, 0}, ignored = 0;
    sys2(__NR_getrlimit, RLIMIT_STACK_, (long)limit);
    for (int sig = 1; sig <= SIG_MAX; sig++)
        if (t->process->action[sig].handler == HANDLER_IGNORE)
            ignored |= SIG_BIT(sig);
    struct record_start *s = log_begin_timed(RECORD_START, sizeof *s);
    memcpy(s->gpr, t->cpu.gpr, sizeof s->gpr);
    s->rip = t->cpu.rip;
    s->rflags = t->cpu.rflags;
    s->fs_base = 0;
    s->mask = t->mask;
    s->ignored = ignored;
    s->brk = (uint64_t)sys1(__NR_brk, 0);
    s->stack_end = stack_end;
    s->stack_limit = limit[0];
    s->vdso = maps_vdso_start();
    s->features = fpstate_features();
    s->pid = t->process->pid;
    s->tid = t->tid;
    log_commit();
}

static void write_image(const struct thread *t)
{
    const struct range *list;
    size_t n = range_list(&list);
    struct record_image *im = log_begin(RECORD_IMAGE, sizeof *im);
    im->base = im->reserved = engine.base;
    im->bytes = 0;
    for (size_t i = 0; i < n; i++)
        if (engine.base >= list[i].start && engine.base < list[i].end) {
            im->reserved = list[i].start;
            im->bytes = list[i].end - engine.base;
        }
    for (size_t i = 0; i < n; i++) /* what was set aside may be in several pieces by now */
        if (list[i].end == im->reserved) {
            im->reserved = list[i].start;
            i = (size_t)-1;
        }
    im->thread = t->number;
    im->pad = 0;
    log_commit();
}

/* The program's mappings, in order. */
static void each_map(void (*fn)(const struct maplist_entry *l))
{
    static char text[16 << 10];
    struct maplist list;
    struct maplist_entry e;
    long error = maplist_open(&list, 0, text, sizeof text);
    if (error)
        rt_die("record: /proc/self/maps cannot be read (error %ld)", -error);
    while (maplist_next(&list, &e))
        if (!(e.start >> 47) && !range_overlaps(e.start, e.end))
            fn(&e);
    maplist_close(&list);
}

static void write_first_map(const struct maplist_entry *l)
{
    if (rt_streq(l->path, "[stack]"))
        stack_end = l->end;
    write_map(l);
}

void snapshot_write(struct thread *t)
{
    write_image(t);
    each_map(write_first_map);
    write_descriptors();
    write_start(t);
}

/* ---- in the middle of a run ---- */

enum { GROWSDOWN = 0x100 /* of mmap */, FDS = PROCESS_FDS };

static gaddr part_heap;

/* Private pages are the recorder's to write, KEEP_MEMORY: those that are no file's. */
static void write_part_map(const struct maplist_entry *l)
{
    struct record_map map = {.start = l->start,
                             .bytes = l->end - l->start,
                             .prot = (uint32_t)l->prot,
                             .flags = MAP_PRIVATE,
                             .file = MAP_FILE_NONE};
    const bool named = l->path[0] == '/', readable = l->prot & PROT_READ;
    const bool of_object = mapped_before(l, &map);
    if (of_object) {
        /* its contents are in the log */
    } else if (named) {
        map.offset = l->offset;
        map.file = mapped_keep(-1, l->path, l->dev, l->ino, l->offset, map.bytes, &map.size);
        mapped_note(l->start, map.bytes, l->dev, l->ino, l->offset, map.size);
    } else if (rt_streq(l->path, "[stack]")) {
        map.flags |= GROWSDOWN;
    }
    struct record_map *m = log_begin(RECORD_MAP, sizeof *m);
    map.r = m->r;
    *m = map;
    log_commit();
    const bool lost = !of_object && named && map.file == MAP_FILE_NONE; /* it is deleted */
    if (readable && (lost || rt_streq(l->path, "[vdso]")))
        write_pages(l->start, l->end);
    else if (lost)
        log_ring()->warnings |= WARN_UNSEEN_WRITE;
}

static void tell_about(struct record_process *r, bool side)
{
    (void)side; /* there is none: region.c */
    r->heap_start = part_heap;
    r->heap_end = (gaddr)sys1(__NR_brk, 0);
    for (int fd = 0; fd < FDS; fd++)
        r->leads_to[fd] = (uint8_t)outputs_now(fd);
}

/* What only the kernel knows of a thread. */
static void ask_kernel(struct thread *t)
{
    enum { READ_IMPLIES_EXEC_ = 0x0400000 };
    char path[64];
    rt_format(path, sizeof path, "/proc/self/task/%d/comm", t->tid);
    long fd = sys4(__NR_openat, -100, (long)path, 02000000, 0);
    memset(t->name, 0, sizeof t->name);
    long n = SYS_FAILED(fd) ? 0 : sys3(__NR_read, fd, (long)t->name, sizeof t->name - 1);
    if (n > 0 && t->name[n - 1] == '\n')
        t->name[n - 1] = 0;
    if (!SYS_FAILED(fd))
        sys1(__NR_close, fd);
    t->reads_execute = sys1(__NR_personality, 0xffffffff) & READ_IMPLIES_EXEC_;
}

static void write_shared(const struct maplist_entry *l)
{
    if (l->shared)
        mapped_shared_before(l);
}

/* The recorder reads the memory of a twin while the program goes on, or, where there can be none,
 * the program's own. */
static void write_memory(void)
{
    long pid = twin_make(-1);
    if (pid == 0) {
        twin_own_shared();
        twin_ready();
        twin_wait();
    }
    if (pid < 0 || !twin_await(pid)) {
        pid = 0;
        log_ring()->warnings |= WARN_STOOD_STILL;
    }
    log_break();
    log_ring()->keep.fd = (int32_t)pid;
    log_ask(KEEP_MEMORY);
}

void snapshot_part(struct thread *t, gaddr heap)
{
    const struct tell tell = {.out = log_writer(), .self = t, .process = tell_about};
    part_heap = heap;
    maps_open_all(); /* protections as the program made them */
    write_image(t);
    record_ranges();
    each_map(write_shared);
    each_map(write_part_map);
    write_descriptors();
    write_memory();
    for (struct thread *o = engine.threads; o; o = o->next)
        ask_kernel(o);
    tell_threads(&tell);
}

/* ---- hashes ---- */

/* At most so much of it at once; which part is next goes round. */
#define CYCLES_BETWEEN 3000000000ull

static bool readable(gaddr start, uint64_t bytes)
{
    uint8_t byte;
    for (gaddr a = start; a < start + bytes; a += PAGE_BYTES)
        if (!engine_read(&byte, a, 1))
            return false;
    return true;
}

void snapshot_hash(struct thread *t, bool now, uint8_t flags)
{
    static uint64_t last;
    struct ring *g = log_ring();
    uint64_t tsc = __builtin_ia32_rdtsc();
    const struct range *list;
    size_t count = 0;
    range_list(&list);
    if (!last)
        last = tsc;
    if (log_over() || (!now && tsc - last < CYCLES_BETWEEN))
        return;
    g->keep.offset = list[0].start;
    g->keep.bytes = list[0].end - list[0].start;
    log_ask(KEEP_PAGES);
    last = __builtin_ia32_rdtsc();
    uint64_t pages = g->keep.size < RING_PAGES ? g->keep.size : RING_PAGES;
    struct record_memory *m =
        log_begin(RECORD_MEMORY, sizeof *m + pages * sizeof(struct memory_sum));
    struct memory_sum *sum = (struct memory_sum *)(m + 1);
    for (uint64_t i = 0; i < pages; i++) {
        struct ring_pages p = g->keep.pages[i];
        if (range_overlaps(p.start, p.start + p.bytes) || !readable(p.start, p.bytes))
            continue;
        sum[count++] = (struct memory_sum){p.start, p.bytes,
                                           session_hash_memory((const uint64_t *)p.start, p.bytes)};
    }
    m->r.flags = flags;
    m->at = (struct record_at){.count = thread_count(t), .pc = t->cpu.rip, .ranges = count};
    log_shorten(sizeof *m + count * sizeof *sum);
    log_commit();
}
