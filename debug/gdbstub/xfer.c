/* xfer.c - qXfer: documents and data that GDB reads in pieces.
 *
 * SPDX-License-Identifier: MIT
 *
 * `qXfer:OBJECT:read:ANNEX:OFFSET,BYTES`; the answer is `m` and bytes, or `l` and the last ones. A
 * document is made when its first byte is asked for, and kept for the pieces that follow.
 */
#include <stdio.h>
#include <string.h>

#include "debug/gdbstub/server_private.h"

enum { SIGINFO_BYTES = 128 };

static bool make_features(struct server *s, const char *annex)
{
    struct registers regs;
    struct err err;

    if (strcmp(annex, "target.xml") != 0 || state_registers(s, 0, &regs, &err))
        return false;
    registers_xml(&regs.layout, &s->document);
    return true;
}

static bool make_threads(struct server *s, const char *annex)
{
    (void)annex;
    threads_xml(s, &s->document);
    return true;
}

static bool make_auxv(struct server *s, const char *annex)
{
    struct debuggee_program program;

    (void)annex;
    debuggee_program(&s->debuggee, &program);
    reply_bytes(&s->document, program.auxv, program.auxv_bytes);
    return true;
}

/* The annex is a process, or nothing for the one there is. */
static bool make_exec_file(struct server *s, const char *annex)
{
    struct debuggee_program program;

    (void)annex;
    debuggee_program(&s->debuggee, &program);
    reply_text(&s->document, program.path ? program.path : "");
    return true;
}

/* The thread of Hg has a siginfo if it has stopped for a signal. */
static const uint8_t *find_siginfo(const struct server *s)
{
    static const uint8_t none[SIGINFO_BYTES];
    const struct debuggee_stop *stop =
        debuggee_diverted(&s->debuggee) ? &s->diversion.stop : &s->stop;
    const bool own = !s->general || s->general == stop->at.thread;

    _Static_assert(sizeof stop->siginfo == SIGINFO_BYTES, "siginfo");
    return stop->why == STOP_SIGNAL && own ? stop->siginfo : none;
}

/* GDB reads this before it calls a function, too. */
static bool make_siginfo(struct server *s, const char *annex)
{
    (void)annex;
    reply_bytes(&s->document, find_siginfo(s), SIGINFO_BYTES);
    diversion_arm(s);
    return true;
}

static const struct {
    const char *name;
    bool (*make)(struct server *s, const char *annex);
} objects[] = {
    {"features", make_features},   {"threads", make_threads}, {"auxv", make_auxv},
    {"exec-file", make_exec_file}, {"siginfo", make_siginfo},
};

/* Makes the document, unless this is a later piece of it. */
static bool make(struct server *s, size_t object, const char *annex, uint64_t offset)
{
    char name[sizeof s->document_name];

    snprintf(name, sizeof name, "%zu:%s", object, annex);
    if (offset && strcmp(name, s->document_name) == 0)
        return true;
    reply_clear(&s->document);
    s->document_name[0] = '\0';
    if (!objects[object].make(s, annex) || s->document.failed)
        return false;
    snprintf(s->document_name, sizeof s->document_name, "%s", name);
    return true;
}

static void send_piece(struct server *s, uint64_t offset, uint64_t bytes)
{
    uint64_t left = offset < s->document.bytes ? s->document.bytes - offset : 0;
    size_t n = (size_t)(bytes < left ? bytes : left);

    reply_text(&s->reply, "m");
    size_t sent = n ? reply_binary(&s->reply, s->document.data + offset, n, PACKET_BYTES) : 0;
    if (sent == left && s->reply.data)
        s->reply.data[0] = 'l';
}

static void read_object(struct server *s, size_t object, struct args *args)
{
    char annex[64];
    struct args part;
    uint64_t offset, bytes;

    if (!args_until(args, ':', &part) || !args_copy(&part, annex, sizeof annex) ||
        !args_hex(args, &offset) || !args_take(args, ',') || !args_hex(args, &bytes))
        server_refuse(s);
    else if (!s->alive || !make(s, object, annex, offset))
        reply_text(&s->reply, "E00");
    else
        send_piece(s, offset, bytes);
}

/* `ANNEX:OFFSET:BYTES`: after a call, GDB brings back what it has saved; of a living program that
 * stands behind the call then. Else the user has set a part of it, and it does not change. */
static void write_siginfo(struct server *s, struct args *args)
{
    struct args annex;
    uint64_t offset;

    if (!args_until(args, ':', &annex) || !args_hex(args, &offset) || !args_take(args, ':') ||
        offset > SIGINFO_BYTES || args_left(args) > SIGINFO_BYTES - offset) {
        server_refuse(s);
        return;
    }
    const bool called = debuggee_alive(&s->debuggee) && s->stop.why != STOP_SIGNAL;
    if (!called && !s->diversion.calls &&
        memcmp(args->at, find_siginfo(s) + offset, args_left(args)) != 0) {
        server_message(s, "a recording cannot be changed: its signals are delivered as they were");
        server_error(s, "a recording cannot be changed");
        return;
    }
    if (offset + args_left(args) == SIGINFO_BYTES)
        diversion_release(s);
    reply_addf(&s->reply, "%zx", args_left(args));
}

void xfer_packet(struct server *s, struct args *args)
{
    if (args_word(args, "siginfo:write:")) {
        write_siginfo(s, args);
        return;
    }
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        struct args rest = *args;
        if (args_word(&rest, objects[i].name) && args_word(&rest, ":read:")) {
            read_object(s, i, &rest);
            return;
        }
    }
}
