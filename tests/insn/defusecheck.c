/* defusecheck.c - random instructions, and whether their def/use sets are true.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "defuseextra.h"
#include "defusejudge.h"

enum { MOST_COMPLAINTS = 40, EXTRA_PERCENT = 5, ENOUGH = 20 };

struct options {
    uint64_t seed;
    unsigned long count;
    bool report;
    ZydisMnemonic only, sabotaged;
    enum sabotage sabotage;
};

static struct cpu cpu;
static unsigned long checked[ZYDIS_MNEMONIC_MAX_VALUE + 1], faulted[ZYDIS_MNEMONIC_MAX_VALUE + 1];
static unsigned wrong[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static int usage(void)
{
    fputs("usage: defusecheck [--seed S] [--count N] [--report] [--only MNEMONIC]\n"
          "                   [--sabotage def|use|kept:MNEMONIC]\n",
          stderr);
    return 2;
}

/* jmp [CTL_EXIT] */
static size_t put_exit(uint8_t *to)
{
    uint32_t at = CTL_EXIT;
    memcpy(to, (const uint8_t[]){0xff, 0x24, 0x25}, 3);
    memcpy(to + 3, &at, 4);
    return 7;
}

static void write_code(uint64_t at, const uint8_t *code, size_t n)
{
    uint8_t all[SEQ_MAX_CODE + 16];
    memcpy(all, code, n);
    sandbox_write_code(AREA_RWX, at, all, n + put_exit(all + n));
}

/* The state in front of the instruction: what the moves before it make of a random one. */
static bool prepare(struct rng *r, const struct sequence *seq, struct subject *s)
{
    static struct outcome outcome;
    struct machine start;
    const struct seq_insn *last = &seq->insns[seq->insn_count - 1];
    gen_state(r, seq, &start);
    gen_memory(r, seq);
    write_code(seq->entry, seq->code, last->off);
    sandbox_run(&start, seq->entry, NULL, &outcome);
    if (outcome.fault.signo)
        return false;
    s->slot = seq->slot;
    s->pc = seq->entry + last->off;
    s->like = start;
    defusestate_from(&outcome.end, &s->before);
    defusestate_save(seq->slot, &s->memory);
    write_code(s->pc, seq->code + last->off, last->len);
    return true;
}

static bool describe(const struct sequence *seq, struct subject *s)
{
    const struct seq_insn *last = &seq->insns[seq->insn_count - 1];
    uint8_t bytes[INSN_MAX_BYTES] = {0};
    memcpy(bytes, seq->code + last->off, last->len);
    if (insn_decode(&s->in, seq->entry + last->off, bytes, sizeof bytes) < 0 ||
        s->in.kind == INSN_ILLEGAL)
        return false;
    insn_operands(&s->in, &s->ops);
    return true;
}

static void judge(struct rng *r, const struct options *opt, const struct subject *s)
{
    ZydisMnemonic m = (ZydisMnemonic)s->in.mnemonic;
    if (wrong[m] >= 2)
        return;
    switch (defusejudge(r, s, m == opt->sabotaged ? opt->sabotage : SABOTAGE_NONE)) {
    case VERDICT_RIGHT:
        checked[m]++;
        break;
    case VERDICT_FAULTS:
        faulted[m]++;
        break;
    case VERDICT_WRONG:
        wrong[m]++;
        break;
    }
}

/* Making an instruction costs little, judging it much: rare ones have their turn. */
static bool wanted(struct rng *r, const struct options *opt, const struct subject *s)
{
    unsigned long done = checked[s->in.mnemonic] + faulted[s->in.mnemonic];
    if (opt->only)
        return s->in.mnemonic == opt->only;
    return done < ENOUGH || rng_below(r, (unsigned)(done / ENOUGH + 1)) == 0;
}

