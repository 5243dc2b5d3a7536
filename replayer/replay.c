/* replay.c - replay a pinball: the supervisor's side. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/replay.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/host/link.h"
#include "engine/os/boot.h"
#include "pinball/pinball.h"
#include "pinball/record.h"
#include "replayer/cpu.h"
#include "replayer/mailbox.h"
#include "replayer/replay_private.h"

enum { FILES_MAX = 65536, PAGE = 4096, PIECE = 1 << 20 };

/* All kept files, one after the other; filled as they are asked for. Shared by all replays that
 * come from one replay_new(). */
struct files {
    int fd;
    unsigned users;
    uint64_t end;
    uint64_t *at; /* offset plus one */
};

/* The mailboxes of a process and its copies: a descriptor that all of them have. */
struct boxes {
    int fd;
    unsigned users;
    uint8_t used[MAILBOXES];
};

struct replay {
    struct pinball *pinball;
    struct replay_options options;
    struct files *files;
    struct boxes *boxes;
    unsigned slot; /* of its mailbox */
    struct mailbox *box;
    pid_t pid;
    int pid_fd;
    struct mailbox_stop stop;
    char tool[32]; /* that is on; "": none */
    bool over;     /* the process is gone */
};

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
    if (!pinball_chunks(p))
        return err_set(err, "%s: holds nothing", pinball_path(p));
    pinball_chunk_info(p, 0, &bytes, &records);
    uint8_t *chunk = malloc(bytes ? bytes : 1);
    int result = chunk ? pinball_read_chunk(p, 0, chunk, bytes, err) : err_set(err, "no memory");
    if (!result && bytes >= sizeof im)
        memcpy(&im, chunk, sizeof im);
    free(chunk);
    if (result)
        return -1;
    if (im.r.kind != RECORD_IMAGE)
        return err_set(err, "%s: does not begin with a program", pinball_path(p));
    *l = (struct layout){im.base, im.bytes, im.reserved};
    return check_layout(p, l, err);
}

/* ---- what processes share ---- */

static struct files *files_new(struct err *err)
{
    struct files *f = calloc(1, sizeof *f);
    if (!f || !(f->at = calloc(FILES_MAX, sizeof *f->at)) ||
        (f->fd = memfd_create("files", MFD_CLOEXEC)) < 0) {
        err_set(err, "memory for the replay: %m");
        if (f)
            free(f->at);
        free(f);
        return NULL;
    }
    f->users = 1;
    return f;
}

static void files_leave(struct files *f)
{
    if (!f || --f->users)
        return;
    close(f->fd);
    free(f->at);
    free(f);
}

static struct boxes *boxes_new(unsigned count, struct err *err)
{
    const off_t bytes = (off_t)sizeof(struct mailbox) * count;
    struct boxes *b = calloc(1, sizeof *b);
    if (!b) {
        err_set(err, "no memory");
        return NULL;
    }
    b->users = 1;
    b->used[0] = 1;
    b->fd = memfd_create("mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (b->fd < 0 || ftruncate(b->fd, bytes) < 0 ||
        fcntl(b->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        err_set(err, "memory for the replay: %m");
        if (b->fd >= 0)
            close(b->fd);
        free(b);
        return NULL;
    }
    return b;
}

/* A mailbox that nobody uses any more; its memory is given back. */
static void boxes_leave(struct boxes *b, unsigned slot)
{
    if (!b)
        return;
    b->used[slot] = 0;
    fallocate(b->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)(slot * sizeof(struct mailbox)), sizeof(struct mailbox));
    if (--b->users)
        return;
    close(b->fd);
    free(b);
}

static int map_box(struct replay *r, struct err *err)
{
    void *p = mmap(NULL, sizeof *r->box, PROT_READ | PROT_WRITE, MAP_SHARED, r->boxes->fd,
                   (off_t)(r->slot * sizeof *r->box));
    if (p == MAP_FAILED)
        return err_set(err, "memory for the replay: %m");
    r->box = p;
    r->box->supervisor = (uint32_t)getpid();
    return 0;
}

/* ---- making the process ---- */

