/* apache_log.c - two requests write their lines to the same place of a log's buffer.
 *
 * SPDX-License-Identifier: MIT
 *
 * After Apache httpd's bug 25520: the buffered log writer of mod_log_config took the buffer's fill
 * count, copied the line's parts there and added to the count, with nothing that kept another
 * thread out.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct log {
    size_t count;
    pthread_mutex_t mutex;
    char out[1024];
};

struct request {
    struct log *log;
    const char *host, *path;
    int lookup_us, status, times;
};

static char file[4096];
static size_t file_size;

static void flush_log(struct log *log)
{
    memcpy(file + file_size, log->out, log->count);
    file_size += log->count;
    log->count = 0;
}

/* Finding a name for an address takes its time. */
static const char *name_of(const struct request *r)
{
    if (r->lookup_us)
        usleep((useconds_t)r->lookup_us);
    return r->host;
}

static size_t put(char *at, const char *part, size_t length)
{
    memcpy(at, part, length);
    return length;
}

static void write_line(struct request *r)
{
    struct log *log = r->log;
    char status[16];
    size_t length = strlen(r->host) + strlen(r->path) + 6;
    int digits = snprintf(status, sizeof status, "%d\n", r->status);
#ifdef FIXED
    pthread_mutex_lock(&log->mutex);
#endif
    if (log->count + length > sizeof log->out)
        flush_log(log);
    char *s = log->out + log->count; /* ROOT CAUSE */
    const char *host = name_of(r);
    s += put(s, host, strlen(host));
    s += put(s, " ", 1);
    s += put(s, r->path, strlen(r->path));
    s += put(s, " ", 1);
    put(s, status, (size_t)digits);
    log->count += length; /* ROOT CAUSE */
#ifdef FIXED
    pthread_mutex_unlock(&log->mutex);
#endif
}

static void *handle(void *arg)
{
    struct request *r = arg;
    for (int i = 0; i < r->times; i++)
        write_line(r);
    return NULL;
}

static int count_status(int wanted)
{
    int found = 0;
    for (char *line = file, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *last = end;
        while (last > line && last[-1] != ' ')
            last--;
        found += atoi(last) == wanted;
    }
    return found;
}

int main(void)
{
    static struct log log = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct request first = {&log, "localhost", "/", 0, 200, 3};
    struct request slow = {&log, "far.example", "/index.html", 60000, 404, 1};
    struct request quick = {&log, "near.example", "/favicon.ic", 0, 200, 1};
    pthread_t a, b;
    handle(&first);
    pthread_create(&a, NULL, handle, &slow);
    usleep(20000);
    pthread_create(&b, NULL, handle, &quick);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    flush_log(&log);
    int good = count_status(200), missing = count_status(404);
    fprintf(stderr, "%d found, %d missing\n", good, missing);
    assert(good + missing == 5);
    return 0;
}
