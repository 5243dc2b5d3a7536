/* compiled.c - five hundred lines for the compiler to work on. Not run: the bench compiles it.
 *
 * A little of everything that programs are made of: strings, a hash table, a heap, sorting, a
 * parser, a virtual machine, matrices, compression, encodings. SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings ---- */

struct text {
    char *bytes;
    size_t len, room;
};

static int text_reserve(struct text *t, size_t more)
{
    if (t->len + more < t->room)
        return 0;
    size_t room = t->room ? t->room : 32;
    while (room <= t->len + more)
        room *= 2;
    char *bytes = realloc(t->bytes, room);
    if (!bytes)
        return -1;
    t->bytes = bytes;
    t->room = room;
    return 0;
}

static int text_add(struct text *t, const char *bytes, size_t n)
{
    if (text_reserve(t, n) < 0)
        return -1;
    memcpy(t->bytes + t->len, bytes, n);
    t->len += n;
    t->bytes[t->len] = 0;
    return 0;
}

int text_format(struct text *t, const char *format, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof line)
        return -1;
    return text_add(t, line, (size_t)n);
}

int text_replace(struct text *t, const char *from, const char *to)
{
    struct text out = {0};
    const char *at = t->bytes, *hit;
    size_t n = strlen(from);
    int count = 0;
    while (n && at && (hit = strstr(at, from))) {
        if (text_add(&out, at, (size_t)(hit - at)) < 0 || text_add(&out, to, strlen(to)) < 0)
            goto fail;
        at = hit + n;
        count++;
    }
    if (at && text_add(&out, at, strlen(at)) < 0)
        goto fail;
    free(t->bytes);
    *t = out;
    return count;
fail:
    free(out.bytes);
    return -1;
}

static void trim(struct text *t)
{
    size_t start = 0;
    while (t->len && isspace((unsigned char)t->bytes[t->len - 1]))
        t->len--;
    while (start < t->len && isspace((unsigned char)t->bytes[start]))
        start++;
    memmove(t->bytes, t->bytes + start, t->len - start);
    t->len -= start;
    if (t->bytes)
        t->bytes[t->len] = 0;
}

/* ---- a hash table ---- */

struct entry {
    char *key;
    double value;
    struct entry *next;
};

struct table {
    struct entry **bucket;
    size_t buckets, count;
};

static uint64_t hash(const char *s)
{
    uint64_t h = 14695981039346656037ull;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211ull;
    return h;
}

static int table_grow(struct table *t)
{
    size_t buckets = t->buckets ? 2 * t->buckets : 16;
    struct entry **bucket = calloc(buckets, sizeof *bucket);
    if (!bucket)
        return -1;
    for (size_t i = 0; i < t->buckets; i++)
        for (struct entry *e = t->bucket[i], *next; e; e = next) {
            next = e->next;
            e->next = bucket[hash(e->key) % buckets];
            bucket[hash(e->key) % buckets] = e;
        }
    free(t->bucket);
    t->bucket = bucket;
    t->buckets = buckets;
    return 0;
}

double *table_find(struct table *t, const char *key, bool make)
{
    struct entry *e = t->buckets ? t->bucket[hash(key) % t->buckets] : NULL;
    for (; e; e = e->next)
        if (!strcmp(e->key, key))
            return &e->value;
    if (!make || (t->count >= t->buckets && table_grow(t) < 0))
        return NULL;
    e = calloc(1, sizeof *e);
    if (!e || !(e->key = strdup(key))) {
        free(e);
        return NULL;
    }
    e->next = t->bucket[hash(key) % t->buckets];
    t->bucket[hash(key) % t->buckets] = e;
    t->count++;
    return &e->value;
}

void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->buckets; i++)
        while (t->bucket[i]) {
            struct entry *e = t->bucket[i];
            t->bucket[i] = e->next;
            free(e->key);
            free(e);
        }
    free(t->bucket);
    memset(t, 0, sizeof *t);
}

/* ---- a heap, and two ways to sort ---- */

struct heap {
    uint32_t *item;
    size_t count;
    int (*before)(uint32_t, uint32_t);
};

static void sift_down(struct heap *h, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->count)
            return;
        if (child + 1 < h->count && h->before(h->item[child + 1], h->item[child]))
            child++;
        if (!h->before(h->item[child], h->item[i]))
            return;
        uint32_t swap = h->item[i];
        h->item[i] = h->item[child];
        h->item[child] = swap;
        i = child;
    }
}