static void random_instruction(struct rng *r, const struct options *opt)
{
    static struct sequence seq;
    static struct subject s;
    struct gen_options gen = {.features = FEATURE_FS | FEATURE_ADDR32, .cpu = &cpu};
    if (rng_percent(r, EXTRA_PERCENT)) {
        if (defuseextra_make(r, &cpu, rng_below(r, SLOTS), &s) && wanted(r, opt, &s))
            judge(r, opt, &s);
        return;
    }
    memset(s.skip, 0, sizeof s.skip);
    s.marker = 0;
    gen.area = AREA_RWX;
    gen.slot = sandbox_slot(gen.area, rng_below(r, SLOTS));
    gen.entry = gen.slot + SLOT_CODE + rng_below(r, PAGE);
    gen_single(r, &gen, &seq);
    if (!describe(&seq, &s) || !wanted(r, opt, &s))
        return;
    if (prepare(r, &seq, &s))
        judge(r, opt, &s);
}

static ZydisMnemonic mnemonic(const char *name)
{
    for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
        if (!strcmp(ZydisMnemonicGetString((ZydisMnemonic)m), name))
            return (ZydisMnemonic)m;
    return ZYDIS_MNEMONIC_INVALID;
}

static int parse_sabotage(const char *text, struct options *opt)
{
    static const char *const kinds[] = {
        [SABOTAGE_DEF] = "def:", [SABOTAGE_USE] = "use:", [SABOTAGE_KEPT] = "kept:"};
    for (unsigned k = SABOTAGE_DEF; k <= SABOTAGE_KEPT; k++)
        if (!strncmp(text, kinds[k], strlen(kinds[k]))) {
            opt->sabotage = (enum sabotage)k;
            opt->sabotaged = mnemonic(text + strlen(kinds[k]));
        }
    return opt->sabotaged ? 0 : -1;
}

static int parse_options(int argc, char **argv, struct options *opt)
{
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},     {"count", required_argument, NULL, 'n'},
        {"report", no_argument, NULL, 'r'},         {"only", required_argument, NULL, 'o'},
        {"sabotage", required_argument, NULL, 'x'}, {NULL, 0, NULL, 0},
    };
    int c;
    while ((c = getopt_long(argc, argv, "", names, NULL)) >= 0) {
        switch (c) {
        case 's':
            opt->seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            opt->count = strtoul(optarg, NULL, 0);
            break;
        case 'r':
            opt->report = true;
            break;
        case 'o':
            opt->only = mnemonic(optarg);
            if (!opt->only)
                return -1;
            break;
        case 'x':
            if (parse_sabotage(optarg, opt))
                return -1;
            break;
        default:
            return -1;
        }
    }
    return optind == argc ? 0 : -1;
}

static void print_report(void)
{
    for (int i = 0; i < GROUP_SYSTEM; i++) {
        unsigned templates, mnemonics;
        templates_count((enum group)i, &templates, &mnemonics);
        for (unsigned j = 0; j < mnemonics; j++) {
            ZydisMnemonic m = templates_mnemonic((enum group)i, j);
            if (!checked[m] && !templates_denied(m))
                printf("# never checked: %s (%lu faults)\n", ZydisMnemonicGetString(m), faulted[m]);
        }
    }
    defusejudge_report();
}

int main(int argc, char **argv)
{
    struct options opt = {.seed = 1, .count = 20000};
    struct rng r;
    if (parse_options(argc, argv, &opt))
        return usage();
    if (getenv("DRDEBUG_SOAK")) { /* new ones each time */
        opt.seed = (uint64_t)time(NULL);
        opt.count *= 50;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    templates_detect_cpu(&cpu);
    templates_init(&cpu);
    gen_init_memory(opt.seed);
    defusestate_init(&cpu);
    insn_init();
    if (sandbox_init(&cpu))
        return 1;
    printf("# seed %" PRIu64 "\n", opt.seed);
    unsigned complaints = 0;
    for (unsigned long i = 0; i < opt.count && complaints < MOST_COMPLAINTS; i++) {
        rng_init(&r, opt.seed, i);
        random_instruction(&r, &opt);
        complaints = 0;
        for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
            complaints += wrong[m];
    }
    unsigned long total = 0, faults = 0, kinds = 0;
    for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
        total += checked[m];
        faults += faulted[m];
        kinds += checked[m] != 0;
    }
    printf("# %lu instructions of %lu mnemonics, %lu more that fault, %lu runs; %u complaints\n",
           total, kinds, faults, defusejudge_runs, complaints);
    if (opt.report)
        print_report();
    return complaints != 0;
}
