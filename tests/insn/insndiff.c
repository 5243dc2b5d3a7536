/* insndiff.c - run random instruction sequences and print what they did.
 *
 * One line per sequence: its number, a hash of everything it left behind, how each run ended. A
 * sequence is a function of (seed, number) alone, so the output of two runs of this program must be
 * the same, in particular of one under a translator and one without. insn_compare.py compares them
 * and calls this program again with --dump and --mask to find the guilty instruction.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "report.h"

#define MAX_UNITS 4096
#define MAX_RUNS  3
#define LOOP_RUNS 9

struct options {
    uint64_t seed;
    unsigned start, count;
    long dump; /* -1: none */
    unsigned features;
    bool masked[MAX_UNITS];
    ZydisMnemonic sabotage;
    bool stats, loops;
};

struct totals {
    unsigned long mnemonic[ZYDIS_MNEMONIC_MAX_VALUE + 1], insns, signals[32], runs;
};

static struct cpu cpu;
static struct totals totals;

static const struct {
    const char *name;
    unsigned bit;
} feature_names[] = {
    {"faults", FEATURE_FAULTS},
    {"gs", FEATURE_GS},
    {"fs", FEATURE_FS},
    {"smc", FEATURE_SMC},
    {"alias", FEATURE_ALIAS},
    {"rwx", FEATURE_RWX},
    {"ac", FEATURE_AC},
    {"wildjump", FEATURE_WILDJUMP},
    {"noncanon", FEATURE_NONCANON},
    {"unmasked", FEATURE_UNMASKED},
    {"addr32", FEATURE_ADDR32},
    {"system", FEATURE_SYSTEM},
    {"absent", FEATURE_ABSENT},
    {"faultflags", FEATURE_FAULT_FLAGS},
};

static int usage(void)
{
    fputs("usage: insndiff --seed S [--count N] [--start I] [--dump I] [--mask U,U-U,...]\n"
          "                [--without FEATURE,...] [--sabotage MNEMONIC] [--stats]\n"
          "                [--loops]\n"
          "features:",
          stderr);
    for (size_t i = 0; i < sizeof feature_names / sizeof *feature_names; i++)
        fprintf(stderr, " %s", feature_names[i].name);
    fputc('\n', stderr);
    return 2;
}

static enum code_area pick_area(struct rng *r, unsigned features)
{
    unsigned dice = rng_below(r, 100);
    if (dice < 35)
        return AREA_LOW;
    if (dice < 47 && features & FEATURE_RWX)
        return AREA_RWX;
    if (dice < 51 && features & FEATURE_ALIAS)
        return AREA_ALIAS;
    return AREA_FAR;
}

/* Anywhere in the slot's code pages; now and then across the page border. */
static uint64_t pick_entry(struct rng *r, uint64_t slot)
{
    uint64_t code = slot + SLOT_CODE;
    if (rng_percent(r, 20))
        return code + PAGE - 1 - rng_below(r, 100);
    return code + rng_below(r, SLOT_CODE_SIZE - SEQ_MAX_CODE);
}

static void decode_insn(const struct sequence *seq, unsigned i, ZydisDecodedInstruction *insn)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, seq->code + seq->insns[i].off,
                                                    seq->insns[i].len, insn)))
        insn->mnemonic = ZYDIS_MNEMONIC_INVALID;
}

enum { ARITHMETIC = 0x8d5 };

/* Flags that no instruction would have read again may be lost when a fault interrupts. */
static void forget_flags(struct outcome *out)
{
    for (unsigned i = 0; i < out->past_count; i++)
        out->past[i].at.flags &= ~(uint64_t)ARITHMETIC;
    if (!out->fault.signo)
        return;
    out->fault.at.flags &= ~(uint64_t)ARITHMETIC;
    out->end.flags &= ~(uint64_t)ARITHMETIC;
}

/* Behind a fault the sequence goes on with the next unit. */
static const struct resume *places_to_resume(const struct options *opt, const struct sequence *seq)
{
    static struct resume resume;
    resume.entry = seq->entry;
    resume.size = (uint32_t)seq->size;
    resume.kept_flags = opt->features & FEATURE_FAULT_FLAGS ? ~0ull : ~(uint64_t)ARITHMETIC;
    resume.count = 0;
    for (unsigned i = 1; i < seq->insn_count; i++)
        if (seq->insns[i].unit != seq->insns[i - 1].unit)
            resume.off[resume.count++] = seq->insns[i].off;
    return opt->loops ? &resume : NULL;
}

