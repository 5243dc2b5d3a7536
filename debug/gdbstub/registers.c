/* registers.c - a thread's registers as GDB numbers and encodes them. SPDX-License-Identifier: MIT
 *
 * A group of registers that are alike is a row of the table: where it begins, how many there are,
 * and where their bytes lie. Most lie in the state as they are; segments and the x87 control
 * registers are made.
 */
#include "debug/gdbstub/registers.h"

#include <string.h>

#include "base/xsave.h"

enum { AT_FCW = 0, AT_FSW = 2, AT_FTW = 4, AT_FOP = 6, AT_FIP = 8, AT_FDP = 16, AT_MXCSR = 24 };
enum { AT_ST = 32, AT_XMM = 160, AT_BV = 512, LEGACY_BYTES = 512, HEADER_END = 576 };
enum { BV_X87 = 1, BV_SSE = 2, BV_AVX = 4, BV_OPMASK = 32, BV_ZMM_HIGH = 64, BV_HIGH16 = 128 };
enum { USER_CS = 0x33, USER_SS = 0x2b };

enum feature { CORE, SSE, LINUX, SEGMENTS, AVX, AVX512, FEATURES };

static const char *const feature_name[FEATURES] = {"core",     "sse", "linux",
                                                   "segments", "avx", "avx512"};

struct group {
    enum feature feature;
    int first, count;
    size_t bytes;
    const char *name; /* with %d for its number from `from` on, or names, one after the other */
    int from;
    const char *type, *other; /* `other`: attributes */
};

static const struct group groups[] = {
    {CORE, 0, 6, 8, "rax rbx rcx rdx rsi rdi", 0, "int64", ""},
    {CORE, REG_RBP, 2, 8, "rbp rsp", 0, "data_ptr", ""},
    {CORE, 8, 8, 8, "r%d", 8, "int64", ""},
    {CORE, REG_RIP, 1, 8, "rip", 0, "code_ptr", ""},
    {CORE, REG_EFLAGS, 1, 4, "eflags", 0, "i386_eflags", ""},
    {CORE, REG_CS, 6, 4, "cs ss ds es fs gs", 0, "int32", ""},
    {CORE, REG_ST0, 8, 10, "st%d", 0, "i387_ext", ""},
    {CORE, REG_FCTRL, 8, 4, "fctrl fstat ftag fiseg fioff foseg fooff fop", 0, "int",
     " group=\"float\""},
    {SSE, REG_XMM0, 16, 16, "xmm%d", 0, "vec128", ""},
    {SSE, REG_MXCSR, 1, 4, "mxcsr", 0, "i386_mxcsr", " group=\"vector\""},
    {LINUX, REG_ORIG_RAX, 1, 8, "orig_rax", 0, "int", ""},
    {SEGMENTS, REG_FS_BASE, 2, 8, "fs_base gs_base", 0, "int", ""},
    {AVX, REG_YMM0H, 16, 16, "ymm%dh", 0, "uint128", ""},
    {AVX512, REG_XMM16, 16, 16, "xmm%d", 16, "vec128", ""},
    {AVX512, REG_YMM16H, 16, 16, "ymm%dh", 16, "uint128", ""},
    {AVX512, REG_K0, 8, 8, "k%d", 0, "uint64", ""},
    {AVX512, REG_ZMM0H, 32, 32, "zmm%dh", 0, "v2ui128", ""},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static const struct group *group_of(int number)
{
    for (int i = 0; i < GROUPS; i++)
        if (number >= groups[i].first && number < groups[i].first + groups[i].count)
            return &groups[i];
    return NULL;
}

/* ---- the layout ---- */

void registers_layout(struct registers_layout *layout, size_t xsave_bytes)
{
    layout->avx = xsave_offset(XSAVE_AVX, xsave_bytes, 256);
    layout->opmask = xsave_offset(XSAVE_OPMASK, xsave_bytes, 64);
    layout->zmm_high = xsave_offset(XSAVE_ZMM_HIGH, xsave_bytes, 512);
    layout->high16 = xsave_offset(XSAVE_HIGH16, xsave_bytes, 1024);
    if (!layout->avx || !layout->opmask || !layout->zmm_high || !layout->high16)
        layout->opmask = layout->zmm_high = layout->high16 = 0;
}

void registers_complete(struct registers *registers)
{
    const struct registers_layout *l = &registers->layout;
    const struct {
        uint64_t bit;
        uint32_t offset, bytes;
    } parts[] = {
        {BV_X87, AT_FCW, AT_MXCSR},   {BV_X87, AT_ST, AT_XMM - AT_ST},
        {BV_SSE, AT_XMM, 256},        {BV_AVX, l->avx, 256},
        {BV_OPMASK, l->opmask, 64},   {BV_ZMM_HIGH, l->zmm_high, 512},
        {BV_HIGH16, l->high16, 1024},
    };
    uint8_t *x = registers->r.xsave;
    uint64_t bv;

    if (registers->r.xsave_bytes < HEADER_END)
        return; /* fxsave: all of it is there */
    memcpy(&bv, x + AT_BV, sizeof bv);
    if (!(bv & (BV_SSE | BV_AVX)))
        memcpy(x + AT_MXCSR, &(uint32_t){0x1f80}, 4);
    uint64_t there = bv;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].bit > BV_SSE && !parts[i].offset)
            continue;
        if (!(bv & parts[i].bit))
            memset(x + parts[i].offset, 0, parts[i].bytes);
        there |= parts[i].bit;
    }
    if (!(bv & BV_X87))
        memcpy(x + AT_FCW, &(uint16_t){0x37f}, 2);
    memcpy(x + AT_BV, &there, sizeof there);
}

