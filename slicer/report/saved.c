/* saved.c - slices that were kept with a pinball. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* asprintf */
#include "slicer/report/saved.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "pinball/beneath.h"
#include "pinball/chunk.h"
#include "pinball/pinball.h"
#include "pinball/text.h"
#include "slicer/slice_private.h"

enum { NAME_MOST = 64, PIECE = 1 << 20, LEVEL = 3, WANTS_MOST = 1 << 20 };

static int check_name(const char *name, struct err *err)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (!n || name[n] || name[0] == '.' || name[0] == '-' || n > NAME_MOST)
        return err_set(err, "%s: a slice's name is made of letters, digits, `.`, `_` and `-`",
                       name);
    return 0;
}

/* The folder `slices` of a pinball's directory, made if `make`. -1 with errno set. */
static int open_folder(const char *dir, bool make)
{
    int pinball = beneath_folder(dir);
    if (pinball < 0)
        return -1;
    if (make)
        mkdirat(pinball, "slices", 0777);
    int folder = beneath_open(pinball, "slices", O_RDONLY | O_DIRECTORY), error = errno;
    close(pinball);
    errno = error;
    return folder;
}

/* What the lines of a criterion are called. */
static const struct saved_keys {
    const char *text, *what, *note, *thread, *pc, *position, *want;
} of_criterion = {"criterion", "what", "note", "thread", "pc", "position", "want"},
  of_target = {"to_criterion", "to_what",     "to_note", "to_thread",
               "to_pc",        "to_position", "to_want"};

/* ---- making ---- */

struct slice *saved_make(struct study *s, struct saved *of, struct err *err)
{
    const struct criterion *c = &of->criterion;
    of->options.prune = of->pruning.item;
    of->options.prunes = of->pruning.items;
    if (of->kind == SLICE_BACKWARD)
        return slice_backward(s->index, c->want, c->wants, &of->options, err);
    struct slice *forward = slice_forward(s->index, c->want, c->wants, &of->options, err);
    if (of->kind == SLICE_FORWARD || !forward)
        return forward;
    struct slice *chop = NULL;
    struct slice *back =
        slice_backward(s->index, of->target.want, of->target.wants, &of->options, err);
    if (back && !(chop = slice_chop(forward, back, s->trace)))
        err_set(err, "no memory");
    slice_free(forward);
    slice_free(back);
    return chop;
}

/* ---- writing ---- */

static void put_position(struct text *text, const char *key, const struct position *at)
{
    char token[POSITION_TEXT];
    position_format(at, token);
    text_add(text, key, token);
}

static uint64_t moved(const struct saved_move *move, uint64_t insn, bool *gone)
{
    *gone = false;
    return move ? move->fn(move->arg, insn, gone) : insn;
}

static void describe_criterion(struct text *text, const struct saved_keys *k, const char *words,
                               const struct criterion *c, const struct saved_move *move)
{
    bool gone;
    text_add(text, k->text, words);
    text_add(text, k->what, c->what);
    text_add(text, k->note, c->note);
    text_addf(text, k->thread, "%u", c->thread);
    text_addf(text, k->pc, "%llu", (unsigned long long)c->pc);
    put_position(text, k->position, &c->position);
    for (size_t i = 0; i < c->wants; i++)
        text_addf(text, k->want, "%u %llu %u %llu %llu", c->want[i].kind,
                  (unsigned long long)moved(move, c->want[i].at, &gone), c->want[i].thread,
                  (unsigned long long)c->want[i].addr, (unsigned long long)c->want[i].bytes);
}

static void describe_more(struct text *text, const struct saved *s)
{
    for (size_t i = 0; i < s->pruning.words; i++)
        text_add(text, "prune", s->pruning.word[i]);
    for (size_t i = 0; i < s->pruning.items; i++) {
        const struct slice_prune *p = &s->pruning.item[i];
        text_addf(text, "pruned", "%u %llu %llu %llu %llu", p->kind, (unsigned long long)p->addr,
                  (unsigned long long)p->bytes, (unsigned long long)p->from,
                  (unsigned long long)p->to);
    }
    for (size_t i = 0; i < s->limits.threads; i++)
        text_addf(text, "only_thread", "%u", s->limits.thread[i]);
    for (size_t i = 0; i < s->limits.files; i++)
        text_add(text, "only_file", s->limits.file[i]);
    for (size_t i = 0; i < s->limits.modules; i++)
        text_add(text, "only_module", s->limits.module[i]);
}

