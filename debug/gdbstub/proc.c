/* proc.c - files below /proc that GDB reads: made from the state at now.
 *
 * SPDX-License-Identifier: MIT
 *
 * For `info proc`, `generate-core-file`, and to find the vDSO. What a recording does not have is
 * left out or zero.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "debug/gdbstub/server_private.h"

/* `/proc/PID/NAME` or `/proc/PID/task/TID/NAME` of the recorded process; returns NAME. */
static const char *own_name(struct server *s, const char *path)
{
    struct args args = {path, path + strlen(path)};
    uint64_t pid, tid;

    if (!args_word(&args, "/proc/") || !args_decimal(&args, &pid) || !args_take(&args, '/') ||
        pid != (uint64_t)threads_pid(s))
        return NULL;
    if (args_word(&args, "task/") && (!args_decimal(&args, &tid) || !args_take(&args, '/')))
        return NULL;
    return args.at;
}

static const char *program_path(struct server *s)
{
    struct debuggee_program program;

    debuggee_program(&s->debuggee, &program);
    return program.path ? program.path : "";
}

static uint64_t find_vdso(struct server *s)
{
    struct debuggee_program program;
    Elf64_auxv_t entry;

    debuggee_program(&s->debuggee, &program);
    for (size_t at = 0; at + sizeof entry <= program.auxv_bytes; at += sizeof entry) {
        memcpy(&entry, program.auxv + at, sizeof entry);
        if (entry.a_type == AT_SYSINFO_EHDR)
            return entry.a_un.a_val;
    }
    return 0;
}

/* The first thread's stack pointer, if that is still there. */
static uint64_t find_stack(struct server *s)
{
    struct registers regs;
    struct err err;

    return state_registers(s, s->begin.thread, &regs, &err) ? 0 : regs.r.gpr[4];
}

static bool holds(const struct program_map *map, uint64_t addr)
{
    return addr && addr >= map->start && addr < map->end;
}

/* What maps without a file are known by. */
struct marks {
    uint64_t vdso, stack;
};

static void put_map(struct server *s, const struct program_map *map, const struct marks *marks,
                    struct reply *out)
{
    const char *name = map->file >= 0 ? debuggee_file_path(&s->debuggee, map->file) : NULL;

    if (!name)
        name = holds(map, marks->vdso) ? "[vdso]" : holds(map, marks->stack) ? "[stack]" : "";
    reply_addf(out, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %s ", map->start, map->end,
               map->prot & PROT_READ ? 'r' : '-', map->prot & PROT_WRITE ? 'w' : '-',
               map->prot & PROT_EXEC ? 'x' : '-', map->shared ? 's' : 'p', map->offset,
               map->file >= 0 ? "08:01" : "00:00");
    reply_addf(out, "%-26d %s\n", map->file >= 0 ? map->file + 1 : 0, name);
}

static void maps(struct server *s, struct reply *out)
{
    struct marks marks = {find_vdso(s), find_stack(s)};
    diversion_disarm(s);
    size_t count = debuggee_maps(&s->debuggee, NULL, 0);
    struct program_map *list = calloc(count + 1, sizeof *list);

    if (list && debuggee_maps(&s->debuggee, list, count) == count)
        for (size_t i = 0; i < count; i++)
            put_map(s, &list[i], &marks, out);
    free(list);
}

static void cmdline(struct server *s, struct reply *out)
{
    const char *path = program_path(s);

    reply_bytes(out, path, strlen(path) + 1);
}

/* As the kernel cuts it. */
static void put_name(struct server *s, struct reply *out)
{
    const char *path = program_path(s), *slash = strrchr(path, '/');

    reply_addf(out, "%.15s", slash ? slash + 1 : path);
}

static void comm(struct server *s, struct reply *out)
{
    put_name(s, out);
    reply_text(out, "\n");
}

static void stat_line(struct server *s, struct reply *out)
{
    reply_addf(out, "%d (", threads_pid(s));
    put_name(s, out);
    reply_text(out, ") t");
    for (int i = 4; i <= 52; i++)
        reply_text(out, " 0");
    reply_text(out, "\n");
}

static void status(struct server *s, struct reply *out)
{
    int pid = threads_pid(s);
    size_t threads;

    free(threads_list(s, &threads));
    reply_text(out, "Name:\t");
    put_name(s, out);
    reply_addf(out, "\nState:\tt (tracing stop)\nTgid:\t%d\nPid:\t%d\nPPid:\t0\n", pid, pid);
    reply_addf(out, "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nThreads:\t%zu\n", threads);
}

bool proc_text(struct server *s, const char *path, struct reply *out)
{
    static const struct {
        const char *name;
        void (*make)(struct server *s, struct reply *out);
    } files[] = {{"maps", maps},
                 {"cmdline", cmdline},
                 {"comm", comm},
                 {"stat", stat_line},
                 {"status", status}};
    const char *name = own_name(s, path);

    for (size_t i = 0; name && i < sizeof files / sizeof files[0]; i++)
        if (strcmp(name, files[i].name) == 0) {
            files[i].make(s, out);
            return !out->failed;
        }
    return false;
}

bool proc_link(struct server *s, const char *path, struct reply *out)
{
    const char *name = own_name(s, path);

    if (!name || strcmp(name, "exe") != 0)
        return false;
    reply_text(out, program_path(s));
    return !out->failed;
}
