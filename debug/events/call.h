/* call.h - a system call that is being described: its arguments, and the memory that came along.
 *
 * SPDX-License-Identifier: MIT
 *
 * Between the sources of debug/events. A function that shows an argument takes the call and which
 * argument it is; call->argument says what kind.
 */
#ifndef DEBUG_EVENTS_CALL_H
#define DEBUG_EVENTS_CALL_H

#include <sys/types.h>

#include "debug/events/describer.h"
#include "debug/events/names.h"

enum { CALL_ARGS = 6, CALL_SHOWN = 32 }; /* bytes of a buffer, elements of an array */

struct call;
typedef void call_show(struct call *c, int i);

/* The kind of an argument, and what goes with it. */
struct argument {
    call_show *show;
    const struct name *names;
    const char *prefix, *none; /* of names that are not known; for no bits at all */
    uint8_t other;             /* the argument with the length, the count or the like */
};

struct call {
    struct words *out;
    struct described *about;
    const struct descriptors *files;
    uint32_t thread;
    uint64_t arg[CALL_ARGS];
    int64_t result;
    bool failed;                     /* the result is an error */
    bool unfinished;                 /* there is none */
    bool cut;                        /* ... and the next argument would tell of it */
    const struct argument *argument; /* of this call, CALL_ARGS */
    const uint8_t *pieces;           /* struct mailbox_piece, checked */
    size_t bytes;
    struct words after; /* in parentheses behind the result */
};

/* ---- memory ---- */

enum call_when { CALL_BEFORE, CALL_AFTER };

struct call_bytes {
    const uint8_t *data;
    size_t bytes;   /* that came along */
    uint64_t total; /* that are there */
};

/* From addr on, in a piece that was read before the call or written by it. */
bool call_find(const struct call *c, uint64_t addr, enum call_when when, struct call_bytes *out);
/* All of a struct. */
bool call_get(const struct call *c, uint64_t addr, enum call_when when, void *out, size_t bytes);
/* An argument that the call has filled in: true, and nothing was shown. Else it shows the address.
 */
bool call_is_filled(struct call *c, int i);
/* One that the call reads, of `bytes`. If it is not there the address is shown. */
bool call_take(struct call *c, int i, void *out, size_t bytes);
bool call_filled(struct call *c, int i, void *out, size_t bytes);

/* ---- words ---- */

void call_put_fd(struct call *c, int64_t fd);
/* A buffer of `total` bytes of which some came along, cut to CALL_SHOWN. */
void call_put_bytes(struct call *c, const struct call_bytes *b, uint64_t total);
void call_put_sockaddr(struct call *c, const struct call_bytes *b, uint64_t total);
void call_put_time(struct call *c, const void *two_words, const char *part); /* tv_sec, tv_PART */
void call_put_vector(struct call *c, uint64_t at, uint64_t count, uint64_t total,
                     enum call_when when);

/* ---- the kinds of arguments: arguments.def has the words for them ---- */

call_show argument_int, argument_unsigned, argument_signed, argument_size, argument_hex,
    argument_hex32, argument_address, argument_mode, argument_device, argument_id, argument_value,
    argument_bits32, argument_match, argument_access, argument_signal, argument_fd, argument_dirfd,
    argument_path, argument_string, argument_given, argument_got, argument_got_hex,
    argument_got_path, argument_entries, argument_strings, argument_environment, argument_ids,
    argument_int_at, argument_int_given, argument_word_at, argument_pair, argument_offset_both;
call_show structs_timespec, structs_timespec_out, structs_timespec_left, structs_timespecs,
    structs_timeval_out, structs_itimerval, structs_itimerval_out, structs_itimerspec,
    structs_itimerspec_out, structs_stat, structs_statx, structs_statfs, structs_lock,
    structs_lock_out, structs_ioctl, structs_termios, structs_termios_out, structs_winsize,
    structs_winsize_out, structs_rlimit, structs_rlimit_out, structs_rusage, structs_utsname,
    structs_sysinfo, structs_wait_status, structs_clone, structs_clone3, structs_futex_op,
    structs_cpus, structs_cpus_out;
call_show signals_set, signals_set_out, signals_mask, signals_action, signals_action_out,
    signals_stack, signals_stack_out, signals_info_out;
call_show sockets_address, sockets_address_out, sockets_length, sockets_protocol, sockets_option,
    sockets_option_value, sockets_option_out, sockets_vector, sockets_vector_out, sockets_message,
    sockets_message_out, sockets_polls, sockets_set, sockets_set_time, sockets_epoll,
    sockets_epolls;

/* siginfo_t, for signals that were delivered, too. */
void signals_put_info(struct words *out, const uint8_t info[128]);

#endif
