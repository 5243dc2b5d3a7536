/* arguments.c - numbers, names, descriptors and bytes among a system call's arguments.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "debug/events/call.h"
#include "debug/messages.h"

enum { PATH_SHOWN = 4096 };

/* ---- memory ---- */

bool call_find(const struct call *c, uint64_t addr, enum call_when when, struct call_bytes *out)
{
    struct mailbox_piece p;
    for (size_t at = 0; at <= c->bytes && c->bytes - at >= sizeof p;
         at += ((size_t)p.bytes + 7) & ~(size_t)7) {
        memcpy(&p, c->pieces + at, sizeof p);
        at += sizeof p;
        if (p.bytes > c->bytes - at || p.bytes > p.total)
            break;
        const uint64_t skipped = addr - p.addr;
        if ((p.written != 0) != (when == CALL_AFTER) || addr < p.addr || skipped > p.total ||
            (skipped && skipped >= p.bytes))
            continue;
        *out = (struct call_bytes){.data = c->pieces + at + (size_t)skipped,
                                   .bytes = p.bytes - (size_t)skipped,
                                   .total = p.total - skipped};
        return true;
    }
    return false;
}

bool call_get(const struct call *c, uint64_t addr, enum call_when when, void *out, size_t bytes)
{
    struct call_bytes b;
    if (!addr || !call_find(c, addr, when, &b) || b.bytes < bytes)
        return false;
    memcpy(out, b.data, bytes);
    return true;
}

bool call_is_filled(struct call *c, int i)
{
    if (c->unfinished) {
        c->cut = true;
        return false;
    }
    if (c->arg[i] && !c->failed)
        return true;
    words_address(c->out, c->arg[i]);
    return false;
}

bool call_take(struct call *c, int i, void *out, size_t bytes)
{
    if (call_get(c, c->arg[i], CALL_BEFORE, out, bytes))
        return true;
    words_address(c->out, c->arg[i]);
    return false;
}

bool call_filled(struct call *c, int i, void *out, size_t bytes)
{
    if (!call_is_filled(c, i))
        return false;
    if (call_get(c, c->arg[i], CALL_AFTER, out, bytes))
        return true;
    words_address(c->out, c->arg[i]);
    return false;
}

/* ---- numbers ---- */

void argument_int(struct call *c, int i)
{
    words_addf(c->out, "%d", (int)c->arg[i]);
}

void argument_unsigned(struct call *c, int i)
{
    words_addf(c->out, "%u", (unsigned)c->arg[i]);
}

void argument_signed(struct call *c, int i)
{
    words_addf(c->out, "%lld", (long long)c->arg[i]);
}

void argument_size(struct call *c, int i)
{
    words_addf(c->out, "%llu", (unsigned long long)c->arg[i]);
}

void argument_hex(struct call *c, int i)
{
    words_addf(c->out, "%#llx", (unsigned long long)c->arg[i]);
}

void argument_hex32(struct call *c, int i)
{
    words_addf(c->out, "%#x", (unsigned)c->arg[i]);
}

void argument_address(struct call *c, int i)
{
    words_address(c->out, c->arg[i]);
}

void argument_mode(struct call *c, int i)
{
    words_addf(c->out, "%#03o", (unsigned)c->arg[i] & 0xffff);
}

void argument_device(struct call *c, int i)
{
    const uint64_t d = c->arg[i];
    words_addf(c->out, "makedev(%#llx, %#llx)", (unsigned long long)(d >> 8 & 0xfff),
               (unsigned long long)((d & 0xff) | (d >> 12 & 0xfffff00)));
}

/* -1 leaves it as it is. */
void argument_id(struct call *c, int i)
{
    const uint32_t id = (uint32_t)c->arg[i];
    if (id == UINT32_MAX)
        words_add(c->out, "-1");
    else
        words_addf(c->out, "%u", id);
}

void argument_value(struct call *c, int i)
{
    names_put(c->out, c->argument[i].names, (uint32_t)c->arg[i], c->argument[i].prefix);
}

void argument_bits32(struct call *c, int i)
{
    names_put_bits(c->out, c->argument[i].names, (uint32_t)c->arg[i],
                   c->argument[i].none ? c->argument[i].none : "0");
}

