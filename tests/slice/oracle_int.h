/* oracle_int.h - the parts of the oracle. SPDX-License-Identifier: MIT
 *
 * A *source* is where a byte got its value: a node, several things together (a link), or nothing.
 */
#ifndef TESTS_SLICE_ORACLE_INT_H
#define TESTS_SLICE_ORACLE_INT_H

#include "tests/slice/oracle.h"

typedef uint32_t source; /* 0: nothing; node + 1; LINK + number of a link */
#define LINK 0x80000000u

/* An array that grows. Memory that is not there ends the test. */
#define ORACLE_PUSH(array, count, room, item)                                                      \
    do {                                                                                           \
        if ((count) == (room))                                                                     \
            (array) = oracle_more((array), &(room), sizeof *(array));                              \
        (array)[(count)++] = (item);                                                               \
    } while (0)
void *oracle_more(void *array, size_t *room, size_t element);
void *oracle_zeros(size_t count, size_t element);

/* ---- functions: oracle_graphs.c ---- */

enum { GRAPH_NONE = -1 };

struct oracle_graph;
const struct oracle_graph *oracle_graph(struct oracle_graphs *g, gaddr entry);
int32_t oracle_graph_find(const struct oracle_graph *f, gaddr pc); /* or GRAPH_NONE */
bool oracle_graph_is_branch(const struct oracle_graph *f, int32_t insn);
/* Is s control dependent on the edge b -> x? */
bool oracle_graph_depends(const struct oracle_graph *f, int32_t s, int32_t b, int32_t x);
bool oracle_graph_frame_pointer(const struct oracle_graph *f);
/* Length of the first instruction, if that is endbr64 or push; else 0. */
unsigned oracle_graph_landing(const struct oracle_graph *f);

/* ---- memory: oracle_shadow.c ---- */

struct shadow;
struct shadow *oracle_shadow_new(void);
void oracle_shadow_free(struct shadow *s);
source oracle_shadow_get(struct shadow *s, gaddr addr);
void oracle_shadow_set(struct shadow *s, gaddr addr, uint64_t bytes, source what);

/* What was saved at an address, or the return address of a call, until somebody writes there. */
enum { ARM_RETURN = GPR_COUNT };
struct arm {
    gaddr addr;
    uint32_t frame;
    uint8_t reg;
    source of[LOC_GPR_BYTES]; /* the register's bytes, at the save */
};
void oracle_shadow_arm(struct shadow *s, const struct arm *arm);
const struct arm *oracle_shadow_armed(const struct shadow *s, gaddr addr); /* or NULL */
void oracle_shadow_disarm(struct shadow *s, gaddr addr, uint64_t bytes);

/* ---- frames: oracle_frames.c ---- */

enum frame_kind { FRAME_ROOT, FRAME_CALL, FRAME_SIGNAL };

struct taken {
    int32_t insn, to;
    uint32_t node;
};

struct frame {
    uint32_t number; /* different for all */
    uint8_t kind;
    bool resolver;
    gaddr entry, slot;
    source maker;
    const struct oracle_graph *graph;
    unsigned saves; /* executed so far */
    source *state;  /* vector and mask registers before the last xsave; NULL: none */
    struct taken *taken;
    size_t takens, taken_room;
};

/* The last instruction of a step, which was executed: where it went is known at the next event. */
struct leaving {
    bool is;
    const struct insn *in;
    uint32_t node, frame;
    gaddr slot;      /* call: that it writes; ret: that it reads */
    bool after_push; /* right behind a `push [rip + y]` */
};

struct stack {
    struct frame *frame;
    size_t frames, room;
    struct leaving leaving;
    source made_by; /* the call that made the thread */
};

struct frame *oracle_frames_top(struct stack *st);
void oracle_frames_deinit(struct stack *st);
/* The thread goes on at pc: what it left last has its effect. */
void oracle_frames_arrive(struct oracle *o, struct stack *st, gaddr pc);
/* rsp was set. */
void oracle_frames_stack_set(struct stack *st, gaddr value);
/* Would a ret that reads `slot` pop a frame? */
bool oracle_frames_returns(const struct stack *st, gaddr slot);
void oracle_frames_signal(struct oracle *o, struct stack *st, const struct flow_signal *note);
void oracle_frames_sigreturn(struct stack *st, gaddr frame);
/* What the instruction at pc depends on by control. */
source oracle_frames_control(struct stack *st, gaddr pc);

/* ---- the walk: oracle.c, oracle_calls.c ---- */

struct dep {
    source of;
    uint32_t kind; /* enum defuse_kind */
};

struct link {
    source of[2];
};

/* A syscall that awaits its note. */
struct calling {
    bool is;
    const struct code_block *block;
    const uint64_t *value;
    uint32_t node;
    unsigned flags;
};

struct othread {
    source reg[LOC_COUNT];
    struct stack stack;
    struct calling calling;
    struct insn last;              /* executed */
    struct flow_signal **delivery; /* told so far */
    size_t deliveries, delivery_room;
};

/* What is wanted at a point, as the walk has found it there. */
struct point {
    const struct slice_want *want;
    source *of;
    size_t count, room;
};

struct event {
    uint64_t step; /* steps before it */
    const struct flow_note *note;
};

/* What of an instruction is looked up more than once. */
enum { SLOTS_MOST = 4 };
struct trait {
    bool known;
    uint8_t save, restore; /* register + 1 */
    bool state, brings_state, odd, rep_movs, push_rip;
    uint8_t slots; /* of the register that it saves */
    int64_t slot[SLOTS_MOST];
};

struct oracle {
    struct trace *trace;
    struct code *code;
    struct oracle_graphs *graphs;
    struct oracle_options options;
    struct trace_chunk *chunk;
    struct event *event;
    size_t events, event_room, event_next;
    struct trait **trait; /* by block */
    struct othread *thread;
    uint32_t threads, now; /* now: whose notes come */
    struct shadow *memory;
    uint32_t frames; /* given out */
    struct point *point;
    size_t points, resolved, here; /* here: the first whose `at` is the node under way */
    struct oracle_node *node;
    size_t nodes, *dep_at; /* of node n: dep[dep_at[n]] to dep[dep_at[n + 1] - 1] */
    struct dep *dep;
    size_t deps, dep_room;
    struct link *link;
    size_t links, link_room;
};
source oracle_join(struct oracle *o, source a, source b);
/* Does the node under way not use the byte or location, because the user says so? */
bool oracle_pruned(const struct oracle *o, bool memory, uint64_t at);
/* Dependences of the node under way. */
void oracle_use(struct oracle *o, source of, unsigned kind);
void oracle_use_memory(struct oracle *o, gaddr addr, uint64_t bytes);
void oracle_use_registers(struct oracle *o, struct othread *t, const struct defuse *d);
/* Definitions by a node. What `restores` says is looked through; NULL: nothing. */
void oracle_define_registers(struct oracle *o, struct othread *t, const struct defuse *d,
                             uint32_t node, const struct arm *restores);
void oracle_write(struct oracle *o, gaddr addr, uint64_t bytes, uint32_t node, bool may);
/* Takes bytes from elsewhere, from[i] for each, by a node or (0) by none. */
void oracle_copy(struct oracle *o, gaddr to, const gaddr *from, uint64_t bytes, source by);

/* The notes. */
void oracle_call(struct oracle *o, struct othread *t, const struct flow_call *note);
void oracle_signal(struct oracle *o, struct othread *t, const struct flow_signal *note);
void oracle_begin(struct oracle *o, const struct flow_begin *note);

#endif
