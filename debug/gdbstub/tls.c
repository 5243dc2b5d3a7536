/* tls.c - where thread-local variables are.
 *
 * SPDX-License-Identifier: MIT
 *
 * glibc describes its structures to debuggers in variables _thread_db_*: three words each, the
 * field's size in bits, how many there are, its offset (nptl_db/db_info.c). GDB is asked for their
 * addresses (qSymbol). What a static program has left out has been the same since glibc 2.34:
 *
 *     fs:8 -> dtv; dtv[module] = {pointer, to free}; link_map.l_tls_modid
 */
#include <inttypes.h>
#include <string.h>

#include "debug/gdbstub/server_private.h"

enum symbol { MODULE, OFFSET, DTV_POINTER, ENTRY, VALUE, SYMBOLS };

static const char *const symbol_name[SYMBOLS] = {
    "_thread_db_link_map_l_tls_modid", "_thread_db_link_map_l_tls_offset",
    "_thread_db_pthread_dtvp", "_thread_db_dtv_dtv", "_thread_db_dtv_t_pointer_val"};

_Static_assert(sizeof((struct server *)0)->tls_symbol / sizeof(uint64_t) == SYMBOLS, "symbols");

struct field {
    uint32_t bits, count, offset;
};

#define UNALLOCATED UINT64_MAX

/* ---- symbols ---- */

static void ask(struct server *s)
{
    while (s->tls_asked < SYMBOLS && s->tls_symbol[s->tls_asked])
        s->tls_asked++;
    if (s->tls_asked == SYMBOLS) {
        server_ok(s);
        return;
    }
    const char *name = symbol_name[s->tls_asked];
    reply_text(&s->reply, "qSymbol:");
    reply_hex(&s->reply, name, strlen(name));
}

/* `:` offers to look symbols up; `VALUE:NAME` is an answer, without VALUE if there is none. */
void tls_symbol(struct server *s, struct args *args)
{
    char name[64];
    uint64_t value = 0;
    bool has_value = args_hex(args, &value);

    if (!args_take(args, ':') || !args_string(args, name, sizeof name)) {
        server_refuse(s);
        return;
    }
    if (!name[0]) {
        s->tls_asked = 0;
        ask(s);
        return;
    }
    if (s->tls_asked < SYMBOLS && strcmp(name, symbol_name[s->tls_asked]) == 0) {
        s->tls_symbol[s->tls_asked++] = has_value ? value : 0;
        ask(s);
        return;
    }
    server_ok(s);
}

static struct field field_of(struct server *s, enum symbol symbol)
{
    static const struct field usual[SYMBOLS] = {
        [DTV_POINTER] = {64, 1, 8}, [ENTRY] = {128, 0, 0}, [VALUE] = {64, 1, 0}};
    struct field f;

    if (s->tls_symbol[symbol] && state_memory(s, s->tls_symbol[symbol], &f, sizeof f) == sizeof f)
        return f;
    return usual[symbol];
}

/* ---- addresses ---- */

/* The module's number; a static program has one. */
static int find_module(struct server *s, uint64_t map, uint64_t *module, struct err *err)
{
    struct field f = field_of(s, MODULE);

    *module = 1;
    if (!map)
        return 0;
    if (!f.bits)
        return err_set(err, "where its C library keeps the number of a module is not known");
    if (!state_word(s, map + f.offset, module) || *module == 0 || *module > UINT32_MAX)
        return err_set(err, "the module has no thread-local variables");
    return 0;
}

/* A module that was there at the start has its variables at a fixed distance. */
static int find_static(struct server *s, uint64_t map, uint64_t fs_base, uint64_t *address,
                       struct err *err)
{
    struct field f = field_of(s, OFFSET);
    uint64_t distance;

    if (!map || !f.bits || !state_word(s, map + f.offset, &distance) || distance == 0 ||
        distance >= UINT64_MAX - 1)
        return err_set(err, "the thread has not used the module's thread-local variables yet");
    *address = fs_base - distance;
    return 0;
}

static int find_address(struct server *s, uint32_t thread, uint64_t map, uint64_t *address,
                        struct err *err)
{
    struct field pointer = field_of(s, DTV_POINTER), entry = field_of(s, ENTRY),
                 value = field_of(s, VALUE);
    struct registers regs;
    uint64_t module, dtv, count;

    if (state_registers(s, thread, &regs, err) || find_module(s, map, &module, err))
        return -1;
    uint64_t entry_bytes = entry.bits / 8;
    if (!regs.r.fs_base || !state_word(s, regs.r.fs_base + pointer.offset, &dtv) || !dtv)
        return err_set(err, "the thread has no thread-local variables yet");
    if (!state_word(s, dtv - entry_bytes, &count) || module > count ||
        !state_word(s, dtv + module * entry_bytes + value.offset, address) ||
        *address == UNALLOCATED || *address == 0)
        return find_static(s, map, regs.r.fs_base, address, err);
    return 0;
}

/* `THREAD,OFFSET,LINK_MAP` */
void tls_address(struct server *s, struct args *args)
{
    uint64_t offset, map, address;
    int64_t thread;
    struct err err;

    if (!threads_parse(s, args, &thread) || thread <= 0 || !args_take(args, ',') ||
        !args_hex(args, &offset) || !args_take(args, ',') || !args_hex(args, &map))
        server_refuse(s);
    else if (find_address(s, (uint32_t)thread, map, &address, &err))
        server_error(s, "%s", err.msg);
    else
        reply_addf(&s->reply, "%" PRIx64, address + offset);
}