static void describe(struct text *text, const struct saved *s, const struct saved_move *move)
{
    const struct slice_options *o = &s->options;
    text_addf(text, "version", "%d", SAVED_VERSION);
    text_add(text, "about", s->about);
    text_addf(text, "kind", "%u", s->kind);
    describe_criterion(text, &of_criterion, s->text, &s->criterion, move);
    if (s->kind == SLICE_CHOP)
        describe_criterion(text, &of_target, s->target_text, &s->target, move);
    describe_more(text, s);
    if (s->has_from)
        put_position(text, "from", &s->from);
    if (s->has_to)
        put_position(text, "to", &s->to);
    text_addf(text, "options", "%u %d %d %d %u", o->edges, o->keep_saves, o->stack_pointer,
              o->relocated, o->max_save);
    text_addf(text, "nodes", "%llu", (unsigned long long)s->nodes);
    text_addf(text, "pairs", "%llu", (unsigned long long)s->pairs);
    text_addf(text, "total", "%llu", (unsigned long long)s->total);
}

static int put_nodes(struct chunk_file *file, const struct slice *slice,
                     const struct saved_move *move, struct packer *packer, struct err *err)
{
    uint8_t *piece = malloc(PIECE + 16);
    uint64_t last = 0, sequence = 1;
    size_t used = 0;
    int bad = piece ? 0 : err_set(err, "no memory");
    for (uint64_t n = slice_next(slice, 0); !bad && n != UINT64_MAX; n = slice_next(slice, n + 1)) {
        bool gone;
        const uint64_t at = moved(move, n, &gone);
        uint64_t step = at - last;
        if (gone)
            continue;
        for (last = at; step >= 0x80; step >>= 7)
            piece[used++] = (uint8_t)(step | 0x80);
        piece[used++] = (uint8_t)step;
        if (used >= PIECE) {
            struct chunk_new what = {CHUNK_SLICE, LEVEL, sequence++, 0};
            bad = chunk_append(file, what, piece, used, packer, err);
            used = 0;
        }
    }
    if (!bad && used) {
        struct chunk_new what = {CHUNK_SLICE, LEVEL, sequence, 0};
        bad = chunk_append(file, what, piece, used, packer, err);
    }
    free(piece);
    return bad;
}

static int put_all(int fd, const char *path, const struct saved *saved, const struct slice *slice,
                   const struct saved_move *move, struct err *err)
{
    struct chunk_file file = {.fd = fd, .label = path};
    struct packer packer = {0};
    struct text text = {0};
    describe(&text, saved, move);
    struct chunk_new what = {CHUNK_SLICE, LEVEL, 0, 0};
    int bad = text.data ? chunk_append(&file, what, text.data, text.bytes, &packer, err)
                        : err_set(err, "no memory");
    if (!bad)
        bad = put_nodes(&file, slice, move, &packer, err);
    text_deinit(&text);
    chunk_deinit_packer(&packer);
    return bad;
}

int saved_begin(struct study *s, const char *name, struct saved_file *out, struct err *err)
{
    const char *dir = pinball_path(s->pinball);
    *out = (struct saved_file){.name = name, .file.fd = -1};
    if (check_name(name, err))
        return -1;
    if (pinball_packed(s->pinball))
        return err_set(
            err, "%s: a packed pinball keeps no slices; record or copy it as a directory", dir);
    int folder = open_folder(dir, true);
    if (folder < 0)
        return err_set_code(err, errno, "%s/slices: %s", dir, beneath_error(errno));
    if (beneath_exists(folder, name))
        err_set_code(err, EEXIST, "%s: there is a slice of this name; delete it first", name);
    else if (beneath_begin(&out->file, folder, name))
        err_set_code(err, errno, "%s: %s", name, strerror(errno));
    else
        return 0;
    close(folder);
    return -1;
}

int saved_put(const struct saved_file *file, const struct saved *saved, const struct slice *slice,
              struct err *err)
{
    return put_all(file->file.fd, file->name, saved, slice, NULL, err);
}

int saved_put_moved(int fd, const char *name, struct saved *saved, const struct slice *slice,
                    const struct saved_move *move, struct err *err)
{
    bool gone;
    saved->nodes = 0;
    for (uint64_t n = slice_next(slice, 0); n != UINT64_MAX; n = slice_next(slice, n + 1)) {
        moved(move, n, &gone);
        saved->nodes += !gone;
    }
    return put_all(fd, name, saved, slice, move, err);
}

