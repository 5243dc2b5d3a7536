/* maps.c - /proc/self/maps shows the program's mappings only: permissions, sizes, names as
 * natively. */
#include "subject.h"

static char text[1 << 16], *lines[300];

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t slurp(const char *path)
{
    int fd = open(path, O_RDONLY);
    size_t n = 0;
    for (ssize_t r; (r = read(fd, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)r;
    text[n] = 0;
    close(fd);
    return n;
}

/* Prints the sorted lines without addresses; the stack's size is the kernel's affair. */
static void show(const char *title, const char *path)
{
    static char out[300][160];
    int n = 0;
    slurp(path);
    for (char *l = strtok(text, "\n"); l && n < 300; l = strtok(NULL, "\n")) {
        unsigned long lo, hi, off;
        char perms[5], name[128] = "anonymous";
        sscanf(l, "%lx-%lx %4s %lx %*s %*s %127[^\n]", &lo, &hi, perms, &off, name);
        char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
        unsigned long kib = strcmp(base, "[stack]") ? (hi - lo) >> 10 : 0;
        if (strchr(perms, 'w') && strchr(perms, 'x'))
            say("FAIL writable and executable\n");
        snprintf(out[n], sizeof out[n], "%s %lu KiB at %lx of %s", perms, kib, off, base);
        lines[n] = out[n];
        n++;
    }
    qsort(lines, (size_t)n, sizeof lines[0], by_text);
    say("%s: %d lines\n", title, n);
    for (int i = 0; i < n; i++)
        say("  %s\n", lines[i]);
}

int main(void)
{
    show("start", "/proc/self/maps");
    char *p = mmap((void *)0x123450000000, 7 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(p + PAGE, PAGE, PROT_READ | PROT_EXEC);
    show("after mmap and mprotect", "/proc/thread-self/maps");
    munmap(p, 7 * PAGE);
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/maps", getpid());
    show("by pid, after munmap", path);
    return 0;
}
