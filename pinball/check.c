/* check.c - read a pinball: all of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball_private.h"
#include "pinball/records.h"

struct check {
    struct pinball *pinball;
    pinball_progress *progress;
    void *arg;
    uint64_t done, total;
};

/* One of the ranges of all kept files; equal ones share contents. */
struct part {
    enum kept_kind kind;
    const struct kept_range *range;
};

static int by_contents(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int order = strcmp(x->range->sha256, y->range->sha256);
    if (order != 0)
        return order;
    return x->range->bytes < y->range->bytes ? -1 : x->range->bytes > y->range->bytes;
}

/* Every contents once. The caller frees *parts; NULL if there is none. */
static int list_parts(struct pinball *p, struct part **parts, size_t *count, struct err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < p->kept.files; i++)
        n += p->kept.file[i]->ranges;
    *count = 0;
    *parts = NULL;
    if (n == 0)
        return 0;
    struct part *part = malloc(n * sizeof *part);
    if (!part)
        return err_set(err, "%s: no memory", pinball_path(p));
    n = 0;
    for (size_t i = 0; i < p->kept.files; i++)
        for (size_t j = 0; j < p->kept.file[i]->ranges; j++)
            part[n++] = (struct part){p->kept.file[i]->kind, &p->kept.file[i]->range[j]};
    qsort(part, n, sizeof *part, by_contents);
    for (size_t i = 0; i < n; i++)
        if (*count == 0 || by_contents(&part[*count - 1], &part[i]) != 0)
            part[(*count)++] = part[i];
    *parts = part;
    return 0;
}

static void advance(struct check *c, uint64_t bytes)
{
    c->done += bytes;
    if (c->progress)
        c->progress(c->arg, c->done, c->total);
}

/* The replay refuses a record that is smaller than its kind has to be; in the same words. `first`
 * is the number of the chunk's first one. */
static int check_records(const struct pinball *p, const void *data, uint64_t bytes, uint64_t first,
                         struct err *err)
{
    const void *end = (const char *)data + bytes;

    for (const struct record *r = records_first(data, bytes); r; r = records_next(r, end), first++)
        if (r->kind < RECORD_SKIPPABLE && r->bytes < records_least(r->kind))
            return err_set(err, "%s: cannot be replayed: event %llu: not a record", pinball_path(p),
                           (unsigned long long)first);
    return 0;
}

static int check_events(struct check *c, struct err *err)
{
    struct pinball *p = c->pinball;
    uint64_t room = 0, records = 0;
    int bad = 0;

    for (uint64_t i = 0; i < p->chunks; i++)
        room = p->chunk[i].raw > room ? p->chunk[i].raw : room;
    char *data = malloc(room + 1);
    if (!data)
        return err_set(err, "%s: no memory", pinball_path(p));
    for (uint64_t i = 0; !bad && i < p->chunks; i++) {
        bad = pinball_read_chunk(p, i, data, room, err) ||
              check_records(p, data, p->chunk[i].raw, records, err);
        records += p->chunk[i].records;
        advance(c, p->chunk[i].raw);
    }
    free(data);
    return bad ? -1 : 0;
}

static int check_part(struct check *c, const struct part *part, struct err *err)
{
    struct pinball *p = c->pinball;
    struct sha256 sha;
    char hex[SHA256_HEX];
    size_t bytes;

    if (contents_open(p, part->kind, part->range, err))
        return -1;
    sha256_init(&sha);
    for (uint64_t i = 0; i < p->contents.chunks; i++) {
        if (contents_unpack(p, i, &bytes, err))
            return -1;
        sha256_add(&sha, p->contents.data, bytes);
        advance(c, bytes);
    }
    sha256_hex(&sha, hex);
    if (strcmp(hex, part->range->sha256) != 0)
        return err_set(err, "%s: does not hold what its name says", p->contents.member.label);
    return 0;
}

int pinball_file_check(struct pinball *pinball, uint32_t number, struct err *err)
{
    struct check c = {.pinball = pinball};
    const struct kept_file *file = pinball_file(pinball, number);

    if (!file)
        return err_set(err, "%s: keeps no file %u", pinball_path(pinball), number);
    for (size_t i = 0; i < file->ranges; i++)
        if (check_part(&c, &(struct part){file->kind, &file->range[i]}, err))
            return -1;
    return 0;
}

int pinball_check(struct pinball *pinball, pinball_progress *progress, void *arg, struct err *err)
{
    struct check c = {.pinball = pinball, .progress = progress, .arg = arg};
    struct part *parts;
    size_t count;

    if (list_parts(pinball, &parts, &count, err))
        return -1;
    for (uint64_t i = 0; i < pinball->chunks; i++)
        c.total += pinball->chunk[i].raw;
    for (size_t i = 0; i < count; i++)
        c.total += parts[i].range->bytes;
    int bad = check_events(&c, err);
    for (size_t i = 0; !bad && i < count; i++)
        bad = check_part(&c, &parts[i], err);
    free(parts);
    return bad;
}

static uint64_t member_bytes(struct pinball *p, const char *name)
{
    struct member member;
    uint64_t bytes = store_find(p->store, name, &member, NULL) > 0 ? member.span.bytes : 0;

    store_close_member(&member);
    return bytes;
}

uint64_t pinball_bytes(struct pinball *pinball)
{
    static const char *const names[] = {"head", "events", "index", "end", "notes"};
    char name[STORE_NAME_BYTES];
    struct part *parts;
    uint64_t bytes = 0;
    size_t count;

    if (pinball_packed(pinball))
        return store_bytes(pinball->store);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        bytes += member_bytes(pinball, names[i]);
    if (list_parts(pinball, &parts, &count, NULL))
        return bytes;
    for (size_t i = 0; i < count; i++) {
        kept_name(name, sizeof name, parts[i].kind, parts[i].range->sha256);
        bytes += member_bytes(pinball, name);
    }
    free(parts);
    return bytes;
}