enum { ENTER_FILES = 0, ENTER_BOX = 1 }; /* its descriptors */
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
                            int box_fd, int files_fd)
{
    const uint64_t bytes = im->image_bytes + BOOT_STACK;
    const uint64_t box = (l->base - sizeof(struct mailbox)) & ~(uint64_t)(PAGE - 1);
    uint8_t *copy = place(bytes, l), *page = place(PAGE, l);
    for (int i = 0; i < IMAGE_PARTS; i++)
        memcpy(copy + im->part[i].at, im->part[i].from, im->part[i].bytes);
    struct boot *b = inject_relocate(copy, im, l->base);
    b->bytes = bytes;
    b->mailbox = box;
    b->wrfsbase = (getauxval(AT_HWCAP2) & 2) != 0;
    if (options)
        snprintf(b->options, sizeof b->options, "%s", options);
    const uint64_t words[8] = {(uint64_t)copy,
                               bytes,
                               l->base,
                               box,
                               sizeof(struct mailbox),
                               ENTER_BOX,
                               l->base + bytes - 8,
                               l->base + im->entry};
    memcpy(page, enter_code, (size_t)(enter_end - enter_code));
    memcpy(page + (enter_words - enter_code), words, sizeof words);
    forget_libc();
    int high = fcntl(box_fd, F_DUPFD, 10);
    dup2(files_fd, ENTER_FILES);
    dup2(high, ENTER_BOX);
    syscall(SYS_close_range, 2, ~0u, 0);
    ((void (*)(void))page)();
    _exit(1);
}

/* A process id may be somebody else's one day, a descriptor is not. */
static int watch_process(struct replay *r, struct err *err)
{
    r->pid_fd = (int)syscall(SYS_pidfd_open, r->pid, 0);
    if (r->pid_fd < 0) {
        kill(r->pid, SIGKILL);
        return err_set(err, "the replaying process cannot be watched: %m");
    }
    return 0;
}

static int start_process(struct replay *r, const struct layout *l, struct err *err)
{
    int read_only;
    char link[64];
    struct image *im = link_image(err);
    if (!im)
        return -1;
    r->slot = 0;
    r->boxes = boxes_new(r->options.copies ? MAILBOXES : 1, err);
    if (!r->boxes || map_box(r, err)) {
        link_free(im);
        return -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", r->files->fd);
    read_only = open(link, O_RDONLY | O_CLOEXEC);
    r->box->reserved_bytes = l->base - sizeof(struct mailbox) - l->reserved;
    r->box->files_fd = ENTER_FILES;
    r->box->box_fd = r->options.copies ? ENTER_BOX : 0;
    r->box->turn = TURN_TARGET;
    r->box->chunk = r->stop.chunk;
    r->box->offset = r->stop.offset;
    r->box->records = r->stop.what.at.events;
    r->box->ticks = r->stop.what.ticks;
    memcpy(r->box->leads_to, r->stop.leads_to, sizeof r->box->leads_to);
    pid_t self = getpid();
    r->pid = fork();
    if (r->pid == 0) {
        const struct rlimit none = {0, 0};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self)
            _exit(1);
        setrlimit(RLIMIT_CORE, &none);
        enter(l, im, r->options.engine, r->boxes->fd, read_only);
    }
    close(read_only);
    link_free(im);
    if (r->pid < 0)
        return err_set(err, "fork: %m");
    return watch_process(r, err);
}

/* ---- the conversation ---- */

bool replay_gone(struct replay *r)
{
    struct pollfd p = {.fd = r->pid_fd, .events = POLLIN};
    r->over = r->over || (poll(&p, 1, 0) == 1 && p.revents);
    return r->over;
}

/* How it ended is known of processes that we have made ourselves, or inherited. */
static int tell_end(struct replay *r, struct err *err)
{
    siginfo_t how = {.si_pid = 0};
    if (waitid(P_PIDFD, (id_t)r->pid_fd, &how, WEXITED | WNOHANG) || !how.si_pid)
        return err_set_code(err, REPLAY_GONE, "the replaying process has ended");
    if (how.si_code == CLD_EXITED)
        return err_set_code(err, REPLAY_GONE, "the replaying process ended with status %d",
                            how.si_status);
    if (how.si_status == SIGSYS)
        return err_set(err, "the replayed program tried to leave its confinement; it was stopped");
    return err_set_code(err, REPLAY_GONE, "the replaying process ended by signal %d",
                        how.si_status);
}

