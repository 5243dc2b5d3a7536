/* timeline_fake.c - a timeline without a recording, to test those who use one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/timeline_fake.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A place: the recording's, or the copy's, whose memory and registers are its own. */
struct replay {
    unsigned step;
    bool is_copy;
    uint8_t data[2 * FAKE_PAGES_BYTES], stack[FAKE_STACK_BYTES];
    struct replay_registers regs;
};

struct timeline {
    struct timeline_options options;
    struct timeline_stop now;
    struct replay replay, copy;
    uint64_t farthest;
    struct {
        struct position at;
        char note[64];
    } bookmark[4];
    size_t bookmarks;
};

struct fake fake;

static const struct {
    const char *path, *text;
} files[] = {{"/bin/first", "\177ELF first"},
             {"/bin/second", "\177ELF second"},
             {"/usr/lib/libc.so.6", "# a } library $ with * all"},
             {"/usr/lib/libz.so.1.2.13", "zlib"}};
enum { FILES = sizeof files / sizeof files[0] };

/* ---- the program ---- */

struct position fake_at(unsigned step)
{
    return (struct position){
        .thread = 1 + step / 10 % 2, .count = step / 25, .pc = FAKE_CODE + 4 * (step % 25)};
}

unsigned fake_step_of(const struct position *at)
{
    for (unsigned i = 0; i <= FAKE_STEPS; i++) {
        struct position p = fake_at(i);
        if (p.thread == at->thread && p.count == at->count && p.pc == at->pc)
            return i;
    }
    return FAKE_STEPS + 1;
}

static void put_tls(uint8_t *tls)
{
    static const uint32_t field[5][3] = {
        {64, 1, 0x18}, {64, 1, 0x20}, {64, 1, 8}, {128, 64, 0}, {64, 1, 0}};
    enum { DTV = FAKE_TLS + 0x200 };
    uint64_t words[] = {FAKE_TLS, DTV};

    memcpy(tls, words, sizeof words);
    memcpy(tls + 0x200 - 16, &(uint64_t){2}, 8);                /* modules */
    memcpy(tls + 0x200 + 16, &(uint64_t){FAKE_TLS + 0x400}, 8); /* of module 1 */
    memcpy(tls + 0x200 + 32, &(uint64_t){UINT64_MAX}, 8);       /* of module 2: not yet */
    memcpy(tls + 0x818, (uint64_t[]){1, 0x80}, 16);
    for (int i = 0; i < 5; i++)
        memcpy(tls + 0x900 + 16 * i, field[i], sizeof field[i]);
}

static void fill(struct replay *r, unsigned step)
{
    memset(r, 0, sizeof *r);
    r->step = step;
    memcpy(r->data, &(uint64_t){step / 7}, 8);
    put_tls(r->data + FAKE_PAGES_BYTES);
    struct position at = fake_at(step);
    for (unsigned i = 0; i < 16; i++)
        r->regs.gpr[i] = i;
    r->regs.gpr[0] = step;
    r->regs.gpr[4] = FAKE_RSP;
    r->regs.rip = at.pc;
    r->regs.rflags = 0x246;
    r->regs.fs_base = fake.no_tls ? 0 : FAKE_TLS;
    r->regs.count = at.count;
    r->regs.thread = at.thread;
    r->regs.xsave_bytes = 512;
    memcpy(r->regs.xsave, &(uint16_t){0x37f}, 2);
    memcpy(r->regs.xsave + 24, &(uint32_t){0x1f80}, 4);
}

int replay_registers(struct replay *r, uint32_t thread, struct replay_registers *out,
                     struct err *err)
{
    if (thread > 2)
        return err_set(err, "thread %u: not there", thread);
    *out = r->regs;
    if (thread)
        out->thread = thread;
    out->tid = 100 + (int32_t)out->thread;
    return 0;
}

/* Where an address is; *left says how many bytes follow. */
static uint8_t *find(struct replay *r, uint64_t addr, size_t *left)
{
    if (addr >= FAKE_DATA && addr < FAKE_DATA + sizeof r->data) {
        *left = FAKE_DATA + sizeof r->data - addr;
        return r->data + (addr - FAKE_DATA);
    }
    if (addr >= FAKE_STACK && addr < FAKE_STACK + sizeof r->stack) {
        *left = FAKE_STACK + sizeof r->stack - addr;
        return r->stack + (addr - FAKE_STACK);
    }
    return NULL;
}

