/* files.c - vFile: the recorded machine's files, read by GDB as those of its target.
 *
 * SPDX-License-Identifier: MIT
 *
 * There are those that were kept with the recording, by their paths then, and some below /proc that
 * are made up (proc.c). This machine's separate debug files are shown, if debuggee_debug_file()
 * has them; GDB compares their build-ids or checksums. Errors are numbered as in "Errno Values"
 * of GDB's manual, File-I/O.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug/gdbstub/server_private.h"

enum {
    FAIL_ENOENT = 2,
    FAIL_EBADF = 9,
    FAIL_EACCES = 13,
    FAIL_EINVAL = 22,
    FAIL_EMFILE = 24,
    FAIL_EROFS = 30,
    FAIL_UNKNOWN = 9999
};
enum {
    STAT_BYTES = 64,
    STAT_MODE = 8,
    STAT_NLINK = 12,
    STAT_SIZE = 28,
    STAT_BLOCK = 36,
    STAT_BLOCKS = 44,
    MODE_REGULAR = 0100444
};

static void fail(struct server *s, int number)
{
    reply_clear(&s->reply);
    reply_addf(&s->reply, "F-1,%x", (unsigned)number);
}

static void forget(struct open_file *f)
{
    free(f->text);
    if (f->local)
        close(f->local - 1);
    *f = (struct open_file){0};
}

void files_close_all(struct server *s)
{
    for (int i = 0; i < FILES_MAX; i++)
        forget(&s->files[i]);
}

/* ---- which file ---- */

/* Does `kept` have the name of `asked`, or is it a later version, as libz.so.1.2.13 is of
 * libz.so.1? */
