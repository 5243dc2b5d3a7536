/* server.c - serve a program to GDB: clients, packets, the table of handlers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/gdbstub/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "debug/gdbstub/server_private.h"

/* ---- answers ---- */

void server_ok(struct server *s)
{
    reply_text(&s->reply, "OK");
}

void server_refuse(struct server *s)
{
    reply_clear(&s->reply);
    reply_text(&s->reply, "E01");
}

void server_error(struct server *s, const char *fmt, ...)
{
    struct err err;
    va_list args;

    va_start(args, fmt);
    vsnprintf(err.msg, sizeof err.msg, fmt, args);
    va_end(args);
    reply_clear(&s->reply);
    reply_text(&s->reply, "E.");
    reply_plain(&s->reply, err.msg);
}

void server_message(struct server *s, const char *fmt, ...)
{
    char line[600];
    va_list args;

    if (!s->options->message)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    line[strcspn(line, "\n")] = '\0';
    s->options->message(s->options->arg, line);
}

static void send_packet(struct server *s, const void *data, size_t n)
{
    reply_clear(&s->frame);
    packet_frame(&s->frame, data, n);
    if (s->frame.failed || link_write(s->link, s->frame.data, s->frame.bytes))
        s->gone = true;
}

void server_output(void *arg, int fd, const void *bytes, size_t n)
{
    enum { PIECE = PACKET_BYTES / 4 };
    struct server *s = arg;
    const char *p = bytes;
    struct reply packet = {0};

    (void)fd;
    while (s->running && n && !s->gone) {
        size_t piece = n < PIECE ? n : PIECE;
        reply_clear(&packet);
        reply_text(&packet, "O");
        reply_hex(&packet, p, piece);
        send_packet(s, packet.data, packet.bytes);
        p += piece;
        n -= piece;
    }
    reply_deinit(&packet);
}

void server_console(struct server *s, const char *fmt, ...)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    va_list args;

    if (!out)
        return;
    va_start(args, fmt);
    plain_vprintf(out, fmt, args);
    va_end(args);
    if (fclose(out) == 0)
        server_output(s, 2, text, bytes);
    free(text);
}

static void debuggee_says(void *arg, const char *line)
{
    server_message(arg, "%s", line);
}

/* ---- setting up ---- */

/* The client lists the architectures that it knows. */
static void check_architecture(struct server *s, struct args *known)
{
    struct args one;
    while (args_until(known, ',', &one))
        if (args_word(&one, "i386") && args_empty(&one))
            return;
    server_message(s, "this GDB knows no x86-64 programs: use one that does, like Debian's gdb or "
                      "gdb-multiarch");
}

static void supported(struct server *s, struct args *args)
{
    static const char features[] =
        "QStartNoAckMode+;multiprocess+;vContSupported+;ReverseStep+;ReverseContinue+;swbreak+;"
        "hwbreak+;fork-events+;vfork-events+;exec-events+;ConditionalBreakpoints+;QPassSignals+;QCatchSyscalls+;"
        "qXfer:features:read+;qXfer:threads:read+;qXfer:auxv:read+;qXfer:exec-file:read+;"
        "qXfer:siginfo:read+;qXfer:siginfo:write+";
    const struct {
        const char *word;
        bool *said;
    } known[] = {{"multiprocess+", &s->multiprocess}, {"swbreak+", &s->swbreak},
                 {"hwbreak+", &s->hwbreak},           {"fork-events+", &s->fork_events},
                 {"vfork-events+", &s->vfork_events}, {"exec-events+", &s->exec_events}};
    struct args part;

    args_take(args, ':');
    while (args_until(args, ';', &part)) {
        struct args word = part;
        if (args_word(&word, "xmlRegisters="))
            check_architecture(s, &word);
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            word = part;
            if (args_word(&word, known[i].word) && args_empty(&word))
                *known[i].said = true;
        }
    }
    reply_addf(&s->reply, "PacketSize=%x;%s", PACKET_BYTES, features);
}

static void no_ack_mode(struct server *s, struct args *args)
{
    (void)args;
    s->no_ack = true;
    server_ok(s);
}

static void extended_mode(struct server *s, struct args *args)
{
    (void)args;
    s->extended = true;
    server_ok(s);
}

/* Attached, so that GDB, when it quits, leaves instead of killing; unless the program is alive. */
static void attached(struct server *s, struct args *args)
{
    (void)args;
    reply_text(&s->reply, s->options->live ? "0" : "1");
}