uint32_t heap_take(struct heap *h)
{
    uint32_t first = h->item[0];
    h->item[0] = h->item[--h->count];
    sift_down(h, 0);
    return first;
}

void heap_sort(uint32_t *item, size_t n, int (*before)(uint32_t, uint32_t))
{
    struct heap h = {item, n, before};
    for (size_t i = n / 2; i-- > 0;)
        sift_down(&h, i);
    while (h.count > 1) {
        uint32_t last = heap_take(&h);
        item[h.count] = last;
    }
}

void merge_sort(double *v, double *scratch, size_t n)
{
    if (n < 2)
        return;
    size_t half = n / 2, a = 0, b = half, out = 0;
    merge_sort(v, scratch, half);
    merge_sort(v + half, scratch, n - half);
    while (a < half && b < n)
        scratch[out++] = v[b] < v[a] ? v[b++] : v[a++];
    while (a < half)
        scratch[out++] = v[a++];
    while (b < n)
        scratch[out++] = v[b++];
    memcpy(v, scratch, n * sizeof *v);
}

/* ---- expressions: a parser that makes code, and a machine that runs it ---- */

enum op { PUSH, LOAD, STORE, ADD, SUB, MUL, DIV, POW, NEG, LESS, EQUAL, JUMP, BRANCH, CALL, END };

struct code {
    struct {
        enum op op;
        double value;
        char name[16];
    } insn[256];
    int count;
};

struct parser {
    const char *at;
    struct code *code;
    char error[64];
};

static bool fail(struct parser *p, const char *why)
{
    if (!p->error[0])
        snprintf(p->error, sizeof p->error, "%s at '%.16s'", why, p->at);
    return false;
}

static int emit(struct parser *p, enum op op, double value, const char *name)
{
    if (p->code->count == 256) {
        fail(p, "too long");
        return 0;
    }
    int i = p->code->count++;
    p->code->insn[i].op = op;
    p->code->insn[i].value = value;
    snprintf(p->code->insn[i].name, sizeof p->code->insn[i].name, "%s", name ? name : "");
    return i;
}

static void blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool accept(struct parser *p, const char *word)
{
    size_t n = strlen(word);
    blanks(p);
    if (strncmp(p->at, word, n))
        return false;
    p->at += n;
    return true;
}

static bool sum(struct parser *p);

static bool primary(struct parser *p)
{
    char name[16];
    size_t n = 0;
    blanks(p);
    if (accept(p, "("))
        return sum(p) && (accept(p, ")") || fail(p, "no closing parenthesis"));
    if (accept(p, "-"))
        return primary(p) && (emit(p, NEG, 0, NULL), true);
    if (isdigit((unsigned char)*p->at)) {
        char *end;
        errno = 0;
        double v = strtod(p->at, &end);
        if (errno)
            return fail(p, strerror(errno));
        p->at = end;
        emit(p, PUSH, v, NULL);
        return true;
    }
    for (; isalnum((unsigned char)*p->at) && n + 1 < sizeof name; p->at++)
        name[n++] = *p->at;
    name[n] = 0;
    if (!n)
        return fail(p, "no value");
    if (accept(p, "(")) {
        if (!sum(p) || !accept(p, ")"))
            return fail(p, "bad call");
        emit(p, CALL, 0, name);
        return true;
    }
    emit(p, LOAD, 0, name);
    return true;
}

static bool power(struct parser *p)
{
    if (!primary(p))
        return false;
    if (!accept(p, "^"))
        return true;
    return power(p) && (emit(p, POW, 0, NULL), true);
}

static bool product(struct parser *p)
{
    if (!power(p))
        return false;
    for (;;) {
        enum op op = accept(p, "*") ? MUL : accept(p, "/") ? DIV : END;
        if (op == END)
            return true;
        if (!power(p))
            return false;
        emit(p, op, 0, NULL);
    }
}

static bool sum(struct parser *p)
{
    if (!product(p))
        return false;
    for (;;) {
        enum op op = accept(p, "+")   ? ADD
                     : accept(p, "-") ? SUB
                     : accept(p, "<") ? LESS
                     : accept(p, "=") ? EQUAL
                                      : END;
        if (op == END)
            return true;
        if (!product(p))
            return false;
        emit(p, op, 0, NULL);
    }
}

static double apply(const char *name, double x)
{
    static const struct {
        const char *name;
        double (*fn)(double);
    } function[] = {{"sin", sin}, {"cos", cos}, {"exp", exp}, {"log", log}, {"sqrt", sqrt}};
    for (size_t i = 0; i < sizeof function / sizeof *function; i++)
        if (!strcmp(function[i].name, name))
            return function[i].fn(x);
    return NAN;
}

