/* report.c - one sequence's outcome as a hash, or as text with a field per line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "report.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* CF PF AF ZF SF DF OF, AC, ID */
#define FLAGS_SEEN 0x240cd5u

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9fb21c651e98df25u;
    return hash ^ hash >> 29;
}

/* Four lanes and few branches: this is most of what a run costs. */
static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t lane[4] = {hash, hash + 1, hash + 2, hash + 3}, word[8];

    for (; size >= 64; at += 64, size -= 64) {
        memcpy(word, at, 64);
        for (int i = 0; i < 8; i++)
            lane[i & 3] = mix(lane[i & 3], word[i]);
    }
    for (; size; at++, size--)
        lane[0] = mix(lane[0], *at);
    return mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]);
}

static uint64_t mix_machine(uint64_t hash, const struct machine *m)
{
    struct machine copy = *m;
    copy.flags &= FLAGS_SEEN;
    return mix_bytes(hash, &copy, sizeof copy);
}

/* The kernel leaves old error codes in place for traps that have none; whether a page was present
 * is the memory manager's business. */
static uint64_t error_code(const struct fault *f)
{
    switch (f->trapno) {
    case 13:
    case 17:
        return f->err;
    case 14:
        return f->err & ~(uint64_t)1;
    default:
        return 0;
    }
}

/* Not comparable, so report_hash() clears it. */
static bool is_exit_entry(const struct sequence *seq, uint64_t addr)
{
    return addr == seq->slot + TABLE_OFF + TABLE_EXIT;
}

static uint64_t mix_fault(uint64_t hash, const struct fault *f)
{
    hash = mix(hash, (uint64_t)f->signo);
    if (!f->signo)
        return hash;
    hash = mix(hash, (uint64_t)f->code);
    hash = mix(hash, f->addr);
    hash = mix(hash, f->trapno);
    hash = mix(hash, error_code(f));
    hash = mix(hash, f->rip);
    return mix_machine(hash, &f->at);
}

uint64_t report_hash(uint64_t hash, const struct sequence *seq, const struct outcome *out)
{
    struct region regions[SANDBOX_REGIONS];

    hash = mix_machine(hash, &out->end);
    for (unsigned i = 0; i < out->past_count; i++)
        hash = mix_fault(hash, &out->past[i]);
    hash = mix_fault(hash, &out->fault);
    sandbox_regions(seq->slot, regions);
    *(uint64_t *)(seq->slot + TABLE_OFF + TABLE_EXIT) = 0; /* an address of this program */
    for (int i = 0; i < SANDBOX_REGIONS; i++)
        hash = mix_bytes(hash, (const void *)regions[i].base, regions[i].size);
    return mix_bytes(hash, (const void *)seq->entry, seq->size);
}

void report_code(FILE *to, const struct sequence *seq)
{
    ZydisDecoder decoder;
    ZydisFormatter formatter;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    for (unsigned i = 0; i < seq->insn_count; i++) {
        const struct seq_insn *s = &seq->insns[i];
        ZydisDecodedInstruction insn;
        ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
        char text[128] = "(bad)";
        if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, seq->code + s->off, s->len, &insn, ops)))
            ZydisFormatterFormatInstruction(&formatter, &insn, ops, insn.operand_count_visible,
                                            text, sizeof text, seq->entry + s->off, NULL);
        fprintf(to, "code u%-3u %012" PRIx64 " +%03x  ", s->unit, seq->entry + s->off, s->off);
        for (unsigned j = 0; j < 15; j++)
            fprintf(to, j < s->len ? "%02x" : "  ", seq->code[s->off + (j < s->len ? j : 0)]);
        fprintf(to, "  %s%s\n", text, s->structural ? "  ; stays" : "");
    }
}

static void print_bytes(FILE *to, const char *prefix, const char *name, int index, const uint8_t *b,
                        size_t size)
{
    fprintf(to, "%s.%s%d 0x", prefix, name, index);
    while (size)
        fprintf(to, "%02x", b[--size]);
    fputc('\n', to);
}

