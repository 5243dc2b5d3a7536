/* replay.c - replay a pinball: the supervisor's side. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/replay.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
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

enum { FILES_MAX = 65536, PAGE = 4096, PIECE = 1 << 20 };

struct replay {
    struct pinball *pinball;
    struct replay_options options;
    struct mailbox *box;
    pid_t pid;
    int box_fd;            /* all mailboxes: its own is the first, copies have the others */
    unsigned slot, copies; /* its number there; how many copies were made */
    int files_fd;          /* all kept files, one after the other; filled as they are asked for */
    uint64_t files_end;
    uint64_t *file_at; /* offset plus one */
    struct mailbox_stop stop;
    char tool[32]; /* that is on; "": none */
    bool over;     /* the process is gone */
};

/* ---- making the process ---- */

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

static int map_box(struct replay *r, struct err *err)
{
    void *p = mmap(NULL, sizeof *r->box, PROT_READ | PROT_WRITE, MAP_SHARED, r->box_fd,
                   (off_t)(r->slot * sizeof *r->box));
    if (p == MAP_FAILED)
        return err_set(err, "memory for the replay: %m");
    r->box = p;
    return 0;
}

static int make_shared(struct replay *r, struct err *err)
{
    r->box_fd = memfd_create("mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (r->files_fd < 0) {
        r->files_fd = memfd_create("files", MFD_CLOEXEC);
        r->file_at = calloc(FILES_MAX, sizeof *r->file_at);
    }
    const off_t bytes = (off_t)sizeof(struct mailbox) * (r->options.copies ? MAILBOXES : 1);
    if (r->box_fd < 0 || r->files_fd < 0 || !r->file_at || ftruncate(r->box_fd, bytes) < 0 ||
        fcntl(r->box_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return err_set(err, "memory for the replay: %m");
    return map_box(r, err);
}

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

static int start_process(struct replay *r, const struct layout *l, struct err *err)
{
    int read_only;
    char link[64];
    struct image *im = link_image(err);
    if (!im)
        return -1;
    if (make_shared(r, err)) {
        link_free(im);
        return -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", r->files_fd);
    read_only = open(link, O_RDONLY | O_CLOEXEC);
    r->box->reserved_bytes = l->base - sizeof(struct mailbox) - l->reserved;
    r->box->files_fd = ENTER_FILES;
    r->box->box_fd = r->options.copies ? ENTER_BOX : 0;
    r->box->turn = TURN_TARGET;
    r->box->chunk = r->stop.chunk;
    r->box->offset = r->stop.offset;
    r->box->records = r->stop.records;
    r->box->ticks = r->stop.ticks;
    memcpy(r->box->leads_to, r->stop.leads_to, sizeof r->box->leads_to);
    pid_t self = getpid();
    r->pid = fork();
    if (r->pid == 0) {
        const struct rlimit none = {0, 0};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self)
            _exit(1);
        setrlimit(RLIMIT_CORE, &none);
        enter(l, im, r->options.engine, r->box_fd, read_only);
    }
    close(read_only);
    link_free(im);
    if (r->pid < 0)
        return err_set(err, "fork: %m");
    return 0;
}

/* ---- the conversation ---- */

static bool still_there(struct replay *r, int *status)
{
    if (r->over)
        return false;
    if (r->slot ? kill(r->pid, 0) == 0 : waitpid(r->pid, status, WNOHANG) == 0)
        return true;
    r->over = true;
    return false;
}

/* Waits until it is our turn. */
static int wait_turn(struct replay *r, struct err *err)
{
    int status = 0;
    for (int spins = 0; __atomic_load_n(&r->box->turn, __ATOMIC_ACQUIRE) != TURN_HOST; spins++) {
        if (spins < 200) {
            __builtin_ia32_pause();
            continue;
        }
        struct timespec wait = {0, 50000000};
        syscall(SYS_futex, &r->box->turn, FUTEX_WAIT, TURN_TARGET, &wait, NULL, 0);
        if (__atomic_load_n(&r->box->turn, __ATOMIC_ACQUIRE) != TURN_HOST &&
            !still_there(r, &status)) {
            if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
                return err_set(err, "the replayed program tried to leave its confinement; it was "
                                    "stopped");
            if (WIFSIGNALED(status))
                return err_set(err, "the replaying process ended by signal %d", WTERMSIG(status));
            return err_set(err, "the replaying process ended with status %d", WEXITSTATUS(status));
        }
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
            if (!result && pwrite(r->files_fd, buf, n, (off_t)(at + off)) != (ssize_t)n)
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
    if (!r->file_at[number]) {
        uint64_t at = r->files_end, bytes = (f->size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        if (f->size > 1ull << 42 || ftruncate(r->files_fd, (off_t)(at + bytes)))
            return err_set(err, "memory for %s: %m", f->path);
        if (fill_file(r, f, at, err))
            return -1;
        r->file_at[number] = at + 1;
        r->files_end = at + bytes;
    }
    r->box->arg[0] = r->file_at[number] - 1;
    r->box->arg[1] = 1;
    return 0;
}

static void take_output(struct replay *r, bool message)
{
    uint64_t fd = r->box->arg[0], n = r->box->arg[1];
    if (n > sizeof r->box->data)
        n = sizeof r->box->data;
    if (message && r->options.message) {
        char line[1024];
        n = n < sizeof line ? n : sizeof line - 1;
        memcpy(line, r->box->data, n);
        line[n] = 0;
        r->options.message(r->options.arg, line);
    } else if (!message && r->options.output && (fd == 1 || fd == 2)) {
        r->options.output(r->options.arg, (int)fd, r->box->data, (size_t)n);
    }
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
        case TELL_OUTPUT:
            take_output(r, false);
            break;
        case TELL_MESSAGE:
            take_output(r, true);
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
        return err_set(err, "the replaying process is gone");
    r->box->op = op;
    give_turn(r);
    return serve(r, err);
}

/* ---- the interface ---- */

static int take_stop(struct replay *r, struct replay_stop *out, struct err *err)
{
    const struct mailbox_stop *s = &r->stop;
    const struct position at = {s->thread, s->count, s->pc};
    char where[POSITION_TEXT];
    if (out)
        *out = (struct replay_stop){.at = at, .ticks = s->ticks, .events = s->records};
    position_format(&at, where);
    switch (s->reason) {
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
                            pinball_path(r->pinball), where, (unsigned long long)s->records,
                            s->text);
    default:
        return err_set(err, "%s: cannot be replayed: %s", pinball_path(r->pinball), s->text);
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
    r->files_fd = r->box_fd = -1;
    r->stop.leads_to[1] = 1;
    r->stop.leads_to[2] = 2;
    if (start(r, &l, err)) {
        replay_free(r);
        return NULL;
    }
    return r;
}

static void end_process(struct replay *r)
{
    if (r->pid > 0 && !r->over) {
        kill(r->pid, SIGKILL);
        if (!r->slot)
            waitpid(r->pid, NULL, 0);
    }
    if (r->box)
        munmap(r->box, sizeof *r->box);
    if (r->box_fd >= 0)
        close(r->box_fd);
    r->box = NULL;
    r->box_fd = -1;
    r->over = true;
}

void replay_free(struct replay *r)
{
    if (!r)
        return;
    end_process(r);
    if (r->slot) { /* a copy's are those of the first one */
        free(r);
        return;
    }
    if (r->files_fd >= 0)
        close(r->files_fd);
    free(r->file_at);
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
    if (r->tool[0] && set_tool(r, NULL, err)) /* its last word, of this program */
        return -1;
    end_process(r);
    if (check_layout(r->pinball, &l, err) || start(r, &l, err))
        return -1;
    return r->tool[0] ? set_tool(r, r->tool, err) : 0;
}

static int run(struct replay *r, const struct position *until, struct err *err)
{
    r->box->arg[0] = (r->options.verify ? RUN_VERIFY : 0) | (r->options.output ? 0 : RUN_QUIET);
    r->box->arg[1] = until ? until->thread : 0;
    r->box->arg[2] = until ? until->count : 0;
    r->box->arg[3] = until ? until->pc : 0;
    return command(r, DO_RUN, err);
}

int replay_run(struct replay *r, const struct position *until, struct replay_stop *stop,
               struct err *err)
{
    int result = run(r, until, err);
    while (!result && r->stop.reason == STOP_EXEC)
        result = next_program(r, err) || run(r, until, err);
    return result ? -1 : take_stop(r, stop, err);
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

size_t replay_threads(struct replay *r, uint32_t *out, size_t room)
{
    struct err err;
    if (command(r, DO_THREADS, &err))
        return 0;
    size_t n = r->box->arg[0] < PIECE ? (size_t)r->box->arg[0] : PIECE;
    memcpy(out, r->box->data, (n < room ? n : room) * sizeof *out);
    return n;
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
        for (size_t i = 0; i < r->box->arg[0]; i++, done++)
            if (done < room)
                out[done] =
                    (struct replay_map){m[i].start, m[i].end, (int)m[i].prot, m[i].flags != 0};
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
    struct replay *c = calloc(1, sizeof *c);
    if (!c || !r->options.copies || r->copies + 1 >= MAILBOXES) {
        err_set(err, !c ? "no memory" : "no more copies of this replay can be made");
        free(c);
        return NULL;
    }
    *c = *r;
    c->slot = ++r->copies;
    c->copies = MAILBOXES; /* copies are made of the first one */
    c->box = NULL;
    c->pid = 0;
    c->box_fd = dup(r->box_fd);
    if (c->box_fd < 0 || map_box(c, err))
        goto fail;
    c->box->turn = TURN_HOST; /* it waits for us */
    c->box->files_fd = r->box->files_fd;
    c->box->box_fd = r->box->box_fd;
    r->box->arg[0] = c->slot;
    if (command(r, DO_COPY, err))
        goto fail;
    c->pid = (pid_t)(int64_t)r->box->arg[0];
    if (c->pid > 0)
        return c;
    err_set(err, "fork: %s", strerror(-c->pid));
fail:
    replay_free(c);
    return NULL;
}
