/* defusejudge.c - is what engine/x86/defuse.h says about an instruction true of this CPU?
 *
 * SPDX-License-Identifier: MIT
 */
#include "defusejudge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/x86/operand.h"

enum { TRIALS = 3, KEPT_TRIALS = 2 };

unsigned long defusejudge_runs;

struct trial {
    struct flat after;
    int signo;
    struct image memory;
};

/* Memory that the instruction names. */
struct range {
    uint64_t from, bytes;
    bool read, write, may;
};

struct claim {
    struct defuse sets;
    bool def[LOC_COUNT], use[LOC_COUNT], kept[LOC_COUNT]; /* use: of value or address */
    struct range range[ACCESSES_MOST + 2];
    unsigned ranges;
    bool placed; /* all ranges are known */
};

static void run(const struct subject *s, const struct flat *before, const struct image *memory,
                struct trial *out)
{
    static struct machine start;
    static struct outcome outcome;
    defusestate_restore(s->slot, memory);
    defusestate_to(before, &s->like, &start);
    sandbox_run(&start, s->pc, NULL, &outcome);
    defusestate_from(&outcome.end, &out->after);
    out->signo = outcome.fault.signo;
    defusestate_save(s->slot, &out->memory);
    defusejudge_runs++;
}

static uint64_t gpr(const struct flat *f, unsigned reg)
{
    uint64_t v;
    memcpy(&v, f->v + loc_gpr(reg), 8);
    return v;
}

static uint64_t iterations(const struct subject *s, const struct flat *after)
{
    uint64_t n = gpr(&s->before, RCX) - gpr(after, RCX);
    return s->in.addr32 ? (uint32_t)n : n;
}

static uint64_t distance(const struct subject *s, const struct mem_access *m)
{
    if (m->shape == ACCESS_TABLE)
        return s->before.v[loc_gpr(RAX)];
    if (m->shape != ACCESS_BITS)
        return 0;
    uint64_t v = gpr(&s->before, (unsigned)insn_gpr_number(s->ops.op[1].reg.value));
    int64_t bit = m->bytes == 8 ? (int64_t)v : m->bytes == 4 ? (int32_t)v : (int16_t)v;
    int64_t words = bit >> (m->bytes == 8 ? 6 : m->bytes == 4 ? 5 : 4);
    return (uint64_t)(words * m->bytes);
}

static void place_accesses(const struct subject *s, struct claim *c, uint64_t count)
{
    struct cpu_state cpu = {.rip = s->pc};
    struct segments seg = {.fs = s->before.fsbase};
    memcpy(cpu.gpr, s->before.v + LOC_GPR, sizeof cpu.gpr);
    c->placed = true;
    for (unsigned i = 0; i < c->sets.accesses; i++) {
        const struct defuse_access *a = &c->sets.access[i];
        const struct mem_access *m = &a->at;
        uint64_t addr = operand_address(&s->in, &s->ops.op[m->op], &cpu, seg) + (uint64_t)m->moved +
                        distance(s, m);
        struct range *range = &c->range[c->ranges++];
        uint64_t n = m->repeats ? count : 1, bytes = n * m->bytes;
        if (m->shape == ACCESS_STRING && n && s->before.v[LOC_DF])
            addr -= (n - 1) * m->bytes;
        *range = (struct range){addr, bytes, m->read, m->write, a->may};
        if (m->shape == ACCESS_VECTOR || m->shape == ACCESS_STATE)
            c->placed = false;
    }
    if (s->marker)
        c->range[c->ranges++] = (struct range){s->marker, 1, false, true, false};
    if (s->in.mnemonic == ZYDIS_MNEMONIC_CLZERO) {
        uint64_t rax = s->in.addr32 ? (uint32_t)cpu.gpr[RAX] : cpu.gpr[RAX];
        c->range[c->ranges++] = (struct range){rax & ~63ull, 64, false, true, false};
    }
}

static void mark(bool *set, struct loc_span span)
{
    for (unsigned i = 0; i < span.count; i++)
        set[span.first + i] = true;
}