static void must_reply_empty(struct server *s, struct args *args)
{
    (void)s;
    (void)args;
}

/* The client has no process any more; the recording stays where it is. */
static void let_go(struct server *s, bool kills)
{
    debuggee_leave(&s->debuggee, kills);
    diversion_drop(s);
    breakpoints_clear(s, true);
    s->has_pending = false;
    forks_drop_rest(s);
    s->goal.way = MOVE_NONE;
    s->alive = false;
}

static void detach(struct server *s, struct args *args)
{
    if (!forks_is_other(s, args)) /* a child is not there anyway */
        let_go(s, false);
    server_ok(s);
}

static void kill_process(struct server *s, struct args *args)
{
    (void)args;
    let_go(s, true);
    server_ok(s);
}

static void kill_quietly(struct server *s, struct args *args)
{
    (void)args;
    let_go(s, true);
    s->silent = true;
    s->gone = !s->extended;
}

/* ---- packets ---- */

/* The first row that fits. A name with a `$` at its end must be all of the packet. */
static const struct {
    const char *name;
    server_handler *handler;
} packets[] = {
    {"?$", stops_query},
    {"!$", extended_mode},
    {"g$", state_get_all},
    {"G", state_set_all},
    {"p", state_get},
    {"P", state_set},
    {"m", state_read},
    {"M", state_write},
    {"X", state_write_binary},
    {"H", threads_select},
    {"T", threads_alive},
    {"bs$", resume_step_back},
    {"bc$", resume_back},
    {"c", resume_continue},
    {"C", resume_continue},
    {"s", resume_step},
    {"S", resume_step},
    {"Z", breakpoints_insert},
    {"z", breakpoints_remove},
    {"k", kill_quietly},
    {"D", detach},
    {"R", resume_restart},
    {"vCont?$", resume_vcont_query},
    {"vCont;", resume_vcont},
    {"vRun;", resume_run},
    {"vKill;", kill_process},
    {"vFile:", files_packet},
    {"vMustReplyEmpty$", must_reply_empty},
    {"qSupported", supported},
    {"qAttached", attached},
    {"qC$", threads_current},
    {"qfThreadInfo$", threads_first},
    {"qsThreadInfo$", threads_next},
    {"qThreadExtraInfo,", threads_extra},
    {"qXfer:", xfer_packet},
    {"qSymbol:", tls_symbol},
    {"qGetTLSAddr:", tls_address},
    {"qRcmd,", query_monitor},
    {"qDrdebug,", query_packet},
    {"QStartNoAckMode$", no_ack_mode},
    {"QPassSignals:", breakpoints_pass_signals},
    {"QCatchSyscalls:", breakpoints_catch_calls},
};

static bool fits(const char *name, struct args *args)
{
    size_t n = strlen(name);
    bool whole = name[n - 1] == '$';

    n -= whole;
    if (args_left(args) < n || memcmp(args->at, name, n) != 0 || (whole && args_left(args) > n))
        return false;
    args->at += n;
    return true;
}

void server_answer(struct server *s, const char *data, size_t n)
{
    struct args args = {data, data + n};

    reply_clear(&s->reply);
    s->silent = false;
    loop_packet(s, data, n);
    if (n && data[0] == 'q') /* a question: the client does not just go on */
        s->interrupt = false;
    if (n && forks_answer(s, data[0]))
        return;
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
        if (fits(packets[i].name, &args)) {
            packets[i].handler(s, &args);
            break;
        }
    if (s->reply.failed)
        server_error(s, "no memory");
}

/* ---- clients ---- */

/* Bytes that have come, or come now; false: none without waiting, or the client is gone. */
static bool fill(struct server *s, bool wait)
{
    if (s->in_at < s->in_bytes)
        return true;
    ssize_t n = link_read(s->link, s->in, sizeof s->in, wait);
    s->gone |= n < 0;
    s->in_at = 0;
    s->in_bytes = n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* GDB waits two seconds, three times. Output that is empty is none. */
static void give_sign(struct server *s)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (s->monitoring && now.tv_sec > s->last_sign)
        send_packet(s, "O", 1);
    s->last_sign = now.tv_sec;
}

/* While something runs: has the client sent an interrupt, or left? A packet has to wait until it
 * stops; but a client that sends one instead of waiting for an answer has given that up. */
