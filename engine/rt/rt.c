/* rt.c - memory and text primitives of the runtime. SPDX-License-Identifier: MIT */
#include "engine/rt/rt.h"

#include "engine/rt/sys.h"

#ifndef ENGINE_HOSTED                /* elsewhere these come from libc */
#pragma GCC visibility push(default) /* the decoder library imports them */
#undef memcpy
#undef memset

/* Two moves that may overlap: all is read before anything is written. */
#define MOVE_ENDS(type, dst, src, n)                                                               \
    do {                                                                                           \
        typedef type any __attribute__((aligned(1), may_alias));                                   \
        const any first = *(const any *)(src);                                                     \
        const any last = *(const any *)((const char *)(src) + (n) - sizeof(any));                  \
        *(any *)(dst) = first;                                                                     \
        *(any *)((char *)(dst) + (n) - sizeof(any)) = last;                                        \
    } while (0)

/* Few bytes, such as an instruction, are the common case; the string move takes its time to start.
 */
void *memcpy(void *dst, const void *src, size_t n)
{
    void *d = dst;
    if (n > 16)
        __asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
    else if (n >= 8)
        MOVE_ENDS(uint64_t, d, src, n);
    else if (n >= 4)
        MOVE_ENDS(uint32_t, d, src, n);
    else if (n >= 2)
        MOVE_ENDS(uint16_t, d, src, n);
    else if (n)
        *(char *)d = *(const char *)src;
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    unsigned char *d = dst;
    const unsigned char *s = src;
    if (d <= s || d >= s + n)
        return memcpy(dst, src, n);
    for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t)) {
        uint64_t word;
        __builtin_memcpy(&word, s + n - sizeof word, sizeof word);
        __builtin_memcpy(d + n - sizeof word, &word, sizeof word);
    }
    while (n--)
        d[n] = s[n];
    return dst;
}

void *memset(void *dst, int c, size_t n)
{
    void *d = dst;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
    return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    size_t i = 0;
    for (uint64_t p, q; i + 8 <= n; i += 8) { /* whole pages are compared, after each call */
        __builtin_memcpy(&p, x + i, 8);
        __builtin_memcpy(&q, y + i, 8);
        if (p != q)
            break;
    }
    for (; i < n; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

_Noreturn void __assert_fail(const char *expr, const char *file, unsigned line, const char *fn);
_Noreturn void __assert_fail(const char *expr, const char *file, unsigned line, const char *fn)
{
    (void)fn;
    rt_die("decoder assertion: %s (%s:%u)", expr, file, line);
}

_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    rt_die("decoder: stack smashed");
}

#pragma GCC visibility pop
#endif

bool rt_streq(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

bool rt_prefix(const char *s, const char *prefix)
{
    while (*prefix)
        if (*s++ != *prefix++)
            return false;
    return true;
}

const char *rt_hex(const char *p, uint64_t *v)
{
    for (*v = 0; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
        *v = *v << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
    return p;
}

struct sink {
    char *out;
    size_t size, len;
};

static void put(struct sink *k, char c)
{
    if (k->len + 1 < k->size)
        k->out[k->len++] = c;
}

static void put_number(struct sink *k, uint64_t v, unsigned base, bool negative, char pad,
                       int width)
{
    char digits[24];
    int n = 0;
    do {
        digits[n++] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    if (negative)
        digits[n++] = '-';
    for (int i = n; i < width; i++)
        put(k, pad);
    while (n)
        put(k, digits[--n]);
}

static void format_to(struct sink *k, const char *fmt, va_list ap)
{
    for (; *fmt; fmt++) {
        if (*fmt != '%') {
            put(k, *fmt);
            continue;
        }
        char pad = ' ';
        int width = 0, longs = 0;
        fmt++;
        if (*fmt == '0')
            pad = *fmt++;
        while (*fmt >= '0' && *fmt <= '9')
            width = width * 10 + (*fmt++ - '0');
        while (*fmt == 'l' || *fmt == 'z')
            longs++, fmt++;
        switch (*fmt) {
        case 's': {
            const char *s = va_arg(ap, const char *);
            int n = 0;
            for (; s && *s; s++, n++)
                put(k, *s);
            for (; n < width; n++)
                put(k, ' ');
            break;
        }
        case 'c':
            put(k, (char)va_arg(ap, int));
            break;
        case 'd': {
            int64_t v = longs ? va_arg(ap, long) : va_arg(ap, int);
            put_number(k, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, v < 0, pad, width);
            break;
        }
        case 'u':
        case 'x': {
            uint64_t v = longs ? va_arg(ap, unsigned long) : va_arg(ap, unsigned);
            put_number(k, v, *fmt == 'x' ? 16 : 10, false, pad, width);
            break;
        }
        default:
            put(k, *fmt);
        }
    }
    if (k->size)
        k->out[k->len] = 0;
}

size_t rt_vformat(char *out, size_t size, const char *fmt, va_list ap)
{
    struct sink k = {out, size, 0};
    format_to(&k, fmt, ap);
    return k.len;
}

size_t rt_format(char *out, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    size_t n = rt_vformat(out, size, fmt, ap);
    va_end(ap);
    return n;
}

static int say_fd = 2;
void (*rt_line)(const char *line, size_t bytes);

void rt_say_to(int fd)
{
    say_fd = fd;
}

static void say(const char *fmt, va_list ap)
{
    char line[1024];
    struct sink k = {line, sizeof line - 1, 0};
    for (const char *p = "drdebug: "; *p; p++)
        put(&k, *p);
    format_to(&k, fmt, ap);
    line[k.len++] = '\n';
    if (rt_line)
        rt_line(line, k.len);
    else
        sys3(__NR_write, say_fd, (long)line, (long)k.len);
}

void rt_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

void (*rt_dying)(const char *text);

void rt_die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (rt_dying) {
        char text[512];
        rt_vformat(text, sizeof text, fmt, ap);
        rt_dying(text);
    }
    say(fmt, ap);
    va_end(ap);
    uint64_t dfl[4] = {0, 0, 0, 0}, none = 0;
    sys4(__NR_rt_sigaction, 6, (long)dfl, 0, 8);
    sys4(__NR_rt_sigprocmask, 2, (long)&none, 0, 8);
    sys2(__NR_kill, sys0(__NR_getpid), 6);
    for (;;)
        sys1(__NR_exit_group, 134);
}
