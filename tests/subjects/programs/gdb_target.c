/* gdb_target.c - what gdb looks at, as symbols and as a core file: a list walked off its end. */
#include <stdio.h>

struct item {
    int value;
    char name[12];
    struct item *next;
};

static struct item third = {3, "third", (struct item *)16}, second = {2, "second", &third};
struct item first = {1, "first", &second}, *head = &first;

static int walk(const struct item *it, int sum)
{
    return it ? walk(it->next, sum + it->value) : sum; /* ROOT CAUSE */
}

int main(void)
{
    printf("%d\n", walk(head, 0));
    return 0;
}
