/* agent_fuzz.c - arbitrary bytes as a breakpoint's condition, and as what a probe takes: evaluated
 * or refused, never more.
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

static unsigned pieces; /* that were taken */

/* All of memory's lower half can be read. */
static bool read_any(void *arg, gaddr addr, void *out, size_t bytes)
{
    uint64_t word = addr * 0x9e3779b97f4a7c15;

    if (arg != read_any || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        abort();
    memcpy(out, &word, bytes);
    return addr >> 63 == 0;
}

/* A row that has room for 50 pieces. */
static enum agent_result take_any(void *arg, enum agent_take what, uint64_t a, uint64_t b)
{
    if (arg != read_any || what > AGENT_TAKE_FAILURE ||
        (what == AGENT_TAKE_REGISTER && agent_register_bytes(a) != 8) ||
        (what == AGENT_TAKE_VECTOR && (agent_register_bytes(a) == 8 || !agent_register_bytes(a))) ||
        (what == AGENT_TAKE_FAILURE && (!a || a >= AGENT_RESULTS)))
        abort();
    (void)b;
    return ++pieces > 50 ? AGENT_ROW_FULL : AGENT_DONE;
}

static void evaluate(const uint8_t *data, uint32_t size, const struct agent_state *state,
                     const char *bad)
{
    uint64_t value = 0;
    enum agent_result result = agent_eval(data, size, state, &value);
    if (!*agent_text(result))
        abort();
    if (!bad && (result == AGENT_BAD_OPCODE || result == AGENT_UNSUPPORTED ||
                 result == AGENT_OUTSIDE || result == AGENT_NO_REGISTER)) {
        fprintf(stderr, "passed the check, but %s\n", agent_text(result));
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cpu_state cpu = {.gpr = {1, 2, 3, 4, 0x7ffe0000}, .rip = 0x401136};
    struct agent_state state = {.cpu = &cpu, .read = read_any, .arg = (void *)read_any};

    if (size > MAX_CODE)
        return -1;
    evaluate(data, (uint32_t)size, &state, agent_check(data, (uint32_t)size));
    pieces = 0;
    state.take = take_any;
    evaluate(data, (uint32_t)size, &state, agent_check_take(data, (uint32_t)size));
    return 0;
}
