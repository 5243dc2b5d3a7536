/* derive.c - begin a pinball that is made from another one. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pinball/derive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/beneath.h"
#include "pinball/writer_private.h"

enum { COPY_BYTES = 1 << 20 };

static int write_head(struct writer *w, struct pinball *from, const struct text *more,
                      struct err *err)
{
    struct text text = {0};
    const char *key, *value;
    size_t at = 0;

    while (pinball_head_line(from, &at, &key, &value))
        if (strcmp(key, "nonce") != 0 && strcmp(key, "seal") != 0)
            text_add(&text, key, value);
    text_join(&text, more->data, more->bytes);
    w->unsealed = !pinball_is_own(from);
    int bad = writer_head(w, text.data, text.bytes, err);
    text_deinit(&text);
    return bad;
}

/* ---- kept files ---- */

static int copy_bytes(const struct span *from, int to, const char *label, struct err *err)
{
    struct chunk_file out = {.fd = to, .label = label};
    char *room = malloc(COPY_BYTES);
    int bad = room ? 0 : err_set(err, "no memory");

    for (uint64_t at = 0; at < from->bytes && !bad; at += COPY_BYTES) {
        size_t n = from->bytes - at < COPY_BYTES ? from->bytes - at : COPY_BYTES;
        bad = chunk_pread(from, at, room, n, err) || chunk_append_bytes(&out, room, n, err);
    }
    free(room);
    return bad ? -1 : 0;
}

/* Contents that several files share are there once. */
static int copy_contents(struct writer *w, struct pinball *from, const char *name, struct err *err)
{
    struct member member;

    if (beneath_exists(w->dir, name))
        return 0;
    int found = store_find(pinball_store(from), name, &member, err);
    if (found <= 0)
        return found ? -1 : err_set(err, "%s: is not there", member.label);
    int fd = beneath_create(w->dir, name);
    int bad = fd < 0 ? err_set_code(err, errno, "%s/%s: %s", w->path, name, beneath_error(errno))
                     : copy_bytes(&member.span, fd, name, err);
    if (fd >= 0)
        close(fd);
    store_close_member(&member);
    return bad;
}

static int add_entry(struct writer *w, struct chunk_file *list, const char *name, uint64_t *entries,
                     const struct kept_file *file, struct err *err)
{
    struct chunk_new what = {.kind = CHUNK_INDEX, .sequence = *entries};
    struct text text = {0};

    kept_text(&text, file, 0);
    seal_entry(&w->seal, name, *entries, &text);
    int bad = text.data ? chunk_append(list, what, text.data, text.bytes, &w->packer, err)
                        : err_set(err, "no memory");
    text_deinit(&text);
    *entries += !bad;
    return bad;
}

/* Files that pack added have a list and folders of their own, made when the first of them comes. */
struct extras {
    struct chunk_file list;
    uint64_t entries;
};

static int open_extras(struct writer *w, struct extras *x, struct err *err)
{
    if (x->list.fd >= 0)
        return 0;
    if ((mkdirat(w->dir, "debug", 0777) && errno != EEXIST) ||
        (mkdirat(w->dir, "sources", 0777) && errno != EEXIST) ||
        (x->list.fd = beneath_create(w->dir, "extras")) < 0)
        return err_set_code(err, errno, "%s: %s", w->path, strerror(errno));
    return 0;
}

static int copy_file(struct writer *w, struct pinball *from, const struct kept_file *f,
                     struct extras *x, struct err *err)
{
    const bool mapped = f->kind == KEPT_MAPPED;
    char name[STORE_NAME_BYTES];

    if (!mapped && open_extras(w, x, err))
        return -1;
    for (size_t i = 0; i < f->ranges; i++) {
        kept_name(name, sizeof name, f->kind, f->range[i].sha256);
        if (copy_contents(w, from, name, err))
            return -1;
    }
    return mapped ? add_entry(w, &w->index, "index", &w->entries, f, err)
                  : add_entry(w, &x->list, "extras", &x->entries, f, err);
}

static int copy_files(struct writer *w, struct pinball *from, struct err *err)
{
    struct extras x = {.list = {.fd = -1, .label = "extras"}};
    int bad = 0;

    for (uint32_t n = 0; n < pinball_files(from) && !bad; n++)
        bad = copy_file(w, from, pinball_file(from, n), &x, err);
    if (x.list.fd >= 0)
        close(x.list.fd);
    return bad;
}

struct writer *derive_new(struct pinball *from, const char *dir, const struct text *more,
                          struct err *err)
{
    struct writer *w = writer_new(dir, err);

    if (w && (write_head(w, from, more, err) || copy_files(w, from, err))) {
        writer_undo(w);
        writer_free(w);
        return NULL;
    }
    return w;
}
