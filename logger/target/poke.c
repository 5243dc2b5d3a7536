/* poke.c - notes down what a debugger changes in the recorded program. SPDX-License-Identifier: MIT
 */
#include "engine/core/engine.h"
#include "engine/os/fpstate.h"
#include "engine/rt/rt.h"
#include "logger/target/log.h"
#include "logger/target/record.h"

static struct record_poke *begin_poke(const struct record_changed *c, uint64_t more)
{
    struct record_poke *p = log_begin(RECORD_POKE, sizeof *p + ((more + 7) & ~7ull));
    p->r.flags = c->due ? AT_TICK : 0;
    p->at = *c->at;
    p->rflags = c->rflags;
    p->thread = p->vector_bytes = 0;
    p->addr = p->bytes = 0;
    return p;
}

void record_poke_memory(const struct record_changed *c, gaddr addr, uint64_t bytes)
{
    enum { PIECE = 32 << 10 };
    for (uint64_t done = 0, n; done < bytes && !log_over(); done += n) {
        n = bytes - done < PIECE ? bytes - done : PIECE;
        struct record_poke *p = begin_poke(c, n);
        p->addr = addr + done;
        p->bytes = n;
        ((uint64_t *)(p + 1))[(n + 7) / 8 - 1] = 0;
        if (engine_copy(p + 1, (const void *)(addr + done), n))
            return; /* not committed */
        log_commit();
    }
}

void record_poke_registers(const struct record_changed *c, struct thread *of, bool vector)
{
    const uint64_t more = vector ? (fpstate_bytes() + 7) & ~7ull : 0;
    if (log_over())
        return;
    struct record_poke *p = begin_poke(c, sizeof(struct poke_registers) + more);
    struct poke_registers *r = (struct poke_registers *)(p + 1);
    p->thread = of->number;
    p->vector_bytes = vector ? (uint32_t)fpstate_bytes() : 0;
    memcpy(r->gpr, of->cpu.gpr, sizeof r->gpr);
    r->rip = of->cpu.rip;
    r->rflags = of->cpu.rflags;
    if (vector)
        memcpy(r + 1, of->xsave, fpstate_bytes());
    log_commit();
}