size_t replay_read(struct replay *r, uint64_t addr, void *out, size_t bytes)
{
    size_t left;
    const uint8_t *p = find(r, addr, &left);

    if (!p) {
        size_t n = 0;
        for (; n < bytes && addr + n >= FAKE_CODE && addr + n < FAKE_CODE + FAKE_PAGES_BYTES; n++)
            ((uint8_t *)out)[n] = (uint8_t)(addr + n);
        return n;
    }
    size_t n = bytes < left ? bytes : left;
    memcpy(out, p, n);
    return n;
}

size_t replay_threads(struct replay *r, struct replay_thread *out, size_t room)
{
    static const struct replay_thread all[] = {{1, 101, "main"}, {2, 102, "a<b&\"c\""}};

    (void)r;
    for (size_t i = 0; i < 2 && i < room; i++)
        out[i] = all[i];
    return 2;
}

size_t replay_maps(struct replay *r, struct replay_map *out, size_t room)
{
    const struct replay_map all[] = {
        {FAKE_CODE, FAKE_CODE + FAKE_PAGES_BYTES, PROT_READ | PROT_EXEC, false, 0, 0x1000},
        {FAKE_DATA, FAKE_DATA + sizeof r->data, PROT_READ | PROT_WRITE, false, -1, 0},
        {FAKE_STACK, FAKE_STACK + FAKE_STACK_BYTES, PROT_READ | PROT_WRITE, false, -1, 0},
    };
    for (size_t i = 0; i < 3 && i < room; i++)
        out[i] = all[i];
    return 3;
}

/* ---- the timeline ---- */

static void move_to(struct timeline *t, unsigned step, enum timeline_why why)
{
    fake.step = step;
    fill(&t->replay, step);
    memset(&t->now, 0, sizeof t->now);
    t->now.why = why;
    t->now.at = fake_at(step);
    t->now.ticks = step;
    t->now.events = step / 20;
    if (step > t->farthest) {
        t->farthest = step;
        if (t->options.output && step >= 30)
            t->options.output(t->options.arg, 1, "hello\n", 6);
    }
}

struct timeline *timeline_new(struct pinball *pinball, const struct timeline_options *options,
                              struct err *err)
{
    struct timeline *t = calloc(1, sizeof *t);

    (void)pinball;
    if (!t) {
        err_set(err, "no memory");
        return NULL;
    }
    memset(&fake, 0, sizeof fake);
    t->options = *options;
    move_to(t, 0, TIMELINE_POSITION);
    return t;
}

void timeline_free(struct timeline *timeline)
{
    free(timeline);
}

int timeline_stops(struct timeline *t, const struct timeline_stops *stops, struct err *err)
{
    (void)t;
    (void)err;
    fake.stops_given++;
    fake.stops = *stops;
    for (size_t i = 0; i < stops->break_count && i < 16; i++) {
        fake.pcs[i] = stops->breaks[i].pc;
        fake.condition_bytes[i] = stops->breaks[i].condition_bytes;
    }
    return 0;
}

static bool has_break(uint64_t pc)
{
    for (size_t i = 0; i < fake.stops.break_count && i < 16; i++)
        if (fake.pcs[i] == pc)
            return true;
    return false;
}

const struct timeline_stop *timeline_now(const struct timeline *timeline)
{
    return &timeline->now;
}

static int finish(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    if (fake.diverge) {
        fake.diverge = false;
        move_to(t, t->replay.step, TIMELINE_POSITION);
        return err_set_code(err, REPLAY_DIVERGED, "T1:1:401000: rax is 1, not 2");
    }
    if (stop)
        *stop = t->now;
    return 0;
}

/* At `step`, come to from the step before. */
static bool stops_at(struct timeline *t, unsigned step)
{
    struct position at = fake_at(step);

    if (step == FAKE_EXEC_STEP) {
        move_to(t, step, TIMELINE_EXEC);
    } else if (step == FAKE_SIGNAL_STEP && fake.stops.signal_wanted[11]) {
        move_to(t, step, TIMELINE_SIGNAL);
        t->now.signal = 11;
        memcpy(t->now.siginfo, &(int){11}, sizeof(int));
    } else if (step % 20 == 0 && fake.stops.calls && fake.stops.call_wanted[0] & 2) {
        move_to(t, step, TIMELINE_CALL_ENTRY);
        t->now.call = 1;
    } else if (step % 7 == 0 && fake.stops.watch_count &&
               fake.stops.watches[0].addr < FAKE_DATA + 8) {
        move_to(t, step, TIMELINE_WATCH);
        t->now.addr = fake.stops.watches[0].addr;
        t->now.watch_kind = fake.stops.watches[0].kind;
    } else if (has_break(at.pc)) {
        move_to(t, step, TIMELINE_BREAK);
    } else {
        return false;
    }
    return true;
}

