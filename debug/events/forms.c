/* forms.c - arguments.def as tables. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "debug/events/forms.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <stdbool.h>
#include <sys/ioctl.h>

#include "engine/os/kinds.h"

/* clang-format off */
#define NUMBER            RESULT_NUMBER
#define ADDRESS           RESULT_ADDRESS
#define OCTAL             RESULT_OCTAL
#define NOTHING           RESULT_NOTHING
#define OPENED            RESULT_OPENED
#define COPIES            RESULT_COPIES
#define SHOWS(table)      RESULT_SHOWS, .names = names_##table
#define MAKES_TWO(word)   RESULT_PAIR, .makes = #word
#define MAKES(word)       RESULT_MAKES, .makes = #word

#define NO                {.show = NULL}
#define INT               {.show = argument_int}
#define UNSIGNED          {.show = argument_unsigned}
#define SIGNED            {.show = argument_signed}
#define SIZE              {.show = argument_size}
#define HEX               {.show = argument_hex}
#define HEX32             {.show = argument_hex32}
#define ADDRESS_          {.show = argument_address}
#define MODE              {.show = argument_mode}
#define DEVICE            {.show = argument_device}
#define ID                {.show = argument_id}
#define IDS               {.show = argument_ids}
#define VALUE(table, p)   {.show = argument_value, .names = names_##table, .prefix = #p}
#define BITS32(table)     {.show = argument_bits32, .names = names_##table}
#define PROT              {.show = argument_bits32, .names = names_prot, .none = "PROT_NONE"}
#define FUTEX_BITS        {.show = argument_match}
#define NOT_SHOWN         {.show = NULL, .none = ""}
#define ACCESS            {.show = argument_access}
#define SIGNAL_           {.show = argument_signal}
#define FD                {.show = argument_fd}
#define AT                {.show = argument_dirfd}
#define PATH              {.show = argument_path}
#define STRING            {.show = argument_string}
#define GIVEN(n)          {.show = argument_given, .other = (n)}
#define GOT(n)            {.show = argument_got, .other = (n)}
#define GOT_HEX(n)        {.show = argument_got_hex, .other = (n)}
#define GOT_PATH(n)       {.show = argument_got_path, .other = (n)}
#define ENTRIES(n)        {.show = argument_entries, .other = (n)}
#define STRINGS           {.show = argument_strings}
#define ENVIRONMENT       {.show = argument_environment}
#define INT_AT            {.show = argument_int_at}
#define INT_GIVEN         {.show = argument_int_given}
#define WORD_AT           {.show = argument_word_at}
#define PAIR              {.show = argument_pair}
#define OFFSET_BOTH       {.show = argument_offset_both}
#define STAT              {.show = structs_stat}
#define STATX             {.show = structs_statx}
#define STATFS            {.show = structs_statfs}
#define TIMESPEC          {.show = structs_timespec}
#define TIMESPEC_AT(n)    {.show = structs_timespec, .other = (n)}
#define TIMESPEC_OUT      {.show = structs_timespec_out}
#define TIMESPEC_LEFT     {.show = structs_timespec_left}
#define TIMESPECS         {.show = structs_timespecs}
#define TIMEVAL_OUT       {.show = structs_timeval_out}
#define ITIMERVAL         {.show = structs_itimerval}
#define ITIMERVAL_OUT     {.show = structs_itimerval_out}
#define ITIMERSPEC        {.show = structs_itimerspec}
#define ITIMERSPEC_OUT    {.show = structs_itimerspec_out}
#define LOCK              {.show = structs_lock}
#define LOCK_OUT          {.show = structs_lock_out}
#define IOCTL             {.show = structs_ioctl}
#define TERMIOS           {.show = structs_termios}
#define TERMIOS_OUT       {.show = structs_termios_out}
#define WINSIZE           {.show = structs_winsize}
#define WINSIZE_OUT       {.show = structs_winsize_out}
#define RLIMIT_IN         {.show = structs_rlimit, .none = "RLIM_INFINITY"}
#define RLIMIT_OUT        {.show = structs_rlimit_out, .none = "RLIM_INFINITY"}
#define RLIMIT64          {.show = structs_rlimit, .none = "RLIM64_INFINITY"}
#define RLIMIT64_OUT      {.show = structs_rlimit_out, .none = "RLIM64_INFINITY"}
#define RUSAGE            {.show = structs_rusage}
#define UTSNAME           {.show = structs_utsname}
#define SYSINFO           {.show = structs_sysinfo}
#define WAIT_STATUS       {.show = structs_wait_status}
#define CLONE             {.show = structs_clone}
#define CLONE3            {.show = structs_clone3}
#define FUTEX_COMMAND          {.show = structs_futex_op}
#define CPUS(n)           {.show = structs_cpus, .other = (n)}
#define CPUS_OUT(n)       {.show = structs_cpus_out, .other = (n)}
#define SIGSET            {.show = signals_set}
#define SIGSET_OUT        {.show = signals_set_out}
#define SIGMASK           {.show = signals_mask}
#define SIGACTION         {.show = signals_action}
#define SIGACTION_OUT     {.show = signals_action_out}
#define SIGALTSTACK       {.show = signals_stack}
#define SIGALTSTACK_OUT   {.show = signals_stack_out}
#define SIGINFO_OUT       {.show = signals_info_out}
#define SOCKADDR(n)       {.show = sockets_address, .other = (n)}
#define SOCKADDR_OUT(n)   {.show = sockets_address_out, .other = (n)}
#define LENGTH            {.show = sockets_length}
#define PROTOCOL          {.show = sockets_protocol}
#define OPTION            {.show = sockets_option}
#define OPTION_VALUE(n)   {.show = sockets_option_value, .other = (n)}
#define OPTION_OUT(n)     {.show = sockets_option_out, .other = (n)}
#define VECTOR(n)         {.show = sockets_vector, .other = (n)}
#define VECTOR_OUT(n)     {.show = sockets_vector_out, .other = (n)}
#define MESSAGE           {.show = sockets_message}
#define MESSAGE_OUT       {.show = sockets_message_out}
#define POLLS(n)          {.show = sockets_polls, .other = (n)}
#define SET               {.show = sockets_set}
#define SET_TIME(part)    {.show = sockets_set_time, .none = #part}
#define EPOLL             {.show = sockets_epoll}
#define EPOLLS            {.show = sockets_epolls}