/* To test the tests: pretend that an instruction went wrong. */
static void sabotage(const struct options *opt, const struct sequence *seq, struct outcome *out)
{
    ZydisDecodedInstruction insn;
    for (unsigned i = 0; opt->sabotage && i < seq->insn_count; i++) {
        decode_insn(seq, i, &insn);
        if (insn.mnemonic == opt->sabotage)
            out->end.gpr[RAX] ^= 1;
    }
}

static void count_round(const struct sequence *seq)
{
    ZydisDecodedInstruction insn;
    for (unsigned i = 0; i < seq->insn_count; i++) {
        decode_insn(seq, i, &insn);
        totals.mnemonic[insn.mnemonic]++;
        totals.insns++;
    }
}

/* Run the same code from several states: the first run meets fresh code, later ones known code. */
static uint64_t run_round(const struct options *opt, struct rng *r, const struct sequence *seq,
                          unsigned round, uint64_t hash, char *ends)
{
    static uint8_t *before;
    static struct outcome out;
    unsigned runs = rng_percent(r, 15) ? MAX_RUNS : 2;
    const struct resume *resume = places_to_resume(opt, seq);

    if (!before && !(before = malloc(report_memory_size())))
        abort();
    for (unsigned run = 0; run < (opt->loops ? LOOP_RUNS : runs); run++) {
        struct machine start;
        char prefix[32];

        gen_state(r, seq, &start);
        gen_memory(r, seq);
        if (opt->dump >= 0)
            report_memory_save(seq, before);
        sandbox_run(&start, seq->entry, resume, &out);
        sabotage(opt, seq, &out);
        if (!(opt->features & FEATURE_FAULT_FLAGS))
            forget_flags(&out);
        hash = report_hash(hash, seq, &out);
        sprintf(ends + strlen(ends), " %s", report_signal(out.fault.signo));
        totals.signals[out.fault.signo & 31]++;
        totals.runs++;
        for (unsigned i = 0; i < out.past_count; i++)
            totals.signals[out.past[i].signo & 31]++;
        if (opt->dump < 0)
            continue;
        snprintf(prefix, sizeof prefix, "start%u.%u", round, run);
        report_machine(stdout, prefix, &start, &cpu);
        for (unsigned i = 0; i < out.past_count; i++) {
            snprintf(prefix, sizeof prefix, "past%u.%u.%u", round, run, i);
            report_fault(stdout, prefix, seq, &out.past[i]);
            report_machine(stdout, prefix, &out.past[i].at, &cpu);
        }
        snprintf(prefix, sizeof prefix, "fault%u.%u", round, run);
        report_fault(stdout, prefix, seq, &out.fault);
        if (out.fault.signo)
            report_machine(stdout, prefix, &out.fault.at, &cpu);
        snprintf(prefix, sizeof prefix, "end%u.%u", round, run);
        report_machine(stdout, prefix, &out.end, &cpu);
        report_memory(stdout, prefix, seq, before);
        fflush(stdout);
    }
    return hash;
}

static void run_sequence(const struct options *opt, unsigned number)
{
    static struct sequence seq;
    static const char *const area_names[] = {"low", "far", "alias", "rwx"};
    struct rng r;
    struct gen_options gen = {.features = opt->features, .cpu = &cpu, .loops = opt->loops};
    char ends[320] = "";
    uint64_t hash = 0;

    rng_init(&r, opt->seed, number);
    gen.area = pick_area(&r, opt->features);
    gen.slot = sandbox_slot(gen.area, rng_below(&r, SLOTS));
    gen.entry = pick_entry(&r, gen.slot);
    unsigned rounds = rng_percent(&r, 12) ? 2 : 1; /* other code at the same place */
    for (unsigned round = 0; round < rounds; round++) {
        gen_sequence(&r, &gen, &seq);
        gen.first_unit = seq.unit_count;
        gen_apply_mask(&seq, opt->masked, MAX_UNITS);
        if (opt->stats)
            count_round(&seq);
        if (opt->dump == (long)number) {
            printf("round %u area %s entry 0x%" PRIx64 " units %u\n", round, area_names[gen.area],
                   seq.entry, seq.unit_count);
            report_code(stdout, &seq);
            fflush(stdout);
        }
        sandbox_write_code(gen.area, seq.entry, seq.code, seq.size);
        struct options quiet = *opt;
        if (opt->dump != (long)number)
            quiet.dump = -1;
        hash = run_round(&quiet, &r, &seq, round, hash, ends);
    }
    printf("%u %016" PRIx64 "%s\n", number, hash, ends);
}

static int parse_features(char *list, unsigned *features)
{
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof feature_names / sizeof *feature_names; i++)
            if (!strcmp(feature_names[i].name, name))
                bit = feature_names[i].bit;
        if (!bit)
            return -1;
        *features &= ~bit;
    }
    return 0;
}

