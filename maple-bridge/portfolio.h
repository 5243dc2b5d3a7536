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

#include <stdio.h>

#include "maple-bridge/idioms.h"
#include "maple-bridge/recipe.h"
#include "maple-bridge/scout.h"

struct portfolio;

/* `only`: the name of a strategy, or NULL for all of them. */
struct portfolio *portfolio_new(const struct scout *profile, uint64_t seed, const char *only,
                                struct err *err);
void portfolio_free(struct portfolio *p); /* NULL is allowed */

/* The profile has grown. */
int portfolio_renew(struct portfolio *p, struct err *err);

/* The next recipe; *strategy is its row. False: the only strategy has nothing left to try. */
bool portfolio_next(struct portfolio *p, struct recipe *out, int *strategy);
/* What run number `run` led to. */
void portfolio_learn(struct portfolio *p, uint64_t run, int strategy, const struct recipe *r,
                     const struct agenda_done *done);
/* The tables of an agenda that runs before have filled. */
void portfolio_tell(const struct portfolio *p, struct agenda *agenda);

const char *portfolio_name(int strategy);
int portfolio_count(void);
uint64_t portfolio_pairs(const struct portfolio *p); /* writes that reads were seen to read */
uint64_t portfolio_orders(const struct portfolio *p, uint64_t *exposed); /* of idioms, tried */
const struct idioms *portfolio_idioms(const struct portfolio *p);
int portfolio_best(const struct portfolio *p); /* that has paid off most, or -1 */

/* Runs that are divided among jobs. Recipes are those of a portfolio that learns nothing meanwhile:
 * the one of a run depends on the run's number alone. What the runs show goes to a part, which
 * portfolio_learn() takes as well, and parts are added up at the end, in any order. */
struct portfolio *portfolio_part(const struct portfolio *whole, struct err *err);
void portfolio_at(struct portfolio *whole, uint64_t run, struct recipe *out, int *strategy);
int portfolio_add(struct portfolio *whole, const struct portfolio *part, struct err *err);

/* What a memo keeps: as scout_line(), behind all of the profile's lines. */
void portfolio_write(const struct portfolio *p, FILE *to);
int portfolio_line(struct portfolio *p, const char *line);

#endif
