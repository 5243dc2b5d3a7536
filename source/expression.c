/* expression.c - C expressions, and what they read.
 *
 * SPDX-License-Identifier: MIT
 *
 * A parser that evaluates as it goes. A part stands for a place until its value is wanted, in a
 * role that the caller names (operand.h). When `->` or `[` follows a part, what that part read
 * turns out to be for an address, and is noted so.
 */
#include "source/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/operand.h"

enum { NESTED_MOST = 50, WORD = 256 };

struct parser {
    struct operand_reader reader;
    const char *at;
    int nested;
    enum operand_role role; /* of what is read here */
};

static int refuse(struct parser *p, const char *why)
{
    return err_set_code(p->reader.err, EXPRESSION_BAD, "%s", why);
}

/* ---- words ---- */

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Is this what comes next? Takes it, then. */
static bool take(struct parser *p, const char *symbol)
{
    size_t n = strlen(symbol);
    skip_blanks(p);
    if (strncmp(p->at, symbol, n) != 0 || (is_word(symbol[0]) && is_word(p->at[n])))
        return false;
    p->at += n;
    return true;
}

/* A name, with all of its `::` and a file's name before it. */
static bool take_name(struct parser *p, char word[WORD])
{
    skip_blanks(p);
    const char *end = p->at;
    if (*end == '\'') {
        end = strchr(end + 1, '\'');
        if (!end || strncmp(end, "'::", 3) != 0)
            return false;
        end += 3;
    }
    if (strncmp(end, "::", 2) == 0)
        end += 2;
    if (!isalpha((unsigned char)*end) && *end != '_')
        return false;
    for (;;) {
        while (is_word(*end))
            end++;
        if (strncmp(end, "::", 2) != 0 || (!is_word(end[2]) && end[2] != '~'))
            break;
        end += 2;
    }
    const char *from = strncmp(p->at, "::", 2) == 0 ? p->at + 2 : p->at;
    if (end - from >= WORD)
        return false;
    memcpy(word, from, (size_t)(end - from));
    word[end - from] = 0;
    p->at = end;
    return true;
}

/* ---- types ---- */

struct words {
    int longs, shorts, is_signed, is_unsigned, chars, ints, floats, doubles, bools, voids, any;
};

/* One of the words of C's own types. */
static bool count_word(struct words *w, const char *word)
{
    static const struct {
        const char *name;
        size_t at;
    } known[] = {{"long", offsetof(struct words, longs)},
                 {"short", offsetof(struct words, shorts)},
                 {"signed", offsetof(struct words, is_signed)},
                 {"unsigned", offsetof(struct words, is_unsigned)},
                 {"char", offsetof(struct words, chars)},
                 {"int", offsetof(struct words, ints)},
                 {"float", offsetof(struct words, floats)},
                 {"double", offsetof(struct words, doubles)},
                 {"bool", offsetof(struct words, bools)},
                 {"_Bool", offsetof(struct words, bools)},
                 {"void", offsetof(struct words, voids)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, word) == 0) {
            ++*(int *)((char *)w + known[i].at);
            w->any++;
            return true;
        }
    return false;
}

static struct source_type type_of_words(const struct words *w)
{
    enum source_class number = w->is_unsigned ? TYPE_UNSIGNED : TYPE_SIGNED;
    if (w->voids)
        return source_types_plain(TYPE_VOID, 0);
    if (w->bools)
        return source_types_plain(TYPE_BOOLEAN, 1);
    if (w->chars)
        return source_types_plain(w->is_unsigned ? TYPE_UCHARACTER : TYPE_CHARACTER, 1);
    if (w->floats || w->doubles)
        return source_types_plain(TYPE_FLOAT, w->floats ? 4 : w->longs ? 16 : 8);
    return source_types_plain(number, w->shorts ? 2 : w->longs ? 8 : 4);
}

/* A name that is a type and no variable, or `struct NAME`. */
static bool named_type(struct parser *p, const char *word, struct source_type *out)
{
    const struct expression_scene *s = p->reader.scene;
    bool tag = strcmp(word, "struct") == 0 || strcmp(word, "union") == 0 ||
               strcmp(word, "enum") == 0 || strcmp(word, "class") == 0;
    char name[WORD], full[2 * WORD];
    struct source_place unused;
    struct err err;
    if (tag) {
        if (!take_name(p, name))
            return false;
        snprintf(full, sizeof full, "%s %s", word, name);
        return source_types_named(s->source, s->pc, full, out);
    }
    if (!source_types_named(s->source, s->pc, word, out))
        return false;
    return source_variable_at(s->source, s->pc, &s->frame, word, &unused, &err) &&
           err.code == SOURCE_NO_VARIABLE;
}

