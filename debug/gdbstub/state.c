/* state.c - packets that look at registers and memory, or change them. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "debug/gdbstub/server_private.h"

int state_registers(struct server *s, uint32_t thread, struct registers *out, struct err *err)
{
    const struct debuggee_stop *stop = &s->stop;

    if (debuggee_registers(&s->debuggee, thread, &out->r, err))
        return -1;
    registers_layout(&out->layout, out->r.xsave_bytes);
    registers_complete(out);
    out->orig_rax = (uint64_t)-1;
    if ((stop->why == STOP_CALL_ENTRY || stop->why == STOP_CALL_RETURN) &&
        stop->at.thread == out->r.thread && !debuggee_diverted(&s->debuggee))
        out->orig_rax = (uint64_t)stop->call;
    return 0;
}

size_t state_memory(struct server *s, uint64_t addr, void *out, size_t bytes)
{
    /* A call that is over has left its copy. */
    if (!debuggee_diverted(&s->debuggee) && debuggee_parked(&s->debuggee))
        return debuggee_read_parked(&s->debuggee, addr, out, bytes);
    return debuggee_read(&s->debuggee, addr, out, bytes);
}

bool state_word(struct server *s, uint64_t addr, uint64_t *value)
{
    return state_memory(s, addr, value, sizeof *value) == sizeof *value;
}

/* ---- registers ---- */

/* Those of the thread of Hg. */
static bool read_registers(struct server *s, struct registers *out)
{
    struct err err;

    if (s->alive && state_registers(s, s->general, out, &err) == 0)
        return true;
    server_refuse(s);
    return false;
}

void state_get_all(struct server *s, struct args *args)
{
    uint8_t value[REG_MAX_BYTES];
    struct registers regs;

    (void)args;
    if (!read_registers(s, &regs))
        return;
    for (int i = 0; i < registers_count(&regs.layout); i++) {
        registers_get(&regs, i, value);
        reply_hex(&s->reply, value, registers_bytes(i));
    }
}

static bool parse_register(const struct registers *regs, struct args *args, int *number)
{
    uint64_t n;

    if (!args_hex(args, &n) || n >= (uint64_t)registers_count(&regs->layout))
        return false;
    *number = (int)n;
    return true;
}

void state_get(struct server *s, struct args *args)
{
    uint8_t value[REG_MAX_BYTES];
    struct registers regs;
    int number;

    if (!read_registers(s, &regs))
        return;
    if (!parse_register(&regs, args, &number) || !args_empty(args)) {
        server_refuse(s);
        return;
    }
    registers_get(&regs, number, value);
    reply_hex(&s->reply, value, registers_bytes(number));
}

/* One value; false if it is not whole. */
static bool parse_value(struct registers *regs, int number, struct args *args)
{
    uint8_t value[REG_MAX_BYTES];
    size_t bytes = registers_bytes(number);

    if (args_bytes(args, value, bytes) != bytes)
        return false;
    registers_set(regs, number, value);
    return true;
}

/* A program that is alive is changed itself, anything else in a copy. */
static int change_registers(struct server *s, const struct registers *regs, struct err *err)
{
    struct registers now;

    if (!debuggee_alive(&s->debuggee))
        return diversion_set(s, regs->r.thread, regs, err);
    if (state_registers(s, regs->r.thread, &now, err))
        return -1;
    if (registers_same(&now, regs))
        return 0; /* also of a thread that cannot be changed now */
    if (debuggee_set_registers(&s->debuggee, regs->r.thread, &regs->r, err))
        return -1;
    s->stop.at = debuggee_now(&s->debuggee)->at;
    return 0;
}

static int change_memory(struct server *s, uint64_t addr, const void *bytes, size_t n,
                         struct err *err)
{
    if (!debuggee_alive(&s->debuggee))
        return diversion_write(s, addr, bytes, n, err);
    return debuggee_write(&s->debuggee, addr, bytes, n) == n
               ? 0
               : err_set(err, "memory at 0x%llx cannot be written", (unsigned long long)addr);
}

