/* calls.c - a system call in words for the journal. SPDX-License-Identifier: MIT
 *
 * syscalls.def says which memory the kernel reads and writes; a part of each piece goes along, so
 * that nobody has to ask for it. What it means is for the reader (debug/calls).
 */
#include "replayer/target/calls.h"

#include "debug/messages.h"
#include "engine/core/engine.h"
#include "engine/os/effects.h"
#include "engine/os/kinds.h"
#include "engine/os/syscalls.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/cursor.h"
#include "replayer/target/journal.h"

/* Bytes of a call; of a piece, of one that may be a file's name, and of a directory's entries. */
enum { TEXT = 40 << 10, MOST = 512, MOST_NAME = 4096, MOST_ENTRIES = 32 << 10 };

static struct {
    const struct thread *of; /* NULL: none */
    gaddr pc;
    uint64_t most, bytes; /* bytes: of text */
    uint32_t written;
    uint8_t text[TEXT] __attribute__((aligned(8)));
} call;

static uint64_t most_of(long nr)
{
    const struct call_info *info = call_info(nr);
    if (kinds_of(nr).does == DOES_LISTS)
        return MOST_ENTRIES;
    for (const struct effect *e = info ? info->effects : NULL; e && e->kind != EFFECT_END; e++)
        if (e->kind == EFFECT_PATH)
            return MOST_NAME;
    return MOST;
}

/* A piece without bytes still tells where it is and how long. */
static void take(void *arg, gaddr addr, uint64_t bytes)
{
    struct mailbox_piece *p = (struct mailbox_piece *)(call.text + call.bytes);
    (void)arg;
    if (TEXT - call.bytes < sizeof *p)
        return;
    uint64_t room = TEXT - call.bytes - sizeof *p, n = bytes < call.most ? bytes : call.most;
    n = n < room ? n : room;
    n -= engine_copy(p + 1, (const void *)addr, n);
    *p = (struct mailbox_piece){
        .addr = addr, .total = bytes, .bytes = (uint32_t)n, .written = call.written};
    call.bytes += sizeof *p + ((n + 7) & ~7ull);
}

void calls_enter(struct thread *t, long nr, const long a[6])
{
    if (!journal_wants_calls())
        return;
    call.of = t;
    call.pc = t->cpu.rip;
    call.most = most_of(nr);
    call.written = 0;
    memcpy(call.text, a, sizeof(struct mailbox_call));
    call.bytes = sizeof(struct mailbox_call);
    if (call_info(nr))
        effects_read(nr, a, take, NULL);
}

static struct mailbox_call *given(void)
{
    return (struct mailbox_call *)call.text;
}

void calls_leave(struct thread *t, long nr, int64_t result, uint64_t number)
{
    if (call.of != t)
        return;
    call.of = NULL;
    if (kinds_of(nr).does == DOES_SIGRETURN) {
        given()->arg[0] = t->mask; /* it has no arguments: the frame has */
        result = (int64_t)t->cpu.gpr[RAX];
    }
    call.written = 1;
    if (call_info(nr))
        effects_written(nr, (const long *)given()->arg, result, take, NULL);
    const struct journal_entry e = {.kind = EVENT_CALL,
                                    .number = number,
                                    .pc = call.pc,
                                    .a = nr,
                                    .b = result,
                                    .text = call.text,
                                    .bytes = call.bytes};
    journal_tell(t, &e);
}

void calls_exec(struct thread *t, long nr)
{
    const struct journal_entry e = {.kind = EVENT_EXEC,
                                    .number = cursor_number(),
                                    .pc = t->cpu.rip,
                                    .a = nr,
                                    .text = call.text,
                                    .bytes = call.bytes};
    if (call.of == t)
        journal_tell(t, &e);
}

void calls_wait(struct thread *t, uint32_t to)
{
    if (call.of == t)
        journal_switch(t, to, SWITCH_CALL | (int64_t)(int32_t)t->cpu.gpr[RAX] << 8, call.text,
                       call.bytes);
}

void calls_end(void)
{
    for (struct thread *t = engine.threads; t; t = t->next) {
        const uint64_t *g = t->cpu.gpr;
        const long a[6] = {(long)g[RDI], (long)g[RSI], (long)g[RDX],
                           (long)g[R10], (long)g[R8],  (long)g[R9]};
        if (!t->calling || !journal_wants_calls())
            continue;
        calls_enter(t, (int32_t)g[RAX], a);
        const struct journal_entry e = {.kind = EVENT_CALL,
                                        .number = cursor_number(),
                                        .pc = call.pc,
                                        .unfinished = true,
                                        .a = (int32_t)g[RAX],
                                        .text = call.text,
                                        .bytes = call.bytes};
        journal_tell(t, &e);
    }
    call.of = NULL;
}
