/* xsave.h - where the parts of an xsave area in the standard format are. SPDX-License-Identifier:
 * MIT
 *
 * The legacy part and the upper halves of ymm have fixed places; the CPU says where the parts of
 * AVX-512 are. A part whose bit in the header is clear has its initial value, whatever is there
 * (Intel SDM volume 1, section 13.4).
 */
#ifndef BASE_XSAVE_H
#define BASE_XSAVE_H

#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>

enum { XSAVE_XMM_AT = 160, XSAVE_PARTS_AT = 512, XSAVE_HEADER_END = 576 };
/* Numbers of the parts: bits of XCR0 and of the header. */
enum { XSAVE_SSE = 1, XSAVE_AVX = 2, XSAVE_OPMASK = 5, XSAVE_ZMM_HIGH = 6, XSAVE_HIGH16 = 7 };

/* 0: an area of that size does not have the part, or the part is not as large as that. */
static inline uint32_t xsave_offset(unsigned part, size_t area_bytes, size_t part_bytes)
{
    unsigned bytes, offset, c, d;

    if (!__get_cpuid_count(0xd, part, &bytes, &offset, &c, &d) || bytes != part_bytes ||
        offset < XSAVE_HEADER_END || (size_t)offset + bytes > area_bytes)
        return 0;
    return offset;
}

#endif