static int parse_mask(char *list, bool *masked)
{
    for (char *part = strtok(list, ","); part; part = strtok(NULL, ",")) {
        unsigned from, to;
        int got = sscanf(part, "%u-%u", &from, &to);
        if (got < 1)
            return -1;
        for (unsigned i = from; i <= (got == 2 ? to : from) && i < MAX_UNITS; i++)
            masked[i] = true;
    }
    return 0;
}

static ZydisMnemonic parse_mnemonic(const char *name)
{
    for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
        if (!strcmp(ZydisMnemonicGetString((ZydisMnemonic)m), name))
            return (ZydisMnemonic)m;
    return ZYDIS_MNEMONIC_INVALID;
}

static int parse_options(int argc, char **argv, struct options *opt)
{
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},     {"count", required_argument, NULL, 'n'},
        {"start", required_argument, NULL, 'i'},    {"dump", required_argument, NULL, 'd'},
        {"mask", required_argument, NULL, 'm'},     {"without", required_argument, NULL, 'w'},
        {"sabotage", required_argument, NULL, 'x'}, {"stats", no_argument, NULL, 't'},
        {"loops", no_argument, NULL, 'l'},          {NULL, 0, NULL, 0},
    };
    bool start_given = false;
    int c;

    while ((c = getopt_long(argc, argv, "", names, NULL)) >= 0) {
        switch (c) {
        case 's':
            opt->seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            opt->count = (unsigned)strtoul(optarg, NULL, 0);
            break;
        case 'i':
            opt->start = (unsigned)strtoul(optarg, NULL, 0);
            start_given = true;
            break;
        case 'd':
            opt->dump = strtol(optarg, NULL, 0);
            break;
        case 'm':
            if (parse_mask(optarg, opt->masked))
                return -1;
            break;
        case 'w':
            if (parse_features(optarg, &opt->features))
                return -1;
            break;
        case 'x':
            opt->sabotage = parse_mnemonic(optarg);
            if (!opt->sabotage)
                return -1;
            break;
        case 't':
            opt->stats = true;
            break;
        case 'l':
            opt->loops = true;
            break;
        default:
            return -1;
        }
    }
    if (opt->dump >= 0) {
        if (!start_given)
            opt->start = (unsigned)opt->dump;
        opt->count = (unsigned)opt->dump - opt->start + 1;
    }
    return optind == argc ? 0 : -1;
}

static void print_stats(void)
{
    static const char *const names[GROUP_COUNT] = {"int", "x87",  "mmx",    "sse",
                                                   "vex", "evex", "system", "absent"};
    unsigned seen = 0;
    for (int i = 0; i < GROUP_COUNT; i++) {
        unsigned templates, mnemonics;
        templates_count((enum group)i, &templates, &mnemonics);
        printf("# %s: %u encodings of %u mnemonics, never used:", names[i], templates, mnemonics);
        for (unsigned j = 0; j < mnemonics; j++) {
            ZydisMnemonic m = templates_mnemonic((enum group)i, j);
            if (!totals.mnemonic[m])
                printf(" %s", ZydisMnemonicGetString(m));
        }
        putchar('\n');
    }
    for (int i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++)
        if (totals.mnemonic[i]) {
            seen++;
            printf("# %s %lu\n", ZydisMnemonicGetString((ZydisMnemonic)i), totals.mnemonic[i]);
        }
    printf("# %lu instructions, %u mnemonics, %lu runs\n", totals.insns, seen, totals.runs);
    for (int i = 0; i < 32; i++)
        if (totals.signals[i])
            printf("# %s %lu\n", report_signal(i), totals.signals[i]);
}

int main(int argc, char **argv)
{
    static struct options opt = {.count = 1000, .dump = -1, .features = FEATURE_ALL};

    if (parse_options(argc, argv, &opt))
        return usage();
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was printed before a crash counts */
    templates_detect_cpu(&cpu);
    templates_init(&cpu);
    gen_init_memory(opt.seed);
    if (sandbox_init(&cpu))
        return 1;
    printf("# seed %" PRIu64 " instructions %08x%s%s%s%s\n", opt.seed, templates_fingerprint(),
           cpu.avx ? " avx" : "", cpu.avx512 ? " avx512" : "", cpu.fsgsbase ? " fsgsbase" : "",
           cpu.umip ? " umip" : "");
    for (unsigned i = 0; i < opt.count; i++)
        run_sequence(&opt, opt.start + i);
    if (opt.stats)
        print_stats();
    return 0;
}
