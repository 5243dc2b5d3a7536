/* replay.c - replay a pinball: the supervisor's side. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/replay.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/host/link.h"
#include "engine/start/boot.h"
#include "pinball/pinball.h"
#include "pinball/records.h"
#include "replayer/cpu.h"
#include "replayer/probes.h"
#include "replayer/replay_int.h"
#include "replayer/replay_private.h"
#include "replayer/warden.h"

enum { PAGE = 4096 };

struct layout {
    uint64_t base, bytes, reserved;
};

static int check_layout(const struct pinball *p, const struct layout *l, struct err *err)
{
    if (l->base % PAGE || l->reserved % PAGE || l->base >> 47 || l->reserved > l->base ||
        l->base < 64 << 20 || l->base - l->reserved > 1ull << 32 || l->bytes >> 32)
        return err_set(err, "%s: no such address space", pinball_path(p));
    return 0;
}

/* The first record says where the runtime was. */
static int get_layout(struct pinball *p, struct layout *l, struct err *err)
{
    uint64_t bytes = 0, records;
    struct record_image im = {.base = 0};
    if (!pinball_chunks(p) && pinball_missing(p))
        return err_set(err,
                       "%s: holds nothing: %s, which the program begins with, could not be kept",
                       pinball_path(p), pinball_missing(p)->path);
    if (!pinball_chunks(p))
        return err_set(err, "%s: holds nothing", pinball_path(p));
    pinball_chunk_info(p, 0, &bytes, &records);
    uint8_t *chunk = malloc(bytes ? bytes : 1);
    int result = chunk ? pinball_read_chunk(p, 0, chunk, bytes, err) : err_set(err, "no memory");
    const struct record *first =
        result ? NULL : records_skip(records_first(chunk, bytes), chunk + bytes);
    if (first && first->bytes >= sizeof im)
        memcpy(&im, first, sizeof im);
    free(chunk);
    if (result)
        return -1;
    if (im.r.kind != RECORD_IMAGE)
        return err_set(err, "%s: does not begin with a program", pinball_path(p));
    *l = (struct layout){im.base, im.bytes, im.reserved};
    return check_layout(p, l, err);
}

/* ---- making the process ---- */

enum { ENTER_FILES, ENTER_BOX, ENTER_SWITCH, ENTER_ALL }; /* its descriptors */
extern const uint8_t enter_code[], enter_words[], enter_end[];

/* Memory that does not lie where the runtime will. */
static void *place(uint64_t bytes, const struct layout *l)
{
    for (int tries = 0; tries < 64; tries++) {
        void *hint = tries ? (void *)(l->reserved - ((uint64_t)tries << 28)) : NULL;
        void *p = mmap(hint, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
        if (p == MAP_FAILED)
            break;
        if ((uint64_t)p + bytes <= l->reserved || (uint64_t)p >= l->base + bytes + (64 << 20))
            return p;
        munmap(p, bytes);
    }
    _exit(1);
}

/* The kernel must not look for what libc told it of: that memory will be gone. */
static void forget_libc(void)
{
    enum { UNREGISTER = 1, LEAST_BYTES = 32 };
    if (__rseq_size)
        syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset,
                __rseq_size < LEAST_BYTES ? LEAST_BYTES : __rseq_size, UNREGISTER, RSEQ_SIG);
    syscall(SYS_set_robust_list, NULL, 24);
    syscall(SYS_set_tid_address, NULL);
}