static void set_registers(struct server *s, const struct registers *regs)
{
    struct err err;

    if (change_registers(s, regs, &err))
        server_error(s, "%s", err.msg);
    else
        server_ok(s);
}

void state_set_all(struct server *s, struct args *args)
{
    struct registers regs;

    if (!read_registers(s, &regs))
        return;
    for (int i = 0; i < registers_count(&regs.layout); i++)
        if (!parse_value(&regs, i, args)) {
            server_refuse(s);
            return;
        }
    if (args_empty(args))
        set_registers(s, &regs);
    else
        server_refuse(s);
}

/* Segments and their bases are not the debugger's to set, vector registers only of the thread that
 * has stopped, and some values cannot be. Flags and control words take what they can of a value. */
static bool has_value(struct server *s, uint32_t thread, int number, const uint8_t *wanted)
{
    uint8_t value[REG_MAX_BYTES];
    struct registers now;
    struct err err;

    if (number == REG_EFLAGS || number == REG_ORIG_RAX || registers_is_control(number) ||
        state_registers(s, thread, &now, &err))
        return true;
    registers_get(&now, number, value);
    return memcmp(value, wanted, registers_bytes(number)) == 0;
}

void state_set(struct server *s, struct args *args)
{
    uint8_t value[REG_MAX_BYTES];
    struct registers regs;
    struct err err;
    int number;

    if (!read_registers(s, &regs))
        return;
    if (!parse_register(&regs, args, &number) || !args_take(args, '=') ||
        args_bytes(args, value, registers_bytes(number)) != registers_bytes(number) ||
        !args_empty(args)) {
        server_refuse(s);
        return;
    }
    registers_set(&regs, number, value);
    if (change_registers(s, &regs, &err))
        server_error(s, "%s", err.msg);
    else if (debuggee_alive(&s->debuggee) && !has_value(s, regs.r.thread, number, value))
        server_error(s, "this register cannot have that value here");
    else
        server_ok(s);
}

/* ---- memory ---- */

static bool parse_range(struct args *args, uint64_t *addr, uint64_t *bytes)
{
    return args_hex(args, addr) && args_take(args, ',') && args_hex(args, bytes);
}

/* GDB takes `E.text` for data here: numbers only. */
void state_read(struct server *s, struct args *args)
{
    enum { MAX = PACKET_BYTES / 2 };
    uint64_t addr, bytes;

    if (!s->alive || !parse_range(args, &addr, &bytes) || !args_empty(args)) {
        server_refuse(s);
        return;
    }
    size_t want = bytes < MAX ? (size_t)bytes : MAX;
    uint8_t *data = malloc(want ? want : 1);
    size_t got = data ? state_memory(s, addr, data, want) : 0;
    if (got || !want)
        reply_hex(&s->reply, data, got);
    else
        server_refuse(s);
    free(data);
}

/* GDB says only that memory cannot be accessed, so that the reason goes the other way, too. */
static void write_memory(struct server *s, uint64_t addr, const void *bytes, size_t n)
{
    struct err err;

    if (s->alive && change_memory(s, addr, bytes, n, &err) == 0) {
        server_ok(s);
        return;
    }
    if (!s->alive)
        err_set(&err, "there is no process");
    server_message(s, "%s", err.msg);
    server_error(s, "%s", err.msg);
}

void state_write(struct server *s, struct args *args)
{
    uint64_t addr, bytes;

    if (!parse_range(args, &addr, &bytes) || !args_take(args, ':') ||
        bytes != args_left(args) / 2 || args_left(args) % 2) {
        server_refuse(s);
        return;
    }
    uint8_t *data = malloc((size_t)bytes + 1);
    if (data && args_bytes(args, data, (size_t)bytes) == bytes)
        write_memory(s, addr, data, (size_t)bytes);
    else
        server_refuse(s);
    free(data);
}

void state_write_binary(struct server *s, struct args *args)
{
    uint64_t addr, bytes;

    if (!parse_range(args, &addr, &bytes) || !args_take(args, ':') || bytes != args_left(args))
        server_refuse(s);
    else
        write_memory(s, addr, args->at, (size_t)bytes);
}
