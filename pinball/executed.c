/* executed.c - which kept files of a recording were code. SPDX-License-Identifier: MIT */
#include "pinball/executed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pinball/format.h"
#include "pinball/records.h"

static void look_at(const void *data, size_t bytes, bool *is, uint32_t files)
{
    const void *end = (const uint8_t *)data + bytes;

    for (const struct record *r = records_first(data, bytes); r; r = records_next(r, end)) {
        struct record_map m;
        if (r->kind != RECORD_MAP || r->bytes < records_least(r->kind))
            continue;
        memcpy(&m, r, sizeof m);
        if (m.file < files && (m.prot & PROT_EXEC))
            is[m.file] = true;
    }
}

int executed_find(struct pinball *p, bool *is, struct err *err)
{
    uint8_t *data = malloc(CHUNK_MAX_BYTES);
    int result = data ? 0 : err_set(err, "no memory");

    for (uint64_t i = 0; !result && i < pinball_chunks(p); i++) {
        uint64_t bytes, records;
        pinball_chunk_info(p, i, &bytes, &records);
        result = pinball_read_chunk(p, i, data, CHUNK_MAX_BYTES, err);
        if (!result)
            look_at(data, bytes, is, pinball_files(p));
    }
    free(data);
    return result;
}
