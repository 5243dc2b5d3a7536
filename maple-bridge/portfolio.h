/* portfolio.h - which recipe is tried next, by what the runs before have shown.
 *
 * SPDX-License-Identifier: MIT
 *
 * Strategies are rows of strategies.def: each makes recipes from the profile, the seed and the
 * feedback. The portfolio gives each a share, and those that show new pairs of writes and reads
 * more. Recipes are asked for in batches and feedback is given in the order of runs, so the
 * sequence does not depend on how many run at once.
 */
#ifndef MAPLE_BRIDGE_PORTFOLIO_H
#define MAPLE_BRIDGE_PORTFOLIO_H

#include "maple-bridge/recipe.h"
#include "maple-bridge/scout.h"

struct portfolio;

/* `only`: the name of a strategy, or NULL for all of them. */
struct portfolio *portfolio_new(const struct scout *profile, uint64_t seed, const char *only,
                                struct err *err);
void portfolio_free(struct portfolio *p); /* NULL is allowed */

/* The profile has changed. */
void portfolio_renew(struct portfolio *p);

/* The next recipe; *strategy is its row. */
void portfolio_next(struct portfolio *p, struct recipe *out, int *strategy);
/* What it led to. */
void portfolio_learn(struct portfolio *p, int strategy, const struct recipe *r,
                     const struct agenda_done *done);
/* The tables of an agenda that runs before have filled. */
void portfolio_tell(const struct portfolio *p, struct agenda *agenda);

const char *portfolio_name(int strategy);
int portfolio_count(void);
uint64_t portfolio_pairs(const struct portfolio *p); /* writes that reads were seen to read */
uint64_t portfolio_orders(const struct portfolio *p, uint64_t *exposed); /* of idioms, tried */

#endif
