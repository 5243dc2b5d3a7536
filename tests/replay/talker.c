/* talker.c - a replaying process that lies, and goes on lying while it is listened to.
 *
 * SPDX-License-Identifier: MIT
 *
 * hostile.c puts this into a pinball as the program, which writes itself over the runtime: then
 * this code has the process, its mailbox and its confinement. It answers as a runtime would, more
 * or less; in some answers one field is changed, and while it is the supervisor's turn it may
 * change fields to and fro. A copy does the same, and writes to the mailboxes of the others, too.
 * How often and which is decided by the seed. After so many words it ends, and so does one that was
 * not answered for long: a replay may run for ever, and the supervisor would wait for it.
 */
#include "talker.h"
#include "debug/mailbox.h"

enum { NR_MMAP = 9, NR_COPY = 56, NR_EXIT_GROUP = 231, NR_FUTEX = 202, FUTEX_WAKE = 1 };
enum { COPY_FLAGS = 0x8000 /* CLONE_PARENT */ | 17 /* SIGCHLD */ };
enum { SCRIBBLES_MOST = 2000000 }; /* half a minute */
enum { LOOP_PC = 0x401000, CALL_PC = 0x402000 };

static struct mailbox *box, *other;
static uint64_t state, rounds;
static unsigned lies, scribbles; /* so many of 64 */
static uint64_t events, words;   /* so far */
static uint32_t message_bytes;   /* of data */
static int tracing;
static int probing;

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t below(uint64_t n)
{
    return any() % n;
}

static void fill(void *to, int byte, uint64_t bytes)
{
    for (volatile uint8_t *p = to; bytes--; p++)
        *p = (uint8_t)byte;
}

/* A number that somebody may trip over. */
static uint64_t odd(void)
{
    switch (below(6)) {
    case 0:
        return below(20);
    case 1:
        return 1ull << below(64);
    case 2:
        return (1ull << below(64)) - 1;
    case 3:
        return -below(20);
    case 4:
        return (below(64) << 10) + below(17) - 8;
    default:
        return any();
    }
}

/* ---- changing what was said ---- */

static uint8_t *field(struct mailbox *b)
{
    switch (below(8)) {
    case 0:
        return (uint8_t *)&b->op;
    case 1:
    case 2:
        return (uint8_t *)&b->arg[below(2)];
    case 3:
        return b->flow_notes + 4 * below(256);
    case 4:
        return below(2) ? b->flow_words + 8 * below(512) : b->rows + 4 * below(256);
    default:
        return b->data + 4 * below(message_bytes / 4 + 1);
    }
}

static void change(uint8_t *at)
{
    if (below(2))
        *(volatile uint32_t *)at = (uint32_t)odd();
    else
        *(volatile uint64_t *)at = odd();
}

/* While the supervisor reads. What was there comes back, so that what is looked at twice differs.
 */
static void scribble(void)
{
    struct mailbox *b = other && !below(4) ? other : box;
    uint8_t *at = field(b);
    volatile uint64_t *word = (volatile uint64_t *)at;
    uint64_t was = *word;
    for (uint64_t n = below(2000); n; n--) {
        change(at);
        *word = was;
    }
    if (!below(8))
        change(at);
}

static uint32_t turn(void)
{
    return __atomic_load_n(&box->turn, __ATOMIC_ACQUIRE);
}

static void say(uint32_t op)
{
    if (!rounds--)
        call(NR_EXIT_GROUP, 0, 0, 0, 0, 0, 0);
    box->op = op;
    if (below(64) < lies)
        change(field(box));
    const int busy = below(64) < scribbles;
    __atomic_store_n(&box->turn, TURN_HOST, __ATOMIC_RELEASE);
    call(NR_FUTEX, (long)&box->turn, FUTEX_WAKE, 1, 0, 0, 0);
    for (uint64_t n = 0; turn() != TURN_TARGET; n++) {
        if (busy && n == SCRIBBLES_MOST) /* a copy in a mailbox that nobody looks into */
            call(NR_EXIT_GROUP, 0, 0, 0, 0, 0, 0);
        else if (busy)
            scribble();
        else
            call(NR_FUTEX, (long)&box->turn, 0 /* FUTEX_WAIT */, TURN_HOST, 0, 0, 0);
    }
}

/* ---- what a runtime says ---- */