void report_machine(FILE *to, const char *prefix, const struct machine *m, const struct cpu *cpu)
{
    static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const struct {
        char name[4];
        unsigned bit;
    } flags[] = {{"CF", 0},  {"PF", 2},  {"AF", 4},  {"ZF", 6}, {"SF", 7},
                 {"DF", 10}, {"OF", 11}, {"AC", 18}, {"ID", 21}};
    uint32_t mxcsr;
    uint16_t control, status;

    for (int i = 0; i < 16; i++)
        fprintf(to, "%s.%s 0x%016" PRIx64 "\n", prefix, names[i], m->gpr[i]);
    fprintf(to, "%s.flags", prefix);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (m->flags >> flags[i].bit & 1)
            fprintf(to, " %s", flags[i].name);
    fprintf(to, "\n%s.fsbase 0x%" PRIx64 "\n", prefix, m->fsbase);
    memcpy(&control, m->fx, 2);
    memcpy(&status, m->fx + 2, 2);
    memcpy(&mxcsr, m->fx + 24, 4);
    fprintf(to, "%s.fcw 0x%04x\n%s.fsw 0x%04x\n%s.ftw 0x%02x\n%s.mxcsr 0x%08x\n", prefix, control,
            prefix, status, prefix, m->fx[4], prefix, mxcsr);
    for (int i = 0; i < 8; i++)
        print_bytes(to, prefix, "st", i, m->fx + 32 + 16 * i, 10);
    for (int i = 0; i < (cpu->avx512 ? 32 : 16); i++) {
        if (cpu->avx)
            print_bytes(to, prefix, cpu->avx512 ? "zmm" : "ymm", i, m->zmm[i],
                        cpu->avx512 ? 64 : 32);
        else
            print_bytes(to, prefix, "xmm", i, m->fx + 160 + 16 * i, 16);
    }
    for (int i = 0; cpu->avx512 && i < 8; i++)
        fprintf(to, "%s.k%d 0x%016" PRIx64 "\n", prefix, i, m->k[i]);
}

const char *report_signal(int signo)
{
    switch (signo) {
    case 0:
        return "end";
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGILL:
        return "SIGILL";
    case SIGFPE:
        return "SIGFPE";
    case SIGTRAP:
        return "SIGTRAP";
    default:
        return "signal";
    }
}

void report_fault(FILE *to, const char *prefix, const struct sequence *seq, const struct fault *f)
{
    fprintf(to, "%s.signal %s\n", prefix, report_signal(f->signo));
    if (!f->signo)
        return;
    fprintf(to, "%s.si_code %d\n%s.si_addr 0x%" PRIx64 "\n", prefix, f->code, prefix, f->addr);
    fprintf(to, "%s.trapno %" PRIu64 "\n%s.err 0x%" PRIx64 "\n", prefix, f->trapno, prefix,
            error_code(f));
    fprintf(to, "%s.rip 0x%" PRIx64, prefix, f->rip);
    if (f->rip - seq->entry < seq->size)
        fprintf(to, " (+%03" PRIx64 ")", f->rip - seq->entry);
    fputc('\n', to);
}

size_t report_memory_size(void)
{
    struct region regions[SANDBOX_REGIONS];
    size_t size = 0;
    sandbox_regions(0, regions);
    for (int i = 0; i < SANDBOX_REGIONS; i++)
        size += regions[i].size;
    return size;
}

void report_memory_save(const struct sequence *seq, uint8_t *image)
{
    struct region regions[SANDBOX_REGIONS];
    sandbox_regions(seq->slot, regions);
    for (int i = 0; i < SANDBOX_REGIONS; i++) {
        memcpy(image, (const void *)regions[i].base, regions[i].size);
        image += regions[i].size;
    }
}

void report_memory(FILE *to, const char *prefix, const struct sequence *seq, const uint8_t *before)
{
    struct region regions[SANDBOX_REGIONS];
    sandbox_regions(seq->slot, regions);
    for (int i = 0; i < SANDBOX_REGIONS; i++) {
        for (size_t j = 0; j < regions[i].size; j += 8) {
            uint64_t now = *(const uint64_t *)(regions[i].base + j), old;
            memcpy(&old, before + j, 8);
            if (now != old && !is_exit_entry(seq, regions[i].base + j))
                fprintf(to, "%s.mem.%s+0x%04zx 0x%016" PRIx64 " was 0x%016" PRIx64 "\n", prefix,
                        regions[i].name, j, now, old);
        }
        before += regions[i].size;
    }
    const uint8_t *code = (const uint8_t *)seq->entry;
    for (size_t j = 0; j < seq->size; j++)
        if (code[j] != seq->code[j])
            fprintf(to, "%s.code+0x%03zx 0x%02x was 0x%02x\n", prefix, j, code[j], seq->code[j]);
}