int registers_count(const struct registers_layout *layout)
{
    return layout->opmask ? REG_COUNT : layout->avx ? REG_XMM16 : REG_YMM0H;
}

size_t registers_bytes(int number)
{
    const struct group *g = group_of(number);

    return g ? g->bytes : 0;
}

/* ---- values ---- */

/* Where a register lies as it is; NULL: it is made. */
static uint8_t *find(struct registers *s, int n)
{
    static const uint8_t gpr[16] = {0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
    uint8_t *x = s->r.xsave;

    if (n < REG_RIP)
        return (uint8_t *)&s->r.gpr[gpr[n]];
    if (n == REG_RIP)
        return (uint8_t *)&s->r.rip;
    if (n == REG_EFLAGS)
        return (uint8_t *)&s->r.rflags;
    if (n >= REG_ST0 && n < REG_FCTRL)
        return x + AT_ST + 16 * (n - REG_ST0);
    if (n >= REG_XMM0 && n < REG_MXCSR)
        return x + AT_XMM + 16 * (n - REG_XMM0);
    if (n == REG_MXCSR)
        return x + AT_MXCSR;
    if (n == REG_ORIG_RAX)
        return (uint8_t *)&s->orig_rax;
    if (n == REG_FS_BASE)
        return (uint8_t *)&s->r.fs_base;
    if (n == REG_GS_BASE)
        return (uint8_t *)&s->r.gs_base;
    if (n >= REG_YMM0H && n < REG_XMM16)
        return x + s->layout.avx + 16 * (n - REG_YMM0H);
    if (n >= REG_XMM16 && n < REG_YMM16H)
        return x + s->layout.high16 + 64 * (n - REG_XMM16);
    if (n >= REG_YMM16H && n < REG_K0)
        return x + s->layout.high16 + 64 * (n - REG_YMM16H) + 16;
    if (n >= REG_K0 && n < REG_ZMM0H)
        return x + s->layout.opmask + 8 * (n - REG_K0);
    if (n >= REG_ZMM0H && n < REG_ZMM0H + 16)
        return x + s->layout.zmm_high + 32 * (n - REG_ZMM0H);
    if (n >= REG_ZMM0H + 16)
        return x + s->layout.high16 + 64 * (n - REG_ZMM0H - 16) + 32;
    return NULL;
}

/* The two bits that fnstenv has for an x87 register: valid 0, zero 1, special 2, empty 3. */
static uint32_t tag_of(const uint8_t *st)
{
    uint64_t mantissa;
    uint16_t exponent;

    memcpy(&mantissa, st, 8);
    memcpy(&exponent, st + 8, 2);
    exponent &= 0x7fff;
    if (exponent == 0x7fff)
        return 2;
    if (exponent == 0)
        return mantissa ? 2 : 1;
    return mantissa >> 63 ? 0 : 2;
}

/* Tags of all eight, by physical register, from the state's one bit for each. */
static uint32_t full_tags(const uint8_t *x)
{
    unsigned top = x[AT_FSW + 1] >> 3 & 7;
    uint32_t tags = 0;

    for (unsigned i = 0; i < 8; i++) {
        bool used = x[AT_FTW] >> i & 1;
        tags |= (used ? tag_of(x + AT_ST + 16 * ((i + 8 - top) & 7)) : 3) << (2 * i);
    }
    return tags;
}

static uint8_t short_tags(uint32_t tags)
{
    uint8_t used = 0;

    for (unsigned i = 0; i < 8; i++)
        used |= (uint8_t)(((tags >> (2 * i) & 3) != 3) << i);
    return used;
}

/* fctrl ... fop: offset and bytes in the state; ftag is none of them. */
static const struct {
    uint8_t offset, bytes;
} control[8] = {{AT_FCW, 2}, {AT_FSW, 2},     {0, 0},      {AT_FIP + 4, 2},
                {AT_FIP, 4}, {AT_FDP + 4, 2}, {AT_FDP, 4}, {AT_FOP, 2}};

static uint32_t made(const struct registers *s, int n)
{
    uint32_t value = 0;

    if (n == REG_CS)
        return USER_CS;
    if (n == REG_CS + 1)
        return USER_SS;
    if (n < REG_FCTRL)
        return 0;
    if (!control[n - REG_FCTRL].bytes)
        return full_tags(s->r.xsave);
    memcpy(&value, s->r.xsave + control[n - REG_FCTRL].offset, control[n - REG_FCTRL].bytes);
    return value;
}

void registers_get(const struct registers *registers, int number, uint8_t *out)
{
    const uint8_t *p = find((struct registers *)registers, number);
    uint32_t value;

    if (!p) {
        value = made(registers, number);
        p = (const uint8_t *)&value;
    }
    memcpy(out, p, registers_bytes(number));
}

bool registers_is_control(int number)
{
    return number >= REG_FCTRL && number < REG_FCTRL + (int)(sizeof control / sizeof control[0]);
}

void registers_set(struct registers *registers, int number, const uint8_t *value)
{
    uint8_t *p = find(registers, number), *x = registers->r.xsave;
    uint32_t word;

    if (p) {
        memcpy(p, value, registers_bytes(number));
        return;
    }
    if (number < REG_FCTRL)
        return; /* segments: as they are */
    memcpy(&word, value, sizeof word);
    if (control[number - REG_FCTRL].bytes)
        memcpy(x + control[number - REG_FCTRL].offset, &word, control[number - REG_FCTRL].bytes);
    else
        x[AT_FTW] = short_tags(word);
}

/* ---- the description ---- */

/* Bits of eflags and mxcsr, from the given ones on. */
static void flags_xml(struct reply *out, const char *id, const char *names)
{
    reply_addf(out, "<flags id=\"%s\" size=\"4\">\n", id);
    for (int bit = 0; *names; bit++) {
        size_t n = strcspn(names, " ");
        if (*names != '-')
            reply_addf(out, "<field name=\"%.*s\" start=\"%d\" end=\"%d\" type=\"bool\"/>\n",
                       *names == '1' ? 0 : (int)n, names, bit, bit);
        names += n + (names[n] == ' ');
    }
    reply_text(out, "</flags>\n");
}

static void vectors_xml(struct reply *out)
{
    static const struct {
        const char *id, *type, *field;
        int count;
    } vector[] = {
        {"v8bf16", "bfloat16", "v8_bfloat16", 8}, {"v8h", "ieee_half", "v8_half", 8},
        {"v4f", "ieee_single", "v4_float", 4},    {"v2d", "ieee_double", "v2_double", 2},
        {"v16i8", "int8", "v16_int8", 16},        {"v8i16", "int16", "v8_int16", 8},
        {"v4i32", "int32", "v4_int32", 4},        {"v2i64", "int64", "v2_int64", 2},
    };
    enum { VECTORS = sizeof vector / sizeof vector[0] };

    for (int i = 0; i < VECTORS; i++)
        reply_addf(out, "<vector id=\"%s\" type=\"%s\" count=\"%d\"/>\n", vector[i].id,
                   vector[i].type, vector[i].count);
    reply_text(out, "<union id=\"vec128\">\n");
    for (int i = 0; i < VECTORS; i++)
        reply_addf(out, "<field name=\"%s\" type=\"%s\"/>\n", vector[i].field, vector[i].id);
    reply_text(out, "<field name=\"uint128\" type=\"uint128\"/>\n</union>\n");
}

static void types_xml(struct reply *out, enum feature feature)
{
    if (feature == CORE)
        flags_xml(out, "i386_eflags",
                  "CF 1 PF - AF - ZF SF TF IF DF OF - - NT - RF VM AC VIF VIP ID");
    if (feature == SSE || feature == AVX512)
        vectors_xml(out);
    if (feature == SSE)
        flags_xml(out, "i386_mxcsr", "IE DE ZE OE UE PE DAZ IM DM ZM OM UM PM - - FZ");
    if (feature == AVX512)
        reply_text(out, "<vector id=\"v2ui128\" type=\"uint128\" count=\"2\"/>\n");
}

/* "%d" in a name is the register's number. */
static void name_xml(struct reply *out, const struct group *g, int i)
{
    const char *number = strstr(g->name, "%d"), *name = g->name;

    if (number) {
        reply_addf(out, "%.*s%d%s", (int)(number - g->name), g->name, g->from + i, number + 2);
        return;
    }
    for (; i > 0; i--)
        name = strchr(name, ' ') + 1;
    reply_addf(out, "%.*s", (int)strcspn(name, " "), name);
}

static void group_xml(struct reply *out, const struct group *g)
{
    for (int i = 0; i < g->count; i++) {
        reply_text(out, "<reg name=\"");
        name_xml(out, g, i);
        reply_addf(out, "\" bitsize=\"%zu\" type=\"%s\" regnum=\"%d\"%s/>\n", 8 * g->bytes, g->type,
                   g->first + i, g->other);
    }
}

void registers_xml(const struct registers_layout *layout, struct reply *out)
{
    int count = registers_count(layout);

    reply_text(out,
               "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>\n"
               "<architecture>i386:x86-64</architecture>\n<osabi>GNU/Linux</osabi>\n");
    for (enum feature feature = CORE; feature < FEATURES; feature++) {
        bool open = false;
        for (int i = 0; i < GROUPS; i++) {
            if (groups[i].feature != feature || groups[i].first >= count)
                continue;
            if (!open) {
                reply_addf(out, "<feature name=\"org.gnu.gdb.i386.%s\">\n", feature_name[feature]);
                types_xml(out, feature);
            }
            open = true;
            group_xml(out, &groups[i]);
        }
        if (open)
            reply_text(out, "</feature>\n");
    }
    reply_text(out, "</target>\n");
}

bool registers_same(const struct registers *a, const struct registers *b)
{
    uint8_t x[REG_MAX_BYTES], y[REG_MAX_BYTES];

    for (int i = 0; i < registers_count(&a->layout); i++) {
        if (i == REG_ORIG_RAX)
            continue; /* not the thread's: GDB clears it when it sets the pc */
        registers_get(a, i, x);
        registers_get(b, i, y);
        if (memcmp(x, y, registers_bytes(i)) != 0)
            return false;
    }
    return true;
}