/* In the new process: puts the runtime at its place, whatever of ours lies there, and enters it. */
_Noreturn static void enter(const struct layout *l, const struct image *im, const char *options,
                            const int fd[ENTER_ALL])
{
    int high[ENTER_ALL];
    const uint64_t bytes = im->image_bytes + BOOT_STACK;
    const uint64_t box = (l->base - inbox_bytes()) & ~(uint64_t)(PAGE - 1);
    uint8_t *copy = place(bytes, l), *page = place(PAGE, l);
    for (int i = 0; i < IMAGE_PARTS; i++)
        memcpy(copy + im->part[i].at, im->part[i].from, im->part[i].bytes);
    struct boot *b = inject_relocate(copy, im, l->base);
    b->bytes = bytes;
    b->mailbox = box;
    b->wrfsbase = (getauxval(AT_HWCAP2) & 2) != 0;
    if (options)
        snprintf(b->options, sizeof b->options, "%s", options);
    const uint64_t words[8] = {
        (uint64_t)copy,     bytes, l->base, box, inbox_bytes(), ENTER_BOX, l->base + bytes - 8,
        l->base + im->entry};
    memcpy(page, enter_code, (size_t)(enter_end - enter_code));
    memcpy(page + (enter_words - enter_code), words, sizeof words);
    forget_libc();
    for (int i = 0; i < ENTER_ALL; i++)
        high[i] = fcntl(fd[i], F_DUPFD, ENTER_ALL);
    for (int i = 0; i < ENTER_ALL; i++)
        if (dup2(high[i], i) != i)
            _exit(1);
    syscall(SYS_close_range, ENTER_ALL, ~0u, 0);
    ((void (*)(void))page)();
    _exit(1);
}

struct entry {
    const struct replay *replay;
    const struct layout *layout;
    const struct image *image;
    int files_fd;
};

static void enter_new(void *arg, int switch_fd)
{
    const struct entry *e = arg;
    const int fd[ENTER_ALL] = {e->files_fd, inbox_fd(e->replay->inbox), switch_fd};
    enter(e->layout, e->image, e->replay->options.engine, fd);
}

