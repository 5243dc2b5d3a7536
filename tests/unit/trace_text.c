/* trace_text.c - traces from text. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memfd_create */
#include "tests/unit/trace_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "trace/collector.h"

enum { BLOCKS = 64, THREADS = 64, MARKS = 64, WORD = 32, WORDS = 64, NOTES_BYTES = 1 << 18 };

/* ---- instructions ---- */

static const struct mnemonic {
    const char *text;
    bool plain;
    uint8_t len, bytes[12];
} table[] = {
    {"nop", true, 1, {0x90}},
    {"push rbx", false, 1, {0x53}},
    {"push rcx", false, 1, {0x51}},
    {"push rbp", false, 1, {0x55}},
    {"push r12", false, 2, {0x41, 0x54}},
    {"pop rbx", false, 1, {0x5b}},
    {"pop rcx", false, 1, {0x59}},
    {"pop rbp", false, 1, {0x5d}},
    {"pop r12", false, 2, {0x41, 0x5c}},
    {"mov rbp,rsp", false, 3, {0x48, 0x89, 0xe5}},
    {"mov rsp,rbx", false, 3, {0x48, 0x89, 0xdc}},
    {"sub rsp,16", false, 4, {0x48, 0x83, 0xec, 0x10}},
    {"add rsp,16", false, 4, {0x48, 0x83, 0xc4, 0x10}},
    {"ret", false, 1, {0xc3}},
    {"syscall", false, 2, {0x0f, 0x05}},
    {"jmp rax", false, 2, {0xff, 0xe0}},
    {"call rax", false, 2, {0xff, 0xd0}},
    {"mov [rsp+8],rbx", true, 5, {0x48, 0x89, 0x5c, 0x24, 0x08}},
    {"mov rbx,[rsp+8]", true, 5, {0x48, 0x8b, 0x5c, 0x24, 0x08}},
    {"mov [rsp],rax", true, 4, {0x48, 0x89, 0x04, 0x24}},
    {"mov rax,rbx", true, 3, {0x48, 0x89, 0xd8}},
    {"mov rbx,rax", true, 3, {0x48, 0x89, 0xc3}},
    {"mov rcx,rax", true, 3, {0x48, 0x89, 0xc1}},
    {"mov eax,1", true, 5, {0xb8, 0x01}},
    {"mov al,1", true, 2, {0xb0, 0x01}},
    {"xor eax,eax", true, 2, {0x31, 0xc0}},
    {"add rax,rbx", true, 3, {0x48, 0x01, 0xd8}},
    {"adc rax,rcx", true, 3, {0x48, 0x11, 0xc8}},
    {"imul rbx,rcx", true, 4, {0x48, 0x0f, 0xaf, 0xd9}},
    {"cmp rax,rbx", true, 3, {0x48, 0x39, 0xd8}},
    {"inc rcx", true, 3, {0x48, 0xff, 0xc1}},
    {"cmove rax,rcx", true, 4, {0x48, 0x0f, 0x44, 0xc1}},
    {"setc bl", true, 3, {0x0f, 0x92, 0xc3}},
    {"shl rax,cl", true, 3, {0x48, 0xd3, 0xe0}},
    {"xchg rax,rbx", true, 2, {0x48, 0x93}},
    {"mov rax,[rdi]", true, 3, {0x48, 0x8b, 0x07}},
    {"mov rax,[rsi]", true, 3, {0x48, 0x8b, 0x06}},
    {"mov al,[rsi+3]", true, 3, {0x8a, 0x46, 0x03}},
    {"mov [rdi],rax", true, 3, {0x48, 0x89, 0x07}},
    {"mov [rsi],rax", true, 3, {0x48, 0x89, 0x06}},
    {"mov [rsi+2],al", true, 3, {0x88, 0x46, 0x02}},
    {"mov [rdi+4],ebx", true, 3, {0x89, 0x5f, 0x04}},
    {"add [rdi],rax", true, 3, {0x48, 0x01, 0x07}},
    {"movups xmm0,[rsi]", true, 3, {0x0f, 0x10, 0x06}},
    {"movups [rdi],xmm0", true, 3, {0x0f, 0x11, 0x07}},
    {"pxor xmm1,xmm0", true, 4, {0x66, 0x0f, 0xef, 0xc8}},
    {"xchg [rdi],rax", true, 3, {0x48, 0x87, 0x07}},
    {"lock inc [rdi]", true, 4, {0xf0, 0x48, 0xff, 0x07}},
    {"stosq", true, 2, {0x48, 0xab}},
    {"rep movsb", false, 2, {0xf3, 0xa4}},
};
enum { MNEMONICS = sizeof table / sizeof *table };