/* TYPE and its stars, if that is what comes next. */
static bool take_type(struct parser *p, struct source_type *out)
{
    const char *begin = p->at;
    struct words words = {0};
    char word[WORD];
    bool named = false;
    for (;;) {
        const char *before = p->at;
        if (!take_name(p, word))
            break;
        if (strcmp(word, "const") == 0 || strcmp(word, "volatile") == 0 || count_word(&words, word))
            continue;
        if (words.any || named || !named_type(p, word, out)) {
            p->at = before;
            break;
        }
        named = true;
    }
    if (!named && !words.any) {
        p->at = begin;
        return false;
    }
    if (!named)
        *out = type_of_words(&words);
    while (take(p, "*")) {
        out->pointers++;
        while (take(p, "const") || take(p, "volatile"))
            ;
    }
    return true;
}

/* ---- operands ---- */

static int parse_expression(struct parser *p, struct operand *out);
static int parse_unary(struct parser *p, struct operand *out);
static int parse_level(struct parser *p, int level, struct operand *a);

static int parse_number(struct parser *p, struct operand *out)
{
    char *end, *float_end;
    errno = 0;
    uint64_t v = strtoull(p->at, &end, 0);
    double d = strtod(p->at, &float_end);
    bool hex = p->at[0] == '0' && (p->at[1] | 0x20) == 'x';
    if (!hex && float_end > end) {
        p->at = *float_end == 'f' || *float_end == 'F' ? float_end + 1 : float_end;
        *out = (struct operand){.type = source_types_plain(TYPE_FLOAT, 8),
                                .n = {.floating = true, .t = term_number(term_of_double(d))}};
        return is_word(*p->at) ? refuse(p, "it has a number that is none") : 0;
    }
    bool is_unsigned = false, is_long = v > INT32_MAX;
    for (; *end && strchr("uUlL", *end); end++) {
        is_unsigned = is_unsigned || (*end | 0x20) == 'u';
        is_long = is_long || (*end | 0x20) == 'l';
    }
    if (errno || is_word(*end))
        return refuse(p, "it has a number that is none");
    p->at = end;
    *out = operand_integer(v, !is_unsigned && v <= INT64_MAX, is_long ? 8 : 4);
    return 0;
}

static int parse_character(struct parser *p, struct operand *out)
{
    static const char escapes[] = "n\nt\tr\r0\0\\\\''\"\"";
    const char *c = p->at + 1;
    char value = *c;
    if (value == '\\') {
        c++;
        size_t i = 0;
        while (i < sizeof escapes - 1 && escapes[i] != *c)
            i += 2;
        if (i >= sizeof escapes - 1)
            return refuse(p, "it has a character that is not understood");
        value = escapes[i + 1];
    }
    if (!*c || c[1] != '\'')
        return refuse(p, "it has a character that is not understood");
    p->at = c + 2;
    *out = operand_integer((uint64_t)(int64_t)value, true, 1);
    out->type = source_types_plain(TYPE_CHARACTER, 1);
    return 0;
}

/* `.v4_float[1]`: a part of a vector register, as GDB calls it. */
static int parse_lane(struct parser *p, struct operand *out)
{
    static const struct {
        const char *name;
        enum source_class class;
        unsigned bytes;
    } kinds[] = {{"float", TYPE_FLOAT, 4},  {"double", TYPE_FLOAT, 8}, {"int8", TYPE_SIGNED, 1},
                 {"int16", TYPE_SIGNED, 2}, {"int32", TYPE_SIGNED, 4}, {"int64", TYPE_SIGNED, 8}};
    char name[WORD], *end;
    unsigned long count = 0, lane;
    size_t i = 0;
    if (take_name(p, name) && name[0] == 'v')
        count = strtoul(name + 1, &end, 10);
    while (count && i < sizeof kinds / sizeof *kinds &&
           (*end != '_' || strcmp(end + 1, kinds[i].name) != 0))
        i++;
    if (!count || i == sizeof kinds / sizeof *kinds || !take(p, "["))
        return refuse(p, "a register's parts are such as $xmm1.v4_float[0]");
    lane = strtoul(p->at, &end, 10);
    p->at = end;
    if (lane >= count || count * kinds[i].bytes > LOC_VEC_BYTES || !take(p, "]"))
        return refuse(p, "a register's parts are such as $xmm1.v4_float[0]");
    out->type = source_types_plain(kinds[i].class, kinds[i].bytes);
    out->first += (unsigned)lane * kinds[i].bytes;
    return 0;
}

