/* effects_table.c - syscalls.def, commands.def, ioctls.def and sockopts.def as arrays.
 *
 * SPDX-License-Identifier: MIT
 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/dqblk_xfs.h>
#include <linux/errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/if_tun.h>
#include <linux/ioctl.h>
#include <linux/ipc.h>
#include <linux/kd.h>
#include <linux/keyctl.h>
#include <linux/loop.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <linux/vt.h>

#include "engine/os/effects.h"
#include "engine/os/kinds.h"
#include "engine/rt/sys.h"

/* ---- the words of the .def files ---- */

#define EFFECTS(...)                                                                               \
    (const struct effect[])                                                                        \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            .kind = EFFECT_END                                                                     \
        }                                                                                          \
    }
/* clang-format off */
#define NONE                      {.kind = EFFECT_NONE}
#define IN(i, ...)                {.kind = EFFECT_IN, .arg = (i), __VA_ARGS__}
#define OUT(i, ...)               {.kind = EFFECT_OUT, .arg = (i), __VA_ARGS__}
#define INOUT(i, ...)             {.kind = EFFECT_INOUT, .arg = (i), __VA_ARGS__}
#define PLACE(i, ...)             {.kind = EFFECT_PLACE, .arg = (i), __VA_ARGS__}
#define PATH(i)                   {.kind = EFFECT_PATH, .arg = (i)}
#define STRINGS(i)                {.kind = EFFECT_STRINGS, .arg = (i)}
#define LIST(k, i, ...)           {.kind = EFFECT_##k, .arg = (i), .size_arg = __VA_ARGS__}
#define IN_VECTOR(i, ...)         LIST(IN_VECTOR, i, __VA_ARGS__)
#define OUT_VECTOR(i, ...)        LIST(OUT_VECTOR, i, __VA_ARGS__)
#define OUT_VECTOR_OF_ONE(i)      LIST(OUT_VECTOR, i, VECTOR_OF_ONE)
#define PLACE_VECTOR(i, n)        LIST(PLACE_VECTOR, i, n)
#define IN_MESSAGE(i)             {.kind = EFFECT_IN_MESSAGE, .arg = (i)}
#define OUT_MESSAGE(i, ...)       {.kind = EFFECT_OUT_MESSAGE, .arg = (i), __VA_ARGS__}
#define IN_MESSAGES(i, n)         LIST(IN_MESSAGES, i, n)
#define OUT_MESSAGES(i, ...)      LIST(OUT_MESSAGES, i, __VA_ARGS__)
#define OUT_SIZED(i, ...)         LIST(OUT_SIZED, i, __VA_ARGS__)
#define OUT_COUNTED(i)            {.kind = EFFECT_OUT_COUNTED, .arg = (i)}
#define OUT_AT(i, at, n, flags)   {.kind = EFFECT_OUT_AT, .arg = (i), .size_arg = (at), .bytes = (n), \
                                   .mask = (flags)}
#define OUT_THROUGH(i, at, ...)   {.kind = EFFECT_OUT_THROUGH, .arg = (i), .when_arg = (at), \
                                   __VA_ARGS__}
#define OPTION(set)               {.kind = EFFECT_OPTION, .arg = (set)}
#define IN_FILTER(i)              {.kind = EFFECT_IN_FILTER, .arg = (i)}
#define COMMAND(i, table)         {.kind = EFFECT_COMMAND, .arg = (i), .bytes = TABLE_##table}

#define BYTES(n)                  .size = SIZE_BYTES, .bytes = (n)
#define UP_TO(n)                  .size = SIZE_UP_TO, .bytes = (n)
#define ARG(i)                    .size = SIZE_ARG, .size_arg = (i)
#define ARG32(i)                  .size = SIZE_ARG32, .size_arg = (i)
#define ARG_PLUS(i, n)            .size = SIZE_ARG_PLUS, .size_arg = (i), .bytes = (n)
#define TIMES(i, n)               .size = SIZE_TIMES, .size_arg = (i), .bytes = (n)
#define POLLFDS(i)                .size = SIZE_POLLFDS, .size_arg = (i), .bytes = 8
#define RESULT(i)                 .size = SIZE_RESULT, .size_arg = (i)
#define RESULT32(i)               .size = SIZE_RESULT, .size_arg = (i), .width = 4
#define RESULT_TIMES(i, n)        .size = SIZE_RESULT_TIMES, .size_arg = (i), .bytes = (n)
#define RESULT_PLUS(i, n)         .size = SIZE_RESULT_PLUS, .size_arg = (i), .bytes = (n)
#define BITS(i)                   .size = SIZE_BITS, .size_arg = (i)
#define SETS(i)                   .size = SIZE_SETS, .size_arg = (i)
#define PAGES(i)                  .size = SIZE_PAGES, .size_arg = (i)
#define FIELD(at, w, times, plus) .size = SIZE_FIELD, .size_arg = (at), .width = (w), \
                                  .mask = (times), .bytes = (plus)
#define SEMAPHORES(i)             .size = SIZE_SEMAPHORES, .size_arg = (i)
#define REQUEST                   .size = SIZE_REQUEST, .size_arg = 1

#define FOUND                     .when = WHEN_FOUND
#define ANY                       .when = WHEN_ANY
#define INTERRUPTED               .when = WHEN_INTERRUPTED
#define FLAG(i, flags)            .when = WHEN_FLAG, .when_arg = (i), .mask = (flags)
#define OP(i, value)              .when = WHEN_EQUAL, .when_arg = (i), .mask = (value)
#define OWN                       .when = WHEN_OWN
#define PREFILL                   .prefill = PREFILL_ALWAYS
#define TRUNC(i)                  .prefill = PREFILL_TRUNC, .when_arg = (i)
/* clang-format on */

