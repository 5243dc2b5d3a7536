/* orders.h - orders of taking locks that could end in a deadlock another time.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thread that takes B while it holds A makes an edge from A to B, unless it would not have waited
 * for B for ever (trylock, timedlock). A circle of edges of different
 * threads can be a deadlock in another schedule, unless all of them hold a further lock while they
 * do it (a gate), or only read. Each circle of locks is told once. Plain arrays.
 */
#ifndef FACTS_LOCKS_ORDERS_H
#define FACTS_LOCKS_ORDERS_H

#include "facts/locks/locks.h"

enum { ORDERS_LONGEST = 4 };

struct orders_edge {
    size_t held, taken; /* events of struct locks: the one lock was taken, then the other */
    size_t gate_at;     /* in orders.gate: locks that were held besides */
    size_t gates;
};

struct orders_circle {
    size_t edge[ORDERS_LONGEST]; /* each one's `taken` is the lock that the next one holds */
    unsigned edges;
};

struct orders {
    struct orders_edge *edge;
    size_t edges, edge_room;
    gaddr *gate;
    size_t gates, gate_room;
    struct orders_circle *circle;
    size_t circles, circle_room;
};

int orders_find(const struct locks *l, struct orders *out, struct err *err);
void orders_deinit(struct orders *o);

#endif
