/* maps.c - which memory of the target is code. SPDX-License-Identifier: MIT */
#include "engine/os/maps.h"

#include <elf.h>

#include "base/search.h"
#include "engine/core/engine.h"
#include "engine/rt/maplist.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum {
    REGIONS = 4096,
    OFTEN = 8, /* writes into a code page after which its blocks check themselves */
    VDSO_PAGES = 4,
    LINES = 4097, /* bytes of /proc/self/maps at a time */
};

#define VSYSCALL_PAGE 0xffffffffff600000ull

static struct region regions[REGIONS]; /* sorted, disjoint; executable, or once were */
static int region_count;
static int protected_pages;
void (*maps_list)(void (*fn)(struct region));

/* The vDSO and the vsyscall page, as the translator sees them. */
static struct {
    gaddr start, end;
    gaddr data; /* [vvar] and its kind, which lie before it */
    uint8_t bytes[VDSO_PAGES * PAGE_BYTES];
} vdso;
static uint8_t vsyscall_bytes[PAGE_BYTES];

/* ---- the region list ---- */

static int region_index(gaddr addr) /* first region that ends after addr */
{
    return (int)search_upto(regions, region_count, end, addr);
}

static void region_insert(int at, struct region r)
{
    if (region_count == REGIONS)
        region_count = at = 0; /* only a cache: begin anew */
    memmove(&regions[at + 1], &regions[at], sizeof r * (size_t)(region_count - at));
    regions[at] = r;
    region_count++;
}

static void region_cut(gaddr start, gaddr end)
{
    for (int i = region_index(start); i < region_count && regions[i].start < end;) {
        struct region r = regions[i];
        memmove(&regions[i], &regions[i + 1], sizeof r * (size_t)(--region_count - i));
        if (r.start < start) {
            struct region left = r;
            left.end = start;
            region_insert(i++, left);
        }
        if (r.end > end) {
            struct region right = r;
            right.start = end;
            region_insert(i++, right);
        }
    }
}

static void region_add(struct region r)
{
    region_cut(r.start, r.end);
    region_insert(region_index(r.start), r);
}

static bool alike(const struct region *a, const struct region *b)
{
    return a->end == b->start && a->prot == b->prot && a->shared == b->shared;
}

/* As region_add, and one with its neighbours if they are alike: code generators change the rights
 * of one page after the other. */
static void region_join(struct region r)
{
    int i = region_index(r.start);
    if (i < region_count && alike(&r, &regions[i]))
        r.end = regions[i].end;
    if (i && alike(&regions[i - 1], &r))
        r.start = regions[i - 1].start;
    region_add(r);
}

/* ---- /proc/self/maps ---- */

static struct region region_of(const struct maplist_entry *e)
{
    if (rt_prefix(e->path, "[vvar") && (!vdso.data || e->start < vdso.data))
        vdso.data = e->start;
    return (struct region){e->start, e->end, e->prot, e->shared || rt_prefix(e->path, "/memfd:")};
}

/* Pages that the engine protected are still writable for the target. */
static void add_parsed(struct region r)
{
    for (gaddr a = r.start; a < r.end && protected_pages; a += PAGE_BYTES) {
        struct codepage *p = cache_page_find(a);
        if (p && p->protected_) {
            r.prot |= PROT_WRITE; /* neighbours: at worst protected without need */
            break;
        }
    }
    region_add(r);
}

/* Without /proc: a mapped page counts as code, and since nobody knows who else may write it, its
 * blocks look at their own bytes. */
static void guess(gaddr pc)
{
    uint8_t in_core;
    gaddr page = PAGE_DOWN(pc);
    if (sys3(__NR_mincore, (long)page, 1, (long)&in_core) == 0)
        region_add(
            (struct region){page, page + PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, true});
}

/* Learns all executable regions, or at least the one of pc. */
static void read_all(gaddr pc)
{
    if (maps_list) {
        maps_list(region_add);
        return;
    }
    struct maplist list;
    struct maplist_entry e;
    char buf[LINES];
    if (maplist_open(&list, 0, buf, sizeof buf)) {
        guess(pc);
        return;
    }
    region_count = 0;
    while (maplist_next(&list, &e)) {
        struct region r = region_of(&e);
        if ((r.prot & PROT_EXEC) && !range_overlaps(r.start, r.end))
            add_parsed(r);
    }
    maplist_close(&list);
}

bool maps_all(void (*fn)(struct region))
{
    struct maplist list;
    struct maplist_entry e;
    char buf[LINES];
    if (maplist_open(&list, 0, buf, sizeof buf))
        return false;
    while (maplist_next(&list, &e))
        fn(region_of(&e));
    maplist_close(&list);
    return true;
}

/* The entry that holds addr; its path is in buf. 1: found, 0: there is none, -1: nobody knows. */
static int find_entry(gaddr addr, struct maplist_entry *e, char *buf, size_t size)
{
    struct maplist list;
    bool found = false;
    if (maplist_open(&list, 0, buf, size))
        return -1;
    while (!found && maplist_next(&list, e))
        found = e->start <= addr && addr < e->end;
    maplist_close(&list);
    return found;
}

