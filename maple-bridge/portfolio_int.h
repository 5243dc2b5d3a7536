/* portfolio_int.h - what portfolio.c and portfolio_kept.c share. SPDX-License-Identifier: MIT */
#ifndef MAPLE_BRIDGE_PORTFOLIO_INT_H
#define MAPLE_BRIDGE_PORTFOLIO_INT_H

#include "maple-bridge/idioms.h"
#include "maple-bridge/portfolio.h"

enum { ROUND = 16, CORPUS = 64, STRATEGIES_MOST = 16 };

/* Wishes that showed something new, with the run that did: in the order of their runs. */
struct corpus {
    struct recipe kept[CORPUS];
    uint64_t run[CORPUS];
    size_t count;
};

struct portfolio {
    const struct scout *profile;
    const struct portfolio *whole; /* this is a part of it; NULL: it is none */
    uint64_t state;                /* of the lot */
    int only;                      /* -1: all */
    uint64_t runs, pairs;
    uint64_t period, holds;   /* how far the enumerations are */
    uint64_t events, counted; /* of all runs that had some, and how many these were */
    int turn[ROUND * 2];      /* of this round */
    int turns, next;
    struct score {
        uint64_t runs, news; /* lately: halved with each round */
    } score[STRATEGIES_MOST];
    uint64_t seen[AGENDA_SITES][AGENDA_SITES / 64]; /* pairs: write, read */
    uint32_t expected[AGENDA_THREADS][AGENDA_GROUPS + 1];
    struct idioms idioms;
    struct corpus corpus;
};

static inline bool portfolio_saw(const struct portfolio *p, uint32_t write, uint32_t read)
{
    return p->seen[write][read / 64] >> (read % 64) & 1;
}

static inline void portfolio_see(struct portfolio *p, uint32_t write, uint32_t read)
{
    p->pairs += !portfolio_saw(p, write, read);
    p->seen[write][read / 64] |= 1ull << (read % 64);
}

/* Puts it in the order of runs; where there are too many, the first ones stay. */
void corpus_keep(struct corpus *c, const struct recipe *r, uint64_t run);

#endif
