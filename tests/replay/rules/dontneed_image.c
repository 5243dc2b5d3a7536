/* dontneed_image.c - MADV_DONTNEED on a writable segment of the program: what its file holds is
 * there again. */
#include "rule.h"

/* Whole pages of .data, with a beginning that the file has and a value that only this run has. */
static volatile struct {
    char text[PAGE];
    uint64_t value[7 * PAGE / 8];
} data __attribute__((aligned(PAGE))) = {"as it was in the file", {1, 2, 3}};

static volatile char nothing[4 * PAGE] __attribute__((aligned(PAGE)));

static void look(const char *what)
{
    say("%s: '%.30s' %lu %lu %016lx\n", what, (const char *)data.text, data.value[0],
        data.value[6 * PAGE / 8], digest((const void *)&data, sizeof data));
}

int main(void)
{
    look("at first");
    fill((void *)&data, sizeof data);
    fill((void *)nothing, sizeof nothing);
    look("written");
    check(madvise((void *)&data, 4 * PAGE, MADV_DONTNEED) == 0);
    check(strcmp((const char *)data.text, "as it was in the file") == 0 && data.value[1] == 2);
    look("after the advice");
    data.value[0] = now_ns();
    look("written again");
    check(madvise((void *)nothing, sizeof nothing, MADV_DONTNEED) == 0);
    check(nothing[0] == 0 && nothing[3 * PAGE] == 0);
    return 0;
}
