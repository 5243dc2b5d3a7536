/* linux_fsparam.c - a length check subtracts, and what is left is less than nothing.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Linux 5.16, CVE-2022-0185: legacy_parse_param() compared the length of an option with
 * PAGE_SIZE - 2 - size, which is a huge unsigned number once the page is nearly full.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 256u

struct super {
    unsigned magic, flags;
    char type[16];
};

struct context {
    char *data;
    unsigned size;
    struct super *super;
};

static int add_option(struct context *c, const char *key, const char *value)
{
    unsigned size = c->size, length = (unsigned)strlen(key) + 1 + (unsigned)strlen(value);
#ifdef FIXED
    if (size + length + 2 > PAGE)
#else
    if (length > PAGE - 2 - size) /* ROOT CAUSE */
#endif
        return -1;
    c->data[size++] = ',';
    size += (unsigned)sprintf(c->data + size, "%s=%s", key, value);
    c->size = size;
    return 0;
}

static struct context *open_context(void)
{
    struct context *c = calloc(1, sizeof *c);
    c->data = malloc(PAGE);
    c->super = malloc(sizeof *c->super);
    *c->super = (struct super){.magic = 0xef53, .flags = 1, .type = "small"};
    return c;
}

static unsigned hash_options(const struct context *c)
{
    unsigned h = 5381;
    for (unsigned i = 0; i < c->size; i++)
        h = h * 33 ^ (unsigned char)c->data[i];
    return h;
}

static void mount_it(const struct context *c)
{
    printf("options %x\n", hash_options(c));
    assert(c->super->magic == 0xef53);
}

int main(void)
{
    char key[16];
    struct context *c = open_context();
    for (int i = 0; i < 25; i++) {
        snprintf(key, sizeof key, "opt%02d", i);
        add_option(c, key, "yes");
    }
    add_option(c, "k", "no");
    add_option(c, "last", "a longer value");
    mount_it(c);
    free(c->super);
    free(c->data);
    free(c);
    return 0;
}
