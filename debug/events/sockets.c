/* sockets.c - addresses, messages, vectors, and sets of descriptors. SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "debug/events/call.h"

typedef unsigned long long uwide;

/* ---- addresses ---- */

static void put_unix(struct call *c, const uint8_t *data, size_t n)
{
    const size_t at = offsetof(struct sockaddr_un, sun_path);
    if (n <= at)
        return;
    words_add(c->out, ", sun_path=");
    if (!data[at]) { /* a name that is no file's */
        words_add(c->out, "@");
        words_quote(c->out, data + at + 1, n - at - 1, WORDS_PLAIN);
    } else {
        words_quote(c->out, data + at, strnlen((const char *)data + at, n - at), WORDS_PLAIN);
    }
}

static void put_inet(struct call *c, const uint8_t *data)
{
    struct sockaddr_in s;
    char text[INET_ADDRSTRLEN] = "";
    memcpy(&s, data, sizeof s);
    inet_ntop(AF_INET, &s.sin_addr, text, sizeof text);
    words_addf(c->out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(s.sin_port), text);
}

static void put_inet6(struct call *c, const uint8_t *data)
{
    struct sockaddr_in6 s;
    char text[INET6_ADDRSTRLEN] = "";
    memcpy(&s, data, sizeof s);
    inet_ntop(AF_INET6, &s.sin6_addr, text, sizeof text);
    words_addf(c->out,
               ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, \"%s\", "
               "&sin6_addr), sin6_scope_id=%u",
               ntohs(s.sin6_port), ntohl(s.sin6_flowinfo), text, s.sin6_scope_id);
}

void call_put_sockaddr(struct call *c, const struct call_bytes *b, uint64_t total)
{
    const size_t n = b->bytes < total ? b->bytes : (size_t)total;
    sa_family_t family;
    if (n < sizeof family) {
        call_put_bytes(c, b, total);
        return;
    }
    memcpy(&family, b->data, sizeof family);
    words_add(c->out, "{sa_family=");
    names_put(c->out, names_family, family, "AF_");
    if (family == AF_UNIX) {
        put_unix(c, b->data, n);
    } else if (family == AF_INET && n >= sizeof(struct sockaddr_in)) {
        put_inet(c, b->data);
    } else if (family == AF_INET6 && n >= sizeof(struct sockaddr_in6)) {
        put_inet6(c, b->data);
    } else if (n > sizeof family) {
        words_add(c->out, ", sa_data=");
        words_quote(c->out, b->data + sizeof family, n - sizeof family, WORDS_PLAIN);
    }
    words_add(c->out, "}");
}

void sockets_address(struct call *c, int i)
{
    struct call_bytes b;
    if (c->arg[i] && call_find(c, c->arg[i], CALL_BEFORE, &b))
        call_put_sockaddr(c, &b, (uint32_t)c->arg[c->argument[i].other]);
    else
        words_address(c->out, c->arg[i]);
}

void sockets_address_out(struct call *c, int i)
{
    const uint64_t length_at = c->arg[c->argument[i].other];
    struct call_bytes b;
    uint32_t n;
    if (!call_is_filled(c, i))
        return;
    if (call_get(c, length_at, CALL_AFTER, &n, sizeof n) && call_find(c, c->arg[i], CALL_AFTER, &b))
        call_put_sockaddr(c, &b, n);
    else
        words_address(c->out, c->arg[i]);
}

/* [room => used] */
void sockets_length(struct call *c, int i)
{
    int32_t before, after;
    if (!call_take(c, i, &before, sizeof before))
        return;
    words_addf(c->out, "[%d", before);
    if (!c->failed && call_get(c, c->arg[i], CALL_AFTER, &after, sizeof after) && after != before)
        words_addf(c->out, " => %d", after);
    words_add(c->out, "]");
}

void sockets_protocol(struct call *c, int i)
{
    if (c->arg[0] == AF_INET || c->arg[0] == AF_INET6)
        names_put(c->out, names_protocol, (uint32_t)c->arg[i], "IPPROTO_");
    else
        argument_int(c, i);
}

/* ---- options ---- */