/* clang-format on */

static const struct form calls[] = {
#define CALL(name, class_, result_, ...)                                                           \
    [KINDS_NUMBER_##name] = {.is = true,                                                           \
                             .nr = KINDS_NUMBER_##name,                                            \
                             .class = CLASS_##class_,                                              \
                             .argument = {__VA_ARGS__},                                            \
                             .result = result_},
#define FORM(...)
#include "debug/events/arguments.def"
#undef CALL
#undef FORM
};

static const struct form forms[] = {
#define CALL(...)
#define FORM(name, arg_, mask_, value_, result_, ...)                                              \
    {.nr = KINDS_NUMBER_##name,                                                                    \
     .arg = (arg_),                                                                                \
     .mask = (mask_),                                                                              \
     .value = (uint32_t)(value_),                                                                  \
     .argument = {__VA_ARGS__},                                                                    \
     .result = result_},
#include "debug/events/arguments.def"
#undef CALL
#undef FORM
};

const struct form *forms_row(int64_t nr)
{
    return nr >= 0 && (uint64_t)nr < sizeof calls / sizeof *calls && calls[nr].is ? &calls[nr]
                                                                                  : NULL;
}

const struct form *forms_find(int64_t nr, const uint64_t arg[CALL_ARGS])
{
    const struct form *row = forms_row(nr);
    for (size_t i = 0; row && i < sizeof forms / sizeof *forms; i++)
        if (forms[i].nr == nr && ((uint32_t)arg[forms[i].arg] & forms[i].mask) == forms[i].value)
            return &forms[i];
    return row;
}
