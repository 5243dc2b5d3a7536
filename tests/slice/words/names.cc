/* names.cc - memory that has no name of its own, by way of pointers. SPDX-License-Identifier: MIT */
#include <cstdio>
#include <cstdlib>

struct part {
    int key;
    long value[3];
};

struct node {
    node *next;
    part a, b;
};

struct table {
    node *slot[4];
    part *parts;
    int used;
};

class Sum {
public:
    long total = 0;
    void __attribute__((noinline)) add(const part &p)
    {
        total += p.key; /* NAME t->parts[i].key */
        total *= 3;     /* NAME this->total */
    }
};

static __thread long mine;

static long __attribute__((noinline)) follow(const node *n)
{
    long v = n->next->b.value[2]; /* NAME t->slot[i]->b.value[2] */
    return v + n->a.key;          /* NAME t->slot[i]->a.key */
}

static long __attribute__((noinline)) element(const table *t, int i, long k)
{
    long v = t->parts[i].key;     /* NAME t->parts[i].key */
    v += t->parts[i].value[1];    /* NAME t->parts[i].value[1] */
    v += t->parts[i + 4].key;     /* NAME t->parts[i + 4].key */
    return v + t->slot[k]->a.key; /* NAME t->slot[i]->a.key */
}

static void __attribute__((noinline)) count(long *to, const char *text)
{
    while (*text)
        *to += *text++;
    mine += *to; /* NAME *to */
}

int main()
{
    table *t = static_cast<table *>(calloc(1, sizeof *t));
    t->parts = static_cast<part *>(calloc(8, sizeof *t->parts));
    for (int i = 0; i < 4; i++) {
        t->slot[i] = static_cast<node *>(calloc(1, sizeof(node)));
        t->slot[i]->next = t->slot[i ? i - 1 : 0];
        t->slot[i]->a.key = 3 * i;
        t->slot[i]->b.value[2] = i + 40;
        t->parts[i].key = i;
        t->parts[i].value[1] = 5 * i;
    }
    long *to = static_cast<long *>(malloc(sizeof *to));
    *to = 1;
    count(to, t->used ? "a" : "bc"); /* NAME t->used */
    Sum *sum = new Sum;
    sum->add(t->parts[2]);
    long all = follow(t->slot[3]) + element(t, 3, 2) + *to + sum->total;
    all += mine; /* NAME mine */
    std::printf("%ld\n", all);
    return 0;
}