/* `%rax`, or `$rax` with GDB's names: $sp is all of rsp, $r8l is r8b. */
static int parse_register(struct parser *p, struct operand *out)
{
    bool gdb = *p->at++ == '$';
    char name[WORD];
    if (!take_name(p, name))
        return refuse(p, "it has a register without a name");
    size_t last = strlen(name) - 1;
    if (gdb && strcmp(name, "sp") == 0)
        strcpy(name, "rsp");
    else if (gdb && strcmp(name, "fp") == 0)
        strcpy(name, "rbp");
    else if (gdb && name[0] == 'r' && isdigit((unsigned char)name[1]) && name[last] == 'l')
        name[last] = 'b';
    if (operand_register(&p->reader, name, out))
        return -1;
    return gdb && out->first >= LOC_VEC && out->first < LOC_MASK && take(p, ".")
               ? parse_lane(p, out)
               : 0;
}

static int parse_primary(struct parser *p, struct operand *out)
{
    char name[WORD];
    skip_blanks(p);
    if (take(p, "(")) {
        if (parse_expression(p, out))
            return -1;
        return take(p, ")") ? 0 : refuse(p, "it has a bracket that is not closed");
    }
    if (isdigit((unsigned char)*p->at))
        return parse_number(p, out);
    if (take_name(p, name)) {
        if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
            *out = operand_logical(&p->reader, term_number(name[0] == 't'));
            return 0;
        }
        if (take(p, "("))
            return refuse(p, "it calls a function");
        return operand_variable(&p->reader, name, out);
    }
    if (*p->at == '\'')
        return parse_character(p, out);
    if (*p->at == '%' || *p->at == '$')
        return parse_register(p, out);
    if (*p->at == '"')
        return refuse(p, "it has a string, which is no variable");
    return refuse(p, *p->at ? "it is not understood" : "it ends early");
}

static size_t reads(const struct parser *p)
{
    return p->reader.out ? p->reader.out->reads : 0;
}

/* What was read since `first` was for an address. */
static void demote(struct parser *p, size_t first)
{
    for (size_t i = first; i < reads(p); i++)
        p->reader.out->read[i].address = true;
}

static int parse_index(struct parser *p, struct operand *out)
{
    struct operand index;
    enum operand_role role = p->role;
    bool split = operand_is_split(out);
    p->role = OPERAND_ADDRESS;
    int bad = (!split && operand_fetch(&p->reader, out, OPERAND_ADDRESS)) ||
              parse_expression(p, &index) || operand_fetch(&p->reader, &index, OPERAND_ADDRESS);
    p->role = role;
    if (bad)
        return -1;
    if (!take(p, "]"))
        return refuse(p, "it has a bracket that is not closed");
    if (split)
        return operand_element(&p->reader, out, &index);
    return operand_binary(&p->reader, out, &index, "+") || operand_deref(&p->reader, out) ? -1 : 0;
}

/* From `begin` on to here. */
static void spell(const struct parser *p, const char *begin, struct operand *o)
{
    o->text = begin;
    o->length = (uint32_t)(p->at - begin);
}

static int parse_postfix(struct parser *p, struct operand *out)
{
    char name[WORD];
    size_t first = reads(p);
    skip_blanks(p);
    const char *begin = p->at;
    if (parse_primary(p, out))
        return -1;
    for (;;) {
        spell(p, begin, out);
        bool arrow = take(p, "->");
        if (arrow || (p->at[0] == '.' && !isdigit((unsigned char)p->at[1]) && take(p, "."))) {
            if (arrow)
                demote(p, first);
            if (!take_name(p, name))
                return refuse(p, "it has no member's name where one should be");
            if (arrow && operand_deref(&p->reader, out))
                return -1;
            if (operand_member(&p->reader, out, name))
                return -1;
        } else if (take(p, "[")) {
            demote(p, first);
            if (parse_index(p, out))
                return -1;
        } else if (take(p, "(")) {
            return refuse(p, "it calls a function");
        } else if (take(p, "++") || take(p, "--")) {
            return refuse(p, "it changes something");
        } else {
            return 0;
        }
    }
}

static int parse_sizeof(struct parser *p, struct operand *out)
{
    struct source_scene scene = {p->reader.scene->source, p->reader.scene->pc,
                                 &p->reader.scene->frame};
    struct source_type type;
    const char *begin = p->at;
    uint64_t bytes;
    if (take(p, "(") && take_type(p, &type) && take(p, ")")) {
        bytes = source_types_bytes(&type, &scene);
    } else {
        p->at = begin;
        p->reader.muted++;
        int bad = parse_unary(p, out);
        p->reader.muted--;
        if (bad)
            return -1;
        bytes = operand_bytes(&p->reader, out);
    }
    *out = operand_integer(bytes, false, 8);
    return bytes ? 0 : refuse(p, "it asks for a size that is not known");
}