bool maps_writable(gaddr addr)
{
    struct maplist_entry e;
    char buf[LINES];
    int found = find_entry(addr, &e, buf, sizeof buf);
    return found < 0 || (found && (e.prot & PROT_WRITE));
}

bool maps_shared(gaddr addr)
{
    struct maplist_entry e;
    char buf[LINES];
    return find_entry(addr, &e, buf, sizeof buf) <= 0 || e.shared;
}

bool maps_file(gaddr addr, char *out, size_t size, struct region *at, uint64_t *offset)
{
    struct maplist_entry e;
    char buf[LINES];
    if (find_entry(addr, &e, buf, sizeof buf) <= 0 || e.path[0] != '/')
        return false;
    rt_format(out, size, "%s", e.path);
    *at = (struct region){e.start, e.end, e.prot, e.shared};
    *offset = e.offset;
    return true;
}

bool maps_path(gaddr addr, char *out, size_t size)
{
    struct region at;
    uint64_t offset;
    return maps_file(addr, out, size, &at, &offset);
}

static const struct region *known(gaddr pc)
{
    int i = region_index(pc);
    return i < region_count && regions[i].start <= pc ? &regions[i] : NULL;
}

const struct region *maps_exec(gaddr pc)
{
    static const struct region vsyscall = {VSYSCALL_PAGE, VSYSCALL_PAGE + PAGE_BYTES, PROT_EXEC,
                                           false};
    if (PAGE_DOWN(pc) == VSYSCALL_PAGE)
        return &vsyscall;
    const struct region *r = known(pc);
    if (!r || !(r->prot & PROT_EXEC)) {
        read_all(pc);
        r = known(pc);
    }
    return r && (r->prot & PROT_EXEC) ? r : NULL;
}

void maps_learn(gaddr start, gaddr end, int prot, bool shared)
{
    region_add((struct region){start, end, prot, shared});
}

/* ---- watching code pages ---- */

static void set_protection(struct codepage *p, bool protect)
{
    int prot = protect ? p->prot & ~PROT_WRITE : p->prot;
    sys3(__NR_mprotect, (long)p->addr, PAGE_BYTES, prot);
    protected_pages += protect ? 1 : -1;
    p->protected_ = protect;
}

static bool watch_page(gaddr addr)
{
    const struct region *r = maps_exec(addr);
    if (!r)
        return false;
    if (r->shared)
        return true;
    struct codepage *p = cache_page(addr);
    if (p->checked)
        return true;
    if ((r->prot & PROT_WRITE) && !p->protected_) {
        p->prot = r->prot;
        set_protection(p, true);
    }
    return false;
}

static bool watch(gaddr pc, size_t len)
{
    gaddr last = PAGE_DOWN(pc + len - 1);
    bool check = watch_page(PAGE_DOWN(pc));
    if (last != PAGE_DOWN(pc))
        check |= watch_page(last);
    return check;
}

static void open_page(struct codepage *p, void *count)
{
    if (!p->protected_)
        return;
    set_protection(p, false);
    cache_kill_range(p->addr, p->addr + PAGE_BYTES);
    if (count)
        ++*(int *)count;
}

bool maps_write_fault(gaddr addr)
{
    struct codepage *p = cache_page_find(PAGE_DOWN(addr));
    if (!p || !p->protected_)
        return false;
    open_page(p, NULL);
    if (++p->writes >= OFTEN)
        p->checked = true;
    return true;
}

int maps_open(gaddr start, gaddr end)
{
    int n = 0;
    if (protected_pages)
        cache_pages(PAGE_DOWN(start), PAGE_UP(end), open_page, &n);
    return n;
}

int maps_open_all(void)
{
    return maps_open(0, ~0ull & ~(PAGE_BYTES - 1));
}

static void page_changed(struct codepage *p, void *unused)
{
    (void)unused;
    cache_kill_range(p->addr, p->addr + PAGE_BYTES);
    if (p->protected_) {
        p->protected_ = false;
        protected_pages--;
    }
}

static void drop_code(gaddr start, gaddr end)
{
    cache_pages(start, end, page_changed, NULL);
    if (start < vdso.end && end > vdso.data)
        vdso.start = vdso.end = 0;
}

void maps_changed(gaddr start, gaddr end)
{
    start = PAGE_DOWN(start);
    end = PAGE_UP(end);
    region_cut(start, end);
    drop_code(start, end);
}

void maps_protected(gaddr start, gaddr end, int prot)
{
    start = PAGE_DOWN(start);
    end = PAGE_UP(end);
    drop_code(start, end);
    for (gaddr at = start; at < end;) {
        int i = region_index(at);
        if (i == region_count || regions[i].start >= end)
            break;
        struct region r = regions[i];
        if (r.start < at)
            r.start = at;
        if (r.end > end)
            r.end = end;
        at = r.end;
        r.prot = prot;
        region_cut(r.start, r.end);
        region_join(r);
    }
}

/* Regions are cut while they are looked at: from the end, so that those before it stay in place. */
void maps_changed_shared(void)
{
    for (int i = region_count; i-- > 0;)
        if (regions[i].shared)
            maps_changed(regions[i].start, regions[i].end);
}