int saved_carry(int fd, const char *dir, const char *name, struct err *err)
{
    struct beneath_new new = {.fd = -1};
    char piece[1 << 16];
    ssize_t n = 0;
    int folder = open_folder(dir, true);
    int bad = folder < 0 || beneath_begin(&new, folder, name) || lseek(fd, 0, SEEK_SET) ? -1 : 0;
    while (!bad && (n = read(fd, piece, sizeof piece)) > 0)
        for (ssize_t done = 0, put; !bad && done < n; done += put)
            if ((put = write(new.fd, piece + done, (size_t)(n - done))) <= 0)
                bad = -1;
    if (bad || n < 0 || beneath_finish(&new, name, true))
        bad = err_set_code(err, errno, "%s/slices/%s: %s", dir, name, beneath_error(errno));
    beneath_abandon(&new);
    if (folder >= 0)
        close(folder);
    return bad;
}

int saved_finish(struct saved_file *file, bool keep, struct err *err)
{
    int bad = 0;
    if (keep && beneath_finish(&file->file, file->name, true))
        bad = err_set_code(err, errno, "%s: %s", file->name, strerror(errno));
    beneath_abandon(&file->file);
    close(file->file.folder);
    return bad;
}

/* ---- reading ---- */

void saved_unlimit(struct saved *s)
{
    for (size_t i = 0; i < s->limits.files; i++)
        free((char *)s->limits.file[i]);
    for (size_t i = 0; i < s->limits.modules; i++)
        free((char *)s->limits.module[i]);
    s->limits = (struct report_limits){0};
}

void saved_deinit(struct saved *s)
{
    free(s->text);
    free(s->target_text);
    criterion_deinit(&s->criterion);
    criterion_deinit(&s->target);
    pruning_deinit(&s->pruning);
    saved_unlimit(s);
    *s = (struct saved){0};
}

static uint64_t number_of(const struct lines *l, const char *key)
{
    const char *value = text_get(l, key);
    uint64_t n = 0;
    return value && !text_number(value, &n) ? n : 0;
}

static bool position_at(const struct lines *l, const char *key, struct position *out)
{
    struct err err;
    const char *value = text_get(l, key);
    return value && !position_parse(value, out, &err);
}

static int take_wants(const struct lines *l, const char *key, struct criterion *c, struct err *err)
{
    for (size_t i = 0; i < l->count && c->wants < WANTS_MOST; i++) {
        unsigned kind, thread;
        unsigned long long at, addr, bytes;
        if (strcmp(l->line[i].key, key) != 0)
            continue;
        if (sscanf(l->line[i].value, "%u %llu %u %llu %llu", &kind, &at, &thread, &addr, &bytes) !=
                5 ||
            kind > SLICE_USES)
            return err_set(err, "not a slice");
        struct slice_want want = {(enum slice_want_kind)kind, at, thread, addr, bytes};
        if (criterion_want(c, want, err))
            return -1;
    }
    return 0;
}

static int take_criterion(const struct lines *l, const struct saved_keys *k, char **words,
                          struct criterion *c, struct err *err)
{
    const char *text = text_get(l, k->text), *what = text_get(l, k->what);
    const char *note = text_get(l, k->note);
    if (!text || !what || !note)
        return err_set(err, "not a slice");
    snprintf(c->what, sizeof c->what, "%s", what);
    snprintf(c->note, sizeof c->note, "%s", note);
    c->thread = (uint32_t)number_of(l, k->thread);
    c->pc = number_of(l, k->pc);
    position_at(l, k->position, &c->position);
    *words = strdup(text);
    return *words ? take_wants(l, k->want, c, err) : err_set(err, "no memory");
}

static int take_prune(struct pruning *p, const char *value, struct err *err)
{
    unsigned kind;
    unsigned long long addr, bytes, from, to;
    if (sscanf(value, "%u %llu %llu %llu %llu", &kind, &addr, &bytes, &from, &to) != 5 ||
        kind > SLICE_PRUNE_FRAME || p->items >= WANTS_MOST)
        return err_set(err, "not a slice");
    struct slice_prune item = {(enum slice_prune_kind)kind, addr, bytes, from, to};
    return pruning_add_item(p, &item, err);
}

int saved_limit(const char **list, size_t *count, const char *pattern, struct err *err)
{
    if (*count == REPORT_LIMITS)
        return err_set_code(err, CRITERION_USAGE, "%s: no more than %d limits of a kind", pattern,
                            REPORT_LIMITS);
    list[*count] = strdup(pattern);
    if (!list[*count])
        return err_set(err, "no memory");
    ++*count;
    return 0;
}