void argument_match(struct call *c, int i)
{
    if ((uint32_t)c->arg[i] == UINT32_MAX)
        words_add(c->out, "FUTEX_BITSET_MATCH_ANY");
    else
        argument_hex32(c, i);
}

void argument_access(struct call *c, int i)
{
    names_put_bits(c->out, names_access, (uint32_t)c->arg[i], "F_OK");
}

void argument_signal(struct call *c, int i)
{
    names_put_signal(c->out, (int)c->arg[i]);
}

/* ---- descriptors and names ---- */

void call_put_fd(struct call *c, int64_t fd)
{
    struct described *d = c->about;
    const char *name = descriptors_name(c->files, c->thread, fd);
    words_addf(c->out, "%lld", (long long)fd);
    if (fd >= 0 && d->fds < DESCRIBED_FDS)
        d->fd[d->fds++] = fd;
    if (!name)
        return;
    words_addf(c->out, "<%s>", name);
    if (d->paths < DESCRIBED_PATHS)
        d->path[d->paths++] = strdup(name);
}

void argument_fd(struct call *c, int i)
{
    call_put_fd(c, (int)c->arg[i]);
}

void argument_dirfd(struct call *c, int i)
{
    if ((int)c->arg[i] == AT_FDCWD)
        words_add(c->out, "AT_FDCWD");
    else
        argument_fd(c, i);
}

/* Without its zero, if that came along. */
static size_t string_bytes(const struct call_bytes *b, size_t most)
{
    const size_t n = b->bytes < most ? b->bytes : most;
    return strnlen((const char *)b->data, n);
}

/* A string, or an array that ends with 0. */
static bool find_string(struct call *c, int i, struct call_bytes *b)
{
    if (c->arg[i] && call_find(c, c->arg[i], CALL_BEFORE, b))
        return true;
    words_address(c->out, c->arg[i]);
    return false;
}

void argument_path(struct call *c, int i)
{
    struct described *d = c->about;
    struct call_bytes b;
    if (!find_string(c, i, &b))
        return;
    const size_t n = string_bytes(&b, PATH_SHOWN);
    words_quote(c->out, b.data, n, WORDS_PLAIN);
    if (n == b.bytes)
        words_add(c->out, "...");
    if (d->paths < DESCRIBED_PATHS)
        d->path[d->paths++] = strndup((const char *)b.data, n);
}

static void put_string(struct call *c, const struct call_bytes *b)
{
    const size_t n = string_bytes(b, b->bytes), shown = n < CALL_SHOWN ? n : CALL_SHOWN;
    words_quote(c->out, b->data, shown, WORDS_PLAIN);
    if (shown < n || n == b->bytes)
        words_add(c->out, "...");
}

void argument_string(struct call *c, int i)
{
    struct call_bytes b;
    if (find_string(c, i, &b))
        put_string(c, &b);
}

/* ---- bytes ---- */

void call_put_bytes(struct call *c, const struct call_bytes *b, uint64_t total)
{
    size_t n = b->bytes < total ? b->bytes : (size_t)total;
    n = n < CALL_SHOWN ? n : CALL_SHOWN;
    words_quote(c->out, b->data, n, WORDS_PLAIN);
    if (n < total)
        words_add(c->out, "...");
}

void argument_given(struct call *c, int i)
{
    const uint64_t total = c->arg[c->argument[i].other];
    struct call_bytes b = {0};
    if (!c->arg[i] || (total && !call_find(c, c->arg[i], CALL_BEFORE, &b)))
        words_address(c->out, c->arg[i]);
    else
        call_put_bytes(c, &b, total);
}

static bool find_got(struct call *c, int i, struct call_bytes *b)
{
    *b = (struct call_bytes){0};
    if (!call_is_filled(c, i))
        return false;
    if (!c->result || call_find(c, c->arg[i], CALL_AFTER, b))
        return true;
    words_address(c->out, c->arg[i]);
    return false;
}

void argument_got(struct call *c, int i)
{
    struct call_bytes b;
    const uint64_t most = c->arg[c->argument[i].other], n = (uint64_t)c->result;
    if (!most && !c->unfinished)
        words_address(c->out, c->arg[i]);
    else if (find_got(c, i, &b))
        call_put_bytes(c, &b, n < most ? n : most);
}

