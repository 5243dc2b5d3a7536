/* programs.c - the programs of a recording. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/programs.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/pinball.h"

enum { AUXV_MOST = 64, WORDS_MOST = 1 << 16, RSP = 4 };

/* Behind argc, the arguments, the environment and their NULLs. */
static uint64_t find_auxv(struct replay *r, uint64_t sp)
{
    uint64_t word, at = sp;
    int nulls = 0;
    if (replay_read(r, at, &word, 8) != 8)
        return 0;
    at += 8;
    for (int i = 0; i < WORDS_MOST && nulls < 2; i++, at += 8) {
        if (replay_read(r, at, &word, 8) != 8)
            return 0;
        nulls += !word;
    }
    return nulls == 2 ? at : 0;
}

static size_t read_auxv(struct replay *r, uint64_t at, Elf64_auxv_t *out)
{
    size_t n = 0;
    while (at && n < AUXV_MOST) {
        if (replay_read(r, at + n * sizeof *out, &out[n], sizeof *out) != sizeof *out)
            break;
        if (out[n++].a_type == AT_NULL)
            break;
    }
    return n;
}

/* The file that holds the program's entry. */
static const char *path_of(struct replay *r, struct pinball *pinball, uint64_t entry)
{
    struct program_map map[64];
    size_t n = replay_maps(r, map, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        if (entry < map[i].start || entry >= map[i].end || map[i].file < 0)
            continue;
        const struct kept_file *f = (uint32_t)map[i].file < pinball_files(pinball)
                                        ? pinball_file(pinball, (uint32_t)map[i].file)
                                        : NULL;
        return f ? f->path : "";
    }
    return "";
}

int programs_note(struct programs *p, unsigned number, struct replay *replay,
                  struct pinball *pinball, struct err *err)
{
    struct program_registers regs;
    Elf64_auxv_t auxv[AUXV_MOST];
    uint64_t entry = 0;
    if (number < p->count)
        return 0;
    if (replay_registers(replay, 0, &regs, err))
        return -1;
    size_t n = read_auxv(replay, find_auxv(replay, regs.gpr[RSP]), auxv);
    for (size_t i = 0; i < n; i++)
        if (auxv[i].a_type == AT_ENTRY)
            entry = auxv[i].a_un.a_val;
    const char *file = path_of(replay, pinball, entry);
    if (replay_registers(replay, 0, &regs, err)) /* it may have ended while it was read */
        return -1;
    uint8_t *copy = malloc(n * sizeof *auxv + 1);
    char *path = strdup(file);
    const struct debuggee_program program = {
        .path = path, .pid = regs.tid, .auxv = copy, .auxv_bytes = n * sizeof *auxv};
    if (!copy || !path || array_append(&p->list, &p->count, program)) {
        free(copy);
        free(path);
        return err_set(err, "no memory");
    }
    memcpy(copy, auxv, n * sizeof *auxv);
    return 0;
}

void programs_get(const struct programs *p, unsigned number, struct debuggee_program *out)
{
    *out = number < p->count ? p->list[number] : (struct debuggee_program){.path = ""};
}

void programs_deinit(struct programs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free((char *)p->list[i].path);
        free((uint8_t *)p->list[i].auxv);
    }
    free(p->list);
    *p = (struct programs){0};
}