static int take_more(const struct lines *l, struct saved *out, struct err *err)
{
    struct report_limits *limits = &out->limits;
    int bad = 0;
    for (size_t i = 0; i < l->count && !bad; i++) {
        const char *key = l->line[i].key, *value = l->line[i].value;
        uint64_t n;
        if (!strcmp(key, "prune"))
            bad = pruning_add_word(&out->pruning, value, err);
        else if (!strcmp(key, "pruned"))
            bad = take_prune(&out->pruning, value, err);
        else if (!strcmp(key, "only_thread") && limits->threads < REPORT_LIMITS)
            limits->thread[limits->threads++] = text_number(value, &n) ? 0 : (uint32_t)n;
        else if (!strcmp(key, "only_file"))
            bad = saved_limit(limits->file, &limits->files, value, err);
        else if (!strcmp(key, "only_module"))
            bad = saved_limit(limits->module, &limits->modules, value, err);
    }
    out->options.prune = out->pruning.item;
    out->options.prunes = out->pruning.items;
    return bad;
}

static int check_version(const struct lines *l, struct err *err)
{
    const char *value = text_get(l, "version");
    uint64_t version = 1;
    if (value && text_number(value, &version))
        return err_set(err, "not a slice");
    if (version == SAVED_VERSION)
        return 0;
    return err_set(err,
                   "a slice of version %llu, this drdebug reads version %d; delete it and make it "
                   "again",
                   (unsigned long long)version, SAVED_VERSION);
}

static int take_text(const struct lines *l, struct saved *out, struct err *err)
{
    const char *about = text_get(l, "about"), *options = text_get(l, "options");
    unsigned edges, saves, stack, relocated, most;
    uint64_t kind = number_of(l, "kind"); /* older ones are backward */
    if (check_version(l, err))
        return -1;
    if (!about || !options || kind > SLICE_CHOP ||
        sscanf(options, "%u %u %u %u %u", &edges, &saves, &stack, &relocated, &most) != 5)
        return err_set(err, "not a slice");
    snprintf(out->about, sizeof out->about, "%s", about);
    out->kind = (enum slice_kind)kind;
    out->options = (struct slice_options){.edges = edges & SLICE_ALL,
                                          .keep_saves = saves,
                                          .stack_pointer = stack,
                                          .relocated = relocated,
                                          .max_save = most};
    out->has_from = position_at(l, "from", &out->from);
    out->has_to = position_at(l, "to", &out->to);
    out->nodes = number_of(l, "nodes");
    out->pairs = number_of(l, "pairs");
    out->total = number_of(l, "total");
    if (take_criterion(l, &of_criterion, &out->text, &out->criterion, err))
        return -1;
    if (out->kind == SLICE_CHOP &&
        take_criterion(l, &of_target, &out->target_text, &out->target, err))
        return -1;
    return take_more(l, out, err);
}

/* Opens the file and reads the header of its first chunk. */
static int open_file(const char *dir, const char *name, struct span *span, char **path,
                     struct chunk *chunk, struct err *err)
{
    struct stat st;
    if (check_name(name, err))
        return -1;
    if (asprintf(path, "%s/slices/%s", dir, name) < 0)
        return err_set(err, "no memory");
    int folder = open_folder(dir, false);
    *span =
        (struct span){.fd = folder < 0 ? -1 : beneath_open(folder, name, O_RDONLY), .label = *path};
    int error = errno;
    if (folder >= 0)
        close(folder);
    if (span->fd < 0 && error == ENOENT) {
        err_set(err, "%s: no slice of this name is kept with %s", name, dir);
    } else if (span->fd < 0) {
        err_set_code(err, error, "%s: %s", *path, beneath_error(error));
    } else if (fstat(span->fd, &st) == 0) {
        span->bytes = (uint64_t)st.st_size;
        int more = chunk_read(span, 0, (struct chunk_want){CHUNK_SLICE, 0}, chunk, err);
        if (more == 1)
            return 0;
        if (!more)
            err_set(err, "%s: empty", *path);
    }
    if (span->fd >= 0)
        close(span->fd);
    free(*path);
    return -1;
}

int saved_read(const char *dir, const char *name, struct saved *out, struct err *err)
{
    struct span span;
    struct chunk chunk;
    struct packer packer = {0};
    struct lines lines = {0};
    struct err why;
    char *path;
    *out = (struct saved){0};
    if (open_file(dir, name, &span, &path, &chunk, err))
        return -1;
    char *data = malloc(chunk.raw + 1);
    int bad = data ? chunk_unpack(&span, 0, &chunk, data, &packer, err) : err_set(err, "no memory");
    if (!bad && (text_parse(&lines, data, chunk.raw, &why) || take_text(&lines, out, &why)))
        bad = err_set(err, "%s: %s", path, why.msg);
    text_free_lines(&lines);
    chunk_deinit_packer(&packer);
    free(data);
    close(span.fd);
    free(path);
    if (bad)
        saved_deinit(out);
    return bad;
}

