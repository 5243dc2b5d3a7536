/* access.h - what instructions do that def/use sets do not tell. SPDX-License-Identifier: MIT */
#ifndef TRACE_ACCESS_H
#define TRACE_ACCESS_H

#include "debug/flow.h"
#include "engine/os/kinds.h"
#include "trace/code.h"
#include "trace/copied.h"

/* The range of an access, all elements of a repeated one. */
gaddr access_extent(const struct code_block *b, const struct plan_access *a, const uint64_t *values,
                    uint64_t *bytes);
bool access_is_odd(const struct plan_access *a); /* a note tells its addresses */
/* rep movs: what it copies. */
bool access_copies(const struct code_block *b, unsigned i, const uint64_t *values,
                   struct copied *out);
/* The sets of a completed system call, of whose arguments only those are used that it has. The
 * result may be in `room`, for each number of arguments one. */
const struct defuse *access_call_defuse(struct defuse room[KINDS_ARGS], const struct defuse *du,
                                        const struct flow_call *call);

/* Did the call end a signal's handler? */
static inline bool access_is_sigreturn(const struct flow_call *call)
{
    return kinds_of(call->nr).does == DOES_SIGRETURN;
}

#endif
