/* hostile.c - makes a pinball whose program attacks the replayer.
 *
 * SPDX-License-Identifier: MIT
 *
 * hostile DIR HOW CANARY: HOW is `call` (the program asks for system calls), `jump` (it jumps to a
 * system call instruction of the runtime) or `own` (it writes over the runtime's code, so that the
 * runtime itself creates the file CANARY). Nothing of that may happen. `cpu`: no attack, but it
 * used every instruction-set extension there is, those of both makers, which no CPU has.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pinball/format.h"
#include "pinball/record.h"
#include "pinball/text.h"
#include "pinball/writer.h"

enum { CODE = 0x400000, PAGE = 4096, TEXT_BYTES = 0x18000 };
#define BASE 0x7e0000000000ull

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
enum { PATH_AT = 0x800, SHELL_AT = 0x400, OPEN = 2, CREATE = 0101, EXIT_GROUP = 231 };

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

static void attack(const char *how)
{
    if (!strcmp(how, "call")) {
        open_canary();
    } else if (!strcmp(how, "jump")) { /* look for syscall; ret in the runtime and go there */
        load(RDI, BASE);
        put("\x66\x81\x3f\x0f\x05\x74\x05\x48\xff\xc7\xeb\xf4\xff\xe7", 14);
    } else {
        load(RDI, BASE); /* nops all over the runtime's code, and at its end the shell code */
        load(RCX, TEXT_BYTES);
        put("\xb0\x90\xf3\xaa", 4); /* mov $0x90, %al; rep stosb */
        load(RSI, CODE + SHELL_AT);
        load(RCX, 256);
        put("\xf3\xa4\x0f\x05", 4); /* rep movsb; syscall: enters what was the runtime */
        used = SHELL_AT;
        open_canary();
    }
}

static struct {
    struct record_image image;
    struct record_map map;
    struct record_data data;
    uint8_t bytes[PAGE];
    struct record_start start;
} log_;

static void fill(void)
{
    log_.image = (struct record_image){.r = {RECORD_IMAGE, 0, 0, sizeof log_.image},
                                       .base = BASE,
                                       .bytes = 8 << 20,
                                       .reserved = BASE - (1 << 30),
                                       .thread = 1};
    log_.map = (struct record_map){.r = {RECORD_MAP, 0, 0, sizeof log_.map},
                                   .start = CODE,
                                   .bytes = PAGE,
                                   .prot = PROT_READ | PROT_WRITE | PROT_EXEC,
                                   .flags = MAP_PRIVATE,
                                   .file = MAP_FILE_NONE};
    log_.data = (struct record_data){
        .r = {RECORD_DATA, 0, 0, sizeof log_.data + PAGE}, .addr = CODE, .bytes = PAGE};
    memcpy(log_.bytes, code, PAGE);
    log_.start = (struct record_start){.r = {RECORD_START, 0, 0, sizeof log_.start},
                                       .rip = CODE,
                                       .rflags = 0x202,
                                       .features = 3,
                                       .pid = 1,
                                       .tid = 1};
    log_.start.gpr[4] = CODE + PAGE - 64;
}

int main(int argc, char **argv)
{
    struct err err;
    struct text head = {0}, end = {0};
    if (argc != 4 || strlen(argv[3]) > 1000)
        return 2;
    attack(argv[2]);
    strcpy((char *)code + PATH_AT, argv[3]);
    fill();
    struct writer *w = writer_new(argv[1], &err);
    text_add(&head, "program", "hostile");
    text_add(&end, "reason", "lost");
    text_add(&end, "status", "0");
    if (!strcmp(argv[2], "cpu"))
        text_add(&end, "isa", "ffffffffff");
    if (!w || writer_head(w, head.data, head.bytes, &err) ||
        writer_events(w, &log_, sizeof log_, 4, &err) || writer_end(w, end.data, end.bytes, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    writer_free(w);
    text_deinit(&head);
    text_deinit(&end);
    return 0;
}