struct restored {
    struct slice *slice;
    struct trace *trace;
    uint64_t last, step;
    unsigned shift;
    uint32_t chunk;
    bool any;
};

/* Adds a node; false: none of the trace, or no memory. */
static bool add_node(struct restored *r, uint64_t insn)
{
    if (insn >= trace_insns(r->trace) || (r->any && insn <= r->last))
        return false;
    r->any = true;
    r->last = insn;
    while (r->slice->first[r->chunk + 1] <= insn)
        r->chunk++;
    uint64_t first = r->slice->first[r->chunk];
    return slice_add(r->slice, r->chunk, (uint32_t)(insn - first),
                     (uint32_t)(r->slice->first[r->chunk + 1] - first)) >= 0;
}

static bool take_nodes(struct restored *r, const uint8_t *at, size_t bytes)
{
    for (; bytes; at++, bytes--) {
        if (r->shift > 63)
            return false;
        r->step |= (uint64_t)(*at & 0x7f) << r->shift;
        r->shift += 7;
        if (*at & 0x80)
            continue;
        if (!add_node(r, r->last + r->step))
            return false;
        r->step = r->shift = 0;
    }
    return true;
}

struct slice *saved_slice(struct study *s, const char *name, const struct saved *saved,
                          struct err *err)
{
    struct span span;
    struct chunk chunk;
    struct packer packer = {0};
    struct restored r = {.trace = s->trace};
    char *path;
    int more = -1;
    const char *made = pinball_head_get(s->pinball, "relog_made");
    const bool carried = made && !strcmp(saved->about, made);
    if (!carried && strcmp(saved->about, trace_about(s->trace)) != 0) {
        err_set(err, "%s: is not a slice of this recording", name);
        return NULL;
    }
    /* A slice of nothing: the slicer then knows of the trace what edges.h needs to know. */
    struct slice *nothing = slice_backward(s->index, NULL, 0, &saved->options, err);
    slice_free(nothing);
    if (!nothing || open_file(pinball_path(s->pinball), name, &span, &path, &chunk, err))
        return NULL;
    r.slice = slice_new(s->trace);
    uint8_t *data = malloc(CHUNK_MAX_BYTES);
    if (!r.slice || !data) {
        err_set(err, "no memory");
        goto done;
    }
    r.slice->figures.pairs = saved->pairs;
    r.slice->closed = saved->kind == SLICE_BACKWARD;
    uint64_t at = chunk_next(0, &chunk), n = 1;
    while ((more = chunk_read(&span, at, (struct chunk_want){CHUNK_SLICE, n++}, &chunk, err)) ==
           1) {
        if (chunk_unpack(&span, at, &chunk, data, &packer, err) ||
            (!take_nodes(&r, data, chunk.raw) && err_set(err, "%s: damaged", path))) {
            more = -1;
            break;
        }
        at = chunk_next(at, &chunk);
    }
    if (!more && carried && saved->total != trace_insns(s->trace))
        more = err_set(err, "%s: does not fit the trace of this recording", path);
    if (!more && slice_count(r.slice) != saved->nodes)
        more = err_set(err, "%s: something is missing", path);
done:
    chunk_deinit_packer(&packer);
    free(data);
    close(span.fd);
    free(path);
    if (!more)
        return r.slice;
    slice_free(r.slice);
    return NULL;
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **saved_names(const char *dir, size_t *count, struct err *err)
{
    struct err unused;
    struct dirent *e;
    char **list = malloc(sizeof *list);
    *count = 0;
    if (!list) {
        err_set(err, "no memory");
        return NULL;
    }
    int folder = open_folder(dir, false);
    DIR *d = folder < 0 ? NULL : fdopendir(folder);
    while (d && (e = readdir(d))) {
        size_t n = strlen(e->d_name);
        if (check_name(e->d_name, &unused) || (n > 5 && strcmp(e->d_name + n - 5, ".part") == 0))
            continue;
        char *name = strdup(e->d_name);
        if (!name || array_append(&list, count, name)) {
            free(name);
            break;
        }
    }
    if (d)
        closedir(d);
    qsort(list, *count, sizeof *list, by_name);
    return list;
}

void saved_free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

int saved_delete(const char *dir, const char *name, struct err *err)
{
    if (check_name(name, err))
        return -1;
    int folder = open_folder(dir, false);
    int bad =
        folder < 0 || unlinkat(folder, name, 0)
            ? err_set_code(err, errno, "%s: %s", name,
                           errno == ENOENT ? "no slice of this name is kept" : beneath_error(errno))
            : 0;
    if (folder >= 0)
        close(folder);
    return bad;
}
