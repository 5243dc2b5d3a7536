/* unset.c - a member that nobody sets, of a block that was something else before.
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    int limit, scale;
    char name[24];
    int least;
};

static struct rule *make(int limit)
{
    struct rule *r = malloc(sizeof *r);
    r->limit = limit;
    r->scale = 2;
    return r;
}

static int pass(const struct rule *r, int n)
{
    if (n < r->least) /* TOLD never set: r->least, uninitialised since unset.c:15 (T1) */
        return 0;
    return n * r->scale < r->limit;
}

int main(void)
{
    void *old = malloc(sizeof(struct rule));
    memset(old, 0x11, sizeof(struct rule));
    free(old);
    assert(pass(make(9), 1));
    return 0;
}
