/* breakpoints.c - what to stop at: breakpoints, watchpoints, system calls, signals.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB takes all breakpoints out at every stop and puts them in again before it resumes. So a packet
 * only changes the list; when something is about to run the list is put in order, written down as
 * bytes, and given to the debuggee if the bytes are not those of the last time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "debug/gdbstub/server_private.h"
#include "debug/gdbstub/signals.h"

enum { TYPE_SOFTWARE, TYPE_HARDWARE, TYPE_WRITE, TYPE_READ, TYPE_ACCESS, TYPES };
enum { MAX_BREAKS = 10000, MAX_WATCH_BYTES = 4096 };

static bool is_watch(const struct breakpoint *b)
{
    return b->type >= TYPE_WRITE;
}

static struct breakpoint *find(const struct breakpoints *all, const struct breakpoint *like)
{
    for (size_t i = 0; i < all->count; i++) {
        struct breakpoint *b = &all->list[i];
        if (b->type == like->type && b->addr == like->addr &&
            (!is_watch(b) || b->kind == like->kind))
            return b;
    }
    return NULL;
}

static size_t count_watches(const struct breakpoints *all)
{
    size_t n = 0;

    for (size_t i = 0; i < all->count; i++)
        n += is_watch(&all->list[i]);
    return n;
}

void breakpoints_clear(struct server *s, bool calls)
{
    struct breakpoints *all = &s->breakpoints;

    for (size_t i = 0; i < all->count; i++)
        reply_deinit(&all->list[i].conditions);
    all->count = 0;
    if (calls)
        all->calls = false;
}

void breakpoints_forget(struct server *s)
{
    breakpoints_clear(s, true);
    memset(s->breakpoints.signal_passed, 0, sizeof s->breakpoints.signal_passed);
}

/* A software breakpoint is said to be one; only what is hardware alone is called so. */
bool breakpoints_is_hardware(const struct server *s, uint64_t pc)
{
    struct breakpoint software = {.type = TYPE_SOFTWARE, .addr = pc};
    struct breakpoint hardware = {.type = TYPE_HARDWARE, .addr = pc};

    return find(&s->breakpoints, &hardware) && !find(&s->breakpoints, &software);
}

bool breakpoints_watch(const struct server *s)
{
    return count_watches(&s->breakpoints) != 0;
}

bool breakpoints_is_set(const struct server *s, uint64_t pc)
{
    const struct breakpoint software = {.type = TYPE_SOFTWARE, .addr = pc};
    const struct breakpoint hardware = {.type = TYPE_HARDWARE, .addr = pc};

    return find(&s->breakpoints, &hardware) || find(&s->breakpoints, &software);
}

/* ---- Z and z ---- */

/* `TYPE,ADDR,KIND` */
static bool parse(struct args *args, struct breakpoint *b)
{
    uint64_t type;

    if (!args_hex(args, &type) || !args_take(args, ',') || !args_hex(args, &b->addr) ||
        !args_take(args, ',') || !args_hex(args, &b->kind))
        return false;
    b->type = type < TYPES ? (int)type : TYPES;
    return true;
}

/* `Xlen,bytes`, with its length before it. */
static bool parse_condition(struct args *args, struct reply *out)
{
    uint64_t bytes;

    if (!args_take(args, 'X') || !args_hex(args, &bytes) || !args_take(args, ',') ||
        bytes > args_left(args) / 2)
        return false;
    uint8_t *code = malloc((size_t)bytes + 1);
    bool good = code && args_bytes(args, code, (size_t)bytes) == bytes;
    if (good) {
        reply_bytes(out, &(uint32_t){(uint32_t)bytes}, sizeof(uint32_t));
        reply_bytes(out, code, (size_t)bytes);
    }
    free(code);
    return good && !out->failed;
}

/* `;X...X...` */
static bool parse_conditions(struct args *args, struct reply *out)
{
    if (args_empty(args))
        return true;
    if (!args_take(args, ';'))
        return false;
    do
        if (!parse_condition(args, out))
            return false;
    while (args_take(args, ';') || !args_empty(args));
    return true;
}

/* Page 0 and its neighbours, and the kernel's half. What can be mapped at all may be so later. */
static bool is_nowhere(struct server *s, uint64_t addr)
{
    enum { LOWEST = 0x10000, USER_BITS = 47 };
    uint8_t byte;

    return (addr < LOWEST || addr >> USER_BITS) && state_memory(s, addr, &byte, 1) != 1;
}

static bool is_allowed(struct server *s, const struct breakpoint *b)
{
    const struct breakpoints *all = &s->breakpoints;
    size_t watches = count_watches(all);

    if (!is_watch(b) && is_nowhere(s, b->addr))
        server_error(s, "nothing can be executed at 0x%llx", (unsigned long long)b->addr);
    else if (is_watch(b) && (b->kind < 1 || b->kind > MAX_WATCH_BYTES))
        server_error(s, "1 to %d bytes can be watched", MAX_WATCH_BYTES);
    else if (is_watch(b) && watches >= STOP_MAX_WATCHES)
        server_error(s, "there are %d watchpoints already", STOP_MAX_WATCHES);
    else if (!is_watch(b) && all->count - watches >= MAX_BREAKS)
        server_error(s, "there are %d breakpoints already", MAX_BREAKS);
    else
        return true;
    return false;
}