/* ---- commands ---- */

enum table {
    TABLE_ioctl,
#define TABLE(name, mask, shift, error, told) TABLE_##name,
#define ROW(...)
#define END
#include "engine/os/commands.def"
#undef TABLE
#undef ROW
#undef END
};

struct row {
    uint32_t command;
    const struct effect *effects;
};

static const struct row rows_ioctl[] = {
#define ROW(command, ...) {(uint32_t)(command), EFFECTS(__VA_ARGS__)},
#define FAMILY(type, first, last)
#include "engine/os/ioctls.def"
#undef ROW
#undef FAMILY
};

static const struct family {
    uint8_t type, first, last;
} family[] = {
#define ROW(command, ...)
#define FAMILY(type, first, last) {type, first, last},
#include "engine/os/ioctls.def"
#undef ROW
#undef FAMILY
};

#define TABLE(name, mask, shift, error, told) static const struct row rows_##name[] = {
#define ROW(command, ...)                     {(uint32_t)(command), EFFECTS(__VA_ARGS__)},
#define END                                                                                        \
    }                                                                                              \
    ;
#include "engine/os/commands.def"
#undef TABLE
#undef ROW
#undef END

static const struct command_table {
    const struct row *rows;
    uint32_t count, mask;
    uint8_t shift, error;
    uint32_t told;
} tables[] = {
    {rows_ioctl, ARRAY_LEN(rows_ioctl), ~0u, 0, ENOTTY, ~0u},
#define TABLE(name, mask, shift, error, told)                                                      \
    {rows_##name, ARRAY_LEN(rows_##name), mask, shift, error, told},
#define ROW(...)
#define END
#include "engine/os/commands.def"
#undef TABLE
#undef ROW
#undef END
};

/* Direction and size as the request's number has them. */
static const struct effect *by_number(uint32_t request)
{
    static const struct effect list[4][2] = {
        {NONE}, {IN(2, REQUEST)}, {OUT(2, REQUEST, PREFILL)}, {INOUT(2, REQUEST)}};
    _Static_assert(_IOC_WRITE == 1 && _IOC_READ == 2, "the order of the lists");
    for (size_t i = 0; i < ARRAY_LEN(family); i++) {
        const struct family *f = &family[i];
        if (_IOC_TYPE(request) == f->type && _IOC_NR(request) >= f->first &&
            _IOC_NR(request) <= f->last)
            return list[_IOC_DIR(request)];
    }
    return NULL;
}

static uint32_t command_of(const struct effect *e, const long a[6])
{
    const struct command_table *t = &tables[e->bytes];
    return ((uint32_t)a[e->arg] & t->mask) >> t->shift;
}

const struct effect *effects_of_command(const struct effect *e, const long a[6])
{
    const struct command_table *t = &tables[e->bytes];
    uint32_t command = command_of(e, a);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->rows[i].command == command)
            return t->rows[i].effects;
    return e->bytes == TABLE_ioctl ? by_number(command) : NULL;
}

/* ---- calls ---- */

static const struct call_info calls[KINDS_CALLS] = {
#define SYSCALL(nr, name_, args_, how_, handler_, replay_, does_, message_, ...)                   \
    [nr] = {#name_, CALL_##how_, REPLAY_##replay_, EFFECTS(__VA_ARGS__)},
#include "engine/os/syscalls.def"
#undef SYSCALL
};

const struct call_info *call_info(long nr)
{
    return nr >= 0 && nr < KINDS_CALLS && calls[nr].name ? &calls[nr] : NULL;
}

/* ---- socket options ---- */

static const struct option {
    bool set;
    uint16_t level, first, last;
    const struct effect *effects; /* NULL: refused */
} options[] = {
#define SET(level, option, ...)        {true, level, option, option, EFFECTS(__VA_ARGS__)},
#define GET(level, option, ...)        {false, level, option, option, EFFECTS(__VA_ARGS__)},
#define REFUSE_SET(level, first, last) {true, level, first, last, NULL},
#define REFUSE_GET(level, first, last) {false, level, first, last, NULL},
#include "engine/os/sockopts.def"
#undef SET
#undef GET
#undef REFUSE_SET
#undef REFUSE_GET
};

static const struct option *find_option(const long a[6], bool set)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        const struct option *o = &options[i];
        if (o->set == set && o->level == (uint32_t)a[1] && o->first <= (uint32_t)a[2] &&
            o->last >= (uint32_t)a[2])
            return o;
    }
    return NULL;
}

const struct effect *effects_of_option(const long a[6], bool set)
{
    const struct option *o = find_option(a, set);
    return o ? o->effects : NULL;
}

bool effects_known(long nr, const long a[6], struct unknown_command *u)
{
    const struct effect *e = calls[nr].effects;
    if (e->kind == EFFECT_COMMAND) {
        const struct command_table *t = &tables[e->bytes];
        uint32_t command = command_of(e, a);
        *u = (struct unknown_command){command, -t->error, command <= t->told};
        return effects_of_command(e, a);
    }
    const struct option *o = e->kind == EFFECT_OPTION ? find_option(a, e->arg) : NULL;
    *u = (struct unknown_command){(uint32_t)a[2], -ENOPROTOOPT, true};
    return !o || o->effects;
}