/* Waits until it is our turn. */
static int wait_turn(struct replay *r, struct err *err)
{
    for (int spins = 0; __atomic_load_n(&r->box->turn, __ATOMIC_ACQUIRE) != TURN_HOST; spins++) {
        if (spins < 200) {
            __builtin_ia32_pause();
            continue;
        }
        struct timespec wait = {0, 20000000};
        syscall(SYS_futex, &r->box->turn, FUTEX_WAIT, TURN_TARGET, &wait, NULL, 0);
        if (r->options.pause && r->options.pause(r->options.arg))
            __atomic_store_n(&r->box->pause, 1, __ATOMIC_RELAXED);
        if (__atomic_load_n(&r->box->turn, __ATOMIC_ACQUIRE) != TURN_HOST && replay_gone(r))
            return tell_end(r, err);
    }
    return 0;
}

static void give_turn(struct replay *r)
{
    __atomic_store_n(&r->box->turn, TURN_TARGET, __ATOMIC_RELEASE);
    syscall(SYS_futex, &r->box->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int give_chunk(struct replay *r, struct err *err)
{
    uint64_t number = r->box->arg[0], bytes, records;
    r->box->arg[0] = 0;
    if (number >= pinball_chunks(r->pinball))
        return 0;
    pinball_chunk_info(r->pinball, number, &bytes, &records);
    if (pinball_read_chunk(r->pinball, number, r->box->data, sizeof r->box->data, err))
        return -1;
    r->box->arg[0] = bytes;
    return 0;
}

static int fill_file(struct replay *r, const struct kept_file *f, uint64_t at, struct err *err)
{
    uint8_t *buf = malloc(PIECE);
    int result = buf ? 0 : err_set(err, "no memory");
    for (size_t i = 0; i < f->ranges && !result; i++)
        for (uint64_t done = 0; done < f->range[i].bytes && !result;) {
            uint64_t left = f->range[i].bytes - done, off = f->range[i].offset + done;
            size_t n = left < PIECE ? (size_t)left : PIECE;
            result = pinball_file_read(r->pinball, f->number, off, buf, n, err);
            if (!result && pwrite(r->files->fd, buf, n, (off_t)(at + off)) != (ssize_t)n)
                result = err_set(err, "memory for %s: %m", f->path);
            done += n;
        }
    free(buf);
    return result;
}

static int give_file(struct replay *r, struct err *err)
{
    uint64_t number = r->box->arg[0];
    const struct kept_file *f =
        number < pinball_files(r->pinball) ? pinball_file(r->pinball, (uint32_t)number) : NULL;
    r->box->arg[1] = 0;
    if (!f || number >= FILES_MAX)
        return 0;
    if (!r->files->at[number]) {
        uint64_t at = r->files->end, bytes = (f->size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        if (f->size > 1ull << 42 || ftruncate(r->files->fd, (off_t)(at + bytes)))
            return err_set(err, "memory for %s: %m", f->path);
        if (fill_file(r, f, at, err))
            return -1;
        r->files->at[number] = at + 1;
        r->files->end = at + bytes;
    }
    r->box->arg[0] = r->files->at[number] - 1;
    r->box->arg[1] = 1;
    return 0;
}

static void take_message(struct replay *r)
{
    char line[1024];
    uint64_t n = r->box->arg[1] < sizeof line ? r->box->arg[1] : sizeof line - 1;
    if (!r->options.message)
        return;
    memcpy(line, r->box->data, n);
    line[n] = 0;
    r->options.message(r->options.arg, line);
}

/* Entries as the process wrote them: nothing of it is believed. */
static void take_journal(struct replay *r)
{
    uint64_t end = r->box->arg[1] < PIECE ? r->box->arg[1] : PIECE;
    struct mailbox_entry e;
    for (uint64_t at = 0; end - at >= sizeof e;) {
        memcpy(&e, r->box->data + at, sizeof e);
        at += sizeof e;
        if (e.text_bytes > end - at)
            return;
        bool new = !r->options.entry || r->options.entry(r->options.arg, &e, r->box->data + at);
        if (new &&e.kind == ENTRY_OUTPUT && r->options.output && (e.a == 1 || e.a == 2))
            r->options.output(r->options.arg, (int)e.a, r->box->data + at, e.text_bytes);
        at += (e.text_bytes + 7ull) & ~7ull;
    }
}

static int take_flow(struct replay *r, struct err *err)
{
    uint64_t words = r->box->arg[0], notes = r->box->arg[1];
    if (words > sizeof r->box->flow_words || notes > sizeof r->box->flow_notes || words % 8)
        return err_set(err, "the replaying process talks nonsense");
    if (!r->options.flow)
        return 0;
    return r->options.flow(r->options.arg, r->box->flow_words, words, r->box->flow_notes, notes,
                           err);
}

/* Serves the process until it stops or has done what it was told. */
static int serve(struct replay *r, struct err *err)
{
    for (;; give_turn(r)) {
        if (wait_turn(r, err))
            return -1;
        switch (r->box->op) {
        case ASK_CHUNK:
            if (give_chunk(r, err))
                return -1;
            break;
        case ASK_FILE:
            if (give_file(r, err))
                return -1;
            break;
        case TELL_JOURNAL:
            take_journal(r);
            break;
        case TELL_MESSAGE:
            take_message(r);
            break;
        case TELL_FLOW:
            if (take_flow(r, err))
                return -1;
            break;
        case TELL_STOP:
            memcpy(&r->stop, r->box->data, sizeof r->stop);
            r->stop.text[sizeof r->stop.text - 1] = 0;
            return 0;
        case TELL_DONE:
            return 0;
        default:
            return err_set(err, "the replaying process talks nonsense");
        }
    }
}

static int command(struct replay *r, enum mailbox_command op, struct err *err)
{
    if (r->over)
        return err_set_code(err, REPLAY_GONE, "the replaying process is gone");
    r->box->op = op;
    give_turn(r);
    return serve(r, err);
}

/* ---- the interface ---- */

static int take_stop(struct replay *r, struct replay_stop *out, struct err *err)
{
    const struct mailbox_stop *s = &r->stop;
    const struct position at = {s->what.at.thread, s->what.at.count, s->what.at.pc};
    char where[POSITION_TEXT];
    if (out)
        *out = (struct replay_stop){.at = at, .ticks = s->what.ticks, .events = s->what.at.events};
    position_format(&at, where);
    switch (s->what.reason) {
    case STOP_START:
        if (out)
            out->why = REPLAY_AT_START;
        return 0;
    case STOP_POSITION:
        if (out)
            out->why = REPLAY_AT_POSITION;
        return 0;
    case STOP_END:
        if (out) {
            out->why = REPLAY_AT_END;
            out->reason = s->end;
            out->status = s->status;
        }
        return 0;
    case STOP_LOG_ENDS:
        if (out)
            out->why = REPLAY_AT_LOG_END;
        return 0;
    case STOP_DIVERGED:
        return err_set_code(err, REPLAY_DIVERGED, "%s: the replay diverged at %s (event %llu): %s",
                            pinball_path(r->pinball), where, (unsigned long long)s->what.at.events,
                            s->text);
    case STOP_FAILED:
        return err_set(err, "%s: cannot be replayed: %s", pinball_path(r->pinball), s->text);
    default: /* those that only a timeline asks for */
        return 0;
    }
}

/* A process for the program whose image is at r->stop.chunk, r->stop.offset. */
static int start(struct replay *r, const struct layout *l, struct err *err)
{
    r->over = false;
    return start_process(r, l, err) || serve(r, err) || take_stop(r, NULL, err) ? -1 : 0;
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
    r->pid_fd = -1;
    r->stop.leads_to[1] = 1;
    r->stop.leads_to[2] = 2;
    if (options->copies) /* a copy is inherited when the one it was made from ends */
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!(r->files = files_new(err)) || start(r, &l, err)) {
        replay_free(r);
        return NULL;
    }
    return r;
}

static void end_process(struct replay *r)
{
    if (r->pid > 0 && r->pid_fd >= 0) {
        if (!r->over)
            syscall(SYS_pidfd_send_signal, r->pid_fd, SIGKILL, NULL, 0);
        waitid(P_PIDFD, (id_t)r->pid_fd, NULL, WEXITED); /* at once for one that is not our child */
        close(r->pid_fd);
    }
    if (r->box)
        munmap(r->box, sizeof *r->box);
    boxes_leave(r->boxes, r->slot);
    r->box = NULL;
    r->boxes = NULL;
    r->pid_fd = -1;
    r->over = true;
}

void replay_free(struct replay *r)
{
    if (!r)
        return;
    end_process(r);
    files_leave(r->files);
    free(r);
}

static int set_tool(struct replay *r, const char *name, struct err *err)
{
    r->box->arg[0] = name != NULL;
    snprintf((char *)r->box->data, sizeof r->tool, "%s", name ? name : "");
    if (command(r, DO_TOOL, err))
        return -1;
    return r->box->arg[0] ? 0 : err_set(err, "tool %s: unknown", name);
}

/* The program executed another one: that runs in a process of its own. */
static int next_program(struct replay *r, struct err *err)
{
    struct layout l = {r->stop.base, r->stop.bytes, r->stop.reserved};
    struct replay next = *r;
    if (r->tool[0] && set_tool(r, NULL, err)) /* its last word, of this program */
        return -1;
    next.box = NULL;
    next.boxes = NULL;
    next.pid = 0;
    next.pid_fd = -1;
    if (check_layout(r->pinball, &l, err) || start(&next, &l, err)) {
        end_process(&next);
        return -1;
    }
    end_process(r);
    *r = next;
    return r->tool[0] ? set_tool(r, r->tool, err) : 0;
}

/* Runs until something that is not ours to deal with. */
int replay_go(struct replay *r, const struct mailbox_run *how, struct err *err)
{
    memcpy(r->box->data, how, sizeof *how);
    r->box->pause = 0; /* it may have stopped while it was being asked to */
    return command(r, DO_RUN, err);
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
    return take_stop(r, NULL, err);
}

int replay_run(struct replay *r, const struct position *until, struct replay_stop *stop,
               struct err *err)
{
    struct mailbox_run how = {.flags = (r->options.verify ? RUN_VERIFY : 0) |
                                       (r->options.output ? RUN_OUTPUT : 0)};
    if (until)
        how.goal = (struct mailbox_moment){.events = ANY_EVENTS,
                                           .count = until->count,
                                           .pc = until->pc,
                                           .thread = until->thread,
                                           .stage = STAGE_BEFORE};
    int result = replay_go(r, &how, err);
    while (!result && r->stop.what.reason == STOP_EXEC)
        result = next_program(r, err) || replay_go(r, &how, err);
    return result ? -1 : take_stop(r, stop, err);
}

int replay_set_stops(struct replay *r, const void *stops, size_t bytes, struct err *err)
{
    if (bytes > sizeof r->box->data)
        return err_set(err, "too many breakpoints");
    memcpy(r->box->data, stops, bytes);
    if (command(r, DO_STOPS, err))
        return -1;
    return r->box->arg[0] ? 0 : err_set(err, "too many breakpoints");
}

int replay_trail(struct replay *r, struct mailbox_moment *out, size_t *count, struct err *err)
{
    if (command(r, DO_TRAIL, err))
        return -1;
    *count = r->box->arg[0] < MAILBOX_TRAIL ? (size_t)r->box->arg[0] : MAILBOX_TRAIL;
    memcpy(out, r->box->data, *count * sizeof *out);
    return 0;
}

int replay_divert(struct replay *r, struct err *err)
{
    return command(r, DO_DIVERT, err);
}

int replay_set_registers(struct replay *r, uint32_t thread, const struct replay_registers *regs,
                         struct err *err)
{
    struct mailbox_registers *m = (struct mailbox_registers *)r->box->data;
    memcpy(m->gpr, regs->gpr, sizeof m->gpr);
    m->rip = regs->rip;
    m->rflags = regs->rflags;
    m->xsave_bytes = (uint32_t)regs->xsave_bytes;
    memcpy(m->xsave, regs->xsave, sizeof m->xsave);
    r->box->arg[0] = thread;
    if (command(r, DO_SET, err))
        return -1;
    return r->box->arg[0] ? 0 : err_set(err, "thread %u: not there", thread);
}

int replay_registers(struct replay *r, uint32_t thread, struct replay_registers *out,
                     struct err *err)
{
    const struct mailbox_registers *m = (const struct mailbox_registers *)r->box->data;
    r->box->arg[0] = thread;
    if (command(r, DO_REGISTERS, err))
        return -1;
    if (!r->box->arg[0])
        return err_set(err, "thread %u: not there", thread);
    memcpy(out->gpr, m->gpr, sizeof out->gpr);
    out->rip = m->rip;
    out->rflags = m->rflags;
    out->fs_base = m->fs_base;
    out->gs_base = m->gs_base;
    out->count = m->count;
    out->thread = m->thread;
    out->tid = m->tid;
    out->xsave_bytes = m->xsave_bytes <= sizeof out->xsave ? m->xsave_bytes : sizeof out->xsave;
    memcpy(out->xsave, m->xsave, out->xsave_bytes);
    return 0;
}

size_t replay_read(struct replay *r, uint64_t addr, void *out, size_t bytes)
{
    struct err err;
    size_t done = 0;
    while (done < bytes) {
        size_t n = bytes - done < PIECE ? bytes - done : PIECE;
        r->box->arg[0] = addr + done;
        r->box->arg[1] = n;
        if (command(r, DO_READ, &err))
            return done;
        size_t got = r->box->arg[0] < n ? (size_t)r->box->arg[0] : n;
        memcpy((uint8_t *)out + done, r->box->data, got);
        done += got;
        if (got < n)
            break;
    }
    return done;
}

size_t replay_write(struct replay *r, uint64_t addr, const void *bytes, size_t n)
{
    struct err err;
    size_t done = 0;
    while (done < n) {
        size_t piece = n - done < PIECE ? n - done : PIECE;
        memcpy(r->box->data, (const uint8_t *)bytes + done, piece);
        r->box->arg[0] = addr + done;
        r->box->arg[1] = piece;
        if (command(r, DO_WRITE, &err) || r->box->arg[0] < piece)
            break;
        done += piece;
    }
    return done;
}

size_t replay_threads(struct replay *r, struct replay_thread *out, size_t room)
{
    const struct mailbox_thread *list = (const struct mailbox_thread *)r->box->data;
    struct err err;
    if (command(r, DO_THREADS, &err))
        return 0;
    size_t n = r->box->arg[0] < MAILBOX_DATA_BYTES / sizeof *list
                   ? (size_t)r->box->arg[0]
                   : MAILBOX_DATA_BYTES / sizeof *list;
    for (size_t i = 0; i < n && i < room; i++) {
        const struct mailbox_thread *from = &list[n - 1 - i]; /* the newest comes first there */
        out[i].number = from->number;
        out[i].tid = from->tid;
        memcpy(out[i].name, from->name, sizeof out[i].name);
        out[i].name[sizeof out[i].name - 1] = 0;
    }
    return n;
}

int replay_thread_state(struct replay *r, uint32_t thread, struct replay_registers *registers,
                        int *state, struct err *err)
{
    *state = 0;
    if (!replay_registers(r, thread, registers, err))
        return 0;
    if (err->code == REPLAY_GONE || command(r, DO_THREADS, err))
        return -1;
    *state = thread > r->box->arg[1] ? -1 : 1;
    return 0;
}

pid_t replay_pid(const struct replay *r)
{
    return r->pid;
}

size_t replay_maps(struct replay *r, struct replay_map *out, size_t room)
{
    const struct mailbox_map *m = (const struct mailbox_map *)r->box->data;
    struct err err;
    size_t done = 0;
    for (;;) {
        r->box->arg[0] = done;
        if (command(r, DO_MAPS, &err) || !r->box->arg[0] || r->box->arg[0] > 1024)
            return done;
        size_t n = (size_t)r->box->arg[0];
        for (size_t i = 0; i < n; i++, done++)
            if (done < room)
                out[done] = (struct replay_map){.start = m[i].start,
                                                .end = m[i].end,
                                                .prot = (int)m[i].prot,
                                                .shared = m[i].shared != 0,
                                                .file = (int)m[i].file,
                                                .offset = m[i].offset};
    }
}

int replay_tool(struct replay *r, const char *name, struct err *err)
{
    if (set_tool(r, name, err))
        return -1;
    snprintf(r->tool, sizeof r->tool, "%s", name ? name : "");
    return 0;
}

struct replay *replay_copy(struct replay *r, struct err *err)
{
    unsigned slot = 0;
    while (slot < MAILBOXES && r->boxes->used[slot])
        slot++;
    struct replay *c = calloc(1, sizeof *c);
    if (!c || !r->options.copies || slot == MAILBOXES) {
        err_set(err, !c ? "no memory" : "no more copies of this replay can be made");
        free(c);
        return NULL;
    }
    *c = *r;
    c->slot = slot;
    c->box = NULL;
    c->pid = 0;
    c->pid_fd = -1;
    c->boxes->users++;
    c->boxes->used[slot] = 1;
    c->files->users++;
    if (map_box(c, err))
        goto fail;
    c->box->turn = TURN_TARGET; /* it tells us when it is ready */
    c->box->files_fd = r->box->files_fd;
    c->box->box_fd = r->box->box_fd;
    r->box->arg[0] = c->slot;
    if (command(r, DO_COPY, err))
        goto fail;
    c->pid = (pid_t)(int64_t)r->box->arg[0];
    if (c->pid > 0) {
        if (watch_process(c, err) || serve(c, err))
            goto fail;
        if (c->box->op == TELL_DONE)
            return c;
        take_stop(c, NULL, err); /* it failed, and says why */
        goto fail;
    }
    err_set(err, "fork: %s", strerror(-c->pid));
fail:
    replay_free(c);
    return NULL;
}
