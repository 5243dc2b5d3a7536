/* replay_main.c - main() of a fuzz target where there is no libFuzzer: runs the inputs it is given.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool run_file(const char *path)
{
    static uint8_t bytes[MAX_BYTES];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return false;
    }
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    uint8_t *input = malloc(n + 1); /* of its own size, so that ASan sees its end */
    if (!input)
        return false;
    memcpy(input, bytes, n);
    LLVMFuzzerTestOneInput(input, n);
    free(input);
    return true;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!run_file(argv[i]))
            return 1;
    printf("%d inputs\n", argc - 1);
    return argc < 2;
}