/* `*` and `&`: what is behind is read for an address, or not at all. */
static int parse_star(struct parser *p, struct operand *out)
{
    enum operand_role role = p->role;
    const char *begin = p->at - 1;
    p->role = OPERAND_ADDRESS;
    int bad = parse_unary(p, out);
    p->role = role;
    if (bad || operand_deref(&p->reader, out))
        return -1;
    spell(p, begin, out);
    return 0;
}

/* `{TYPE} ADDRESS`, GDB's way to say *(TYPE *) ADDRESS. */
static int parse_type_at(struct parser *p, struct operand *out)
{
    enum operand_role role = p->role;
    struct source_type type;
    if (!take_type(p, &type) || !take(p, "}"))
        return refuse(p, "it has braces without a type");
    type.pointers++;
    p->role = OPERAND_ADDRESS;
    int bad = parse_unary(p, out) || operand_fetch(&p->reader, out, OPERAND_ADDRESS);
    p->role = role;
    return bad || operand_convert(&p->reader, out, &type) || operand_deref(&p->reader, out) ? -1
                                                                                            : 0;
}

/* A cast, if that is what the bracket is. 1: it is none. */
static int parse_cast(struct parser *p, struct operand *out)
{
    const char *begin = p->at;
    struct source_type type;
    if (!take(p, "(") || !take_type(p, &type) || !take(p, ")")) {
        p->at = begin;
        return 1;
    }
    if (parse_unary(p, out) || operand_fetch(&p->reader, out, p->role))
        return -1;
    return operand_convert(&p->reader, out, &type);
}

/* 1: there is none. */
static int parse_prefix(struct parser *p, struct operand *out)
{
    skip_blanks(p);
    char op = *p->at;
    if (take(p, "++") || take(p, "--"))
        return refuse(p, "it changes something");
    if (take(p, "-") || take(p, "+") || take(p, "!") || take(p, "~"))
        return parse_unary(p, out) || operand_fetch(&p->reader, out, p->role) ||
                       operand_unary(&p->reader, out, op)
                   ? -1
                   : 0;
    if (take(p, "*"))
        return parse_star(p, out);
    if (take(p, "{"))
        return parse_type_at(p, out);
    if (strncmp(p->at, "&&", 2) != 0 && take(p, "&"))
        return parse_unary(p, out) || operand_address(&p->reader, out) ? -1 : 0;
    if (take(p, "sizeof"))
        return parse_sizeof(p, out);
    return op == '(' ? parse_cast(p, out) : 1;
}

static int parse_unary(struct parser *p, struct operand *out)
{
    if (++p->nested > NESTED_MOST)
        return refuse(p, "it is nested too deeply");
    int bad = parse_prefix(p, out);
    if (bad > 0)
        bad = parse_postfix(p, out);
    p->nested--;
    return bad;
}

/* ---- operators between two ---- */

/* From the loosest to the tightest; the longer ones first. */
static const char *const levels[][5] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS = sizeof levels / sizeof *levels, LOGICAL = 2 };

/* The operator of a level that comes next, or NULL. */
static const char *take_operator(struct parser *p, int level)
{
    skip_blanks(p);
    for (const char *const *op = levels[level]; *op; op++) {
        size_t n = strlen(*op);
        if (strncmp(p->at, *op, n) != 0)
            continue;
        char next = p->at[n], same = p->at[0];
        bool longer = n == 1 && (next == same ? strchr("|&<>+-", same) != NULL : false);
        if (longer || (n == 1 && strchr("<>", same) && next == '='))
            continue;
        p->at += n;
        return *op;
    }
    return NULL;
}

/* && and ||: the right side is read only if it is reached. */
static int combine_logical(struct parser *p, int level, struct operand *a)
{
    struct operand b;
    struct term left = operand_truth(&p->reader, a);
    bool over = term_is_number(left) && (left.v != 0) == (level == 0);
    p->reader.muted += over;
    int bad = parse_level(p, level + 1, &b) || operand_fetch(&p->reader, &b, p->role);
    p->reader.muted -= over;
    if (bad)
        return -1;
    struct term right = over ? term_number(level == 0) : operand_truth(&p->reader, &b);
    *a = operand_logical(&p->reader, over ? left
                                          : term_op(p->reader.scene->frame.terms,
                                                    level == 0 ? TERM_OR : TERM_AND, left, right));
    return 0;
}