double execute(const struct code *c, struct table *variables)
{
    double stack[64] = {0}, *top = stack, *found;
    for (int pc = 0; pc < c->count; pc++) {
        switch (c->insn[pc].op) {
        case PUSH:
            *++top = c->insn[pc].value;
            break;
        case LOAD:
            found = table_find(variables, c->insn[pc].name, false);
            *++top = found ? *found : 0;
            break;
        case STORE:
            found = table_find(variables, c->insn[pc].name, true);
            if (found)
                *found = *top--;
            break;
        case ADD:
            top--, top[0] += top[1];
            break;
        case SUB:
            top--, top[0] -= top[1];
            break;
        case MUL:
            top--, top[0] *= top[1];
            break;
        case DIV:
            top--, top[0] = top[1] != 0 ? top[0] / top[1] : INFINITY;
            break;
        case POW:
            top--, top[0] = pow(top[0], top[1]);
            break;
        case NEG:
            top[0] = -top[0];
            break;
        case LESS:
            top--, top[0] = top[0] < top[1];
            break;
        case EQUAL:
            top--, top[0] = fabs(top[0] - top[1]) < 1e-12;
            break;
        case JUMP:
            pc = (int)c->insn[pc].value - 1;
            break;
        case BRANCH:
            if (*top-- != 0)
                pc = (int)c->insn[pc].value - 1;
            break;
        case CALL:
            top[0] = apply(c->insn[pc].name, top[0]);
            break;
        case END:
            return *top;
        }
    }
    return *top;
}

/* ---- matrices ---- */

void multiply(size_t n, const double a[n][n], const double b[n][n], double out[restrict n][n])
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double total = 0;
            for (size_t k = 0; k < n; k++)
                total += a[i][k] * b[k][j];
            out[i][j] = total;
        }
}

int invert(size_t n, double a[n][n], double out[n][n])
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out[i][j] = i == j;
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(a[r][c]) > fabs(a[best][c]))
                best = r;
        if (fabs(a[best][c]) < 1e-12)
            return -1;
        for (size_t j = 0; j < n; j++) {
            double x = a[c][j], y = out[c][j];
            a[c][j] = a[best][j], a[best][j] = x;
            out[c][j] = out[best][j], out[best][j] = y;
        }
        double scale = 1 / a[c][c];
        for (size_t j = 0; j < n; j++)
            a[c][j] *= scale, out[c][j] *= scale;
        for (size_t r = 0; r < n; r++) {
            double f = a[r][c];
            for (size_t j = 0; r != c && j < n; j++)
                a[r][j] -= f * a[c][j], out[r][j] -= f * out[c][j];
        }
    }
    return 0;
}

/* ---- compression and encodings ---- */

size_t compress(const uint8_t *in, size_t n, uint8_t *out)
{
    uint32_t last[4096] = {0};
    size_t at = 0, made = 0;
    while (at < n) {
        uint32_t key = at + 3 < n ? (in[at] * 33u ^ in[at + 1] * 1023u ^ in[at + 2] * 65599u) : 0;
        size_t from = last[key % 4096], len = 0;
        last[key % 4096] = (uint32_t)at;
        while (from < at && at + len < n && len < 127 && in[from + len] == in[at + len])
            len++;
        if (len > 3 && at - from < 65536) {
            out[made++] = (uint8_t)(128 | len);
            out[made++] = (uint8_t)(at - from);
            out[made++] = (uint8_t)((at - from) >> 8);
            at += len;
        } else {
            out[made++] = in[at] & 127;
            at++;
        }
    }
    return made;
}

void base64(const uint8_t *in, size_t n, struct text *out)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16;
        v |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
        v |= i + 2 < n ? in[i + 2] : 0;
        char four[4] = {digit[v >> 18], digit[v >> 12 & 63], digit[v >> 6 & 63], digit[v & 63]};
        four[2] = i + 1 < n ? four[2] : '=';
        four[3] = i + 2 < n ? four[3] : '=';
        text_add(out, four, 4);
    }
}

int calculate(const char *line, struct table *variables, struct text *answer)
{
    struct code code = {.count = 0};
    struct parser p = {.at = line, .code = &code};
    if (!sum(&p))
        return text_format(answer, "error: %s\n", p.error);
    emit(&p, END, 0, NULL);
    int r = text_format(answer, "%.10g\n", execute(&code, variables));
    trim(answer);
    return r;
}
