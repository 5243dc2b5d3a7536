/* emit.h - write the few instructions that translated code adds.
 *
 * SPDX-License-Identifier: MIT
 *
 * An emitter appends to a buffer whose size the caller has checked generously; running over it is
 * an internal error. `gs_` functions address struct thread, whose offsets are in core/layout.h.
 * None of these instructions changes flags unless its comment says so.
 */
#ifndef ENGINE_X86_EMIT_H
#define ENGINE_X86_EMIT_H

#include "engine/rt/rt.h"
#include "engine/rt/types.h"

struct emit {
    uint8_t *p, *end;
};

static inline void emit_bytes(struct emit *e, const void *bytes, size_t n)
{
    rt_check((size_t)(e->end - e->p) >= n);
    memcpy(e->p, bytes, n);
    e->p += n;
}

static inline void emit8(struct emit *e, uint8_t v)
{
    emit_bytes(e, &v, 1);
}

static inline void emit32(struct emit *e, uint32_t v)
{
    emit_bytes(e, &v, 4);
}

static inline void emit64(struct emit *e, uint64_t v)
{
    emit_bytes(e, &v, 8);
}

static inline void emit_gs_op(struct emit *e, uint8_t op, int reg, uint32_t off)
{
    uint8_t b[] = {0x65, (uint8_t)(0x48 | (reg >> 3) << 2), op, (uint8_t)(0x04 | (reg & 7) << 3),
                   0x25};
    emit_bytes(e, b, sizeof b);
    emit32(e, off);
}

static inline void emit_gs_store(struct emit *e, int reg, uint32_t off)
{
    emit_gs_op(e, 0x89, reg, off);
}

static inline void emit_gs_load(struct emit *e, int reg, uint32_t off)
{
    emit_gs_op(e, 0x8b, reg, off);
}

/* mov qword gs:[off], simm32 */
static inline void emit_gs_store_imm(struct emit *e, uint32_t off, int32_t v)
{
    emit_gs_op(e, 0xc7, 0, off);
    emit32(e, (uint32_t)v);
}

/* sub qword gs:[off], n, n at most 127: writes all arithmetic flags */
static inline void emit_gs_subtract(struct emit *e, uint32_t off, uint8_t n)
{
    emit_gs_op(e, 0x83, 5, off);
    emit8(e, n);
}

static inline void emit_gs_jmp(struct emit *e, uint32_t off)
{
    emit_bytes(e, (const uint8_t[]){0x65, 0xff, 0x24, 0x25}, 4);
    emit32(e, off);
}

/* jmp rel32; returns the place of the rel32 */
static inline uint8_t *emit_jmp(struct emit *e)
{
    emit8(e, 0xe9);
    emit32(e, 0);
    return e->p - 4;
}

/* jcc rel32 with condition code cc; returns the place of the rel32 */
static inline uint8_t *emit_jcc(struct emit *e, uint8_t cc)
{
    emit8(e, 0x0f);
    emit8(e, 0x80 | cc);
    emit32(e, 0);
    return e->p - 4;
}

static inline void emit_patch(uint8_t *rel32, const uint8_t *to)
{
    int32_t d = (int32_t)(to - (rel32 + 4));
    memcpy(rel32, &d, 4);
}

static inline void emit_mov_imm64(struct emit *e, int reg, uint64_t v)
{
    emit8(e, (uint8_t)(0x48 | reg >> 3));
    emit8(e, (uint8_t)(0xb8 | (reg & 7)));
    emit64(e, v);
}

/* Flags to ax: lahf; seto al */
static inline void emit_flags_to_ax(struct emit *e)
{
    emit_bytes(e, (const uint8_t[]){0x9f, 0x0f, 0x90, 0xc0}, 4);
}

/* and back: add al, 127; sahf */
static inline void emit_flags_from_ax(struct emit *e)
{
    emit_bytes(e, (const uint8_t[]){0x04, 0x7f, 0x9e}, 3);
}

#endif