static bool is_interrupted(struct timeline *t)
{
    if (!fake.interrupt || !t->options.interrupted(t->options.arg))
        return false;
    move_to(t, t->replay.step, TIMELINE_INTERRUPTED);
    return true;
}

int timeline_continue(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    if (is_interrupted(t))
        return finish(t, stop, err);
    for (unsigned i = t->replay.step + 1; i < FAKE_STEPS; i++)
        if (stops_at(t, i))
            return finish(t, stop, err);
    move_to(t, FAKE_STEPS, TIMELINE_END);
    t->now.reason = 1;
    return finish(t, stop, err);
}

int timeline_back(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    if (is_interrupted(t))
        return finish(t, stop, err);
    for (unsigned i = t->replay.step; i-- > 1;)
        if (stops_at(t, i))
            return finish(t, stop, err);
    move_to(t, 0, TIMELINE_BEGIN);
    return finish(t, stop, err);
}

int timeline_step(struct timeline *t, uint32_t thread, uint64_t low, uint64_t high,
                  struct timeline_stop *stop, struct err *err)
{
    fake.stepped_thread = thread;
    fake.low = low;
    fake.high = high;
    if (t->replay.step == FAKE_STEPS)
        move_to(t, FAKE_STEPS, TIMELINE_END);
    else if (!stops_at(t, t->replay.step + 1))
        move_to(t, t->replay.step + 1, TIMELINE_STEP);
    return finish(t, stop, err);
}

int timeline_step_back(struct timeline *t, uint32_t thread, struct timeline_stop *stop,
                       struct err *err)
{
    fake.stepped_thread = thread;
    if (t->replay.step == 0)
        move_to(t, 0, TIMELINE_BEGIN);
    else
        move_to(t, t->replay.step - 1, TIMELINE_STEP);
    return finish(t, stop, err);
}

/* There are no loops in it. */
int timeline_loop_back(struct timeline *t, uint32_t thread, const struct timeline_edge *edges,
                       size_t count, struct timeline_stop *stop, struct err *err)
{
    (void)edges;
    (void)count;
    return timeline_step_back(t, thread, stop, err);
}

int timeline_goto(struct timeline *t, const struct position *to, struct timeline_stop *stop,
                  struct err *err)
{
    unsigned step = fake_step_of(to);

    if (step > FAKE_STEPS)
        return err_set(err, "the recording does not have this position");
    move_to(t, step, TIMELINE_POSITION);
    return finish(t, stop, err);
}

int timeline_goto_begin(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    move_to(t, 0, TIMELINE_BEGIN);
    return finish(t, stop, err);
}

int timeline_goto_end(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    move_to(t, FAKE_STEPS, TIMELINE_END);
    return finish(t, stop, err);
}

int timeline_goto_ticks(struct timeline *t, uint64_t ticks, struct timeline_stop *stop,
                        struct err *err)
{
    if (ticks >= FAKE_STEPS)
        return timeline_goto_end(t, stop, err);
    move_to(t, (unsigned)ticks, TIMELINE_POSITION);
    return finish(t, stop, err);
}

int timeline_compare(struct timeline *t, const struct position *to, int *order, struct err *err)
{
    unsigned step = fake_step_of(to);

    if (step > FAKE_STEPS)
        return err_set(err, "the recording does not have this position");
    *order = (step > t->replay.step) - (step < t->replay.step);
    return 0;
}

struct replay *timeline_replay(struct timeline *t)
{
    return fake.exists && !fake.parked ? &t->copy : &t->replay;
}

/* ---- programs, files, events, bookmarks ---- */

void timeline_program(struct timeline *t, struct timeline_program *out)
{
    static const Elf64_auxv_t auxv[2] = {{AT_ENTRY, {FAKE_CODE}}, {AT_NULL, {0}}};

    out->path = t->replay.step < FAKE_EXEC_STEP ? "/bin/first" : "/bin/second";
    out->pid = FAKE_PID;
    out->auxv = (const uint8_t *)auxv;
    out->auxv_bytes = sizeof auxv;
}

int timeline_file_find(struct timeline *timeline, const char *path, uint64_t *size)
{
    (void)timeline;
    for (int i = 0; i < FILES; i++)
        if (strcmp(files[i].path, path) == 0) {
            *size = strlen(files[i].text);
            return i;
        }
    return -1;
}

int timeline_file_read(struct timeline *timeline, int file, uint64_t offset, void *out,
                       size_t bytes, struct err *err)
{
    (void)timeline;
    if (offset + bytes > strlen(files[file].text))
        return err_set(err, "past the end");
    memcpy(out, files[file].text + offset, bytes);
    return 0;
}