static bool is_named(const char *kept, const char *asked)
{
    const char *name = strrchr(kept, '/');
    size_t n = strlen(asked);

    name = name ? name + 1 : kept;
    return strncmp(name, asked, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

/* A path may lead over links that the recorded machine had, /lib to /usr/lib before all. The name
 * then decides, if one kept file has it. Debug files are asked for by names that others have, too.
 */
static int find_by_name(struct server *s, const char *path, uint64_t *bytes)
{
    const char *name = strrchr(path, '/'), *kept;
    int found = -1;

    if (!name || name[1] == '\0' || strstr(path, "/debug/") || strstr(path, "/.debug/"))
        return -1;
    for (int i = 0; (kept = debuggee_file_path(&s->debuggee, i)); i++) {
        if (!is_named(kept, name + 1))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    kept = found >= 0 ? debuggee_file_path(&s->debuggee, found) : NULL;
    return kept ? debuggee_file_find(&s->debuggee, kept, bytes) : -1;
}

static int find_kept(struct server *s, const char *path, uint64_t *bytes)
{
    char other[PATH_MAX + 8];
    int found = debuggee_file_find(&s->debuggee, path, bytes);

    if (found < 0) {
        if (strncmp(path, "/usr/", 5) == 0)
            snprintf(other, sizeof other, "%s", path + 4);
        else
            snprintf(other, sizeof other, "/usr%s", path);
        found = debuggee_file_find(&s->debuggee, other, bytes);
    }
    return found >= 0 ? found : find_by_name(s, path, bytes);
}

/* ---- packets ---- */

static void open_file(struct server *s, struct args *args)
{
    char path[PATH_MAX];
    struct reply text = {0};
    struct args name;
    uint64_t flags, mode, bytes = 0;
    int number = -1, local = -1, fd = 0;

    if (!args_until(args, ',', &name) || !args_string(&name, path, sizeof path) ||
        !args_hex(args, &flags) || !args_take(args, ',') || !args_hex(args, &mode)) {
        fail(s, FAIL_EINVAL);
        return;
    }
    while (fd < FILES_MAX && s->files[fd].used)
        fd++;
    if (flags)
        fail(s, FAIL_EROFS);
    else if (fd == FILES_MAX)
        fail(s, FAIL_EMFILE);
    else if (!proc_text(s, path, &text) && (number = find_kept(s, path, &bytes)) < 0 &&
             (local = debuggee_debug_file(&s->debuggee, path, &bytes)) < 0)
        fail(s, FAIL_ENOENT);
    else {
        s->files[fd] = (struct open_file){.used = true,
                                          .number = number,
                                          .local = local + 1,
                                          .text = text.data,
                                          .bytes = text.data ? text.bytes : bytes};
        reply_addf(&s->reply, "F%x", (unsigned)fd);
        return;
    }
    reply_deinit(&text);
}

/* The file that a packet begins with. */
static struct open_file *take_fd(struct server *s, struct args *args)
{
    uint64_t fd;

    if (args_hex(args, &fd) && fd < FILES_MAX && s->files[fd].used)
        return &s->files[fd];
    fail(s, FAIL_EBADF);
    return NULL;
}

static void close_file(struct server *s, struct args *args)
{
    struct open_file *f = take_fd(s, args);

    if (!f)
        return;
    forget(f);
    reply_text(&s->reply, "F0");
}

/* `Fcount;bytes`: as many as fit. */
static void send_bytes(struct server *s, const uint8_t *data, size_t n)
{
    enum { HEAD = 16 };
    struct reply escaped = {0};
    size_t fitting = reply_binary(&escaped, data, n, PACKET_BYTES - HEAD);

    reply_addf(&s->reply, "F%zx;", fitting);
    reply_bytes(&s->reply, escaped.data, escaped.bytes);
    reply_deinit(&escaped);
}

static void pread_file(struct server *s, struct args *args)
{
    struct open_file *f = take_fd(s, args);
    uint64_t count, offset;
    struct err err;

    if (!f)
        return;
    if (!args_take(args, ',') || !args_hex(args, &count) || !args_take(args, ',') ||
        !args_hex(args, &offset)) {
        fail(s, FAIL_EINVAL);
        return;
    }
    if (offset > f->bytes)
        offset = f->bytes;
    if (count > f->bytes - offset)
        count = f->bytes - offset;
    if (count > PACKET_BYTES)
        count = PACKET_BYTES;
    if (f->number < 0 && !f->local) {
        send_bytes(s, (const uint8_t *)f->text + offset, (size_t)count);
        return;
    }
    uint8_t *data = malloc((size_t)count + 1);
    if (data && f->local ? pread(f->local - 1, data, (size_t)count, (off_t)offset) == (ssize_t)count
                         : data && debuggee_file_read(&s->debuggee, f->number, offset, data,
                                                      (size_t)count, &err) == 0)
        send_bytes(s, data, (size_t)count);
    else
        fail(s, FAIL_UNKNOWN);
    free(data);
}

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
}

/* struct stat of the protocol: big-endian. */
static void fstat_file(struct server *s, struct args *args)
{
    struct open_file *f = take_fd(s, args);
    uint8_t st[STAT_BYTES] = {0};

    if (!f)
        return;
    put(st + STAT_MODE, MODE_REGULAR, 4);
    put(st + STAT_NLINK, 1, 4);
    put(st + STAT_SIZE, f->bytes, 8);
    put(st + STAT_BLOCK, 4096, 8);
    put(st + STAT_BLOCKS, f->bytes / 512 + 1, 8);
    send_bytes(s, st, sizeof st);
}

static void readlink_file(struct server *s, struct args *args)
{
    char path[PATH_MAX];
    struct reply text = {0};

    if (!args_string(args, path, sizeof path))
        fail(s, FAIL_EINVAL);
    else if (!proc_link(s, path, &text))
        fail(s, FAIL_ENOENT);
    else
        send_bytes(s, (const uint8_t *)text.data, text.bytes);
    reply_deinit(&text);
}

/* There is one file system. */
static void set_fs(struct server *s, struct args *args)
{
    (void)args;
    reply_text(&s->reply, "F0");
}

static void refuse_write(struct server *s, struct args *args)
{
    (void)args;
    fail(s, FAIL_EROFS);
}

void files_packet(struct server *s, struct args *args)
{
    static const struct {
        const char *name;
        server_handler *handler;
    } calls[] = {
        {"setfs:", set_fs},        {"open:", open_file},      {"pread:", pread_file},
        {"fstat:", fstat_file},    {"close:", close_file},    {"readlink:", readlink_file},
        {"pwrite:", refuse_write}, {"unlink:", refuse_write},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (args_word(args, calls[i].name)) {
            calls[i].handler(s, args);
            return;
        }
}