/* One that is there already gets these conditions in place of its own. */
void breakpoints_insert(struct server *s, struct args *args)
{
    struct breakpoints *all = &s->breakpoints;
    struct breakpoint b = {0};

    if (!parse(args, &b) || !parse_conditions(args, &b.conditions)) {
        reply_deinit(&b.conditions);
        server_refuse(s);
        return;
    }
    if (b.type == TYPES) {
        reply_deinit(&b.conditions);
        return;
    }
    all->kept_out = all->kept_out == b.addr ? 0 : all->kept_out;
    struct breakpoint *old = find(all, &b);
    if (old) {
        reply_deinit(&old->conditions);
        *old = b;
    } else if (!is_allowed(s, &b) || array_push(&all->list, &all->count, &all->room, b)) {
        reply_deinit(&b.conditions);
        if (!s->reply.bytes)
            server_refuse(s);
        return;
    }
    server_ok(s);
}

void breakpoints_remove(struct server *s, struct args *args)
{
    struct breakpoints *all = &s->breakpoints;
    struct breakpoint b = {0};

    if (!parse(args, &b)) {
        server_refuse(s);
        return;
    }
    if (b.type == TYPES)
        return;
    all->kept_out = all->kept_out == b.addr ? 0 : all->kept_out;
    struct breakpoint *old = find(all, &b);
    if (old) {
        reply_deinit(&old->conditions);
        *old = all->list[--all->count];
    }
    server_ok(s);
}

/* ---- signals and system calls ---- */

/* `NN;NN;...`: those that are delivered without a stop. */
void breakpoints_pass_signals(struct server *s, struct args *args)
{
    uint8_t *passed = s->breakpoints.signal_passed;
    uint64_t number;

    memset(passed, 0, sizeof s->breakpoints.signal_passed);
    while (args_hex(args, &number)) {
        int sig = number < SIGNALS_UNKNOWN ? signals_from_gdb((int)number) : 0;
        if (sig > 0 && sig < STOP_MAX_SIGNALS)
            passed[sig] = 1;
        args_take(args, ';');
    }
    server_ok(s);
}

/* `0`, `1` for all, or `1;NN;NN...` */
void breakpoints_catch_calls(struct server *s, struct args *args)
{
    struct breakpoints *all = &s->breakpoints;
    uint64_t number;
    bool on = args_take(args, '1');

    if (!on && !args_take(args, '0')) {
        server_refuse(s);
        return;
    }
    all->calls = on;
    memset(all->call_wanted, args_empty(args) ? 0xff : 0, sizeof all->call_wanted);
    while (args_take(args, ';') && args_hex(args, &number)) {
        if (number >= STOP_MAX_CALLS) {
            server_message(s, "there is no system call %llu", (unsigned long long)number);
            all->calls = false;
            server_error(s, "there is no system call %llu", (unsigned long long)number);
            return;
        }
        all->call_wanted[number / 8] |= (uint8_t)(1 << number % 8);
    }
    server_ok(s);
}

/* ---- for the debuggee ---- */

static int by_address(const void *a, const void *b)
{
    const struct breakpoint *x = a, *y = b;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->type != y->type)
        return x->type - y->type;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* A list for the debuggee, and the memory that it points to. */
struct listing {
    struct debuggee_stops stops;
    struct debuggee_break *breaks;
    uint8_t *conditions;
    size_t condition_bytes;
};

static void add_conditions(struct listing *l, struct debuggee_break *to, const struct reply *code)
{
    if (code->bytes)
        memcpy(l->conditions + l->condition_bytes, code->data, code->bytes);
    l->condition_bytes += code->bytes;
    to->condition_bytes += (uint32_t)code->bytes;
}

/* If two breakpoints are at one place, either condition may hold; one without any always does. */
static void add_break(struct listing *l, const struct breakpoint *b, const struct breakpoint *twin)
{
    struct debuggee_break *to = &l->breaks[l->stops.break_count++];

    *to = (struct debuggee_break){.pc = b->addr, .conditions = l->conditions + l->condition_bytes};
    if (!b->conditions.bytes || (twin && !twin->conditions.bytes))
        return;
    add_conditions(l, to, &b->conditions);
    if (twin)
        add_conditions(l, to, &twin->conditions);
}

static void put_signals(struct debuggee_stops *stops, const struct breakpoints *all, bool steps)
{
    for (int i = 1; i < STOP_MAX_SIGNALS; i++)
        stops->signal_wanted[i] = steps || !all->signal_passed[i];
    stops->calls = all->calls;
    if (all->calls)
        memcpy(stops->call_wanted, all->call_wanted, sizeof stops->call_wanted);
}

