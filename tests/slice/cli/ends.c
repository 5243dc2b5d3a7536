/* ends.c - ways to end badly, in a second thread. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static char *name;
static size_t (*function)(const char *);
static int limit = 8;

static void smash(void)
{
    char room[8];
    for (int i = 0; i < limit; i++)
        ((volatile char *)room)[i] = 'x'; /* SMASHED */
} /* CRASH smash */

static void *work(void *arg)
{
    const char *how = arg;
    if (strcmp(how, "library") == 0)
        return (void *)strlen(name); /* CRASH library */
    if (strcmp(how, "call") == 0)
        return (void *)function(how); /* CRASH call */
    if (strcmp(how, "smash") == 0)
        smash();
    if (strcmp(how, "trap") == 0)
        __builtin_trap(); /* CRASH trap */
    if (strcmp(how, "raise") == 0)
        raise(SIGTERM); /* CRASH raise */
    return NULL;
}

int main(int argc, char *argv[])
{
    pthread_t id;
    name = malloc(8);
    function = strlen;
    if (argc > 1) {
        name = NULL;     /* NO NAME */
        function = NULL; /* NO FUNCTION */
        limit = 40;      /* LIMIT */
    }
    pthread_create(&id, NULL, work, argv[argc - 1]);
    pthread_join(id, NULL);
    return argc > 1 ? atoi(argv[1]) : 0; /* STATUS */
}