void sockets_option(struct call *c, int i)
{
    const struct name *names = c->arg[1] == SOL_SOCKET    ? names_socket_option
                               : c->arg[1] == IPPROTO_TCP ? names_tcp_option
                                                          : NULL;
    if (names)
        names_put(c->out, names, (uint32_t)c->arg[i], c->arg[1] == SOL_SOCKET ? "SO_" : "TCP_");
    else
        argument_hex32(c, i);
}

static void put_option(struct call *c, const struct call_bytes *b, uint64_t n)
{
    int32_t number;
    int64_t time[2];
    if (n == sizeof number && b->bytes >= n) {
        memcpy(&number, b->data, sizeof number);
        words_addf(c->out, "[%d]", number);
    } else if (n == sizeof time && b->bytes >= n && c->arg[1] == SOL_SOCKET &&
               (c->arg[2] == SO_RCVTIMEO || c->arg[2] == SO_SNDTIMEO)) {
        memcpy(time, b->data, sizeof time);
        call_put_time(c, time, "usec");
    } else {
        call_put_bytes(c, b, n);
    }
}

void sockets_option_value(struct call *c, int i)
{
    struct call_bytes b;
    if (c->arg[i] && call_find(c, c->arg[i], CALL_BEFORE, &b))
        put_option(c, &b, (uint32_t)c->arg[c->argument[i].other]);
    else
        words_address(c->out, c->arg[i]);
}

void sockets_option_out(struct call *c, int i)
{
    struct call_bytes b;
    uint32_t n;
    if (!call_is_filled(c, i))
        return;
    if (call_get(c, c->arg[c->argument[i].other], CALL_AFTER, &n, sizeof n) &&
        call_find(c, c->arg[i], CALL_AFTER, &b))
        put_option(c, &b, n);
    else
        words_address(c->out, c->arg[i]);
}

/* ---- vectors and messages ---- */

void call_put_vector(struct call *c, uint64_t at, uint64_t count, uint64_t total,
                     enum call_when when)
{
    struct call_bytes b;
    struct {
        uint64_t base, len;
    } v;
    words_add(c->out, "[");
    for (uint64_t n = 0; n < count; n++) {
        words_add(c->out, n ? ", " : "");
        if (n == CALL_SHOWN || !call_get(c, at + n * sizeof v, CALL_BEFORE, &v, sizeof v)) {
            words_add(c->out, "...");
            break;
        }
        const uint64_t shown = v.len < total ? v.len : total;
        words_add(c->out, "{iov_base=");
        b = (struct call_bytes){0};
        if (!shown || call_find(c, v.base, when, &b))
            call_put_bytes(c, &b, shown);
        else
            words_address(c->out, v.base);
        words_addf(c->out, ", iov_len=%llu}", (uwide)v.len);
        total -= shown;
    }
    words_add(c->out, "]");
}

void sockets_vector(struct call *c, int i)
{
    struct call_bytes b;
    if (call_find(c, c->arg[i], CALL_BEFORE, &b))
        call_put_vector(c, c->arg[i], c->arg[c->argument[i].other], UINT64_MAX, CALL_BEFORE);
    else
        words_address(c->out, c->arg[i]);
}

void sockets_vector_out(struct call *c, int i)
{
    if (call_is_filled(c, i))
        call_put_vector(c, c->arg[i], c->arg[c->argument[i].other], (uint64_t)c->result,
                        CALL_AFTER);
}

struct message {
    uint64_t name;
    uint32_t name_bytes, pad;
    uint64_t vector, count, control, control_bytes;
    uint32_t flags, pad2;
};

static void put_control_data(struct call *c, const struct cmsghdr *h, const uint8_t *data, size_t n)
{
    words_add(c->out, ", cmsg_data=");
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) {
        words_quote(c->out, data, n, WORDS_PLAIN);
        return;
    }
    words_add(c->out, "[");
    for (size_t at = 0; at + 4 <= n; at += 4) {
        int32_t fd;
        memcpy(&fd, data + at, sizeof fd);
        words_add(c->out, at ? ", " : "");
        call_put_fd(c, fd);
    }
    words_add(c->out, "]");
}

