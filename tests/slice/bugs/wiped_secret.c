/* wiped_secret.c - a password is wiped before its memory is given back; the compiler sees that
 * nobody reads it any more, and the next one who gets the memory sends it.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct login {
    char user[24], password[40];
};

struct message {
    unsigned kind, length;
    char body[56];
};

static unsigned long sessions;

static unsigned long digest(const char *text)
{
    unsigned long h = 14695981039346656037ul;
    for (int round = 0; round < 20; round++)
        for (const char *p = text; *p; p++)
            h = (h ^ (unsigned char)*p) * 1099511628211ul;
    return h;
}

static void log_in(const char *user, const char *password)
{
    struct login *l = malloc(sizeof *l);
    snprintf(l->user, sizeof l->user, "%s", user);
    snprintf(l->password, sizeof l->password, "%s", password);
    sessions ^= digest(l->user) + digest(l->password);
#ifdef FIXED
    explicit_bzero(l, sizeof *l);
#else
    memset(l, 0, sizeof *l); /* ROOT CAUSE */
#endif
    free(l); /* ROOT CAUSE */
}

static struct message *greet(const char *text)
{
    struct message *m = malloc(sizeof *m);
    m->kind = 7;
    m->length = (unsigned)strlen(text);
    memcpy(m->body, text, m->length);
    return m;
}

static size_t put_message(char *out, const struct message *m)
{
    memcpy(out, m, sizeof *m);
    return sizeof *m;
}

int main(void)
{
    static char wire[400];
    static const char *const names[] = {"ada", "grace", "edsger"};
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        log_in(names[i], i == 2 ? "go-to-considered" : "x");
        struct message *m = greet("hi");
        used += put_message(wire + used, m);
        free(m);
    }
    printf("%zu bytes, %lx\n", used, sessions);
    assert(!memmem(wire, used, "consid", 6));
    return 0;
}