/* Those that lead to a block, by a distance of four bytes. */
static const struct {
    const char *text;
    uint8_t len, bytes[2];
} branches[] = {
    {"call", 1, {0xe8}}, {"jmp", 1, {0xe9}}, {"je", 2, {0x0f, 0x84}}, {"jne", 2, {0x0f, 0x85}}};

static const char *const registers[GPR_COUNT] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                 "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                 "r12", "r13", "r14", "r15"};

const char *trace_text_insn(unsigned i, bool *plain)
{
    if (i >= MNEMONICS)
        return NULL;
    *plain = table[i].plain;
    return table[i].text;
}

/* ---- what is being made ---- */

struct block {
    char name[WORD];
    gaddr pc;
    char code[512];
    int line;
    const struct code_block *b; /* once all names are known */
};

struct thread {
    uint32_t number;
    uint64_t reg[GPR_COUNT];
    struct trace_state state;
};

struct trace_text {
    struct block block[BLOCKS];
    unsigned blocks;
    struct thread thread[THREADS];
    unsigned threads, now; /* now: that runs */
    struct mark {
        char word[WORD];
        uint64_t insn;
    } mark[MARKS];
    unsigned marks;
    struct code *code;
    uint64_t *words;
    size_t used, room;
    uint8_t *notes;
    size_t notes_used;
    uint64_t insns;
    const struct code_block *last; /* that was executed, ... */
    int line;
    int fd;
    struct trace *trace;
};