static void put_control(struct call *c, const struct call_bytes *b, uint64_t total)
{
    struct cmsghdr h;
    const size_t n = b->bytes < total ? b->bytes : (size_t)total;
    words_add(c->out, "[");
    for (size_t at = 0; at + sizeof h <= n; at += CMSG_ALIGN(h.cmsg_len)) {
        memcpy(&h, b->data + at, sizeof h);
        if (h.cmsg_len < sizeof h || h.cmsg_len > n - at)
            break;
        words_addf(c->out, "%s{cmsg_len=%llu, cmsg_level=", at ? ", " : "", (uwide)h.cmsg_len);
        names_put(c->out, names_socket_level, (uint32_t)h.cmsg_level, "SOL_");
        words_add(c->out, ", cmsg_type=");
        if (h.cmsg_level == SOL_SOCKET)
            names_put(c->out, names_control_type, (uint32_t)h.cmsg_type, "SCM_");
        else
            words_addf(c->out, "%#x", (unsigned)h.cmsg_type);
        if (h.cmsg_len > sizeof h)
            put_control_data(c, &h, b->data + at + sizeof h, h.cmsg_len - sizeof h);
        words_add(c->out, "}");
    }
    words_add(c->out, "]");
}

/* `before` has the addresses, `m` the numbers. */
static void put_message(struct call *c, const struct message *before, const struct message *m,
                        enum call_when when)
{
    struct call_bytes b;
    words_add(c->out, "{msg_name=");
    if (before->name && call_find(c, before->name, when, &b) && m->name_bytes)
        call_put_sockaddr(c, &b, m->name_bytes);
    else
        words_address(c->out, before->name);
    if (m->name_bytes != before->name_bytes)
        words_addf(c->out, ", msg_namelen=%u => %u", before->name_bytes, m->name_bytes);
    else
        words_addf(c->out, ", msg_namelen=%u", m->name_bytes);
    words_add(c->out, ", msg_iov=");
    call_put_vector(c, before->vector, before->count,
                    when == CALL_AFTER ? (uint64_t)c->result : UINT64_MAX, when);
    words_addf(c->out, ", msg_iovlen=%llu", (uwide)before->count);
    if (m->control_bytes && before->control) {
        words_add(c->out, ", msg_control=");
        if (call_find(c, before->control, when, &b))
            put_control(c, &b, m->control_bytes);
        else
            words_address(c->out, before->control);
    }
    words_addf(c->out, ", msg_controllen=%llu, msg_flags=", (uwide)m->control_bytes);
    names_put_bits(c->out, names_message, m->flags, "0");
    words_add(c->out, "}");
}

void sockets_message(struct call *c, int i)
{
    struct message m;
    if (call_take(c, i, &m, sizeof m))
        put_message(c, &m, &m, CALL_BEFORE);
}

void sockets_message_out(struct call *c, int i)
{
    struct message before, m;
    if (!call_is_filled(c, i))
        return;
    if (!call_get(c, c->arg[i], CALL_BEFORE, &before, sizeof before)) {
        words_address(c->out, c->arg[i]);
        return;
    }
    m = before;
    call_get(c, c->arg[i] + offsetof(struct message, name_bytes), CALL_AFTER, &m.name_bytes, 4);
    call_get(c, c->arg[i] + offsetof(struct message, control_bytes), CALL_AFTER, &m.control_bytes,
             8);
    call_get(c, c->arg[i] + offsetof(struct message, flags), CALL_AFTER, &m.flags, 4);
    put_message(c, &before, &m, CALL_AFTER);
}

/* ---- waiting for descriptors ---- */

