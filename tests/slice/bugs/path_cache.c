/* path_cache.c - a directory is renamed, and paths that were looked up before are still found where
 * they were.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 32
#define CACHE 16

struct node {
    char name[12];
    int parent, size;
};

struct entry {
    char path[40];
    int node;
};

static struct node nodes[NODES];
static struct entry cache[CACHE];
static int count, hits;

static int make(int parent, const char *name, int size)
{
    snprintf(nodes[count].name, sizeof nodes[count].name, "%s", name);
    nodes[count].parent = parent;
    nodes[count].size = size;
    return count++;
}

static unsigned hash(const char *path)
{
    unsigned h = 0;
    while (*path)
        h = h * 31 + (unsigned char)*path++;
    return h % CACHE;
}

static int walk(const char *path)
{
    int at = 0;
    while (*path) {
        size_t n = strcspn(path + 1, "/");
        int next = -1;
        for (int i = 1; i < count && next < 0; i++)
            if (nodes[i].parent == at && strlen(nodes[i].name) == n &&
                strncmp(nodes[i].name, path + 1, n) == 0)
                next = i;
        if ((at = next) < 0)
            return -1;
        path += n + 1;
    }
    return at;
}

static int lookup(const char *path)
{
    struct entry *e = &cache[hash(path)];
    if (strcmp(e->path, path) == 0) {
        hits++;
        return e->node;
    }
    int node = walk(path);
    if (node > 0) {
        snprintf(e->path, sizeof e->path, "%s", path);
        e->node = node;
    }
    return node;
}

static void rename_node(const char *path, const char *name)
{
    int node = lookup(path);
    snprintf(nodes[node].name, sizeof nodes[node].name, "%s", name); /* ROOT CAUSE */
#ifdef FIXED
    memset(cache, 0, sizeof cache);
#else
    cache[hash(path)].path[0] = 0;
#endif
}

static int size_of(const char *path)
{
    int node = lookup(path);
    return node < 0 ? 0 : nodes[node].size;
}

int main(void)
{
    int total = 0;
    make(0, "", 0);
    int home = make(0, "home", 0), old = make(home, "old", 0);
    make(old, "letter", 100);
    make(old, "photo", 2000);
    for (int i = 0; i < 5; i++)
        total += size_of("/home/old/letter") + size_of("/home/old/photo");
    rename_node("/home/old", "archive");
    int fresh = make(home, "old", 0);
    make(fresh, "letter", 7);
    total = 0;
    for (int i = 0; i < 5; i++)
        total += size_of("/home/old/letter") + size_of("/home/archive/photo");
    printf("%d bytes, %d hits\n", total, hits);
    assert(total == 5 * 2007);
    return 0;
}
