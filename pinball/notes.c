/* notes.c - read a pinball: adding to its notes.
 *
 * SPDX-License-Identifier: MIT
 *
 * A note is added to a copy, which then takes the place of `notes`: no reader meets half of one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "pinball/beneath.h"
#include "pinball/pinball_private.h"

static const char temporary[] = "notes.new";

/* Copies what there is; *notes counts its chunks. */
static int copy(const struct span *from, struct chunk_file *to, uint64_t *notes, struct err *err)
{
    struct chunk_want want = {.kind = CHUNK_NOTE};
    struct chunk chunk;
    uint64_t at = 0;
    int more;

    while ((more = chunk_read(from, at, want, &chunk, err)) > 0) {
        size_t bytes = sizeof chunk + chunk.stored;
        char *data = malloc(bytes);
        more = data ? chunk_pread(from, at, data, bytes, err) : err_set(err, "no memory");
        if (more == 0)
            more = chunk_append_bytes(to, data, bytes, err);
        free(data);
        if (more)
            break;
        at = chunk_next(at, &chunk);
        want.sequence++;
    }
    *notes = want.sequence;
    return more;
}

static int add(struct pinball *p, struct chunk_file *file, const char *text, size_t bytes,
               struct err *err)
{
    struct chunk_new what = {.kind = CHUNK_NOTE};
    struct member old;
    int found = store_find(p->store, "notes", &old, err);

    if (found < 0)
        return -1;
    int bad = found > 0 ? copy(&old.span, file, &what.sequence, err) : 0;
    store_close_member(&old);
    return bad ? -1 : chunk_append(file, what, text, bytes, &p->packer, err);
}

int pinball_note(struct pinball *pinball, const char *text, size_t bytes, struct err *err)
{
    int dir = store_fd(pinball->store);
    struct chunk_file file = {.label = "notes"};

    if (pinball_packed(pinball))
        return err_set(err, "%s: is packed: notes cannot be added", pinball_path(pinball));
    if (!text)
        return err_set_code(err, ENOMEM, "%s: no memory", pinball_path(pinball));
    if (flock(dir, LOCK_EX)) /* against other processes that add one now */
        return err_set_code(err, errno, "%s: %s", pinball_path(pinball), strerror(errno));
    file.fd = beneath_create(dir, temporary);
    int bad = file.fd < 0
                  ? err_set_code(err, errno, "%s/notes: %s", pinball_path(pinball), strerror(errno))
                  : add(pinball, &file, text, bytes, err);
    if (file.fd >= 0)
        close(file.fd);
    if (!bad && renameat(dir, temporary, dir, "notes"))
        bad = err_set_code(err, errno, "%s/notes: %s", pinball_path(pinball), strerror(errno));
    if (bad)
        unlinkat(dir, temporary, 0);
    flock(dir, LOCK_UN);
    return bad;
}