/* Those that something happened to are told behind the result. */
void sockets_polls(struct call *c, int i)
{
    const uint64_t count = (uint32_t)c->arg[c->argument[i].other];
    struct words *out = c->out;
    struct pollfd p;
    if (!call_get(c, c->arg[i], CALL_BEFORE, &p, sizeof p)) {
        if (c->arg[i] && !count)
            words_add(out, "[]");
        else
            words_address(out, c->arg[i]);
        return;
    }
    words_add(out, "[");
    for (uint64_t n = 0; n < count; n++) {
        const uint64_t at = c->arg[i] + n * sizeof p;
        int16_t seen;
        words_add(out, n ? ", " : "");
        if (n == CALL_SHOWN || !call_get(c, at, CALL_BEFORE, &p, sizeof p)) {
            words_add(out, "...");
            break;
        }
        words_add(out, "{fd=");
        call_put_fd(c, p.fd);
        if (p.fd >= 0) {
            words_add(out, ", events=");
            names_put_bits(out, names_poll, (uint16_t)p.events, "0");
        }
        words_add(out, "}");
        if (c->result <= 0 ||
            !call_get(c, at + offsetof(struct pollfd, revents), CALL_AFTER, &seen, sizeof seen) ||
            !seen)
            continue;
        words_addf(&c->after, "%s{fd=%d, revents=", c->after.bytes ? ", " : "[", p.fd);
        names_put_bits(&c->after, names_poll, (uint16_t)seen, "0");
        words_add(&c->after, "}");
    }
    words_add(out, "]");
    words_add(&c->after, c->after.bytes ? "]" : c->result || c->unfinished ? "" : "Timeout");
}

static void put_set(struct words *out, const struct call_bytes *b, uint64_t fds)
{
    const char *between = "";
    words_add(out, "[");
    for (size_t fd = 0; fd < fds && fd / 8 < b->bytes; fd++)
        if (b->data[fd / 8] >> fd % 8 & 1) {
            words_addf(out, "%s%zu", between, fd);
            between = " ";
        }
    words_add(out, "]");
}

void sockets_set(struct call *c, int i)
{
    static const char *const word[] = {"", "in", "out", "except"};
    struct call_bytes b;
    if (!c->arg[i] || !call_find(c, c->arg[i], CALL_BEFORE, &b)) {
        words_address(c->out, c->arg[i]);
        return;
    }
    put_set(c->out, &b, (uint32_t)c->arg[0]);
    if (c->result <= 0 || c->unfinished || !call_find(c, c->arg[i], CALL_AFTER, &b))
        return;
    struct words set = {0};
    put_set(&set, &b, (uint32_t)c->arg[0]);
    if (set.data && strcmp(set.data, "[]") != 0)
        words_addf(&c->after, "%s%s %s", c->after.bytes ? ", " : "", word[i], set.data);
    words_deinit(&set);
}

void sockets_set_time(struct call *c, int i)
{
    const char *part = c->argument[i].none;
    int64_t t[2];
    if (!c->unfinished && !c->failed && !c->result)
        words_add(&c->after, "Timeout");
    if (!call_take(c, i, t, sizeof t))
        return;
    call_put_time(c, t, part);
    if (c->result > 0 && !c->unfinished && call_get(c, c->arg[i], CALL_AFTER, t, sizeof t))
        words_addf(&c->after, "%sleft {tv_sec=%lld, tv_%s=%lld}", c->after.bytes ? ", " : "",
                   (long long)t[0], part, (long long)t[1]);
}

static void put_epoll(struct call *c, const uint8_t *bytes)
{
    uint32_t events;
    uint64_t data;
    memcpy(&events, bytes, sizeof events);
    memcpy(&data, bytes + sizeof events, sizeof data);
    words_add(c->out, "{events=");
    names_put_bits(c->out, names_epoll, events, "0");
    words_addf(c->out, ", data={u32=%u, u64=%llu}}", (uint32_t)data, (uwide)data);
}

enum { EPOLL_BYTES = 12 };

void sockets_epoll(struct call *c, int i)
{
    uint8_t e[EPOLL_BYTES];
    if (call_take(c, i, e, sizeof e))
        put_epoll(c, e);
}

void sockets_epolls(struct call *c, int i)
{
    uint8_t e[EPOLL_BYTES];
    if (!call_is_filled(c, i))
        return;
    words_add(c->out, "[");
    for (uint64_t n = 0; n < (uint64_t)c->result; n++) {
        words_add(c->out, n ? ", " : "");
        if (n == CALL_SHOWN || !call_get(c, c->arg[i] + n * sizeof e, CALL_AFTER, e, sizeof e)) {
            words_add(c->out, "...");
            break;
        }
        put_epoll(c, e);
    }
    words_add(c->out, "]");
}
