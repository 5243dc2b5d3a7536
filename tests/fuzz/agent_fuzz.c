/* agent_fuzz.c - arbitrary bytes as a breakpoint's condition: evaluated or refused, never more.
 *
 * SPDX-License-Identifier: MIT
 *
 * What the check lets pass cannot fail for a reason that the check is there to find.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/target/agent.h"

enum { MAX_CODE = AGENT_BYTES + 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All of memory's lower half can be read. */
static bool read_any(void *arg, gaddr addr, void *out, size_t bytes)
{
    uint64_t word = addr * 0x9e3779b97f4a7c15;

    if (arg != read_any || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        abort();
    memcpy(out, &word, bytes);
    return addr >> 63 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cpu_state cpu = {.gpr = {1, 2, 3, 4, 0x7ffe0000}, .rip = 0x401136};
    const struct agent_state state = {.cpu = &cpu, .read = read_any, .arg = (void *)read_any};
    uint64_t value = 0;

    if (size > MAX_CODE)
        return -1;
    const char *bad = agent_check(data, (uint32_t)size);
    enum agent_result result = agent_eval(data, (uint32_t)size, &state, &value);
    if (!*agent_text(result))
        abort();
    if (!bad && (result == AGENT_BAD_OPCODE || result == AGENT_UNSUPPORTED ||
                 result == AGENT_OUTSIDE || result == AGENT_NO_REGISTER)) {
        fprintf(stderr, "passed the check, but %s\n", agent_text(result));
        abort();
    }
    return 0;
}