/* ---- code bytes ---- */

static size_t fetch(gaddr pc, uint8_t *out, size_t max)
{
    const struct region *r = maps_exec(pc);
    size_t room = PAGE_BYTES - (pc & (PAGE_BYTES - 1));
    if (!r)
        return 0;
    if (max > room)
        max = room;
    if (r->start == VSYSCALL_PAGE)
        memcpy(out, vsyscall_bytes + (pc - VSYSCALL_PAGE), max);
    else if (pc >= vdso.start && pc < vdso.end)
        memcpy(out, vdso.bytes + (pc - vdso.start), max);
    else
        max -= engine_copy(out, (const void *)pc, max);
    return max;
}

static bool steady(gaddr pc)
{
    const struct region *r = maps_exec(pc);
    return r && !r->shared && !(r->prot & PROT_WRITE);
}

const struct code_source maps_source = {fetch, watch, steady};

/* ---- vDSO ---- */

enum { CALL_BYTES = 8, VDSO_NAME = 24 /* longer than any that is looked for */ };

static void put_call(uint8_t *at, uint32_t nr)
{
    at[0] = 0xb8; /* mov eax, nr */
    memcpy(at + 1, &nr, 4);
    memcpy(at + 5, (const uint8_t[]){0x0f, 0x05, 0xc3}, 3); /* syscall; ret */
}

static const struct {
    const char *name;
    uint32_t nr;
} vdso_call[] = {
    {"__vdso_clock_gettime", __NR_clock_gettime},
    {"__vdso_gettimeofday", __NR_gettimeofday},
    {"__vdso_time", __NR_time},
    {"__vdso_getcpu", __NR_getcpu},
    {"__vdso_clock_getres", __NR_clock_getres},
    /* takes other arguments than the system call; an unknown number gives ENOSYS */
    {"__vdso_getrandom", 0xffff},
};

/* The copy may be a stranger's. */
static bool in_vdso(uint64_t offset, uint64_t bytes)
{
    const uint64_t size = vdso.end - vdso.start;
    return offset <= size && bytes <= size - offset;
}

/* Calls fn for every symbol of the vDSO's copy. */
static void vdso_symbols(void (*fn)(const char *name, uint64_t offset, void *), void *arg)
{
    const Elf64_Ehdr *eh = (const void *)vdso.bytes;
    const Elf64_Phdr *ph = (const void *)(vdso.bytes + eh->e_phoff);
    uint64_t dyn = 0, sym = 0, str = 0;
    if (!in_vdso(0, sizeof *eh) || !in_vdso(eh->e_phoff, eh->e_phnum * sizeof *ph))
        return;
    for (int i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_DYNAMIC)
            dyn = ph[i].p_offset;
    for (; dyn && in_vdso(dyn, sizeof(Elf64_Dyn)); dyn += sizeof(Elf64_Dyn)) {
        const Elf64_Dyn *d = (const void *)(vdso.bytes + dyn);
        if (d->d_tag == DT_NULL)
            break;
        if (d->d_tag == DT_SYMTAB)
            sym = d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            str = d->d_un.d_ptr;
    }
    /* The string table follows the symbols in every vDSO. */
    for (; sym && in_vdso(sym, sizeof(Elf64_Sym)) && sym + sizeof(Elf64_Sym) <= str;
         sym += sizeof(Elf64_Sym)) {
        const Elf64_Sym *s = (const void *)(vdso.bytes + sym);
        if (s->st_value && in_vdso(str, s->st_name + (uint64_t)VDSO_NAME))
            fn((const char *)vdso.bytes + str + s->st_name, s->st_value, arg);
    }
}

static void replace_call(const char *name, uint64_t offset, void *unused)
{
    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(vdso_call); i++)
        if (rt_streq(name, vdso_call[i].name) && in_vdso(offset, CALL_BYTES))
            put_call(vdso.bytes + offset, vdso_call[i].nr);
}

void maps_vdso(gaddr base)
{
    for (int i = 0; i < 3; i++)
        put_call(vsyscall_bytes + 0x400 * i,
                 (const uint32_t[]){__NR_gettimeofday, __NR_time, __NR_getcpu}[i]);
    const struct region *r = base ? maps_exec(base) : NULL;
    if (!r || r->end - base > sizeof vdso.bytes)
        return;
    if (!engine_read(vdso.bytes, base, r->end - base))
        return;
    vdso.start = base;
    vdso.end = r->end;
    if (!vdso.data || vdso.data > base)
        vdso.data = base;
    vdso_symbols(replace_call, NULL);
}

struct wanted {
    const char *name;
    gaddr addr;
};

static void match(const char *name, uint64_t offset, void *arg)
{
    struct wanted *w = arg;
    if (rt_streq(name, w->name))
        w->addr = vdso.start + offset;
}

gaddr maps_vdso_start(void)
{
    return vdso.start;
}

bool maps_has_vdso(void)
{
    return vdso.start;
}

gaddr maps_vdso_symbol(const char *name)
{
    struct wanted w = {name, 0};
    if (vdso.start)
        vdso_symbols(match, &w);
    return w.addr;
}