static void take_claim(const struct subject *s, const struct flat *after, enum sabotage sabotage,
                       struct claim *c)
{
    struct defuse_how how = DEFUSE_HOW;
    memset(c, 0, sizeof *c);
    how.flags = DEFUSE_STACK_POINTER;
    how.top = s->before.v[LOC_X87_TOP];
    how.count = iterations(s, after);
    how.components = gpr(&s->before, RDX) << 32 | (uint32_t)gpr(&s->before, RAX);
    if (s->pc & 1)
        how.components = DEFUSE_ANY_STATE;
    defuse_of(&s->in, &s->ops, &how, &c->sets);
    for (unsigned i = sabotage == SABOTAGE_DEF; i < c->sets.defs; i++)
        mark(c->def, c->sets.def[i]);
    for (unsigned i = sabotage == SABOTAGE_USE; i < c->sets.uses; i++) {
        struct loc_span span = c->sets.use[i];
        if (span.kind == DEFUSE_KEPT && sabotage != SABOTAGE_KEPT)
            mark(c->kept, span);
        else if (span.kind != DEFUSE_KEPT)
            mark(c->use, span);
    }
    place_accesses(s, c, how.count);
}

static bool sticky(unsigned loc)
{
    return loc == LOC_X87_STATUS || loc == LOC_MXCSR_STATUS;
}

/* ---- what to say ---- */

static const char *name(unsigned loc)
{
    static char text[2][32];
    static unsigned turn;
    char *out = text[turn++ % 2];
    loc_name((struct loc_span){.first = loc & 0xfff, .count = 1}, out, sizeof text[0]);
    return out;
}

static void print_sets(const struct claim *c)
{
    static const char *const kind[] = {"value", "address", "kept"};
    char text[32];
    for (unsigned pass = 0; pass < 2; pass++) {
        unsigned n = pass ? c->sets.uses : c->sets.defs;
        printf(pass ? "\n    uses" : "    defines");
        for (unsigned i = 0; i < n; i++) {
            struct loc_span span = pass ? c->sets.use[i] : c->sets.def[i];
            while (span.count) {
                unsigned named = loc_name(span, text, sizeof text);
                printf(" %s%s%s", text, pass ? ":" : "", pass ? kind[span.kind] : "");
                span.first = (span.first + named) & 0xfff;
                span.count = (span.count - named) & 0xfff;
            }
        }
    }
    putchar('\n');
}

static enum verdict wrong(const struct subject *s, const struct claim *c, const char *what)
{
    char text[128] = "";
    ZydisFormatter f;
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterFormatInstruction(&f, &s->ops.z, s->ops.op, s->ops.z.operand_count_visible, text,
                                    sizeof text, s->pc, NULL);
    printf("%s:", text);
    for (unsigned i = 0; i < s->in.len; i++)
        printf(" %02x", s->in.bytes[i]);
    printf("\n    %s\n", what);
    print_sets(c);
    return VERDICT_WRONG;
}

/* ---- comparisons; true: fine ---- */

static bool check_registers(const struct claim *c, const struct flat *before,
                            const struct trial *base, const struct trial *t, char *what, size_t n)
{
    for (unsigned l = 0; l < LOC_COUNT; l++) {
        if (!defusestate_present(l))
            continue;
        uint8_t got = t->after.v[l], kept = before->v[l];
        if (!c->def[l]) {
            if (got == kept || sticky(l))
                continue;
            snprintf(what, n, "changes %s, which is no definition", name(l));
            return false;
        }
        if (got != base->after.v[l]) {
            snprintf(what, n, "%s depends on something else", name(l));
            return false;
        }
    }
    return true;
}

enum { BYTE_WRITTEN = 1, BYTE_FIXED = 2, BYTE_SKIPPED = 4 };

/* What the claim says about a byte of the image. FIXED: it must stay when memory is changed. */
static unsigned byte_role(const struct subject *s, const struct claim *c, uint64_t addr)
{
    unsigned role = 0;
    for (unsigned i = 0; i < c->ranges; i++) {
        const struct range *r = &c->range[i];
        if (addr - r->from >= r->bytes)
            continue;
        role |= r->write ? BYTE_WRITTEN : 0;
        role |= r->read || r->may ? BYTE_FIXED : 0;
    }
    for (unsigned i = 0; i < SUBJECT_SKIPS && c->ranges; i++) {
        uint64_t off = addr - c->range[0].from;
        if (off >= s->skip[i].from && off < s->skip[i].to)
            role |= BYTE_SKIPPED;
    }
    return role;
}

