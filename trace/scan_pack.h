/* scan_pack.h - a scan as bytes, to be kept and read again. SPDX-License-Identifier: MIT */
#ifndef TRACE_SCAN_PACK_H
#define TRACE_SCAN_PACK_H

#include "trace/scan.h"

/* Add one with every change of these bytes, or of what a scan finds. */
enum { SCAN_VERSION = 4 };

/* To be freed; NULL: no memory. */
uint8_t *scan_pack(const struct scan *s, size_t *bytes);

/* 0 and *out, which scan_deinit() ends; -1: they are not those of a scan of this trace. */
int scan_unpack_all(const uint8_t *bytes, size_t n, const struct trace *trace,
                    const struct code *code, struct scan *out);

#endif
