/* polkit_argv.c - a program without arguments reads, and writes, the environment as its first one.
 *
 * SPDX-License-Identifier: MIT
 *
 * After polkit's pkexec, CVE-2021-4034: the loop over the options begins at 1 also if argc is 0,
 * and argv[1] is then the first string of the environment.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process {
    int argc;
    char **argv, **envp;
    char *vector[8];
};

static int is_clean(const char *entry)
{
    static const char *const bad[] = {"GCONV_PATH=", "LD_PRELOAD=", "IFS="};
    for (int i = 0; i < 3; i++)
        if (strncmp(entry, bad[i], strlen(bad[i])) == 0)
            return 0;
    return 1;
}

static void spawn(struct process *p, char *const *args, char *const *env)
{
    int n = 0;
    for (p->argc = 0; args[p->argc]; p->argc++)
        p->vector[n++] = args[p->argc];
    p->vector[n++] = NULL;
    p->argv = p->vector;
    p->envp = p->vector + n;
    while (*env)
        if (is_clean(*env++))
            p->vector[n++] = env[-1];
    p->vector[n] = NULL;
}

static char *find_program(const char *name)
{
    size_t size = strlen(name) + 32;
    char *path = malloc(size);
    snprintf(path, size, "GCONV_PATH=./%s", name);
    return path;
}

static int options(struct process *p)
{
    int n;
#ifdef FIXED
    if (p->argc < 1)
        return -1;
#endif
    for (n = 1; n < p->argc; n++) /* ROOT CAUSE */
        if (p->argv[n][0] != '-')
            break;
    return n;
}

static unsigned environment_hash(const struct process *p)
{
    unsigned h = 7;
    for (char *const *e = p->envp; *e; e++)
        for (int round = 0; round < 16; round++)
            for (const char *c = *e; *c; c++)
                h = h * 31 + (unsigned char)*c;
    return h;
}

static int run(struct process *p)
{
    int n = options(p);
    if (n < 0)
        return 1;
    char *path = p->argv[n];
    if (path && path[0] != '/')
        p->argv[n] = find_program(path);
    printf("%x\n", environment_hash(p));
    for (char *const *e = p->envp; *e; e++)
        assert(is_clean(*e));
    return 0;
}

int main(void)
{
    char *usual[] = {"pkexec", "--user", "id", NULL}, *none[] = {NULL};
    char *env[] = {"value", "LD_PRELOAD=x", "PATH=/bin", NULL};
    struct process p;
    int status = 0;
    spawn(&p, usual, env);
    status += run(&p);
    spawn(&p, none, env);
    status += run(&p);
    printf("%d refused\n", status);
    return 0;
}
