/* debuggee_fake.c - a program that is made up, to test those who use one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/debuggee_fake.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "debug/debuggee_ops.h"

/* A place: the recording's, or the copy's, whose memory and registers are its own. */
struct place {
    unsigned step;
    bool is_copy;
    uint8_t data[2 * FAKE_PAGES_BYTES], stack[FAKE_STACK_BYTES];
    struct program_registers regs;
};

struct program {
    struct debuggee_listener listener;
    struct debuggee_stop now;
    struct place here, copy;
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

static void fill(struct place *r, unsigned step)
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

/* Whose state it is. */
static struct place *now_of(struct program *t)
{
    return fake.exists && !fake.parked ? &t->copy : &t->here;
}

static int registers(void *self, uint32_t thread, struct program_registers *out, struct err *err)
{
    if (thread > 2)
        return err_set(err, "thread %u: not there", thread);
    *out = now_of(self)->regs;
    if (thread)
        out->thread = thread;
    out->tid = 100 + (int32_t)out->thread;
    return 0;
}

/* Where an address is; *left says how many bytes follow. */
static uint8_t *find(struct place *r, uint64_t addr, size_t *left)
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

static size_t read_place(struct place *r, uint64_t addr, void *out, size_t bytes)
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

static size_t read_memory(void *self, uint64_t addr, void *out, size_t bytes)
{
    return read_place(now_of(self), addr, out, bytes);
}

static size_t threads(void *self, struct program_thread *out, size_t room)
{
    static const struct program_thread all[] = {{1, 101, "main"}, {2, 102, "a<b&\"c\""}};

    (void)self;
    for (size_t i = 0; i < 2 && i < room; i++)
        out[i] = all[i];
    return 2;
}

static size_t maps(void *self, struct program_map *out, size_t room)
{
    const struct program_map all[] = {
        {FAKE_CODE, FAKE_CODE + FAKE_PAGES_BYTES, PROT_READ | PROT_EXEC, false, 0, 0x1000},
        {FAKE_DATA, FAKE_DATA + 2 * FAKE_PAGES_BYTES, PROT_READ | PROT_WRITE, false, -1, 0},
        {FAKE_STACK, FAKE_STACK + FAKE_STACK_BYTES, PROT_READ | PROT_WRITE, false, -1, 0},
    };

    (void)self;
    for (size_t i = 0; i < 3 && i < room; i++)
        out[i] = all[i];
    return 3;
}

/* ---- moving ---- */

static void move_to(struct program *t, unsigned step, enum stop_kind why)
{
    fake.step = step;
    fill(&t->here, step);
    memset(&t->now, 0, sizeof t->now);
    t->now.why = why;
    t->now.at = fake_at(step);
    t->now.ticks = step;
    t->now.events = step / 20;
    if (step > t->farthest) {
        t->farthest = step;
        if (t->listener.output && step >= 30)
            t->listener.output(t->listener.arg, 1, "hello\n", 6);
    }
}

static void close_program(void *self)
{
    struct program *t = self;
    free(t);
}

static int stops(void *self, const struct debuggee_stops *stops, struct err *err)
{
    (void)self;
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

static const struct debuggee_stop *now(const void *self)
{
    const struct program *t = self;
    return &t->now;
}

static int finish(struct program *t, struct debuggee_stop *stop, struct err *err)
{
    if (fake.diverge) {
        fake.diverge = false;
        move_to(t, t->here.step, STOP_POSITION);
        return err_set(err, "T1:1:401000: rax is 1, not 2");
    }
    if (stop)
        *stop = t->now;
    return 0;
}

/* At `step`, come to from the step before. */
static bool stops_at(struct program *t, unsigned step)
{
    struct position at = fake_at(step);

    if (step == FAKE_EXEC_STEP) {
        move_to(t, step, STOP_EXEC);
    } else if (step == FAKE_SIGNAL_STEP && fake.stops.signal_wanted[11]) {
        move_to(t, step, STOP_SIGNAL);
        t->now.signal = 11;
        memcpy(t->now.siginfo, &(int){11}, sizeof(int));
    } else if (step % 20 == 0 && fake.stops.calls && fake.stops.call_wanted[0] & 2) {
        move_to(t, step, STOP_CALL_ENTRY);
        t->now.call = 1;
    } else if (step % 7 == 0 && fake.stops.watch_count &&
               fake.stops.watches[0].addr < FAKE_DATA + 8) {
        move_to(t, step, STOP_WATCH);
        t->now.addr = fake.stops.watches[0].addr;
        t->now.watch_kind = fake.stops.watches[0].kind;
    } else if (has_break(at.pc)) {
        move_to(t, step, STOP_BREAK);
    } else {
        return false;
    }
    return true;
}

static bool is_interrupted(struct program *t)
{
    if (!fake.interrupt || !t->listener.interrupted(t->listener.arg))
        return false;
    move_to(t, t->here.step, STOP_PAUSED);
    return true;
}

static int go_on(struct program *t, struct debuggee_stop *stop, struct err *err)
{
    if (is_interrupted(t))
        return finish(t, stop, err);
    for (unsigned i = t->here.step + 1; i < FAKE_STEPS; i++)
        if (stops_at(t, i))
            return finish(t, stop, err);
    move_to(t, FAKE_STEPS, STOP_END);
    t->now.reason = 1;
    return finish(t, stop, err);
}

static int back(struct program *t, struct debuggee_stop *stop, struct err *err)
{
    if (is_interrupted(t))
        return finish(t, stop, err);
    for (unsigned i = t->here.step; i-- > 1;)
        if (stops_at(t, i))
            return finish(t, stop, err);
    move_to(t, 0, STOP_BEGIN);
    return finish(t, stop, err);
}

static int step_on(struct program *t, uint32_t thread, uint64_t low, uint64_t high,
                   struct debuggee_stop *stop, struct err *err)
{
    fake.stepped_thread = thread;
    fake.low = low;
    fake.high = high;
    if (t->here.step == FAKE_STEPS)
        move_to(t, FAKE_STEPS, STOP_END);
    else if (!stops_at(t, t->here.step + 1))
        move_to(t, t->here.step + 1, STOP_STEP);
    return finish(t, stop, err);
}

static int step_back(struct program *t, uint32_t thread, struct debuggee_stop *stop,
                     struct err *err)
{
    fake.stepped_thread = thread;
    if (t->here.step == 0)
        move_to(t, 0, STOP_BEGIN);
    else
        move_to(t, t->here.step - 1, STOP_STEP);
    return finish(t, stop, err);
}

static int go_to(struct program *t, const struct position *to, struct debuggee_stop *stop,
                 struct err *err)
{
    unsigned step = fake_step_of(to);

    if (step > FAKE_STEPS)
        return err_set(err, "the recording does not have this position");
    move_to(t, step, STOP_POSITION);
    return finish(t, stop, err);
}

static int go_to_begin(struct program *t, struct debuggee_stop *stop, struct err *err)
{
    move_to(t, 0, STOP_BEGIN);
    return finish(t, stop, err);
}

static int go_to_end(struct program *t, struct debuggee_stop *stop, struct err *err)
{
    move_to(t, FAKE_STEPS, STOP_END);
    return finish(t, stop, err);
}

static int go_to_ticks(struct program *t, uint64_t ticks, struct debuggee_stop *stop,
                       struct err *err)
{
    if (ticks >= FAKE_STEPS)
        return go_to_end(t, stop, err);
    move_to(t, (unsigned)ticks, STOP_POSITION);
    return finish(t, stop, err);
}

static int move(void *self, const struct debuggee_move *m, struct debuggee_stop *stop,
                struct err *err)
{
    switch (m->way) {
    case MOVE_ON:
        return go_on(self, stop, err);
    case MOVE_STEP:
        return step_on(self, m->thread, m->low, m->high, stop, err);
    case MOVE_BACK:
        return back(self, stop, err);
    case MOVE_BACK_ONE:
    case MOVE_BACK_LOOP: /* there are no loops in it */
        return step_back(self, m->thread, stop, err);
    case MOVE_TO:
        return go_to(self, &m->to, stop, err);
    case MOVE_TO_TICKS:
        return go_to_ticks(self, m->ticks, stop, err);
    case MOVE_TO_BEGIN:
        return go_to_begin(self, stop, err);
    case MOVE_TO_END:
        return go_to_end(self, stop, err);
    case MOVE_NONE:
    case MOVE_TO_RECORDED:
        break;
    }
    abort();
}

static int compare(void *self, const struct position *to, int *order, struct err *err)
{
    struct program *t = self;
    unsigned step = fake_step_of(to);

    if (step > FAKE_STEPS)
        return err_set(err, "the recording does not have this position");
    *order = (step > t->here.step) - (step < t->here.step);
    return 0;
}

/* ---- programs, files, events, bookmarks ---- */

static void program(void *self, struct debuggee_program *out)
{
    struct program *t = self;
    static const Elf64_auxv_t auxv[2] = {{AT_ENTRY, {FAKE_CODE}}, {AT_NULL, {0}}};

    out->path = t->here.step < FAKE_EXEC_STEP ? "/bin/first" : "/bin/second";
    out->pid = FAKE_PID;
    out->auxv = (const uint8_t *)auxv;
    out->auxv_bytes = sizeof auxv;
}

static int file_find(void *self, const char *path, uint64_t *size)
{
    (void)self;
    for (int i = 0; i < FILES; i++)
        if (strcmp(files[i].path, path) == 0) {
            *size = strlen(files[i].text);
            return i;
        }
    return -1;
}

static int file_read(void *self, int file, uint64_t offset, void *out, size_t bytes,
                     struct err *err)
{
    (void)self;
    if (offset + bytes > strlen(files[file].text))
        return err_set(err, "past the end");
    memcpy(out, files[file].text + offset, bytes);
    return 0;
}

static int debug_file(void *self, const char *path, uint64_t *size)
{
    (void)self;
    (void)path;
    (void)size;
    return -1;
}

static const char *file_path(void *self, int file)
{
    (void)self;
    return file < FILES ? files[file].path : NULL;
}

static int event(void *self, size_t *place, struct debuggee_event *event)
{
    size_t i = *place;

    (void)self;
    if (fake.event) {
        if (i >= fake.events)
            return 0;
        *event = fake.event[i];
    } else {
        if (i >= FAKE_STEPS / 20)
            return 0;
        *event = (struct debuggee_event){.kind = i % 3 == 2 ? EVENT_SIGNAL : EVENT_CALL,
                                         .at = fake_at(20 * (unsigned)i),
                                         .number = i,
                                         .call = i % 3 == 2 ? 11 : 1,
                                         .result = 5};
    }
    *place = i + 1;
    return 1;
}

static int bookmark(void *self, const struct position *at, const char *note, struct err *err)
{
    struct program *t = self;
    if (t->bookmarks == 4 || strlen(note) >= sizeof t->bookmark[0].note)
        return err_set(err, "no room");
    t->bookmark[t->bookmarks].at = *at;
    strcpy(t->bookmark[t->bookmarks++].note, note);
    return 0;
}

static int bookmark_get(void *self, size_t i, struct position *at, const char **note)
{
    struct program *t = self;
    if (i >= t->bookmarks)
        return 0;
    *at = t->bookmark[i].at;
    *note = t->bookmark[i].note;
    return 1;
}

/* ---- the copy ---- */

static int divert(void *self, struct err *err)
{
    struct program *t = self;
    (void)err;
    t->copy = t->here;
    fake.exists = true;
    fake.parked = false;
    fake.diversions++;
    return 0;
}

static bool diverted(const void *self)
{
    (void)self;
    return fake.exists && !fake.parked;
}

static void divert_end(void *self)
{
    (void)self;
    fake.exists = fake.parked = false;
}

static void park(void *self)
{
    (void)self;
    if (!fake.exists || fake.parked)
        abort();
    fake.parked = true;
}

static void unpark(void *self)
{
    (void)self;
    if (!fake.exists || !fake.parked)
        abort();
    fake.parked = false;
}

static void park_end(void *self)
{
    (void)self;
    if (fake.parked)
        fake.exists = fake.parked = false;
}

static bool parked(void *self)
{
    (void)self;
    return fake.parked;
}

static size_t read_parked(void *self, uint64_t addr, void *out, size_t bytes)
{
    struct program *t = self;
    return fake.parked ? read_place(&t->copy, addr, out, bytes) : 0;
}

static size_t write_memory(void *self, uint64_t addr, const void *bytes, size_t n)
{
    struct program *t = self;
    size_t left = 0;
    uint8_t *p = find(&t->copy, addr, &left);

    if (!diverted(t))
        abort();
    if (n > left)
        n = left;
    if (p)
        memcpy(p, bytes, n);
    return n;
}

static int set_registers(void *self, uint32_t thread, const struct program_registers *registers,
                         struct err *err)
{
    struct program *t = self;
    if (!diverted(t))
        abort();
    if (thread > 2)
        return err_set(err, "thread %u: not there", thread);
    t->copy.regs = *registers;
    return 0;
}

static int divert_run(void *self, uint32_t thread, bool step, struct debuggee_stop *stop,
                      struct err *err)
{
    struct program *t = self;
    uint64_t *gpr = t->copy.regs.gpr;

    (void)err;
    memset(stop, 0, sizeof *stop);
    stop->why = STOP_BREAK;
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
        stop->why = STOP_SIGNAL;
        stop->signal = 11;
        return 0;
    case FAKE_EXIT:
        stop->why = STOP_END;
        return 0;
    default:
        stop->why = step ? STOP_STEP : STOP_PAUSED;
        return 0;
    }
    if (read_place(&t->copy, gpr[4], &t->copy.regs.rip, 8) != 8)
        stop->why = STOP_SIGNAL;
    gpr[4] += 8;
    stop->at.pc = t->copy.regs.rip;
    if (!has_break(stop->at.pc))
        stop->why = STOP_PAUSED;
    return 0;
}

/* ---- the table ---- */

int fake_open(void *arg, const struct debuggee_listener *listener, struct debuggee *out,
              struct err *err)
{
    static const struct debuggee_ops ops = {
        .close = close_program,
        .stops = stops,
        .now = now,
        .move = move,
        .compare = compare,
        .registers = registers,
        .read = read_memory,
        .threads = threads,
        .maps = maps,
        .program = program,
        .file_find = file_find,
        .file_read = file_read,
        .file_path = file_path,
        .debug_file = debug_file,
        .event = event,
        .bookmark = bookmark,
        .bookmark_get = bookmark_get,
        .divert = divert,
        .diverted = diverted,
        .divert_end = divert_end,
        .park = park,
        .unpark = unpark,
        .park_end = park_end,
        .parked = parked,
        .read_parked = read_parked,
        .write = write_memory,
        .set_registers = set_registers,
        .divert_run = divert_run,
    };
    struct program *t = calloc(1, sizeof *t);

    (void)arg;
    if (!t)
        return err_set(err, "no memory");
    memset(&fake, 0, sizeof fake);
    t->listener = *listener;
    move_to(t, 0, STOP_POSITION);
    *out = (struct debuggee){&ops, t};
    return 0;
}
