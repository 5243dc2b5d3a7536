/* probes_dump.c - what probes take of a recording, and what its trace says, as lines of text.
 *
 * SPDX-License-Identifier: MIT
 *
 *   probes_dump rows [--confined] [--from POS] [--to POS] [--enough N] [--quiet] PINBALL < LIST
 *       LIST has a probe per line: PC WHEN TAKE, in hexadecimal; `-` for no bytecode. Prints
 *       PROBE THREAD COUNT PC TICKS WHEN TAKE UNDONE VALUE, then KIND:WHERE:END:BYTES of each
 * piece. probes_dump executed PINBALL     THREAD PC TIMES NAME of each instruction that was
 * executed probes_dump positions PINBALL < LIST   THREAD COUNT PC of each execution of these, in
 * order
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "engine/x86/insn.h"
#include "pinball/pinball.h"
#include "study/broker.h"
#include "study/probe.h"
#include "trace/pass.h"

enum { LIST = 100000, CODE_TEXT = 2 * AGENT_BYTES + 64 };

static struct {
    const char *mode, *pinball;
    bool confined, quiet;
    struct position from, to;
    uint64_t enough;
} given;

static struct probe list[LIST];
static size_t probes;
static uint64_t rows, values, told;
static struct study *study;

_Noreturn static void die(const char *what)
{
    printf("failed: %s\n", what);
    exit(1);
}

/* ---- the list ---- */

