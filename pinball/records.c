/* records.c - whether bytes are records.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pinball/records.h"

#include <string.h>

#include "pinball/marks.h"
#include "pinball/record_gap.h"

const uint32_t records_sizes[RECORD_KINDS] = {
#define RECORD(name, number, type, count, text) [RECORD_##name] = sizeof(struct type),
#include "pinball/records.def"
#undef RECORD
};

bool records_known(unsigned kind)
{
    return records_least(kind) != SIZE_MAX || kind >= RECORD_SKIPPABLE;
}

size_t records_check(const void *data, size_t bytes, uint64_t *count)
{
    const char *p = data;
    size_t good = 0;

    *count = 0;
    while (bytes - good >= sizeof(struct record)) {
        const struct record *r = (const void *)(p + good);
        if (!records_known(r->kind) || r->bytes % 8 || r->bytes < sizeof *r ||
            r->bytes > RECORD_MAX_BYTES || r->bytes > bytes - good)
            break;
        good += r->bytes;
        ++*count;
    }
    return good;
}

uint64_t records_time(const struct record *record)
{
    static const bool timed[RECORD_KINDS] = {
        [RECORD_START] = true,  [RECORD_SWITCH] = true, [RECORD_CHECK] = true,
        [RECORD_THREAD] = true, [RECORD_BEGIN] = true,  [RECORD_END] = true};
    uint64_t ns = 0;

    if (record->kind < RECORD_KINDS && timed[record->kind] &&
        record->bytes == records_least(record->kind) + RECORD_TIME_BYTES)
        memcpy(&ns, (const char *)record + record->bytes - RECORD_TIME_BYTES, sizeof ns);
    return ns;
}

const struct record *records_first(const void *data, size_t bytes)
{
    return bytes > 0 ? data : NULL;
}

const struct record *records_next(const struct record *record, const void *end)
{
    const void *next = (const char *)record + record->bytes;

    return next < end ? next : NULL;
}

const struct record *records_skip(const struct record *record, const void *end)
{
    while (record && record->kind >= RECORD_SKIPPABLE)
        record = records_next(record, end);
    return record;
}
