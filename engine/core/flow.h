/* flow.h - code that writes down where it goes and what it touches.
 *
 * SPDX-License-Identifier: MIT
 *
 * While a tool with `flow` set is installed, every block that is translated writes, each time it is
 * executed, one record to a buffer: a word with the block's number, then the words of its slots
 * (x86/plan.h). Numbers are given out as blocks are translated; the engine calls the tool's `block`
 * for each. Threads share the buffer: t->flow is the running one's place in it, which the tool
 * moves along when another thread runs. A full buffer comes to the tool as PROBE_FLOW; it resets
 * t->flow.
 *
 * A block that a fault leaves in the middle has a whole record; the slots of instructions that were
 * not executed hold anything.
 */
#ifndef ENGINE_CORE_FLOW_H
#define ENGINE_CORE_FLOW_H

#include "engine/core/thread.h"
#include "engine/x86/insn.h"

/* The buffer; `bytes` is a power of two. Behind it there must be room for one more record: 4 KiB.
 */
bool flow_begin(gaddr start, uint64_t bytes); /* false: this CPU lacks what it takes */

/* For translate.c: the block in j->insn. */
struct job;
void flow_emit_entry(struct job *j);
void flow_emit_before(struct job *j, int n); /* instruction number n of it */
void flow_emit_after(struct job *j, int n);

#endif