static int start_process(struct replay *r, const struct layout *l, struct err *err)
{
    int read_only;
    char link[64];
    struct image *im = link_image(err);
    if (!im)
        return -1;
    if (!(r->inbox = inbox_new(r->options.copies, err))) {
        link_free(im);
        return -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", replay_files_fd(r->files));
    read_only = open(link, O_RDONLY | O_CLOEXEC);
    inbox_set(r->inbox,
              &(struct inbox_settings){.reserved_bytes = l->base - inbox_bytes() - l->reserved,
                                       .files_fd = ENTER_FILES,
                                       .box_fd = r->options.copies ? ENTER_BOX : 0,
                                       .chunk = r->stop.chunk,
                                       .offset = r->stop.offset,
                                       .records = r->stop.what.at.events,
                                       .ticks = r->stop.what.ticks,
                                       .leads_to = r->stop.leads_to});
    struct entry e = {r, l, im, read_only};
    r->ward = read_only < 0 ? NULL : warden_start(enter_new, &e, err);
    if (read_only < 0)
        err_set(err, "memory for the replay: %m");
    else
        close(read_only);
    link_free(im);
    return r->ward ? 0 : -1;
}

/* ---- its end ---- */

bool replay_gone(struct replay *r)
{
    r->over = r->over || warden_gone(r->ward);
    return r->over;
}

/* ---- the interface ---- */

int replay_take_stop(struct replay *r, struct replay_stop *out, struct err *err)
{
    const struct mailbox_stop *s = &r->stop;
    const struct position at = {
        .thread = s->what.at.thread, .count = s->what.at.count, .pc = s->what.at.pc};
    char where[POSITION_TEXT];
    const bool end = s->what.reason == STOP_END;
    if (out)
        *out = (struct replay_stop){.why = (enum stop_kind)s->what.reason,
                                    .at = at,
                                    .reason = end ? s->end : 0,
                                    .status = end ? s->status : 0,
                                    .ticks = s->what.ticks,
                                    .events = s->what.at.events};
    position_format(&at, where);
    switch (s->what.reason) {
    case STOP_DIVERGED:
        return err_set_code(err, REPLAY_DIVERGED, "%s: the replay diverged at %s (event %llu): %s",
                            pinball_path(r->pinball), where, (unsigned long long)s->what.at.events,
                            s->text);
    case STOP_FAILED:
        return err_set(err, "%s: cannot be replayed: %s", pinball_path(r->pinball), s->text);
    default:
        return 0;
    }
}

/* Has it stopped for one of the reasons it was given? */
static int check_reason(const struct replay *r, uint32_t reasons, struct err *err)
{
    return reasons >> r->stop.what.reason & 1
               ? 0
               : err_set(err, "the replaying process talks nonsense: a stop that nobody asked for");
}

/* A process for the program whose image is at r->stop.chunk, r->stop.offset. */
static int start(struct replay *r, const struct layout *l, struct err *err)
{
    r->over = false;
    r->begun_chunk = r->stop.chunk;
    r->begun_offset = r->stop.offset;
    if (start_process(r, l, err) || replay_serve(r, TELL_STOP, err) ||
        replay_take_stop(r, NULL, err))
        return -1;
    return check_reason(r, 1u << STOP_BEGIN, err);
}

struct replay *replay_new(struct pinball *pinball, const struct replay_options *options,
                          struct err *err)
{
    struct layout l = {0};
    if (get_layout(pinball, &l, err) || cpu_check(pinball, err))
        return NULL;
    struct replay *r = calloc(1, sizeof *r);
    if (!r) {
        err_set(err, "no memory");
        return NULL;
    }
    r->pinball = pinball;
    r->options = *options;
    r->stop.leads_to[1] = 1;
    r->stop.leads_to[2] = 2;
    if (!(r->files = replay_files_new(err)) || start(r, &l, err)) {
        replay_free(r);
        return NULL;
    }
    return r;
}

static void end_process(struct replay *r)
{
    warden_end(r->ward);
    inbox_free(r->inbox);
    r->inbox = NULL;
    r->ward = NULL;
    r->over = true;
}

void replay_free(struct replay *r)
{
    if (!r)
        return;
    end_process(r);
    replay_files_leave(r->files);
    free(r);
}

static int set_tool(struct replay *r, const char *name, struct err *err)
{
    char text[sizeof r->tool] = "";
    const struct inbox_order order = {
        .what = DO_TOOL, .arg = {name != NULL}, .data = text, .bytes = sizeof text};
    bool known;
    snprintf(text, sizeof text, "%s", name ? name : "");
    if (replay_command(r, &order, err) || inbox_done(r->inbox, &known, err))
        return -1;
    return known ? 0 : err_set(err, "tool %s: unknown", name);
}

static int send_probes(struct replay *r, struct err *err)
{
    size_t bytes, room = inbox_room();
    const uint8_t *list = probes_packed(r->probes, &bytes);
    bool taken = true;
    for (size_t at = 0; at < bytes && taken; at += room) {
        const size_t n = bytes - at < room ? bytes - at : room;
        const struct inbox_order order = {
            .what = DO_PROBES, .arg = {at, bytes}, .data = list + at, .bytes = n};
        if (replay_command(r, &order, err) || inbox_done(r->inbox, &taken, err))
            return -1;
    }
    return taken ? 0 : err_set(err, "too many probes: the replayed program has no room for them");
}

static int set_tool_again(struct replay *r, struct err *err)
{
    if (r->probes && send_probes(r, err))
        return -1;
    return r->tool[0] ? set_tool(r, r->tool, err) : 0;
}

/* A program's successor is farther on in the log: so there is an end to them. */
static int check_next(const struct replay *r, struct err *err)
{
    bool later = r->stop.chunk > r->begun_chunk ||
                 (r->stop.chunk == r->begun_chunk && r->stop.offset > r->begun_offset);
    return later ? 0 : err_set(err, "the replaying process talks nonsense: a program met before");
}

/* The program executed another one: that runs in a process of its own. */
static int next_program(struct replay *r, struct err *err)
{
    struct layout l = {r->stop.base, r->stop.bytes, r->stop.reserved};
    struct replay next = *r;
    if (check_next(r, err))
        return -1;
    if (r->tool[0] && set_tool(r, NULL, err)) /* its last word, of this program */
        return -1;
    next.inbox = NULL;
    next.ward = NULL;
    if (check_layout(r->pinball, &l, err) || start(&next, &l, err)) {
        end_process(&next);
        return -1;
    }
    end_process(r);
    *r = next;
    return set_tool_again(r, err);
}

/* Runs until something that is not ours to deal with. */
int replay_go(struct replay *r, const struct mailbox_run *how, struct err *err)
{
    const struct inbox_order order = {.what = DO_RUN, .data = how, .bytes = sizeof *how};
    inbox_pause(r->inbox, false); /* it may have stopped while it was being asked to */
    return replay_command(r, &order, err);
}

int replay_exec(struct replay *r, struct err *err)
{
    return next_program(r, err);
}

const struct mailbox_stop *replay_stopped(const struct replay *r)
{
    return &r->stop;
}

int replay_failure(struct replay *r, struct err *err)
{
    return replay_take_stop(r, NULL, err);
}

int replay_goal(const struct position *at, struct mailbox_moment *goal, struct err *err)
{
    *goal = (struct mailbox_moment){.thread = 0};
    if (!at)
        return 0;
    *goal = (struct mailbox_moment){.events = ANY_EVENTS,
                                    .count = at->count,
                                    .pc = at->pc,
                                    .thread = at->thread,
                                    .stage = STAGE_BEFORE};
    return position_check(at, err);
}

int replay_run(struct replay *r, const struct position *until, struct replay_stop *stop,
               struct err *err)
{
    struct mailbox_run how = {.flags = (r->options.verify ? RUN_VERIFY : 0) |
                                       (r->options.output ? RUN_OUTPUT : 0) | r->options.tell};
    if (replay_goal(until, &how.goal, err))
        return -1;
    int result = replay_go(r, &how, err);
    while (!result && r->stop.what.reason == STOP_EXEC)
        result = next_program(r, err) || replay_go(r, &how, err);
    if (result || replay_take_stop(r, stop, err))
        return -1;
    return check_reason(r,
                        1u << STOP_POSITION | 1u << STOP_END | 1u << STOP_LOG_END |
                            (r->options.pause ? 1u << STOP_PAUSED : 0),
                        err);
}

pid_t replay_pid(const struct replay *r)
{
    return warden_pid(r->ward);
}

int replay_tool(struct replay *r, const char *name, struct err *err)
{
    if (set_tool(r, name, err))
        return -1;
    snprintf(r->tool, sizeof r->tool, "%s", name ? name : "");
    return 0;
}

int replay_probe(struct replay *r, const struct probes *probes, struct err *err)
{
    r->probes = probes;
    return send_probes(r, err) ? -1 : replay_tool(r, "probes", err);
}

/* The process that made the copy names it; the warden checks that. */
static int make_copy(struct replay *r, struct replay *c, struct err *err)
{
    const struct inbox_order order = {.what = DO_COPY, .arg = {inbox_number(c->inbox)}};
    struct err again;
    warden_expect();
    if (replay_command(r, &order, err)) {
        warden_adopt(r->ward, -ECHILD, &again);
        return -1;
    }
    c->ward = warden_adopt(r->ward, (pid_t)(int64_t)inbox_result(r->inbox, 0), err);
    return c->ward ? 0 : -1;
}

struct replay *replay_copy(struct replay *r, struct err *err)
{
    struct replay *c = r->options.copies ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        err_set(err, r->options.copies ? "no memory" : "no copies of this replay can be made");
        return NULL;
    }
    *c = *r;
    c->ward = NULL;
    replay_files_join(c->files);
    if (!(c->inbox = inbox_beside(r->inbox, err)))
        goto fail;
    inbox_set(c->inbox, &(struct inbox_settings){.files_fd = ENTER_FILES, .box_fd = ENTER_BOX});
    if (!make_copy(r, c, err) && !replay_serve(c, TELL_DONE, err))
        return c;
fail:
    replay_free(c);
    return NULL;
}
