/* narrow_count.c - uses are counted in eight bits, so the 256th use is the first again.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
#ifdef FIXED
    unsigned uses;
#else
    unsigned char uses;
#endif
    int width, height;
    unsigned char *pixels;
};

struct sprite {
    struct image *image;
    int x, y;
};

static struct sprite sprites[400];
static int count;

static struct image *image_new(int width, int height)
{
    struct image *m = calloc(1, sizeof *m);
    m->width = width;
    m->height = height;
    m->pixels = malloc((size_t)(width * height));
    memset(m->pixels, 3, (size_t)(width * height));
    m->uses = 1;
    return m;
}

static struct image *image_use(struct image *m)
{
    m->uses++; /* ROOT CAUSE */
    return m;
}

static void image_drop(struct image *m)
{
    if (--m->uses)
        return;
    free(m->pixels);
    m->pixels = NULL;
}

static void place(struct image *m, int x, int y)
{
    sprites[count++] = (struct sprite){image_use(m), x, y};
}

static unsigned draw(const struct sprite *s)
{
    unsigned ink = 0;
    for (int y = 0; y < s->image->height; y++)
        for (int x = 0; x < s->image->width; x++)
            ink += s->image->pixels[y * s->image->width + x];
    return ink;
}

int main(void)
{
    struct image *tree = image_new(4, 3), *rock = image_new(2, 2);
    unsigned ink = 0;
    for (int i = 0; i < 300; i++)
        place(i % 300 < 259 ? tree : rock, i, i / 20);
    for (int i = 0; i < 4; i++)
        image_drop(sprites[--count].image);
    for (int i = 0; i < 4; i++) {
        image_drop(sprites[i].image);
        sprites[i].image = image_use(rock);
    }
    for (int i = 0; i < count; i++)
        ink += draw(&sprites[i]);
    printf("%u\n", ink);
    return 0;
}