void argument_got_hex(struct call *c, int i)
{
    struct call_bytes b;
    if (!find_got(c, i, &b))
        return;
    const size_t n = b.bytes < CALL_SHOWN ? b.bytes : CALL_SHOWN;
    words_quote(c->out, b.data, n, WORDS_HEX);
    if (n < b.total)
        words_add(c->out, "...");
}

void argument_got_path(struct call *c, int i)
{
    struct call_bytes b;
    if (!call_is_filled(c, i))
        return;
    if (call_find(c, c->arg[i], CALL_AFTER, &b))
        words_quote(c->out, b.data, string_bytes(&b, PATH_SHOWN), WORDS_PLAIN);
    else
        words_address(c->out, c->arg[i]);
}

/* Lengths of a directory's entries are at the same place in both forms. */
void argument_entries(struct call *c, int i)
{
    enum { LENGTH_AT = 16 };
    struct call_bytes b;
    unsigned n = 0;
    size_t at = 0;
    if (!find_got(c, i, &b))
        return;
    for (uint16_t bytes; at + LENGTH_AT + sizeof bytes <= b.bytes; n++, at += bytes) {
        memcpy(&bytes, b.data + at + LENGTH_AT, sizeof bytes);
        if (bytes < LENGTH_AT || bytes > b.bytes - at)
            break;
    }
    words_address(c->out, c->arg[i]);
    words_addf(c->out, " /* %s%u entries */", b.bytes < b.total ? "at least " : "", n);
}

/* ---- arrays ---- */

void argument_strings(struct call *c, int i)
{
    struct call_bytes b, s;
    uint64_t at;
    if (!find_string(c, i, &b))
        return;
    words_add(c->out, "[");
    for (size_t n = 0; (n + 1) * sizeof at <= b.bytes; n++) {
        memcpy(&at, b.data + n * sizeof at, sizeof at);
        if (!at)
            break;
        words_add(c->out, n ? ", " : "");
        if (n == CALL_SHOWN) {
            words_add(c->out, "...");
            break;
        }
        if (call_find(c, at, CALL_BEFORE, &s))
            put_string(c, &s);
        else
            words_address(c->out, at);
    }
    words_add(c->out, "]");
}

void argument_environment(struct call *c, int i)
{
    struct call_bytes b;
    if (!find_string(c, i, &b))
        return;
    const uint64_t n = b.total / 8 - (b.total > 0);
    words_address(c->out, c->arg[i]);
    words_addf(c->out, " /* %llu var%s */", (unsigned long long)n, n == 1 ? "" : "s");
}

void argument_ids(struct call *c, int i)
{
    struct call_bytes b;
    uint32_t id;
    if (!call_is_filled(c, i))
        return;
    if (!call_find(c, c->arg[i], CALL_AFTER, &b)) {
        words_address(c->out, c->arg[i]);
        return;
    }
    words_add(c->out, "[");
    for (size_t n = 0; n < (uint64_t)c->result && (n + 1) * sizeof id <= b.bytes; n++) {
        memcpy(&id, b.data + n * sizeof id, sizeof id);
        words_addf(c->out, "%s%u", n ? ", " : "", id);
    }
    words_add(c->out, "]");
}

void argument_int_at(struct call *c, int i)
{
    int32_t n;
    if (call_filled(c, i, &n, sizeof n))
        words_addf(c->out, "[%d]", n);
}

void argument_int_given(struct call *c, int i)
{
    int32_t n;
    if (call_take(c, i, &n, sizeof n))
        words_addf(c->out, "[%d]", n);
}

void argument_word_at(struct call *c, int i)
{
    uint64_t n;
    if (call_filled(c, i, &n, sizeof n))
        words_addf(c->out, "[%#llx]", (unsigned long long)n);
}

void argument_pair(struct call *c, int i)
{
    int32_t fd[2];
    if (!call_filled(c, i, fd, sizeof fd))
        return;
    words_add(c->out, "[");
    call_put_fd(c, fd[0]);
    words_add(c->out, ", ");
    call_put_fd(c, fd[1]);
    words_add(c->out, "]");
}

/* [from] => [to] */
void argument_offset_both(struct call *c, int i)
{
    int64_t before, after;
    if (!call_take(c, i, &before, sizeof before))
        return;
    words_addf(c->out, "[%lld]", (long long)before);
    if (!c->failed && call_get(c, c->arg[i], CALL_AFTER, &after, sizeof after) && after != before)
        words_addf(c->out, " => [%lld]", (long long)after);
}