static bool interrupted(void *arg)
{
    struct server *s = arg;

    give_sign(s);
    if (s->gone)
        return true;
    while (packet_outside(&s->reader) && fill(s, false)) {
        char c = s->in[s->in_at];
        if (c == '$' && !s->running && !s->silent) {
            s->silent = true;
            return true;
        }
        if (c != '+' && c != 0x03)
            return false;
        s->in_at++;
        if (c == 0x03)
            return true;
    }
    return s->gone;
}

static void acknowledge(struct server *s, const char *mark)
{
    if (!s->no_ack && link_write(s->link, mark, 1))
        s->gone = true;
}

static void serve_packet(struct server *s)
{
    acknowledge(s, "+");
    server_answer(s, s->reader.data, s->reader.bytes);
    if (!s->silent)
        send_packet(s, s->reply.data ? s->reply.data : "", s->reply.bytes);
    s->reader.sums_ignored = s->no_ack;
}

static void serve_event(struct server *s, enum packet_event event)
{
    switch (event) {
    case PACKET_DATA:
        serve_packet(s);
        break;
    case PACKET_LONG:
        acknowledge(s, "+");
        send_packet(s, "E01", 3);
        break;
    case PACKET_BAD:
        acknowledge(s, "-");
        break;
    case PACKET_NACK:
        if (!s->no_ack && s->frame.bytes && link_write(s->link, s->frame.data, s->frame.bytes))
            s->gone = true;
        break;
    case PACKET_NONE:
    case PACKET_ACK:
        break;
    case PACKET_INTERRUPT: /* GDB may be about to go on, as at a breakpoint whose condition is false
                            */
        s->interrupt = true;
        break;
    }
}

void server_begin_session(struct server *s)
{
    packet_init(&s->reader);
    reply_clear(&s->frame);
    s->in_at = s->in_bytes = 0;
    s->gone = s->running = s->has_pending = s->interrupt = false;
    s->multiprocess = s->swbreak = s->hwbreak = s->exec_events = s->extended = s->no_ack = false;
    s->fork_events = s->vfork_events = false;
    forks_begin_session(s);
    s->alive = true;
    s->general = s->resumed = s->selected = 0;
    s->told_of_calls = false;
    s->goal.way = MOVE_NONE;
    s->document_name[0] = '\0';
    s->tls_asked = 0;
    memset(s->tls_symbol, 0, sizeof s->tls_symbol);
    diversion_drop(s);
    breakpoints_forget(s);
    files_close_all(s);
    s->program_mark = stops_program_mark(s);
}

void server_serve(struct server *s)
{
    server_begin_session(s);
    while (!s->gone && fill(s, true)) {
        size_t taken;
        enum packet_event event =
            packet_feed(&s->reader, s->in + s->in_at, s->in_bytes - s->in_at, &taken);
        s->in_at += taken;
        serve_event(s, event);
    }
    diversion_drop(s);
    link_drop(s->link);
}

struct server *server_new(const struct server_options *options, struct link *link, struct err *err)
{
    struct server *s = calloc(1, sizeof *s);

    if (!s) {
        err_set(err, "no memory");
        return NULL;
    }
    s->options = options;
    s->link = link;
    const struct debuggee_listener listener = {.output = options->quiet ? NULL : server_output,
                                               .message = debuggee_says,
                                               .interrupted = interrupted,
                                               .arg = s};
    if (options->open(options->arg, &listener, &s->debuggee, err)) {
        server_free(s);
        return NULL;
    }
    s->stop = *debuggee_now(&s->debuggee);
    s->begin = s->stop.at;
    arguments_note(s);
    server_begin_session(s);
    return s;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    if (s->debuggee.ops) {
        diversion_drop(s);
        breakpoints_forget(s);
    }
    files_close_all(s);
    history_forget(s);
    debuggee_close(&s->debuggee);
    free(s->breakpoints.list);
    reply_deinit(&s->breakpoints.given);
    reply_deinit(&s->reply);
    reply_deinit(&s->frame);
    reply_deinit(&s->document);
    reply_deinit(&s->arguments);
    free(s);
}

int server_run(const struct server_options *options, struct err *err)
{
    struct link_options link_options = {options->once ? NULL : options->message, options->arg,
                                        options->end_fd, options->once};
    struct server *s = NULL;
    int more = -1;
    struct link *link = link_open(options->listen, &link_options, err);

    if (link)
        s = server_new(options, link, err);
    if (s)
        while ((more = link_accept(link, err)) > 0)
            server_serve(s);
    server_free(s);
    link_close(link);
    return more;
}
