/* trace_version_test.c - traces of other versions, and what a version stands for.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinball/chunk.h"
#include "tests/unit/random_text.h"
#include "tests/unit/trace_text.h"

enum { SECTION_BLOCKS = 1, SECTION_VERSION = 4, LONG = 1 << 20 };

/* Something of all that a trace can have. */
static void make_all(struct random_text *r)
{
    static const char *const insns[] = {"mov [rsp+8],rbx", "mov rbx,[rsp+8]",   "mov [rsp],rax",
                                        "mov eax,1",       "imul rbx,rcx",      "cmove rax,rcx",
                                        "mov rax,[rsi]",   "mov al,[rsi+3]",    "mov [rdi+4],ebx",
                                        "add [rdi],rax",   "movups xmm0,[rsi]", "xchg [rdi],rax",
                                        "lock inc [rdi]"};
    const unsigned blocks = sizeof insns / sizeof *insns;
    random_text_put(r, "block main 1000: call f\n"
                       "block back 1005: nop; syscall\n"
                       "block end 1008: nop; jmp rax\n"
                       "block f 2000: push rbx; push r12; sub rsp,16; add rsp,16; jmp rax\n"
                       "block copy 2100: rep movsb; jmp rax\n"
                       "block stack 2200: mov rsp,rbx; nop; jmp rax\n"
                       "block out 2300: pop r12; pop rbx; ret\n"
                       "block handler 3000: nop; syscall\n");
    for (unsigned i = 0; i < blocks; i++)
        random_text_put(r, "block p%u %x: %s; mov [rdi],rax; jmp rax\n", i, 0x4000 + 0x100 * i,
                        insns[i]);
    random_text_put(r, "thread 1 main rsp=7000 rdi=5000 rsi=5100\n main\n f\n");
    for (unsigned i = 0; i < blocks; i++)
        random_text_put(r, "p%u rdi=%x\n", i, 0x5000 + 8 * i);
    random_text_put(r, "copy rsi=5100 rdi=5200 rcx=8 then rsi=5108 rdi=5208\n"
                       "stack rbx=6fe8 then rsp=6fe8\n out\n back\n begin 2\n"
                       "call 0 5 6 7 w 5000 8 r 5100 10 w 5200 10 m 5300 10\n end\n"
                       "signal 10 at end to handler frame 6000\n handler\n"
                       "sigreturn 6000 -> end\n end x 3\n cut end+1\n"
                       "thread 2 end\n end\n access end r 5000 4 w 5100 4\n thread 1\n");
}

/* A sum over all chunks of the file, unpacked. */
static uint64_t sum_of(int fd)
{
    struct stat st;
    struct packer packer = {0};
    struct chunk c;
    struct err err;
    uint64_t sum = 0xcbf29ce484222325ull;
    uint8_t *data = malloc(LONG);
    assert_int_equal(fstat(fd, &st), 0);
    struct span span = {fd, 0, (uint64_t)st.st_size, "trace"};
    for (uint64_t at = 0, n = 0;
         chunk_read(&span, at, (struct chunk_want){CHUNK_TRACE, n}, &c, &err) == 1;
         at = chunk_next(at, &c), n++) {
        assert_true(c.raw <= LONG);
        assert_int_equal(chunk_unpack(&span, at, &c, data, &packer, &err), 0);
        sum = (sum ^ c.extra) * 0x100000001b3ull;
        for (uint64_t i = 0; i < c.raw; i++)
            sum = (sum ^ data[i]) * 0x100000001b3ull;
    }
    chunk_deinit_packer(&packer);
    free(data);
    return sum;
}

static void a_change_of_what_a_trace_is_needs_another_version(void **state)
{
    (void)state;
    static const struct {
        int version;
        uint64_t sum;
    } known = {3, 0x5b0921af8b4a71cd};
    struct random_text *r = calloc(1, sizeof *r);
    make_all(r);
    struct trace_text *t = trace_text_new(r->text);
    uint64_t sum = sum_of(trace_text_file(t));
    if (sum != known.sum || TRACE_VERSION != known.version)
        fail_msg("the file is not as it was in version %d: add one to TRACE_VERSION if you have "
                 "not yet, and put {%d, 0x%llx} here",
                 known.version, TRACE_VERSION, (unsigned long long)sum);
    trace_text_free(t);
    free(r);
}

/* A trace's file that begins with this instead of its version; the chunks behind are the same. */
static int with_first(const struct trace_text *t, uint64_t section, const void *data, size_t bytes)
{
    int from = trace_text_file(t), fd = memfd_create("other", 0);
    struct stat st;
    struct chunk c;
    struct err err;
    struct packer packer = {0};
    assert_true(fd >= 0 && fstat(from, &st) == 0);
    struct span span = {from, 0, (uint64_t)st.st_size, "trace"};
    assert_int_equal(chunk_read(&span, 0, (struct chunk_want){CHUNK_TRACE, 0}, &c, &err), 1);
    uint64_t at = chunk_next(0, &c);
    char *rest = malloc(span.bytes - at);
    struct chunk_file file = {.fd = fd, .label = "other"};
    assert_int_equal(chunk_pread(&span, at, rest, span.bytes - at, &err), 0);
    assert_int_equal(chunk_append(&file, (struct chunk_new){CHUNK_TRACE, 1, 0, section}, data,
                                  bytes, &packer, &err),
                     0);
    assert_int_equal(chunk_append_bytes(&file, rest, span.bytes - at, &err), 0);
    chunk_deinit_packer(&packer);
    free(rest);
    return fd;
}

/* What is said about it when it is opened. */
static struct err opened(int fd)
{
    struct err err = {.msg = ""};
    struct trace *trace = trace_open_unnamed(fd, &err);
    assert_int_equal(trace == NULL, err.msg[0] != 0);
    trace_close(trace);
    close(fd);
    return err;
}

static void other_versions_are_not_read(void **state)
{
    (void)state;
    struct trace_text *t = trace_text_new("block a 1000: nop; jmp rax\nthread 1 a\n a\n");
    static const struct {
        gaddr pc;
        uint32_t insns, code;
        uint8_t bytes[8];
    } block = {0x1000, 1, 1, {1, 0x90}};
    for (uint64_t version = 0; version <= TRACE_VERSION + 2; version++) {
        char says[64];
        struct err err = opened(with_first(t, SECTION_VERSION, &version, sizeof version));
        snprintf(says, sizeof says, "a trace of version %d,", (int)version);
        if (version == TRACE_VERSION)
            assert_string_equal(err.msg, "");
        else
            assert_true(err.code == TRACE_OTHER_VERSION && strstr(err.msg, says));
    }
    /* The first ones began with blocks. */
    struct err err = opened(with_first(t, SECTION_BLOCKS, &block, 18));
    assert_int_equal(err.code, TRACE_OTHER_VERSION);
    assert_non_null(strstr(err.msg, "a trace of version 1,"));
    /* A version that is none. */
    err = opened(with_first(t, SECTION_VERSION, "12345678123", 11));
    assert_non_null(strstr(err.msg, "not a trace"));
    trace_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_what_a_trace_is_needs_another_version),
        cmocka_unit_test(other_versions_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
