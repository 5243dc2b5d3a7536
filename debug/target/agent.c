/* agent.c - evaluate GDB agent expressions: the conditions of breakpoints, what probes take.
 *
 * SPDX-License-Identifier: MIT
 *
 * A stack machine of 64-bit words. Operations are rows of a table: their operand's bytes in the
 * code and how many values they take and leave, so that the bounds of code and stack are checked in
 * one place, before the operation is looked at. Operands in the code are big-endian, memory is not.
 */
#include "debug/target/agent.h"

enum op_kind { NO_OP, KNOWN, REFUSED, TAKES /* something for a row */ };

static const struct op {
    uint8_t kind;
    uint8_t operand; /* bytes */
    uint8_t takes, leaves;
} ops[] = {
    [OP_FLOAT] = {REFUSED, 0, 0, 0},
    [OP_ADD... OP_RSH_UNSIGNED] = {KNOWN, 0, 2, 1},
    [OP_TRACE] = {TAKES, 0, 2, 0},
    [OP_TRACE_QUICK] = {TAKES, 1, 1, 1},
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
    [OP_GETV... OP_TRACEV] = {REFUSED, 0, 0, 0},
    [OP_TRACENZ] = {TAKES, 0, 2, 0},
    [OP_TRACE16] = {TAKES, 2, 1, 1},
    [OP_PICK] = {KNOWN, 1, 0, 1}, /* and as many as it picks from */
    [OP_ROT] = {KNOWN, 0, 3, 3},
    [OP_PRINTF] = {REFUSED, 0, 0, 0},
    [OP_TAKE_REGISTER] = {TAKES, 2, 0, 0},
    [OP_TAKE_VALUE] = {TAKES, 0, 1, 0},
    [OP_TRY] = {TAKES, 2, 0, 0},
};

struct insn {
    enum agent_op op;
    const struct op *row;
    uint64_t operand;
    uint32_t next; /* offset of what follows */
};

/* ---- the code ---- */

struct code {
    const uint8_t *code;
    uint32_t bytes;
    bool takes; /* it is a probe's */
};

static enum agent_result fetch(const struct code *c, uint32_t at, struct insn *insn)
{
    const uint8_t *code = c->code;
    const uint32_t bytes = c->bytes;
    if (at >= bytes)
        return AGENT_OUTSIDE;
    uint8_t op = code[at];
    if (op >= ARRAY_LEN(ops) || ops[op].kind == NO_OP)
        return AGENT_BAD_OPCODE;
    if (ops[op].kind == REFUSED || (ops[op].kind == TAKES && !c->takes))
        return AGENT_UNSUPPORTED;
    uint32_t size = ops[op].operand;
    if (size > bytes - at - 1)
        return AGENT_OUTSIDE;
    *insn = (struct insn){.op = op, .row = &ops[op], .next = at + 1 + size};
    for (uint32_t i = 0; i < size; i++)
        insn->operand = insn->operand << 8 | code[at + 1 + i];
    return AGENT_DONE;
}

static const char *check_insn(const struct insn *insn, const uint8_t *starts)
{
    if ((insn->op == OP_REG && agent_register_bytes(insn->operand) != 8) ||
        (insn->op == OP_TAKE_REGISTER && !agent_register_bytes(insn->operand)))
        return agent_text(AGENT_NO_REGISTER);
    if (insn->op != OP_GOTO && insn->op != OP_IF_GOTO && insn->op != OP_TRY)
        return NULL;
    if (insn->operand >= AGENT_BYTES || !(starts[insn->operand / 8] >> insn->operand % 8 & 1))
        return "a jump that leads to no operation";
    return NULL;
}

static const char *check(const struct code *code)
{
    const uint32_t bytes = code->bytes;
    uint8_t starts[AGENT_BYTES / 8] = {0}; /* a bit for each offset an operation begins at */
    struct insn insn = {.op = OP_POP};
    const char *bad = NULL;

    if (bytes > AGENT_BYTES)
        return agent_text(AGENT_TOO_LONG);
    for (uint32_t at = 0; at < bytes; at = insn.next) {
        enum agent_result result = fetch(code, at, &insn);
        if (result != AGENT_DONE)
            return agent_text(result);
        starts[at / 8] |= (uint8_t)(1 << at % 8);
    }
    if (insn.op != OP_END && insn.op != OP_GOTO)
        return agent_text(AGENT_OUTSIDE);
    for (uint32_t at = 0; at < bytes && !bad; at = insn.next) {
        fetch(code, at, &insn);
        bad = check_insn(&insn, starts);
    }
    return bad;
}

