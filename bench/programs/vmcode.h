/* vmcode.h - the bytecode vmswitch.c and vmfnptr.c interpret.
 *
 * A stack machine with four locals; an instruction is an opcode byte and an operand byte. The
 * program counts the primes below its limit by trial division.
 * SPDX-License-Identifier: MIT */
#ifndef VMCODE_H
#define VMCODE_H

#include <stdint.h>

enum { OP_LIT, OP_LOAD, OP_STORE, OP_ADD, OP_MUL, OP_MOD, OP_LESS, OP_JUMP, OP_JZ, OP_HALT, OPS };
enum { LOCAL_N, LOCAL_D, LOCAL_PRIMES, LOCAL_LIMIT, LOCALS };

static const uint8_t vm_code[][2] = {
    /*  0 */ {OP_LIT, 2},
    /*  1 */ {OP_STORE, LOCAL_N},
    /*  2 */ {OP_LOAD, LOCAL_N}, /* for n from 2 up to the limit */
    /*  3 */ {OP_LOAD, LOCAL_LIMIT},
    /*  4 */ {OP_LESS, 0},
    /*  5 */ {OP_JZ, 33},
    /*  6 */ {OP_LIT, 2},
    /*  7 */ {OP_STORE, LOCAL_D},
    /*  8 */ {OP_LOAD, LOCAL_D}, /* while d * d < n + 1 */
    /*  9 */ {OP_LOAD, LOCAL_D},
    /* 10 */ {OP_MUL, 0},
    /* 11 */ {OP_LOAD, LOCAL_N},
    /* 12 */ {OP_LIT, 1},
    /* 13 */ {OP_ADD, 0},
    /* 14 */ {OP_LESS, 0},
    /* 15 */ {OP_JZ, 25},
    /* 16 */ {OP_LOAD, LOCAL_N}, /* if n % d is 0, n is no prime */
    /* 17 */ {OP_LOAD, LOCAL_D},
    /* 18 */ {OP_MOD, 0},
    /* 19 */ {OP_JZ, 29},
    /* 20 */ {OP_LOAD, LOCAL_D}, /* d = d + 1 */
    /* 21 */ {OP_LIT, 1},
    /* 22 */ {OP_ADD, 0},
    /* 23 */ {OP_STORE, LOCAL_D},
    /* 24 */ {OP_JUMP, 8},
    /* 25 */ {OP_LOAD, LOCAL_PRIMES}, /* a prime more */
    /* 26 */ {OP_LIT, 1},
    /* 27 */ {OP_ADD, 0},
    /* 28 */ {OP_STORE, LOCAL_PRIMES},
    /* 29 */ {OP_LOAD, LOCAL_N}, /* n = n + 1 */
    /* 30 */ {OP_LIT, 1},
    /* 31 */ {OP_ADD, 0},
    /* 32 */ {OP_JUMP, 1},
    /* 33 */ {OP_HALT, 0},
};

#endif
