/* hostile.c - makes a pinball whose program attacks the replayer.
 *
 * SPDX-License-Identifier: MIT
 *
 * hostile DIR HOW CANARY: HOW is `call` (the program asks for system calls), `jump` (it jumps to a
 * system call instruction of the runtime) or `own` (it writes over the runtime's code, so that the
 * runtime itself creates the file CANARY). Nothing of that may happen. `cpu`: no attack, but it
 * used every instruction-set extension there is, those of both makers, which no CPU has. `print`:
 * a write of five bytes, of which the log says that it wrote a terabyte; `print-ends`: of what the
 * program has, and that reaches beyond its memory. CANARY is then the hash of the registers there,
 * which a replay tells. `talk`: like `own`, but the program is talker.c or escaper.c: CANARY is its
 * file, and the numbers of its settings follow.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pinball/format.h"
#include "pinball/record.h"
#include "pinball/text.h"
#include "pinball/writer.h"
#include "talker.h"

enum { CODE = 0x400000, PAGE = 4096, TEXT_BYTES = 0x30000, WRITE_MOST = 0x7ffff000 };
#define BASE     0x7e0000000000ull
#define TERABYTE (1ull << 40)

/* Code is put together here. */
static uint8_t code[PAGE];
static size_t used;

static void put(const void *bytes, size_t n)
{
    memcpy(code + used, bytes, n);
    used += n;
}

static void load(uint8_t reg, uint64_t value) /* mov $value, reg */
{
    const uint8_t op[2] = {0x48, (uint8_t)(0xb8 + reg)};
    put(op, 2);
    put(&value, 8);
}

enum { RAX = 0, RCX = 1, RDX = 2, RSI = 6, RDI = 7 };
enum { PATH_AT = 0x800, SHELL_AT = 0x400, WRITE = 1, OPEN = 2, CREATE = 0101, EXIT_GROUP = 231 };

static void open_canary(void) /* open(path, O_CREAT | O_WRONLY, 0666); exit_group(0) */
{
    load(RDI, CODE + PATH_AT);
    load(RSI, CREATE);
    load(RDX, 0666);
    load(RAX, OPEN);
    put("\x0f\x05", 2);
    load(RAX, EXIT_GROUP);
    put("\x0f\x05", 2);
}

static void write_bytes(uint64_t bytes) /* write(1, code, bytes) */
{
    load(RDI, 1);
    load(RSI, CODE);
    load(RDX, bytes);
    load(RAX, WRITE);
    put("\x0f\x05", 2);
}

static void attack(const char *how)
{
    if (!strcmp(how, "call")) {
        open_canary();
    } else if (!strcmp(how, "jump")) { /* look for syscall; ret in the runtime and go there */
        load(RDI, BASE);
        put("\x66\x81\x3f\x0f\x05\x74\x05\x48\xff\xc7\xeb\xf4\xff\xe7", 14);
    } else if (!strcmp(how, "print")) {
        write_bytes(5);
    } else if (!strcmp(how, "print-ends")) {
        write_bytes(TERABYTE);
    } else {
        load(RDI, BASE); /* nops all over the runtime's code, and at its end the shell code */
        load(RCX, TEXT_BYTES);
        put("\xb0\x90\xf3\xaa", 4); /* mov $0x90, %al; rep stosb */
        load(RSI, CODE + SHELL_AT);
        load(RCX, 256);
        put("\xf3\xa4\x0f\x05", 4); /* rep movsb; syscall: enters what was the runtime */
        used = SHELL_AT;
        if (!strcmp(how, "own")) {
            open_canary();
        } else {
            load(RAX, CODE + TALKER_AT);
            put("\xff\xe0", 2); /* jmp *%rax */
        }
    }
}

/* The log is put together here. */
static uint8_t log_[128 << 10] __attribute__((aligned(8)));
static size_t log_bytes, log_records;

static void add(const void *record, size_t bytes)
{
    memcpy(log_ + log_bytes, record, bytes);
    log_bytes += bytes;
    log_records++;
}

static void add_data(uint64_t addr, const void *from, uint32_t bytes) /* a multiple of 8 */
{
    const struct record_data d = {
        .r = {RECORD_DATA, 0, 0, (uint32_t)sizeof d + bytes}, .addr = addr, .bytes = bytes};
    add(&d, sizeof d);
    memcpy(log_ + log_bytes, from, bytes);
    log_bytes += bytes;
}

static void add_program(void)
{
    const struct record_image image = {.r = {RECORD_IMAGE, 0, 0, sizeof image},
                                       .base = BASE,
                                       .bytes = 8 << 20,
                                       .reserved = BASE - (1 << 30),
                                       .thread = 1};
    const struct record_map map = {.r = {RECORD_MAP, 0, 0, sizeof map},
                                   .start = CODE,
                                   .bytes = HOSTILE_BYTES,
                                   .prot = PROT_READ | PROT_WRITE | PROT_EXEC,
                                   .flags = MAP_PRIVATE,
                                   .file = MAP_FILE_NONE};
    add(&image, sizeof image);
    add(&map, sizeof map);
    add_data(CODE, code, PAGE);
}

static void add_talker(const char *path, char **number, int numbers)
{
    static uint8_t bytes[TALKER_MOST];
    uint64_t settings[TALKER_NUMBERS] = {0};
    FILE *f = fopen(path, "rb");
    if (!f || fread(bytes, 1, sizeof bytes, f) == sizeof bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
    for (int i = 0; i < numbers && i < TALKER_NUMBERS; i++)
        settings[i] = strtoull(number[i], NULL, 0);
    add_data(CODE + TALKER_AT, bytes, sizeof bytes);
    add_data(CODE + TALKER_SETTINGS, settings, sizeof settings);
}

static void add_start(void)
{
    struct record_start start = {.r = {RECORD_START, 0, 0, sizeof start},
                                 .rip = CODE,
                                 .rflags = 0x202,
                                 .features = 3,
                                 .pid = 1,
                                 .tid = 1};
    start.gpr[4] = CODE + PAGE - 64;
    add(&start, sizeof start);
}

static void add_write(int64_t result, const char *hash)
{
    const struct record_call call = {.r = {RECORD_CALL, 0, WRITE, sizeof call},
                                     .hash = strtoull(hash, NULL, 0),
                                     .result = result};
    add(&call, sizeof call);
}

int main(int argc, char **argv)
{
    struct err err;
    struct text head = {0}, end = {0};
    const char *how = argc > 2 ? argv[2] : "";
    if ((strcmp(how, "talk") ? argc != 4 : argc < 4) || strlen(argv[3]) > 1000)
        return 2;
    attack(how);
    strcpy((char *)code + PATH_AT, argv[3]);
    add_program();
    if (!strcmp(how, "talk"))
        add_talker(argv[3], argv + 4, argc - 4);
    add_start();
    if (!strncmp(how, "print", 5))
        add_write(strcmp(how, "print") ? WRITE_MOST : (int64_t)TERABYTE, argv[3]);
    struct writer *w = writer_new(argv[1], &err);
    text_add(&head, "program", "hostile");
    text_add(&end, "reason", "lost");
    text_add(&end, "status", "0");
    if (!strcmp(how, "cpu"))
        text_add(&end, "isa", "ffffffffff");
    if (!w || writer_head(w, head.data, head.bytes, &err) ||
        writer_events(w, log_, log_bytes, log_records, &err) ||
        writer_end(w, end.data, end.bytes, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    writer_free(w);
    text_deinit(&head);
    text_deinit(&end);
    return 0;
}
