/* kinds_name.c - what system calls are called. Host side. SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "engine/os/kinds.h"

static const char *const names[KINDS_CALLS] = {
#define SYSCALL(nr, name, ...) [nr] = #name,
#include "engine/os/syscalls.def"
#undef SYSCALL
};

const char *kinds_name(int64_t nr)
{
    return nr >= 0 && nr < KINDS_CALLS ? names[nr] : NULL;
}
