/* sudo_args.c - an argument that ends in a backslash is copied past its end, and over what lies
 * behind the copy.
 *
 * SPDX-License-Identifier: MIT
 *
 * After sudo 1.8.2 to 1.9.5p1, CVE-2021-3156: set_cmnd() took the backslash and the zero behind it
 * for an escaped character, and went on with the next argument's bytes, for which the buffer has no
 * room.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct service {
    const char *name;
    int (*check)(const struct service *, const char *);
    struct service *next;
};

struct request {
    int argc;
    char **argv;
    char *args;
};

static struct service *services;

static int by_length(const struct service *s, const char *args)
{
    return strlen(s->name) < strlen(args);
}

static void add_service(const char *name)
{
    struct service *s = malloc(sizeof *s);
    *s = (struct service){name, by_length, services};
    services = s;
}

static void join_args(struct request *r)
{
    size_t size = 0;
    for (int i = 1; i < r->argc; i++)
        size += strlen(r->argv[i]) + 1;
    char *to = r->args = malloc(size);
    add_service("files"); /* the name service switch is read with the first lookup */
    for (int i = 1; i < r->argc; i++) {
        const char *from = r->argv[i];
        while (*from) {
#ifdef FIXED
            if (from[0] == '\\' && from[1] && !isspace((unsigned char)from[1]))
#else
            if (from[0] == '\\' && !isspace((unsigned char)from[1])) /* ROOT CAUSE */
#endif
                from++;
            *to++ = *from++;
        }
        *to++ = ' ';
    }
    *--to = 0;
}

static unsigned hash_args(const char *args)
{
    unsigned h = 0;
    for (int round = 0; round < 16; round++)
        for (const char *c = args; *c; c++)
            h = h * 131 + (unsigned char)*c;
    return h;
}

static int allowed(const struct request *r)
{
    int votes = 0;
    for (const struct service *s = services; s; s = s->next)
        votes += s->check(s, r->args);
    return votes;
}

int main(void)
{
    /* As exec leaves them: one behind the other. */
    static char strings[] = "sudoedit\0AAAAAAAAAAAAAAAAAAAAA\\\0BBBBBBBBBBBBBBBBBBBBBBBBBB";
    char *argv[] = {strings, strings + 9, NULL};
    struct request r = {2, argv, NULL};
    add_service("sss");
    add_service("ldap");
    join_args(&r);
    printf("%x\n", hash_args(r.args));
    printf("%d\n", allowed(&r));
    return 0;
}