static struct mailbox_moment moment(void)
{
    return (struct mailbox_moment){.events = events,
                                   .count = events * 100,
                                   .pc = below(2) ? LOOP_PC : CALL_PC,
                                   .thread = 1 + (uint32_t)below(2),
                                   .stage = STAGE_BEFORE};
}

static void tell_journal(void)
{
    uint64_t at = 0;
    for (uint64_t n = 1 + below(5); n; n--) {
        struct mailbox_entry *e = (struct mailbox_entry *)(box->data + at);
        *e = (struct mailbox_entry){.kind = EVENT_CALL + (uint32_t)below(6),
                                    .at = moment(),
                                    .a = 1 + (int64_t)below(2),
                                    .b = (int64_t)odd()};
        e->text_bytes = e->kind == EVENT_OUTPUT ? (uint32_t)below(4000) : 0;
        events += below(3);
        at += sizeof *e + ((e->text_bytes + 7ull) & ~7ull);
    }
    message_bytes = (uint32_t)at;
    box->arg[1] = at;
    say(TELL_JOURNAL);
}

static void tell_line(void)
{
    static const char text[] = "drdebug: \033[31mhello\n";
    for (unsigned i = 0; i < sizeof text; i++)
        box->data[i] = (uint8_t)text[i];
    box->arg[1] = sizeof text;
    message_bytes = sizeof text;
    say(TELL_MESSAGE);
}

static uint64_t notes; /* bytes */

static void *note(uint32_t kind, uint32_t bytes, uint64_t at)
{
    struct flow_note *n = (struct flow_note *)(box->flow_notes + notes);
    fill(n, 0, bytes);
    *n = (struct flow_note){kind, bytes, at, events * 100};
    notes += bytes;
    return n;
}

/* nop; jmp rel8 */
static void tell_blocks(uint64_t at)
{
    static const uint8_t loop[] = {1, 2, 0x90, 0xeb, 0xfd}, leave[] = {2, 0x0f, 0x05};
    struct flow_thread *t = note(FLOW_THREAD, sizeof *t, at);
    struct flow_block *b = note(FLOW_BLOCK, sizeof *b + 8, at);
    t->thread = 1;
    t->pc = LOOP_PC;
    b->insns = 2;
    b->pc = LOOP_PC;
    for (unsigned i = 0; i < sizeof loop; i++)
        ((uint8_t *)(b + 1))[i] = loop[i];
    b = note(FLOW_BLOCK, sizeof *b + 8, at);
    b->number = 1;
    b->insns = 1;
    b->pc = CALL_PC;
    for (unsigned i = 0; i < sizeof leave; i++)
        ((uint8_t *)(b + 1))[i] = leave[i];
}

static void tell_call(uint64_t at, uint64_t next)
{
    enum { RANGES = 3 };
    static const uint16_t nr[] = {0, 1, 9, 11, 12, 25, 28, 56, 202, 231, 435};
    struct flow_call *c =
        note(FLOW_CALL, sizeof *c + RANGES * (uint32_t)sizeof(struct flow_range), at);
    c->nr = nr[below(sizeof nr / sizeof *nr)];
    c->result = (int64_t)odd();
    c->next = next;
    for (int i = 0; i < 6; i++)
        c->arg[i] = odd();
    for (int i = 0; i < RANGES; i++) {
        uint64_t bytes = odd() & 0x7fffffffffff;
        c->range[i] =
            (struct flow_range){below(0x7fffffffffff - bytes + 1), bytes, (uint8_t)(1 + below(3))};
    }
}

/* A loop, then calls that are its neighbours: a signal takes the thread there and back. */
static void tell_flow(void)
{
    uint64_t *word = (uint64_t *)box->flow_words, n = 0;
    notes = 0;
    if (!words)
        tell_blocks(0);
    for (uint64_t k = below(200); k; k--)
        word[n++] = 0;
    for (uint64_t k = below(4); k; k--) {
        struct flow_signal *s = note(FLOW_SIGNAL, sizeof *s, words + n);
        s->signal = 10;
        s->pc = LOOP_PC;
        s->handler = CALL_PC;
        s->frame = 0x10000 * below(1000);
        s->end = s->frame + below(5000);
        word[n++] = 1;
        tell_call(words + n, LOOP_PC);
        word[n++] = 0;
    }
    box->arg[0] = 8 * n;
    box->arg[1] = notes;
    words += n;
    say(TELL_FLOW);
}

