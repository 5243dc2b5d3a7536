/* programs.c - the programs of a recording. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/programs.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/pinball.h"

enum { AUXV_MOST = 64, WORDS_MOST = 1 << 16, MAPS_MOST = 4096, RSP = 4 };
/* search() reads so much of the end of each mapping, and so many mappings. */
enum { STACK_BYTES = 4 << 20, STACKS_MOST = 8, PAGE = 4096 };

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

static uint64_t value_of(const Elf64_auxv_t *auxv, size_t n, uint64_t type)
{
    for (size_t i = 0; i < n; i++)
        if (auxv[i].a_type == type)
            return auxv[i].a_un.a_val;
    return 0;
}

static bool is_whole(const Elf64_auxv_t *auxv, size_t n)
{
    return n && auxv[n - 1].a_type == AT_NULL && value_of(auxv, n, AT_PAGESZ) == PAGE &&
           value_of(auxv, n, AT_ENTRY);
}

/* Goes back from the size of a page, which each auxiliary vector has, to the vector's begin. */
static size_t find_in(struct replay *r, const uint64_t *word, size_t words, uint64_t start,
                      Elf64_auxv_t *out)
{
    for (size_t i = words > 1 ? words - 2 : 0; i > 0; i--) {
        size_t first = i, n;
        if (word[i] != AT_PAGESZ || word[i + 1] != PAGE)
            continue;
        while (first >= 2 && word[first - 2] && word[first - 2] < AUXV_MOST)
            first -= 2;
        n = read_auxv(r, start + first * 8, out);
        if (is_whole(out, n))
            return n;
    }
    return 0;
}

/* A part begins in the middle: the vector is near the end of a stack, most likely the highest. */
static size_t search(struct replay *r, const struct program_map *map, size_t maps,
                     Elf64_auxv_t *out)
{
    uint64_t *word = malloc(STACK_BYTES);
    size_t n = 0;
    for (size_t i = maps, tried = 0; word && i-- > 0 && tried < STACKS_MOST && !n;) {
        const uint64_t bytes = map[i].end - map[i].start;
        const uint64_t most = bytes < STACK_BYTES ? bytes : STACK_BYTES;
        if (map[i].file >= 0 || map[i].end < map[i].start)
            continue;
        tried++;
        const uint64_t start = map[i].end - most;
        n = find_in(r, word, replay_read(r, start, word, most) / 8, start, out);
    }
    free(word);
    return n;
}

/* The file that holds the program's entry. */
static const char *path_of(const struct program_map *map, size_t n, struct pinball *pinball,
                           uint64_t entry)
{
    for (size_t i = 0; i < n; i++) {
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
    if (number < p->count)
        return 0;
    if (replay_registers(replay, 0, &regs, err))
        return -1;
    struct program_map *map = malloc(MAPS_MOST * sizeof *map);
    const size_t all = map ? replay_maps(replay, map, MAPS_MOST) : 0;
    const size_t maps = all < MAPS_MOST ? all : MAPS_MOST;
    size_t n = read_auxv(replay, find_auxv(replay, regs.gpr[RSP]), auxv);
    if (!is_whole(auxv, n))
        n = search(replay, map, maps, auxv);
    const char *file = path_of(map, maps, pinball, value_of(auxv, n, AT_ENTRY));
    free(map);
    if (replay_registers(replay, 0, &regs, err)) /* it may have ended while it was read */
        return -1;
    uint8_t *copy = malloc(n * sizeof *auxv + 1);
    char *path = strdup(file);
    const struct debuggee_program program = {
        .path = path, .pid = regs.pid, .auxv = copy, .auxv_bytes = n * sizeof *auxv};
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
