/* agent.c - evaluate GDB agent expressions: the conditions of breakpoints.
 *
 * SPDX-License-Identifier: MIT
 *
 * A stack machine of 64-bit words. Operations are rows of a table: their operand's bytes in the
 * code and how many values they take and leave, so that the bounds of code and stack are checked in
 * one place, before the operation is looked at. Operands in the code are big-endian, memory is not.
 */
#include "debug/target/agent.h"

enum agent_op {
    OP_FLOAT = 0x01,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV_SIGNED,
    OP_DIV_UNSIGNED,
    OP_REM_SIGNED,
    OP_REM_UNSIGNED,
    OP_LSH,
    OP_RSH_SIGNED,
    OP_RSH_UNSIGNED,
    OP_TRACE,
    OP_TRACE_QUICK,
    OP_LOG_NOT,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_NOT,
    OP_EQUAL,
    OP_LESS_SIGNED,
    OP_LESS_UNSIGNED,
    OP_EXT,
    OP_REF8,
    OP_REF16,
    OP_REF32,
    OP_REF64,
    OP_REF_FLOAT,
    OP_REF_DOUBLE,
    OP_REF_LONG_DOUBLE,
    OP_L_TO_D,
    OP_D_TO_L,
    OP_IF_GOTO,
    OP_GOTO,
    OP_CONST8,
    OP_CONST16,
    OP_CONST32,
    OP_CONST64,
    OP_REG,
    OP_END,
    OP_DUP,
    OP_POP,
    OP_ZERO_EXT,
    OP_SWAP,
    OP_GETV,
    OP_SETV,
    OP_TRACEV,
    OP_TRACENZ,
    OP_TRACE16,
    OP_PICK = 0x32,
    OP_ROT,
    OP_PRINTF,
};

enum op_kind { NO_OP, KNOWN, REFUSED };

static const struct op {
    uint8_t kind;
    uint8_t operand; /* bytes */
    uint8_t takes, leaves;
} ops[] = {
    [OP_FLOAT] = {REFUSED, 0, 0, 0},
    [OP_ADD... OP_RSH_UNSIGNED] = {KNOWN, 0, 2, 1},
    [OP_TRACE... OP_TRACE_QUICK] = {REFUSED, 0, 0, 0},
    [OP_LOG_NOT] = {KNOWN, 0, 1, 1},
    [OP_BIT_AND... OP_BIT_XOR] = {KNOWN, 0, 2, 1},
    [OP_BIT_NOT] = {KNOWN, 0, 1, 1},
    [OP_EQUAL... OP_LESS_UNSIGNED] = {KNOWN, 0, 2, 1},
    [OP_EXT] = {KNOWN, 1, 1, 1},
    [OP_REF8... OP_REF64] = {KNOWN, 0, 1, 1},
    [OP_REF_FLOAT... OP_D_TO_L] = {REFUSED, 0, 0, 0},
    [OP_IF_GOTO] = {KNOWN, 2, 1, 0},
    [OP_GOTO] = {KNOWN, 2, 0, 0},
    [OP_CONST8] = {KNOWN, 1, 0, 1},
    [OP_CONST16] = {KNOWN, 2, 0, 1},
    [OP_CONST32] = {KNOWN, 4, 0, 1},
    [OP_CONST64] = {KNOWN, 8, 0, 1},
    [OP_REG] = {KNOWN, 2, 0, 1},
    [OP_END] = {KNOWN, 0, 1, 1},
    [OP_DUP] = {KNOWN, 0, 1, 2},
    [OP_POP] = {KNOWN, 0, 1, 0},
    [OP_ZERO_EXT] = {KNOWN, 1, 1, 1},
    [OP_SWAP] = {KNOWN, 0, 2, 2},
    [OP_GETV... OP_TRACE16] = {REFUSED, 0, 0, 0},
    [OP_PICK] = {KNOWN, 1, 0, 1}, /* and as many as it picks from */
    [OP_ROT] = {KNOWN, 0, 3, 3},
    [OP_PRINTF] = {REFUSED, 0, 0, 0},
};

struct insn {
    enum agent_op op;
    const struct op *row;
    uint64_t operand;
    uint32_t next; /* offset of what follows */
};

/* ---- the code ---- */

static enum agent_result fetch(const uint8_t *code, uint32_t bytes, uint32_t at, struct insn *insn)
{
    if (at >= bytes)
        return AGENT_OUTSIDE;
    uint8_t op = code[at];
    if (op >= ARRAY_LEN(ops) || ops[op].kind == NO_OP)
        return AGENT_BAD_OPCODE;
    if (ops[op].kind == REFUSED)
        return AGENT_UNSUPPORTED;
    uint32_t size = ops[op].operand;
    if (size > bytes - at - 1)
        return AGENT_OUTSIDE;
    *insn = (struct insn){.op = op, .row = &ops[op], .next = at + 1 + size};
    for (uint32_t i = 0; i < size; i++)
        insn->operand = insn->operand << 8 | code[at + 1 + i];
    return AGENT_DONE;
}