static int parse_level(struct parser *p, int level, struct operand *a)
{
    struct operand b;
    const char *op;
    if (level == LEVELS)
        return parse_unary(p, a);
    if (parse_level(p, level + 1, a))
        return -1;
    while ((op = take_operator(p, level))) {
        if (operand_fetch(&p->reader, a, p->role))
            return -1;
        if (level < LOGICAL) {
            if (combine_logical(p, level, a))
                return -1;
            continue;
        }
        if (parse_level(p, level + 1, &b) || operand_fetch(&p->reader, &b, p->role) ||
            operand_binary(&p->reader, a, &b, op))
            return -1;
    }
    return 0;
}

/* If it is known which side of a ? is taken, the other one is not read. */
static int parse_choice(struct parser *p, struct operand *out)
{
    struct operand other;
    struct term when = operand_truth(&p->reader, out);
    bool known = term_is_number(when), first = known && when.v, second = known && !when.v;
    p->reader.muted += second;
    int bad = parse_expression(p, out) || operand_fetch(&p->reader, out, p->role);
    p->reader.muted -= second;
    if (bad)
        return -1;
    if (!take(p, ":"))
        return refuse(p, "it has a ? without a :");
    p->reader.muted += first;
    bad = parse_expression(p, &other) || operand_fetch(&p->reader, &other, p->role);
    p->reader.muted -= first;
    return bad || operand_choose(&p->reader, when, out, &other) ? -1 : 0;
}

static int parse_expression(struct parser *p, struct operand *out)
{
    if (parse_level(p, 0, out))
        return -1;
    if (take(p, "?"))
        return operand_fetch(&p->reader, out, p->role) || parse_choice(p, out) ? -1 : 0;
    skip_blanks(p);
    if (*p->at == '=' || (*p->at && p->at[1] == '=' && strchr("+-*/%&|^", *p->at)))
        return refuse(p, "it changes something");
    return 0;
}

/* ---- all of it ---- */

static int complain(const char *text, const struct operand *o, struct err *err)
{
    bool address = !o->placed && source_types_class(&o->type) == TYPE_POINTER;
    if (o->placed)
        return err_set_code(err, EXPRESSION_CONSTANT,
                            "%s is a constant here: the compiler knew its value", text);
    return err_set_code(err, EXPRESSION_BAD,
                        address ? "%s: an address is computed by the compiler, it is read from "
                                  "nowhere; without the & it is what lies there"
                                : "%s: reads no variable, memory or register: it is a constant",
                        text);
}

size_t expression_length(const char *list)
{
    size_t i = 0;
    int depth = 0;
    for (char quote = 0; list[i] && (depth > 0 || quote || list[i] != ','); i++) {
        if (quote) {
            i += list[i] == '\\' && list[i + 1];
            quote = list[i] == quote ? 0 : quote;
        } else if (list[i] == '\'' || list[i] == '"') {
            quote = list[i];
        } else {
            depth += strchr("([{", list[i]) != NULL;
            depth -= strchr(")]}", list[i]) != NULL;
        }
    }
    return i;
}

/* Where it is wrong, if that is not all of it. */
static int blame(struct err *err, const char *text)
{
    return strncmp(err->msg, text, strlen(text)) == 0
               ? -1
               : err_set_code(err, err->code, "%s: %s", text, err->msg);
}

int expression_parse(struct operand_reader *reader, const char *text, struct operand *out)
{
    struct parser p = {.reader = *reader, .at = text, .role = OPERAND_VALUE};
    *reader->err = (struct err){.code = 0};
    p.reader.cxx = source_types_are_cxx(reader->scene->source, reader->scene->pc);
    int bad = parse_expression(&p, out);
    skip_blanks(&p);
    if (!bad && *p.at)
        bad = refuse(&p, "it is not understood");
    if (!bad)
        bad = operand_note(&p.reader, out, OPERAND_VALUE);
    return bad ? blame(reader->err, text) : 0;
}

int expression_read(const struct expression_scene *scene, const char *text, struct expression *out,
                    struct err *err)
{
    struct operand_reader reader = {.scene = scene, .out = out, .err = err};
    struct operand o;
    *out = (struct expression){.reads = 0};
    if (expression_parse(&reader, text, &o))
        return -1;
    out->placed = o.placed || o.in_register;
    out->type = o.type;
    out->bit = o.bit;
    out->bits = o.bits;
    return out->reads ? 0 : complain(text, &o, err);
}
