/* unset_node.c - a tree's node from the heap has a child that nobody set.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    long key;
    char label[24];
    struct node *left, *right;
};

static struct node *root;

static struct node *new_node(long key)
{
    struct node *n = malloc(sizeof *n); /* ROOT CAUSE */
    n->key = key;
    snprintf(n->label, sizeof n->label, "<%ld>", key);
#ifdef FIXED
    n->left = n->right = NULL;
#else
    n->left = NULL; /* ROOT CAUSE */
#endif
    return n;
}

static void insert(long key)
{
    struct node **at = &root;
    while (*at)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = new_node(key);
}

/* Words of a line, as earlier code had them on the heap. */
static long count_words(const char *line)
{
    char *copy = malloc(sizeof(struct node)), *save = NULL;
    long words = 0;
    memset(copy, ' ', sizeof(struct node));
    strncpy(copy, line, sizeof(struct node) - 1);
    copy[sizeof(struct node) - 1] = 0;
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        words++;
    free(copy);
    return words;
}

static long depth(const struct node *n)
{
    if (!n)
        return 0;
    long left = depth(n->left), right = depth(n->right);
    return 1 + (left > right ? left : right);
}

int main(void)
{
    static const long keys[] = {50, 25, 12, 6, 3, 1};
    struct node *fresh[3];
    for (int i = 0; i < 3; i++)
        fresh[i] = calloc(1, sizeof *fresh[i]);
    for (int i = 0; i < 3; i++)
        free(fresh[i]);
    for (int i = 0; i < 3; i++)
        insert(keys[i]);
    printf("%ld\n", depth(root));
    printf("%ld words\n",
           count_words("a line of the text that has enough words to fill every node"));
    for (int i = 3; i < 6; i++)
        insert(keys[i]);
    printf("%ld\n", depth(root));
    return 0;
}