const char *agent_check(const uint8_t *code, uint32_t bytes)
{
    return check(&(struct code){code, bytes, false});
}

const char *agent_check_take(const uint8_t *code, uint32_t bytes)
{
    return check(&(struct code){code, bytes, true});
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

    if (agent_register_bytes(number) != 8)
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
    bool tries;  /* a failure leads to `rescue`, with a stack of `rescue_depth` */
    uint32_t rescue, rescue_depth;
};

/* Not inline: gcc would no longer see that the stack's values were put there. */
__attribute__((noinline)) static enum agent_result take(struct machine *m, const struct insn *insn,
                                                        const uint64_t *top)
{
    const struct agent_state *s = m->state;
    uint64_t value;
    switch (insn->op) {
    case OP_TRACE:
        return s->take(s->arg, AGENT_TAKE_MEMORY, top[1], top[2]);
    case OP_TRACENZ:
        return s->take(s->arg, AGENT_TAKE_STRING, top[1], top[2]);
    case OP_TRACE_QUICK:
    case OP_TRACE16:
        return s->take(s->arg, AGENT_TAKE_MEMORY, top[0], insn->operand);
    case OP_TAKE_REGISTER:
        if (!agent_register_bytes(insn->operand))
            return AGENT_NO_REGISTER;
        if (read_register(s, insn->operand, &value) != AGENT_DONE)
            return s->take(s->arg, AGENT_TAKE_VECTOR, insn->operand, 0);
        return s->take(s->arg, AGENT_TAKE_REGISTER, insn->operand, value);
    case OP_TAKE_VALUE:
        return s->take(s->arg, AGENT_TAKE_VALUE, top[1], 0);
    default: /* OP_TRY */
        m->tries = true;
        m->rescue = (uint32_t)insn->operand;
        m->rescue_depth = m->depth;
        return AGENT_DONE;
    }
}

/* An operation failed. AGENT_DONE: evaluation goes on. */
static enum agent_result fail(struct machine *m, enum agent_result why)
{
    const struct agent_state *s = m->state;
    if (!m->tries || why == AGENT_ROW_FULL)
        return why;
    m->tries = false;
    m->at = m->rescue;
    m->depth = m->rescue_depth;
    return s->take(s->arg, AGENT_TAKE_FAILURE, why, 0);
}

/* The stack has room; `depth` is already what the operation leaves. top[0] is the last of its
 * results, and where it takes more than it leaves, top[1] is the last of what it took. */
static enum agent_result execute(struct machine *m, const struct insn *insn)
{
    uint64_t *top = m->stack + m->depth, value;

    if (insn->row->kind == TAKES)
        return take(m, insn, top);
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

/* A probe need not leave a value. */
static bool ends_empty(const struct machine *m, const struct insn *insn)
{
    return insn->op == OP_END && !m->depth && m->state->take;
}

/* AGENT_DONE with *ended: it was the last. */
static enum agent_result one_operation(struct machine *m, const struct code *code, bool *ended)
{
    struct insn insn;
    enum agent_result result = fetch(code, m->at, &insn);
    if (result != AGENT_DONE)
        return result;
    *ended = insn.op == OP_END;
    if (ends_empty(m, &insn))
        return AGENT_DONE;
    if (m->depth < insn.row->takes)
        return AGENT_STACK_EMPTY;
    m->depth -= insn.row->takes;
    m->depth += insn.row->leaves;
    if (m->depth > AGENT_STACK)
        return AGENT_STACK_FULL;
    m->at = insn.next;
    return execute(m, &insn);
}

enum agent_result agent_eval(const uint8_t *code, uint32_t bytes, const struct agent_state *state,
                             uint64_t *value)
{
    const struct code c = {code, bytes, state->take != NULL};
    struct machine m;

    m.state = state;
    m.depth = m.at = 0;
    m.stack[0] = 0; /* below all values */
    m.tries = false;
    if (bytes > AGENT_BYTES)
        return AGENT_TOO_LONG;
    for (uint32_t steps = 0; steps < AGENT_STEPS; steps++) {
        bool ended = false;
        enum agent_result result = one_operation(&m, &c, &ended);
        if (result != AGENT_DONE) {
            ended = false;
            result = fail(&m, result);
        }
        if (result != AGENT_DONE)
            return result;
        if (ended) {
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
        [AGENT_ROW_FULL] = "takes more than a row has room for",
    };

    return text[result];
}