static void put_list(struct listing *l, const struct breakpoint *list, size_t count)
{
    static const enum watch_kind kinds[TYPES] = {0, 0, WATCH_WRITE, WATCH_READ, WATCH_ACCESS};
    for (size_t i = 0; i < count; i++) {
        const struct breakpoint *b = &list[i], *twin = NULL;
        if (is_watch(b)) {
            l->stops.watches[l->stops.watch_count++] =
                (struct debuggee_watch){b->addr, (uint32_t)b->kind, kinds[b->type]};
            continue;
        }
        if (i + 1 < count && b[1].addr == b->addr && !is_watch(&b[1]))
            twin = &list[++i];
        add_break(l, b, twin);
    }
    l->stops.breaks = l->breaks;
}

/* A breakpoint as it is written down; its conditions follow. */
struct given {
    uint64_t pc, bytes;
};

/* Two that say the same are the same bytes. */
static void write_down(const struct debuggee_stops *stops, struct reply *out)
{
    struct debuggee_stops plain;

    memset(&plain, 0, sizeof plain);
    plain.break_count = stops->break_count;
    plain.watch_count = stops->watch_count;
    memcpy(plain.watches, stops->watches, stops->watch_count * sizeof plain.watches[0]);
    plain.calls = stops->calls;
    plain.only = stops->only;
    memcpy(plain.call_wanted, stops->call_wanted, sizeof plain.call_wanted);
    memcpy(plain.signal_wanted, stops->signal_wanted, sizeof plain.signal_wanted);
    reply_bytes(out, &plain, sizeof plain);
    for (size_t i = 0; i < stops->break_count; i++) {
        const struct debuggee_break *b = &stops->breaks[i];
        const struct given one = {b->pc, b->condition_bytes};
        reply_bytes(out, &one, sizeof one);
        reply_bytes(out, b->conditions, b->condition_bytes);
    }
}

static int give(struct server *s, const struct debuggee_stops *stops, struct err *err)
{
    struct breakpoints *all = &s->breakpoints;
    struct reply bytes = {0};

    write_down(stops, &bytes);
    if (all->is_given && !bytes.failed && bytes.bytes == all->given.bytes &&
        memcmp(bytes.data, all->given.data, bytes.bytes) == 0) {
        reply_deinit(&bytes);
        return 0;
    }
    reply_deinit(&all->given);
    all->given = bytes;
    all->is_given = false;
    if (debuggee_stops(&s->debuggee, stops, err))
        return -1;
    all->is_given = !bytes.failed;
    return 0;
}

uint64_t breakpoints_mark(const struct server *s)
{
    const struct reply *given = &s->breakpoints.given;

    return hash_bytes(HASH_BYTES, given->data, s->breakpoints.is_given ? given->bytes : 0);
}

/* One that was given to the debuggee and is not set any more: at pc, 0: anywhere. False: none. */
static bool find_out(const struct server *s, uint64_t pc, struct given *out, size_t *conditions_at)
{
    const struct breakpoints *all = &s->breakpoints;
    size_t at = sizeof(struct debuggee_stops);

    for (; all->is_given && at + sizeof *out <= all->given.bytes; at += sizeof *out + out->bytes) {
        memcpy(out, all->given.data + at, sizeof *out);
        *conditions_at = at + sizeof *out;
        if ((!pc || out->pc == pc) && out->pc != all->kept_out && !breakpoints_is_set(s, out->pc))
            return true;
    }
    return false;
}

bool breakpoints_is_out(const struct server *s, uint64_t pc)
{
    struct given one;
    size_t at;

    return find_out(s, pc, &one, &at);
}

/* What GDB has taken out to step a thread off it, others may come to meanwhile. */
static void keep_out(struct server *s, uint64_t pc, struct listing *l)
{
    struct given one;
    size_t from, i = l->stops.break_count;

    const bool found = pc && find_out(s, pc, &one, &from);
    s->breakpoints.kept_out = found ? pc : 0;
    if (!found)
        return;
    for (; i && l->breaks[i - 1].pc > pc; i--)
        l->breaks[i] = l->breaks[i - 1];
    l->breaks[i] =
        (struct debuggee_break){pc, l->conditions + l->condition_bytes, (uint32_t)one.bytes};
    memcpy(l->conditions + l->condition_bytes, s->breakpoints.given.data + from, one.bytes);
    l->condition_bytes += one.bytes;
    l->stops.breaks = l->breaks;
    l->stops.break_count++;
}

int breakpoints_apply(struct server *s, const struct breakpoints_how *how, struct err *err)
{
    struct breakpoints *all = &s->breakpoints;
    struct listing l;
    size_t bytes = all->given.bytes;
    int result;

    memset(&l, 0, sizeof l);
    for (size_t i = 0; i < all->count; i++)
        bytes += all->list[i].conditions.bytes;
    l.breaks = calloc(all->count + 2, sizeof *l.breaks);
    l.conditions = malloc(bytes + 1);
    if (l.breaks && l.conditions) {
        if (all->count)
            qsort(all->list, all->count, sizeof *all->list, by_address);
        l.stops.only = how->only;
        put_signals(&l.stops, all, how->steps);
        forks_put(s, &l.stops);
        put_list(&l, all->list, all->count);
        keep_out(s, how->off, &l);
        result = give(s, &l.stops, err);
    } else {
        result = err_set(err, "no memory");
    }
    free(l.breaks);
    free(l.conditions);
    return result;
}