int timeline_debug_file(struct timeline *t, const char *path, uint64_t *size)
{
    (void)t;
    (void)path;
    (void)size;
    return -1;
}

const char *timeline_file_path(struct timeline *timeline, int file)
{
    (void)timeline;
    return file < FILES ? files[file].path : NULL;
}

int timeline_event(struct timeline *timeline, size_t *place, struct timeline_event *event)
{
    size_t i = *place;

    (void)timeline;
    if (fake.event) {
        if (i >= fake.events)
            return 0;
        *event = fake.event[i];
    } else {
        if (i >= FAKE_STEPS / 20)
            return 0;
        *event = (struct timeline_event){.kind = i % 3 == 2 ? EVENT_SIGNAL : EVENT_CALL,
                                         .at = fake_at(20 * (unsigned)i),
                                         .number = i,
                                         .call = i % 3 == 2 ? 11 : 1,
                                         .result = 5};
    }
    *place = i + 1;
    return 1;
}

int timeline_bookmark(struct timeline *t, const struct position *at, const char *note,
                      struct err *err)
{
    if (t->bookmarks == 4 || strlen(note) >= sizeof t->bookmark[0].note)
        return err_set(err, "no room");
    t->bookmark[t->bookmarks].at = *at;
    strcpy(t->bookmark[t->bookmarks++].note, note);
    return 0;
}

int timeline_bookmark_get(struct timeline *t, size_t i, struct position *at, const char **note)
{
    if (i >= t->bookmarks)
        return 0;
    *at = t->bookmark[i].at;
    *note = t->bookmark[i].note;
    return 1;
}

/* ---- the copy ---- */

int timeline_divert(struct timeline *t, struct err *err)
{
    (void)err;
    t->copy = t->replay;
    fake.exists = true;
    fake.parked = false;
    fake.diversions++;
    return 0;
}

bool timeline_diverted(const struct timeline *timeline)
{
    (void)timeline;
    return fake.exists && !fake.parked;
}

void timeline_divert_end(struct timeline *timeline)
{
    (void)timeline;
    fake.exists = fake.parked = false;
}

void timeline_divert_park(struct timeline *timeline)
{
    (void)timeline;
    if (!fake.exists || fake.parked)
        abort();
    fake.parked = true;
}

void timeline_divert_unpark(struct timeline *timeline)
{
    (void)timeline;
    if (!fake.exists || !fake.parked)
        abort();
    fake.parked = false;
}

void timeline_divert_end_parked(struct timeline *timeline)
{
    (void)timeline;
    if (fake.parked)
        fake.exists = fake.parked = false;
}

struct replay *timeline_divert_parked(struct timeline *t)
{
    return fake.parked ? &t->copy : NULL;
}

size_t timeline_write(struct timeline *t, uint64_t addr, const void *bytes, size_t n)
{
    size_t left = 0;
    uint8_t *p = find(&t->copy, addr, &left);

    if (!timeline_diverted(t))
        abort();
    if (n > left)
        n = left;
    if (p)
        memcpy(p, bytes, n);
    return n;
}

int timeline_set_registers(struct timeline *t, uint32_t thread,
                           const struct replay_registers *registers, struct err *err)
{
    if (!timeline_diverted(t))
        abort();
    if (thread > 2)
        return err_set(err, "thread %u: not there", thread);
    t->copy.regs = *registers;
    return 0;
}

int timeline_divert_run(struct timeline *t, uint32_t thread, bool step, struct timeline_stop *stop,
                        struct err *err)
{
    uint64_t *gpr = t->copy.regs.gpr;

    (void)err;
    memset(stop, 0, sizeof *stop);
    stop->why = TIMELINE_BREAK;
    stop->at = t->now.at;
    stop->at.thread = thread;
    switch (t->copy.regs.rip) {
    case FAKE_ADD:
        gpr[0] = gpr[7] + gpr[6];
        break;
    case FAKE_MALLOC:
        gpr[0] = FAKE_BLOCK;
        break;
    case FAKE_CRASH:
        stop->why = TIMELINE_SIGNAL;
        stop->signal = 11;
        return 0;
    case FAKE_EXIT:
        stop->why = TIMELINE_END;
        return 0;
    default:
        stop->why = step ? TIMELINE_STEP : TIMELINE_INTERRUPTED;
        return 0;
    }
    if (replay_read(&t->copy, gpr[4], &t->copy.regs.rip, 8) != 8)
        stop->why = TIMELINE_SIGNAL;
    gpr[4] += 8;
    stop->at.pc = t->copy.regs.rip;
    if (!has_break(stop->at.pc))
        stop->why = TIMELINE_INTERRUPTED;
    return 0;
}