static uint64_t add_piece(uint8_t *at, uint32_t kind)
{
    static const uint8_t where[] = {0, 0, 0, 40, 0, 7}, bytes[] = {0, 0, 0, 16, 8, 0};
    struct probe_piece *p = (struct probe_piece *)at;
    *p = (struct probe_piece){.where = where[kind], .bytes = bytes[kind], .kind = (uint8_t)kind};
    if (kind < PIECE_REGISTER)
        p->bytes = (uint32_t)below(100);
    return sizeof *p + ((p->bytes + 7ull) & ~7ull);
}

/* Mostly of the first probe, which is at LOOP_PC if somebody has one. */
static void tell_rows(void)
{
    uint64_t at = 0;
    for (uint64_t n = below(50); n; n--) {
        struct probe_taken *r = (struct probe_taken *)(box->rows + at);
        *r = (struct probe_taken){.probe = !below(64),
                                  .thread = 1 + (uint32_t)below(2),
                                  .undone = !below(8),
                                  .count = events * 100,
                                  .pc = LOOP_PC,
                                  .ticks = events * 100,
                                  .value = odd()};
        at += sizeof *r;
        for (uint64_t k = r->undone ? 0 : below(5); k; k--)
            at += add_piece(box->rows + at, 1 + (uint32_t)below(5));
        r->bytes = (uint32_t)(box->rows + at - (uint8_t *)r);
    }
    box->arg[1] = at;
    say(TELL_ROWS);
}

static struct mailbox_what what(uint32_t reason)
{
    struct mailbox_what w = {.reason = reason,
                             .kind = reason == STOP_WATCH ? 1 : 0,
                             .at = moment(),
                             .ticks = events * 100,
                             .addr = odd(),
                             .number = 1 + (int64_t)below(60)};
    return w;
}

static void tell_stop(void)
{
    static const uint8_t plain[] = {STOP_POSITION, STOP_END,     STOP_END,
                                    STOP_END,      STOP_LOG_END, STOP_EXEC};
    static const uint8_t reason[] = {STOP_POSITION, STOP_POSITION,   STOP_STEP,        STOP_BREAK,
                                     STOP_WATCH,    STOP_CALL_ENTRY, STOP_CALL_RETURN, STOP_SIGNAL,
                                     STOP_PAUSED,   STOP_END,        STOP_END,         STOP_LOG_END,
                                     STOP_EXEC};
    struct mailbox_stop *s = (struct mailbox_stop *)box->data;
    fill(s, 0, sizeof *s);
    events += below(50);
    s->what = what(box->box_fd ? reason[below(sizeof reason)] : plain[below(sizeof plain)]);
    if (!below(32))
        s->what.reason = below(2) ? STOP_DIVERGED : STOP_FAILED;
    if (below(2))
        s->hit = what(STOP_BREAK);
    s->end = 1;
    s->base = HOSTILE_BASE;
    s->bytes = 8 << 20;
    s->reserved = HOSTILE_BASE - (1 << 30);
    s->chunk = 0;
    s->offset = below(2) ? 0 : odd();
    for (int i = 0; i < 300; i++)
        s->text[i] = (char)(below(4) ? 'x' : (char)any());
    message_bytes = sizeof *s;
    say(TELL_STOP);
}

static void run(void)
{
    for (uint64_t n = below(4); n; n--)
        switch (below(8)) {
        case 0:
            box->arg[0] = below(2) ? 0 : odd();
            say(below(2) ? ASK_CHUNK : ASK_FILE);
            break;
        case 1:
            tell_line();
            break;
        case 2:
        case 3:
            tell_journal();
            break;
        default:
            if (probing && below(2))
                tell_rows();
            else if (tracing)
                tell_flow();
        }
    tell_stop();
}

/* ---- answers ---- */

static void give_registers(void)
{
    struct mailbox_registers *r = (struct mailbox_registers *)box->data;
    uint64_t thread = box->arg[0];
    fill(r, 0, sizeof *r);
    r->thread = thread ? (uint32_t)thread : 1;
    r->count = events * 100;
    r->rip = LOOP_PC;
    r->tid = 1;
    r->gpr[4] = HOSTILE_CODE;
    r->xsave_bytes = below(2) ? 2696 : 832;
    fill(r->xsave, (int)below(256), r->xsave_bytes);
    message_bytes = sizeof *r;
    box->arg[0] = below(16) != 0;
}

