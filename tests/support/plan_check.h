/* plan_check.h -- what every answer of pb_plan must keep to, whatever the strategy. */
#ifndef PLAN_CHECK_H
#define PLAN_CHECK_H

#include "oracle/brute_force.h"
#include "pebble/api.h"

enum { PLAN_WHY = 400 };

/* Is the answer honest? A plan is legal by the second replay, fits the cap and states its true figures; a refusal has a
 * reason and no moves. False with a sentence in `why`. */
bool plan_is_honest(const pb_game *game, const pb_plan_result *p, char why[PLAN_WHY]);

/* Does the answer keep to the exhaustive optimum of its game? `work` and `cost` are the least makespan and weighted
 * cost. */
bool plan_keeps_to_optimum(const pb_plan_result *p, const bf_answer *work, const bf_answer *cost, char why[PLAN_WHY]);

/* Are two answers the same, move by move and figure by figure? */
bool plans_are_equal(const pb_plan_result *a, const pb_plan_result *b, char why[PLAN_WHY]);

#endif