static bool is_register(uint64_t number)
{
    return number <= AGENT_GS || (number >= AGENT_ORIG_RAX && number <= AGENT_GS_BASE);
}

static const char *check_insn(const struct insn *insn, const uint8_t *starts)
{
    if (insn->op == OP_REG && !is_register(insn->operand))
        return agent_text(AGENT_NO_REGISTER);
    if (insn->op != OP_GOTO && insn->op != OP_IF_GOTO)
        return NULL;
    if (insn->operand >= AGENT_BYTES || !(starts[insn->operand / 8] >> insn->operand % 8 & 1))
        return "a jump that leads to no operation";
    return NULL;
}

const char *agent_check(const uint8_t *code, uint32_t bytes)
{
    uint8_t starts[AGENT_BYTES / 8] = {0}; /* a bit for each offset an operation begins at */
    struct insn insn = {.op = OP_POP};
    const char *bad = NULL;

    if (bytes > AGENT_BYTES)
        return agent_text(AGENT_TOO_LONG);
    for (uint32_t at = 0; at < bytes; at = insn.next) {
        enum agent_result result = fetch(code, bytes, at, &insn);
        if (result != AGENT_DONE)
            return agent_text(result);
        starts[at / 8] |= (uint8_t)(1 << at % 8);
    }
    if (insn.op != OP_END && insn.op != OP_GOTO)
        return agent_text(AGENT_OUTSIDE);
    for (uint32_t at = 0; at < bytes && !bad; at = insn.next) {
        fetch(code, bytes, at, &insn);
        bad = check_insn(&insn, starts);
    }
    return bad;
}

/* ---- values ---- */

static uint64_t sign_extend(uint64_t value, uint64_t bits)
{
    if (bits >= 64)
        return value;
    uint64_t sign = bits ? 1ull << (bits - 1) : 0;
    value &= (1ull << bits) - 1;
    return (value ^ sign) - sign;
}