/* Memory must be as it was, and as in the first run where it is written. */
static bool check_memory(const struct subject *s, const struct claim *c, const struct image *before,
                         const struct trial *base, const struct trial *t, char *what, size_t n)
{
    static struct image expected;
    memcpy(&expected, c->placed ? before : &base->memory, sizeof expected);
    for (unsigned i = 0; i < c->ranges; i++)
        for (uint64_t a = c->range[i].from; a - c->range[i].from < c->range[i].bytes; a++) {
            long off = defusestate_offset(s->slot, a);
            unsigned role = off < 0 ? 0 : byte_role(s, c, a);
            if (role & BYTE_SKIPPED)
                expected.at[off] = t->memory.at[off];
            else if (role & BYTE_WRITTEN)
                expected.at[off] = base->memory.at[off];
        }
    if (!memcmp(expected.at, t->memory.at, expected.bytes))
        return true;
    size_t at = 0;
    while (expected.at[at] == t->memory.at[at])
        at++;
    uint64_t addr = defusestate_address(s->slot, at);
    bool known = !c->placed || byte_role(s, c, addr) & BYTE_WRITTEN;
    snprintf(what, n, "memory at %#" PRIx64 " %s", addr,
             known ? "depends on something else" : "is written, but is in no access");
    return false;
}

static bool check(const struct subject *s, const struct claim *c, const struct flat *before,
                  const struct image *memory, const struct trial *base, const struct trial *t,
                  char *what, size_t n)
{
    if (t->signo) {
        snprintf(what, n, "faults");
        return false;
    }
    return check_registers(c, before, base, t, what, n) &&
           check_memory(s, c, memory, base, t, what, n);
}

/* ---- what is seen to matter ---- */

enum { CLASS_GPR, CLASS_VEC, CLASS_MASK, CLASS_X87, CLASS_TAG, CLASS_FIRST_SINGLE };
#define CLASSES (CLASS_FIRST_SINGLE + LOC_COUNT - LOC_CF)
static uint32_t tried[ZYDIS_MNEMONIC_MAX_VALUE + 1][CLASSES];
static uint32_t mattered[ZYDIS_MNEMONIC_MAX_VALUE + 1][CLASSES];

static uint32_t tried_kept[ZYDIS_MNEMONIC_MAX_VALUE + 1][CLASSES];
static uint32_t seen_kept[ZYDIS_MNEMONIC_MAX_VALUE + 1][CLASSES];

static unsigned class_of(unsigned loc)
{
    if (loc >= LOC_CF)
        return CLASS_FIRST_SINGLE + loc - LOC_CF;
    return loc < LOC_VEC       ? CLASS_GPR
           : loc < LOC_MASK    ? CLASS_VEC
           : loc < LOC_X87     ? CLASS_MASK
           : loc < LOC_X87_TAG ? CLASS_X87
                               : CLASS_TAG;
}

/* ---- trials ---- */

static void change_memory(struct rng *r, const struct subject *s, const struct claim *c,
                          struct image *memory)
{
    if (!c->placed)
        return;
    for (size_t i = 0; i < memory->bytes; i += 8) {
        uint64_t v, flip = rng_u64(r);
        memcpy(&v, memory->at + i, 8);
        v ^= flip;
        memcpy(memory->at + i, &v, 8);
    }
    for (unsigned i = 0; i < c->ranges; i++)
        for (uint64_t a = c->range[i].from; a - c->range[i].from < c->range[i].bytes; a++) {
            long off = defusestate_offset(s->slot, a);
            if (off >= 0 && byte_role(s, c, a) & BYTE_FIXED)
                memory->at[off] = s->memory.at[off];
        }
}

/* Which of the changed locations was it? */
static void find_guilty(const struct subject *s, const struct claim *c, const struct flat *changed,
                        const struct trial *base, char *what, size_t n)
{
    static struct trial t;
    char inner[128];
    for (unsigned l = 0; l < LOC_COUNT; l++) {
        struct flat one = s->before;
        if (changed->v[l] == one.v[l])
            continue;
        one.v[l] = changed->v[l];
        if (l == LOC_FS_BASE)
            one.fsbase = changed->fsbase;
        run(s, &one, &s->memory, &t);
        if (check(s, c, &one, &s->memory, base, &t, inner, sizeof inner))
            continue;
        snprintf(what, n, "%s, when %s is another", inner, name(l));
        return;
    }
    size_t at = strlen(what);
    snprintf(what + at, n - at, ": memory, or many things");
}

static bool try_unused(struct rng *r, const struct subject *s, const struct claim *c,
                       const struct trial *base, unsigned percent, char *what, size_t n)
{
    static struct trial t;
    static struct image memory;
    struct flat changed = s->before;
    for (unsigned l = 0; l < LOC_COUNT; l++)
        if (defusestate_present(l) && !c->use[l] && !c->kept[l] && rng_percent(r, percent))
            defusestate_change(r, &changed, l);
    memcpy(&memory, &s->memory, sizeof memory);
    change_memory(r, s, c, &memory);
    run(s, &changed, &memory, &t);
    if (check(s, c, &changed, &memory, base, &t, what, n))
        return true;
    find_guilty(s, c, &changed, base, what, n);
    return false;
}