static uint32_t code_of(const char *hex, const uint8_t **out)
{
    size_t n = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    uint8_t *code = malloc(n + 1);
    for (size_t i = 0; code && i < n; i++) {
        const char two[] = {hex[2 * i], hex[2 * i + 1], 0};
        code[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    *out = code;
    return (uint32_t)n;
}

static void read_list(void)
{
    static char line[2 * CODE_TEXT], when[CODE_TEXT], take[CODE_TEXT];
    while (probes < LIST && fgets(line, sizeof line, stdin)) {
        struct probe *p = &list[probes++];
        strcpy(when, "-");
        strcpy(take, "-");
        if (sscanf(line, "%" SCNx64 " %s %s", &p->pc, when, take) < 1)
            die("no probe");
        p->when_bytes = code_of(when, &p->when);
        p->take_bytes = code_of(take, &p->take);
    }
}

struct listed {
    uint64_t pc;
};
static TABLE(struct listed) listed;

static bool is_listed(uint64_t pc)
{
    return table_find(&listed, pc)->pc == pc;
}

static void list_places(void)
{
    for (size_t i = 0; i < probes; i++) {
        if (table_reserve(&listed))
            die("no memory");
        if (is_listed(list[i].pc))
            continue;
        table_find(&listed, list[i].pc)->pc = list[i].pc;
        listed.used++;
    }
}

/* ---- rows ---- */

static void print_pieces(const struct probe_row *row)
{
    struct probe_piece piece;
    const uint8_t *bytes;
    for (uint32_t at = 0; probe_piece(row, &at, &piece, &bytes);) {
        printf(" %d:%" PRIx64 ":%d:", piece.kind, piece.where, piece.end);
        for (uint32_t i = 0; i < piece.bytes; i++)
            printf("%02x", bytes[i]);
    }
}

static int print_row(void *arg, const struct probe_row *row, struct err *err)
{
    (void)arg;
    (void)err;
    rows++;
    values += row->value;
    if (!given.quiet) {
        printf("%u %u %" PRIu64 " %" PRIx64 " %" PRIu64 " %d %d %d %" PRIx64, row->probe,
               row->at.thread, row->at.count, row->at.pc, row->ticks, row->when, row->take,
               row->undone, row->value);
        print_pieces(row);
        putchar('\n');
    }
    return given.enough && rows >= given.enough;
}

static void count_told(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    (void)done;
    (void)total;
    told++;
}

static int take_all(void *arg)
{
    const struct study_probe_options o = {.from = given.from.thread ? &given.from : NULL,
                                          .to = given.to.thread ? &given.to : NULL,
                                          .progress = count_told};
    struct err err;
    (void)arg;
    int result = study_probe(study, list, probes, &o, print_row, NULL, &err);
    if (result < 0)
        die(err.msg);
    printf("%s: %" PRIu64 " rows, sum %" PRIx64 "\n", result ? "enough" : "end", rows, values);
    fflush(stdout);
    return 0;
}

static int print_rows(struct err *err)
{
    const struct broker_options none = {.output = {NULL}};
    read_list();
    return given.confined ? broker_run(study, &none, take_all, NULL, err) : take_all(NULL);
}

/* ---- the trace ---- */

struct times {
    uint64_t pc, thread, times;
    char name[16];
};
static TABLE(struct times) executed;

static void count_insn(const struct pass_step *s, unsigned i)
{
    const struct insn *in = &s->block->insn[i].in;
    if (table_reserve_pair(&executed))
        die("no memory");
    const uint64_t thread = trace_thread(study->trace, s->step->thread);
    struct times *t = table_find_pair(&executed, in->pc, thread);
    if (!t->pc) {
        *t = (struct times){.pc = in->pc, .thread = thread};
        snprintf(t->name, sizeof t->name, "%s", insn_name(in));
        executed.used++;
    }
    t->times++;
}

static void print_position(const struct pass_step *s, unsigned i)
{
    const struct insn *in = &s->block->insn[i].in;
    if (is_listed(in->pc))
        printf("%u %" PRIu64 " %" PRIx64 "\n", trace_thread(study->trace, s->step->thread),
               s->count, in->pc);
}

static int walk(void (*tell)(const struct pass_step *s, unsigned i), struct err *err)
{
    struct pass pass;
    struct pass_step s;
    int more = pass_init(&pass, study->trace, err);
    if (more)
        return -1;
    while ((more = pass_next(&pass, &s, err)) > 0)
        for (unsigned i = 0; i < s.step->insns; i++)
            tell(&s, i);
    pass_deinit(&pass);
    return more;
}

static int print_executed(struct err *err)
{
    if (walk(count_insn, err))
        return -1;
    for (size_t i = 0; i < executed.room; i++)
        if (executed.slot[i].pc)
            printf("%" PRIu64 " %" PRIx64 " %" PRIu64 " %s\n", executed.slot[i].thread,
                   executed.slot[i].pc, executed.slot[i].times, executed.slot[i].name);
    return 0;
}

static int print_positions(struct err *err)
{
    read_list();
    list_places();
    return walk(print_position, err);
}

/* ---- arguments ---- */

static void parse(int argc, char *argv[])
{
    struct err err;
    given.mode = argc > 2 ? argv[1] : "";
    given.pinball = argv[argc - 1];
    for (int i = 2; i < argc - 1; i++) {
        if (strcmp(argv[i], "--confined") == 0)
            given.confined = true;
        else if (strcmp(argv[i], "--quiet") == 0)
            given.quiet = true;
        else if (strcmp(argv[i], "--enough") == 0)
            given.enough = strtoull(argv[++i], NULL, 10);
        else if (position_parse(argv[i + 1],
                                strcmp(argv[i], "--from") == 0 ? &given.from : &given.to, &err))
            die(err.msg);
        else
            i++;
    }
}

int main(int argc, char *argv[])
{
    static const struct {
        const char *mode;
        int (*print)(struct err *err);
    } modes[] = {
        {"rows", print_rows}, {"executed", print_executed}, {"positions", print_positions}};
    struct err err;
    int result = 2;
    parse(argc, argv);
    const struct study_options options = {.untraced = strcmp(given.mode, "rows") == 0};
    if (!(study = study_collect(given.pinball, &options, &err)))
        die(err.msg);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(given.mode, modes[i].mode) == 0 && (result = modes[i].print(&err)) < 0)
            die(err.msg);
    study_close(study);
    return result;
}