static void __attribute__((format(printf, 2, 3)))
wrong(const struct trace_text *t, const char *fmt, ...)
{
    char message[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    fail_msg("trace, line %d: %s", t->line, message);
}

static struct block *find_block(const struct trace_text *t, const char *name, size_t n)
{
    for (unsigned i = 0; i < t->blocks; i++)
        if (strlen(t->block[i].name) == n && memcmp(t->block[i].name, name, n) == 0)
            return (struct block *)&t->block[i];
    return NULL;
}

static uint64_t number(const struct trace_text *t, const char *word, int base)
{
    char *end = NULL;
    uint64_t n = word ? strtoull(word, &end, base) : 0;
    if (!word || end == word || *end)
        wrong(t, "`%s` is not a number", word ? word : "");
    return n;
}

gaddr trace_text_place(const struct trace_text *t, const char *place)
{
    size_t n = place ? strcspn(place, "+") : 0;
    const struct block *k = place ? find_block(t, place, n) : NULL;
    if (!k)
        return number(t, place, 16);
    unsigned i = place[n] ? (unsigned)number(t, place + n + 1, 10) : 0;
    if (i && (!k->b || i >= k->b->insns))
        wrong(t, "%s has no instruction %u", k->name, i);
    return i ? k->b->insn[i].in.pc : k->pc;
}

/* ---- code ---- */

/* The bytes of an instruction at pc. */
static unsigned assemble(const struct trace_text *t, const char *text, gaddr pc, uint8_t *out)
{
    for (unsigned i = 0; i < MNEMONICS; i++)
        if (strcmp(table[i].text, text) == 0) {
            memcpy(out, table[i].bytes, table[i].len);
            return table[i].len;
        }
    for (unsigned i = 0; i < sizeof branches / sizeof *branches; i++) {
        size_t n = strlen(branches[i].text);
        if (strncmp(text, branches[i].text, n) != 0 || text[n] != ' ')
            continue;
        unsigned len = branches[i].len + 4u;
        int32_t distance = (int32_t)(trace_text_place(t, text + n + 1) - pc - len);
        memcpy(out, branches[i].bytes, branches[i].len);
        memcpy(out + branches[i].len, &distance, 4);
        return len;
    }
    wrong(t, "`%s` is not in the table", text);
    return 0;
}

static void add_note(struct trace_text *t, struct flow_note *n, uint32_t kind, size_t bytes)
{
    assert_true(t->notes_used + bytes <= NOTES_BYTES);
    n->kind = kind;
    n->bytes = (uint32_t)bytes;
    n->at = t->used;
    n->count = t->threads ? t->thread[t->now].state.count : 0;
    memcpy(t->notes + t->notes_used, n, bytes);
    t->notes_used += bytes;
}

static void define_block(struct trace_text *t, struct block *k)
{
    struct {
        struct flow_block f;
        uint8_t data[PLAN_INSNS * 16];
    } note = {.f = {.number = (uint32_t)(k - t->block), .pc = k->pc}};
    uint8_t lens[PLAN_INSNS], bytes[PLAN_INSNS * 15];
    size_t used = 0;
    struct err err;
    char code[sizeof k->code], *rest = code;
    memcpy(code, k->code, sizeof code);
    t->line = k->line;
    for (char *text; (text = strsep(&rest, ";"));) {
        text += strspn(text, " ");
        for (size_t n = strlen(text); n && text[n - 1] == ' ';)
            text[--n] = 0;
        if (note.f.insns == PLAN_INSNS)
            wrong(t, "%s is too long", k->name);
        unsigned len = assemble(t, text, k->pc + used, bytes + used);
        lens[note.f.insns++] = (uint8_t)len;
        used += len;
    }
    k->b = code_add(t->code, k->pc, note.f.insns, lens, bytes, used, &err);
    if (!k->b)
        wrong(t, "%s", err.msg);
    memcpy(note.data, lens, note.f.insns);
    memcpy(note.data + note.f.insns, bytes, used);
    add_note(t, &note.f.note, FLOW_BLOCK, (sizeof note.f + note.f.insns + used + 7) & ~7ull);
}

/* ---- lines ---- */

/* Words of a line, the last one NULL. */
static char **take_registers(struct trace_text *t, char **word)
{
    for (; *word && strchr(*word, '='); word++) {
        char *value = strchr(*word, '=');
        unsigned r = 0;
        *value++ = 0;
        while (r < GPR_COUNT && strcmp(registers[r], *word) != 0)
            r++;
        if (r == GPR_COUNT)
            wrong(t, "`%s` is not a register", *word);
        t->thread[t->now].reg[r] = number(t, value, 16);
    }
    return word;
}

/* What the block does to the stack pointer, as far as it can be told. */
static int64_t moved(const struct code_block *b, unsigned insns)
{
    int64_t by = 0;
    for (unsigned i = 0; i < insns; i++) {
        const struct insn *in = &b->insn[i].in;
        bool constant = in->len == 4 && in->bytes[1] == 0x83;
        by -= in->mnemonic == ZYDIS_MNEMONIC_PUSH || in->kind == INSN_CALL ||
                      in->kind == INSN_CALL_IND
                  ? 8
                  : 0;
        by += in->mnemonic == ZYDIS_MNEMONIC_POP || in->kind == INSN_RET ? 8 : 0;
        by += constant ? (in->bytes[2] == 0xec ? -16 : 16) : 0;
    }
    return by;
}

static void add_word(struct trace_text *t, uint64_t word)
{
    if (t->used == t->room) {
        t->room = t->room ? 2 * t->room : 4096;
        t->words = realloc(t->words, sizeof *t->words * t->room);
        assert_non_null(t->words);
    }
    t->words[t->used++] = word;
}

static void execute(struct trace_text *t, const struct block *k, char **after)
{
    struct thread *r = &t->thread[t->now];
    const struct code_block *b = k->b;
    uint64_t before[GPR_COUNT];
    memcpy(before, r->reg, sizeof before);
    r->reg[RSP] += (uint64_t)moved(b, b->insns);
    char **rest = take_registers(t, after);
    if (*rest)
        wrong(t, "what is `%s`?", *rest);
    add_word(t, (uint64_t)(k - t->block));
    for (unsigned i = 0; i < b->slots; i++) {
        const struct plan_slot *s = &b->slot[i];
        if (s->kind == PLAN_ADDRESS || s->kind == PLAN_TOP)
            wrong(t, "%s needs a value that is no register's", k->name);
        bool now = s->kind == PLAN_STACK || s->after;
        unsigned reg = s->kind == PLAN_STACK ? RSP : s->what;
        /* The stack pointer in the middle of a block: as far as it has been moved. */
        uint64_t middle = reg == RSP && !now ? (uint64_t)moved(b, s->insn) : 0;
        add_word(t, now ? r->reg[reg] : before[reg] + middle);
    }
    trace_state_enter(&r->state, t->code, b->pc);
    r->state.last = b->number + 1;
    t->insns += b->insns;
    t->last = b;
}

static void do_step(struct trace_text *t, const struct block *k, char **word)
{
    static char *nothing[] = {NULL};
    uint64_t times = 1;
    word = take_registers(t, word);
    char **after = *word && strcmp(*word, "then") == 0 ? word + 1 : nothing;
    char **x = word;
    while (*x && strcmp(*x, "x") != 0)
        x++;
    if (*x) {
        times = number(t, x[1], 10);
        *x = NULL;
    }
    if (*word && after == nothing)
        wrong(t, "what is `%s`?", *word);
    while (times--)
        execute(t, k, after);
}

static void do_thread(struct trace_text *t, char **word)
{
    struct flow_thread f = {.thread = (uint32_t)number(t, word[0], 10)};
    for (t->now = 0; t->now < t->threads && t->thread[t->now].number != f.thread; t->now++)
        ;
    if (t->now == t->threads) {
        if (t->threads == THREADS || !word[1])
            wrong(t, "thread %u begins nowhere", f.thread);
        t->thread[t->threads++] = (struct thread){.number = f.thread};
        f.pc = trace_text_place(t, word[1]);
        word++;
    }
    take_registers(t, word + 1);
    add_note(t, &f.note, FLOW_THREAD, sizeof f);
}

/* r, w or m, address, bytes; any number of times. */
static unsigned take_ranges(const struct trace_text *t, char **word, struct flow_range *out,
                            unsigned most)
{
    unsigned n = 0;
    for (; *word; word += 3) {
        static const char kinds[] = " rwm";
        const char *kind = strchr(kinds + 1, **word);
        if (n == most || !kind || (*word)[1])
            wrong(t, "what is `%s`?", *word);
        if (!word[1])
            wrong(t, "a range without an address");
        out[n++] = (struct flow_range){number(t, word[1], 16), number(t, word[2], 16),
                                       (uint8_t)(kind - kinds)};
    }
    return n;
}

static void do_call(struct trace_text *t, char **word)
{
    struct {
        struct flow_call f;
        struct flow_range range[16];
    } c = {.f = {.nr = (int64_t)number(t, *word++, 10)}};
    if (!t->last || t->last->tail != INSN_SYSCALL)
        wrong(t, "the last block ends in no call");
    for (unsigned i = 0; *word && !strchr("rwm-", **word) && i < 6; word++)
        c.f.arg[i++] = number(t, *word, 16);
    c.f.next = t->last->end;
    if (*word && strcmp(*word, "->") == 0) {
        c.f.next = trace_text_place(t, word[1]);
        word += 2;
    }
    unsigned n = take_ranges(t, word, c.range, 16);
    add_note(t, &c.f.note, FLOW_CALL, sizeof c.f + n * sizeof *c.range);
}

static void do_sigreturn(struct trace_text *t, char **word)
{
    enum { RT_SIGRETURN = 15 };
    struct flow_call c = {.nr = RT_SIGRETURN, .frame = number(t, word[0], 16)};
    if (!word[1] || strcmp(word[1], "->") != 0)
        wrong(t, "sigreturn FRAME -> PLACE");
    c.next = trace_text_place(t, word[2]);
    add_note(t, &c.note, FLOW_CALL, sizeof c);
}

static void do_access(struct trace_text *t, char **word)
{
    struct {
        struct flow_access f;
        struct flow_range range[16];
    } c = {.f = {.pc = trace_text_place(t, word[0])}};
    unsigned n = take_ranges(t, word + 1, c.range, 16);
    add_note(t, &c.f.note, FLOW_ACCESS, sizeof c.f + n * sizeof *c.range);
}

static void do_cut(struct trace_text *t, char **word)
{
    struct flow_cut f = {.pc = trace_text_place(t, word[0])};
    for (unsigned i = 0; t->last && i < t->last->insns; i++)
        if (t->last->insn[i].in.pc == f.pc)
            t->insns -= t->last->insns - i;
    t->thread[t->now].state.settled = 1;
    add_note(t, &f.note, FLOW_CUT, sizeof f);
}

static void do_signal(struct trace_text *t, char **word)
{
    enum { FRAME_BYTES = 0x200 };
    static const char *const keys[] = {NULL, "at", NULL, "to", NULL, "frame", NULL};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!word[i] || (keys[i] && strcmp(word[i], keys[i]) != 0))
            wrong(t, "signal N at PLACE to PLACE frame ADDRESS");
    struct flow_signal f = {.signal = (uint32_t)number(t, word[0], 10),
                            .pc = trace_text_place(t, word[2]),
                            .handler = trace_text_place(t, word[4]),
                            .frame = number(t, word[6], 16)};
    struct thread *r = &t->thread[t->now];
    f.end = f.frame + FRAME_BYTES;
    trace_state_enter(&r->state, t->code, f.pc);
    add_note(t, &f.note, FLOW_SIGNAL, sizeof f);
    trace_state_note(&r->state, &f.note);
    r->reg[RSP] = f.frame;
}