/* What is kept may show in its own location and nowhere else. */
static bool try_kept(struct rng *r, const struct subject *s, const struct claim *c,
                     const struct trial *base, char *what, size_t n)
{
    static struct trial t;
    struct flat changed = s->before;
    bool any = false;
    for (unsigned l = 0; l < LOC_COUNT; l++)
        if (defusestate_present(l) && c->kept[l] && !c->use[l] && rng_percent(r, 70)) {
            defusestate_change(r, &changed, l);
            any = true;
        }
    if (!any)
        return true;
    run(s, &changed, &s->memory, &t);
    for (unsigned l = 0; l < LOC_COUNT; l++)
        if (defusestate_present(l) && changed.v[l] != s->before.v[l]) {
            bool kept = t.after.v[l] == changed.v[l];
            tried_kept[s->in.mnemonic][class_of(l)]++;
            seen_kept[s->in.mnemonic][class_of(l)] += kept && t.after.v[l] != base->after.v[l];
            if (kept)
                t.after.v[l] = base->after.v[l];
        }
    if (check(s, c, &s->before, &s->memory, base, &t, what, n))
        return true;
    size_t at = strlen(what);
    snprintf(what + at, n - at, ", when what is kept is another");
    return false;
}

static void try_used(struct rng *r, const struct subject *s, const struct claim *c,
                     const struct trial *base)
{
    static struct trial t;
    struct flat changed = s->before;
    char what[128];
    if (!c->sets.uses)
        return;
    struct loc_span span = c->sets.use[rng_below(r, c->sets.uses)];
    if (span.kind == DEFUSE_KEPT || !defusestate_present(span.first))
        return;
    unsigned class = class_of(span.first);
    for (unsigned i = 0; i < span.count; i++)
        if (class_of(span.first + i) == class)
            defusestate_change(r, &changed, span.first + i);
    run(s, &changed, &s->memory, &t);
    tried[s->in.mnemonic][class]++;
    mattered[s->in.mnemonic][class] +=
        !check(s, c, &changed, &s->memory, base, &t, what, sizeof what);
}

static void report_never(const char *what, uint32_t all[][CLASSES], uint32_t hits[][CLASSES])
{
    static const char *const classes[CLASS_FIRST_SINGLE] = {"general", "vector", "mask", "x87",
                                                            "tag"};
    for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
        for (unsigned k = 0; k < CLASSES; k++)
            if (all[m][k] >= 20 && !hits[m][k])
                printf("# never %s: %s %s (%u times)\n", what,
                       ZydisMnemonicGetString((ZydisMnemonic)m),
                       k < CLASS_FIRST_SINGLE ? classes[k] : name(LOC_CF + k - CLASS_FIRST_SINGLE),
                       all[m][k]);
}

void defusejudge_report(void)
{
    report_never("mattered", tried, mattered);
    report_never("kept", tried_kept, seen_kept);
}

/* Memory that is not put back between runs, code for one. */
static bool writes_elsewhere(const struct subject *s, const struct claim *c)
{
    for (unsigned i = 0; i < c->ranges && c->placed; i++) {
        const struct range *r = &c->range[i];
        if (r->write && r->bytes &&
            (defusestate_offset(s->slot, r->from) < 0 ||
             defusestate_offset(s->slot, r->from + r->bytes - 1) < 0))
            return true;
    }
    return false;
}

enum verdict defusejudge(struct rng *r, const struct subject *s, enum sabotage sabotage)
{
    static struct trial base;
    static struct claim c;
    char what[256] = "";
    run(s, &s->before, &s->memory, &base);
    if (base.signo)
        return VERDICT_FAULTS;
    take_claim(s, &base.after, sabotage, &c);
    if (writes_elsewhere(s, &c))
        return VERDICT_FAULTS;
    if (!check(s, &c, &s->before, &s->memory, &base, &base, what, sizeof what))
        return wrong(s, &c, what);
    for (int i = 0; i < TRIALS; i++)
        if (!try_unused(r, s, &c, &base, i ? 100 : 40, what, sizeof what))
            return wrong(s, &c, what);
    for (int i = 0; i < KEPT_TRIALS; i++)
        if (!try_kept(r, s, &c, &base, what, sizeof what))
            return wrong(s, &c, what);
    try_used(r, s, &c, &base);
    return VERDICT_RIGHT;
}