static void give_threads(void)
{
    struct mailbox_thread *list = (struct mailbox_thread *)box->data;
    uint64_t n = 1 + below(3);
    for (uint64_t i = 0; i < n; i++) {
        list[i] = (struct mailbox_thread){.number = (uint32_t)(n - i), .tid = (int32_t)(n - i)};
        fill(list[i].name, 'n', sizeof list[i].name);
    }
    message_bytes = (uint32_t)(n * sizeof *list);
    box->arg[0] = n;
    box->arg[1] = n + below(2);
}

static void give_trail(void)
{
    struct mailbox_moment *list = (struct mailbox_moment *)box->data;
    uint64_t n = below(MAILBOX_TRAIL + 1);
    for (uint64_t i = 0; i < n; i++)
        list[i] = (struct mailbox_moment){events, i, LOOP_PC, 1, STAGE_BEFORE};
    message_bytes = (uint32_t)(n * sizeof *list);
    box->arg[0] = n;
}

static void give_maps(void)
{
    struct mailbox_map *list = (struct mailbox_map *)box->data;
    const uint64_t first = box->arg[0], n = below(16) ? below(6) : 1024;
    for (uint64_t i = 0; i < n; i++)
        list[i] = (struct mailbox_map){.start = (first + i) << 12,
                                       .end = (first + i + 1) << 12,
                                       .prot = (uint32_t)below(8),
                                       .file = (int64_t)below(3) - 1,
                                       .offset = odd()};
    message_bytes = (uint32_t)(n * sizeof *list);
    box->arg[0] = n;
}

static void *map_box(void *at, uint64_t number)
{
    enum { READ_WRITE = 3, SHARED = 1, FIXED = 0x10 };
    return (void *)call(NR_MMAP, (long)at, sizeof *box, READ_WRITE, SHARED | (at ? FIXED : 0),
                        box->box_fd, (long)(number * sizeof *box));
}

static void copy(void)
{
    const uint64_t number = box->arg[0] % MAILBOXES, maker = below(MAILBOXES);
    long pid = call(NR_COPY, COPY_FLAGS, 0, 0, 0, 0, 0);
    if (pid) {
        box->arg[0] = below(16) ? (uint64_t)pid : odd();
        return;
    }
    state += number + 1;
    void *p = below(2) ? map_box(0, maker % 4) : 0;
    other = (uint64_t)p >> 47 ? 0 : p;
    map_box(box, number);
}

static void answer(void)
{
    switch (box->op) {
    case DO_RUN:
        run();
        return;
    case DO_READ:
        box->arg[0] = below(16) ? box->arg[1] : below(box->arg[1] + 1);
        message_bytes = 4096;
        break;
    case DO_WRITE:
        box->arg[0] = box->arg[1];
        break;
    case DO_REGISTERS:
        give_registers();
        break;
    case DO_THREADS:
        give_threads();
        break;
    case DO_TRAIL:
        give_trail();
        break;
    case DO_MAPS:
        give_maps();
        break;
    case DO_COPY:
        copy();
        break;
    case DO_TOOL:
        tracing = box->arg[0] != 0;
        if (tracing)
            words = 0;
        box->arg[0] = 1;
        break;
    case DO_QUIT:
        call(NR_EXIT_GROUP, 0, 0, 0, 0, 0, 0);
        break;
    default:
        box->arg[0] = 1;
    }
    say(TELL_DONE);
}

_Noreturn void talk(void);
_Noreturn void talk(void)
{
    static const uint8_t often[] = {0, 0, 1, 8};
    const struct talker *t = (const struct talker *)(HOSTILE_CODE + TALKER_SETTINGS);
    box = (struct mailbox *)((HOSTILE_BASE - sizeof *box) & ~4095ull);
    state = t->seed * 0x9e3779b97f4a7c15ull + 1;
    rounds = t->rounds;
    any();
    lies = often[below(4)];
    scribbles = 8 * often[below(4)];
    tracing = !box->box_fd; /* nobody else does */
    probing = !box->box_fd && !below(3);
    while (!rounds) /* it says nothing, and sleeps */
        call(NR_FUTEX, (long)&rounds, 0 /* FUTEX_WAIT */, 0, 0, 0, 0);
    run(); /* the order that let this program run */
    for (;;)
        answer();
}

__asm__(".section .text.first, \"ax\"\n"
        ".globl talker\n"
        "talker: mov $0x41f000, %rsp\n" /* right below the settings */
        "    xor %ebp, %ebp\n"
        "    call talk\n"
        ".previous\n");