static void do_begin(struct trace_text *t, char **word)
{
    struct flow_begin f = {.thread = (uint32_t)number(t, word[0], 10),
                           .parent = t->thread[t->now].number};
    add_note(t, &f.note, FLOW_BEGIN, sizeof f);
}

static void do_mark(struct trace_text *t, char **word)
{
    assert_true(t->marks < MARKS);
    struct mark *m = &t->mark[t->marks++];
    snprintf(m->word, sizeof m->word, "%s", word[0] ? word[0] : "");
    m->insn = t->insns;
}

static const struct {
    const char *word;
    void (*take)(struct trace_text *t, char **word);
} kinds[] = {{"thread", do_thread}, {"call", do_call}, {"sigreturn", do_sigreturn},
             {"access", do_access}, {"cut", do_cut},   {"signal", do_signal},
             {"begin", do_begin},   {"mark", do_mark}};

static void take_line(struct trace_text *t, char *line)
{
    char *word[WORDS + 1];
    unsigned n = 0;
    line[strcspn(line, "#")] = 0;
    for (char *w = strtok(line, " "); w && n < WORDS; w = strtok(NULL, " "))
        word[n++] = w;
    word[n] = NULL;
    if (!n || strcmp(word[0], "block") == 0)
        return;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, word[0]) == 0) {
            kinds[i].take(t, word + 1);
            return;
        }
    const struct block *k = find_block(t, word[0], strlen(word[0]));
    if (!k || !t->threads)
        wrong(t, k ? "`%s` in no thread" : "`%s` is neither a block nor a word", word[0]);
    do_step(t, k, word + 1);
}