static uint64_t zero_extend(uint64_t value, uint64_t bits)
{
    return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

/* Shifts by 64 and more, which C leaves open, leave nothing but the sign. */
static uint64_t shift_right_signed(uint64_t a, uint64_t n)
{
    return (uint64_t)((int64_t)a >> (n < 63 ? n : 63));
}

/* b is not 0. The one quotient that is no int64_t wraps; the CPU would trap. */
static uint64_t divide_signed(uint64_t a, uint64_t b)
{
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t remainder_signed(uint64_t a, uint64_t b)
{
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static enum agent_result divide(enum agent_op op, uint64_t a, uint64_t b, uint64_t *out)
{
    if (b == 0)
        return AGENT_DIVISION;
    if (op == OP_DIV_SIGNED)
        *out = divide_signed(a, b);
    else if (op == OP_REM_SIGNED)
        *out = remainder_signed(a, b);
    else
        *out = op == OP_DIV_UNSIGNED ? a / b : a % b;
    return AGENT_DONE;
}

static uint64_t combine(enum agent_op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_LSH:
        return b < 64 ? a << b : 0;
    case OP_RSH_SIGNED:
        return shift_right_signed(a, b);
    case OP_RSH_UNSIGNED:
        return b < 64 ? a >> b : 0;
    case OP_BIT_AND:
        return a & b;
    case OP_BIT_OR:
        return a | b;
    case OP_BIT_XOR:
        return a ^ b;
    case OP_EQUAL:
        return a == b;
    case OP_LESS_SIGNED:
        return (int64_t)a < (int64_t)b;
    default: /* OP_LESS_UNSIGNED */
        return a < b;
    }
}

static enum agent_result read_memory(const struct agent_state *state, enum agent_op op,
                                     uint64_t *value)
{
    uint64_t word = 0;

    if (!state->read(state->arg, *value, &word, (size_t)1 << (op - OP_REF8)))
        return AGENT_UNREADABLE;
    *value = word;
    return AGENT_DONE;
}

static enum agent_result read_register(const struct agent_state *state, uint64_t number,
                                       uint64_t *value)
{
    static const uint8_t gpr[] = {RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP,
                                  R8,  R9,  R10, R11, R12, R13, R14, R15};
    enum { USER_CS = 0x33, USER_SS = 0x2b }; /* the kernel's selectors; the others are 0 */

    if (!is_register(number))
        return AGENT_NO_REGISTER;
    if (number < ARRAY_LEN(gpr))
        *value = state->cpu->gpr[gpr[number]];
    else if (number == AGENT_RIP)
        *value = state->cpu->rip;
    else if (number == AGENT_EFLAGS)
        *value = (uint32_t)state->cpu->rflags;
    else if (number == AGENT_ORIG_RAX)
        *value = state->orig_rax;
    else if (number == AGENT_FS_BASE)
        *value = state->fs_base;
    else if (number == AGENT_GS_BASE)
        *value = state->gs_base;
    else
        *value = number == AGENT_CS ? USER_CS : number == AGENT_CS + 1 ? USER_SS : 0;
    return AGENT_DONE;
}

/* ---- the machine ---- */

struct machine {
    const struct agent_state *state;
    uint64_t stack[1 + AGENT_STACK]; /* from 1 on */
    uint32_t depth;
    uint32_t at; /* of the next operation */
};

/* The stack has room; `depth` is already what the operation leaves. top[0] is the last of its
 * results, and where it takes more than it leaves, top[1] is the last of what it took. */
static enum agent_result execute(struct machine *m, const struct insn *insn)
{
    uint64_t *top = m->stack + m->depth, value;

    switch (insn->op) {
    case OP_DIV_SIGNED:
    case OP_DIV_UNSIGNED:
    case OP_REM_SIGNED:
    case OP_REM_UNSIGNED:
        return divide(insn->op, top[0], top[1], top);
    case OP_LOG_NOT:
        *top = !*top;
        break;
    case OP_BIT_NOT:
        *top = ~*top;
        break;
    case OP_EXT:
        *top = sign_extend(*top, insn->operand);
        break;
    case OP_ZERO_EXT:
        *top = zero_extend(*top, insn->operand);
        break;
    case OP_REF8:
    case OP_REF16:
    case OP_REF32:
    case OP_REF64:
        return read_memory(m->state, insn->op, top);
    case OP_IF_GOTO:
        m->at = top[1] ? (uint32_t)insn->operand : insn->next;
        break;
    case OP_GOTO:
        m->at = (uint32_t)insn->operand;
        break;
    case OP_CONST8:
    case OP_CONST16:
    case OP_CONST32:
    case OP_CONST64:
        *top = insn->operand;
        break;
    case OP_REG:
        return read_register(m->state, insn->operand, top);
    case OP_DUP:
        *top = top[-1];
        break;
    case OP_POP:
    case OP_END:
        break;
    case OP_SWAP:
        value = top[-1];
        top[-1] = top[0];
        top[0] = value;
        break;
    case OP_PICK:
        if (insn->operand + 1 >= m->depth)
            return AGENT_STACK_EMPTY;
        *top = m->stack[m->depth - 1 - insn->operand];
        break;
    case OP_ROT: /* a b c: c a b */
        value = top[0];
        top[0] = top[-1];
        top[-1] = top[-2];
        top[-2] = value;
        break;
    default:
        *top = combine(insn->op, top[0], top[1]);
        break;
    }
    return AGENT_DONE;
}

enum agent_result agent_eval(const uint8_t *code, uint32_t bytes, const struct agent_state *state,
                             uint64_t *value)
{
    struct machine m;

    m.state = state;
    m.depth = m.at = 0;
    m.stack[0] = 0; /* below all values */
    if (bytes > AGENT_BYTES)
        return AGENT_TOO_LONG;
    for (uint32_t steps = 0; steps < AGENT_STEPS; steps++) {
        struct insn insn;
        enum agent_result result = fetch(code, bytes, m.at, &insn);
        if (result != AGENT_DONE)
            return result;
        if (m.depth < insn.row->takes)
            return AGENT_STACK_EMPTY;
        m.depth -= insn.row->takes;
        m.depth += insn.row->leaves;
        if (m.depth > AGENT_STACK)
            return AGENT_STACK_FULL;
        m.at = insn.next;
        result = execute(&m, &insn);
        if (result != AGENT_DONE)
            return result;
        if (insn.op == OP_END) {
            *value = m.stack[m.depth];
            return AGENT_DONE;
        }
    }
    return AGENT_TOO_LONG;
}

const char *agent_text(enum agent_result result)
{
    static const char *const text[AGENT_RESULTS] = {
        [AGENT_DONE] = "done",
        [AGENT_BAD_OPCODE] = "an unknown operation",
        [AGENT_UNSUPPORTED] = "an operation of tracepoints, or on floating point",
        [AGENT_OUTSIDE] = "leads out of its code",
        [AGENT_STACK_EMPTY] = "takes a value from an empty stack",
        [AGENT_STACK_FULL] = "needs too large a stack",
        [AGENT_DIVISION] = "divides by zero",
        [AGENT_UNREADABLE] = "reads memory that cannot be read",
        [AGENT_NO_REGISTER] = "an unknown register",
        [AGENT_TOO_LONG] = "takes too long",
    };

    return text[result];
}
