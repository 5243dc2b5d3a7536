/* cpu.c - can this CPU run what a recording ran? SPDX-License-Identifier: MIT */
#include "replayer/cpu.h"

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"

enum { EAX, EBX, ECX, EDX };

static const struct {
    const char *name;
    uint32_t leaf, sub;
    uint8_t reg, bit;
} extension[] = {
#define ISA(name, zydis, leaf, sub, reg, bit) {#name, leaf, sub, reg, bit},
#include "engine/x86/isa.def"
#undef ISA
};

static bool has(size_t i)
{
    uint32_t r[4] = {0};
    return __get_cpuid_count(extension[i].leaf, extension[i].sub, &r[EAX], &r[EBX], &r[ECX],
                             &r[EDX]) &&
           (r[extension[i].reg] >> extension[i].bit & 1);
}

int cpu_check(struct pinball *pinball, struct err *err)
{
    const char *text = pinball_end_get(pinball, "isa");
    uint64_t used = text ? strtoull(text, NULL, 16) : 0;
    char missing[300] = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof extension / sizeof extension[0]; i++)
        if ((used >> i & 1) && !has(i) && n < sizeof missing)
            n += (size_t)snprintf(missing + n, sizeof missing - n, "%s%s", n ? ", " : "",
                                  extension[i].name);
    if (!n)
        return 0;
    return err_set(err, "%s: the recorded program used %s, which this CPU does not have",
                   pinball_path(pinball), missing);
}