/* Names first, since code leads to blocks that come later. */
static void take_block_name(struct trace_text *t, char *line)
{
    struct block *k = &t->block[t->blocks];
    unsigned long long pc;
    if (strncmp(line, "block ", 6) != 0)
        return;
    assert_true(t->blocks < BLOCKS);
    if (sscanf(line, "block %31s %llx: %511[^#]", k->name, &pc, k->code) != 3)
        wrong(t, "block NAME ADDRESS: INSN; ...");
    k->pc = pc;
    k->line = t->line;
    t->blocks++;
}

static void each_line(struct trace_text *t, const char *text,
                      void (*take)(struct trace_text *t, char *line))
{
    t->line = 0;
    while (*text) {
        char line[1024];
        size_t n = strcspn(text, "\n"), blank = strspn(text, " ");
        t->line++;
        if (n >= sizeof line)
            wrong(t, "it is too long");
        blank = blank < n ? blank : n;
        memcpy(line, text + blank, n - blank);
        line[n - blank] = 0;
        take(t, line);
        text += n + (text[n] == '\n');
    }
}

/* ---- all of it ---- */

static void finish(struct trace_text *t)
{
    struct err err;
    int fd = memfd_create("trace", 0);
    assert_true(fd >= 0);
    struct collect_options o = {.unnamed = true, .fd = fd};
    struct collector *c = collector_new("trace", &o, &err);
    if (!c ||
        collector_take(c, t->words, sizeof *t->words * t->used, t->notes, t->notes_used, &err) ||
        collector_finish(c, NULL, 0, "from text", &err))
        fail_msg("trace: %s", err.msg);
    collector_free(c);
    t->trace = trace_open_unnamed(fd, &err);
    if (!t->trace)
        fail_msg("%s", err.msg);
    t->fd = fd;
}

struct trace_text *trace_text_new(const char *text)
{
    struct trace_text *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->code = code_new();
    t->notes = malloc(NOTES_BYTES);
    assert_true(t->code && t->notes);
    each_line(t, text, take_block_name);
    for (unsigned i = 0; i < t->blocks; i++)
        define_block(t, &t->block[i]);
    each_line(t, text, take_line);
    finish(t);
    assert_int_equal(trace_insns(t->trace), t->insns);
    return t;
}

void trace_text_free(struct trace_text *t)
{
    trace_close(t->trace);
    close(t->fd);
    code_free(t->code);
    free(t->words);
    free(t->notes);
    free(t);
}

struct trace *trace_text_trace(const struct trace_text *t)
{
    return t->trace;
}

int trace_text_file(const struct trace_text *t)
{
    return t->fd;
}

uint64_t trace_text_mark(const struct trace_text *t, const char *word)
{
    for (unsigned i = 0; i < t->marks; i++)
        if (strcmp(t->mark[i].word, word) == 0)
            return t->mark[i].insn;
    fail_msg("the trace has no mark %s", word);
    return 0;
}
