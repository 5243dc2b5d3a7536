/* closure_int.h - between the files that execute a slice. SPDX-License-Identifier: MIT */
#ifndef TESTS_SLICE_CLOSURE_INT_H
#define TESTS_SLICE_CLOSURE_INT_H

#include "tests/slice/closure.h"

enum { GIVEN_MOST = 16 };

struct machine_state {
    struct flat now, ref;
    uint8_t state[LOC_COUNT];
    uint64_t by[LOC_COUNT]; /* who defined it last, plus one */
    bool framed;            /* rbp was made a frame pointer, which defines nothing */
};

struct stash { /* a register, before it was saved */
    uint64_t serial;
    gaddr addr;
    uint8_t value[8], state[8];
    uint64_t by[8];
    bool framed;
};

struct lent { /* memory that is given for one instruction, and taken back */
    gaddr addr;
    uint64_t bytes;
    uint8_t *kept;
};

struct written { /* by system calls: for pages that are not there yet */
    gaddr addr;
    uint64_t bytes, by;
    uint8_t state;
};

struct check {
    struct trace_index *s;
    const struct closure_record *r;
    const struct closure_question *q;
    unsigned edges;
    struct control *control;
    struct machine_state *thread;
    struct stash *stash;
    size_t stashes, stash_room;
    struct state *kept;
    struct written *written;
    size_t writtens, events;
    struct lent lent[GIVEN_MOST];
    size_t lents;
    struct flat run; /* what is executed on */
    uint8_t *source; /* states of what a repeated copy reads */
    bool failed;
};

/* ---- closure_state.c: who defined what, and what the original values are ---- */

/* Prints what is wrong, unless it is to be quiet. Of the criterion: `n` is NULL. */
void closure_fail(struct check *c, const struct forward_at *n, const char *where, uint64_t by,
                  unsigned have, unsigned want);
void closure_fail_loc(struct check *c, const struct forward_at *n, const char *how,
                      const struct machine_state *m, unsigned loc);
void closure_fail_byte(struct check *c, const struct forward_at *n, const char *how, gaddr addr);
void closure_pattern(const struct check *c, struct flat *to, unsigned loc);
/* A location or byte was defined by a node (plus one): its state. */
void closure_mark_loc(struct check *c, uint32_t thread, unsigned loc, uint8_t state, uint64_t by);
void closure_mark_byte(struct check *c, gaddr addr, uint8_t state, uint64_t by);
/* A system call's range: what is there already, and what will be. `from`: moved from there. */
void closure_mark_range(struct check *c, gaddr addr, uint64_t bytes, uint8_t state, uint64_t by,
                        gaddr from);
uint8_t closure_state_of(const struct check *c, gaddr addr);
uint8_t *closure_ref(gaddr addr);
/* What the recording has of a node: pages before it; all else behind it, and where it went. */
const struct closure_entry *closure_entries(const struct check *c, uint64_t node);
void closure_make_pages(struct check *c, uint64_t node);
gaddr closure_go_on(struct check *c, const struct forward_at *n);

/* ---- closure_node.c: one instruction of the slice ---- */

/* Is the location left out of slices? `frame`: rbp is a frame pointer. */
bool closure_left_out(const struct check *c, unsigned loc, bool frame);
/* It is used: it must be as it was. */
void closure_need_loc(struct check *c, const struct forward_at *n, uint32_t thread, unsigned loc);
void closure_need_memory(struct check *c, const struct forward_at *n, gaddr addr, uint64_t bytes);
void closure_node(struct check *c, const struct forward_at *n, bool frame, bool pair);
void closure_define(struct check *c, const struct forward_at *n, bool mine, bool frame);

#endif
