/* formula.h -- the reversible game as a formula: a state for each of a number of steps, in each of which several
 * nodes may change at once.
 *
 * A node that changes in a step needs its inputs resident before and after it, so nodes that change together do not
 * read one another, and what is resident before or after must fit the cap together. Then the changes of a step may
 * be played in any order. One node a step is allowed too, so that no plan is lost if there are enough steps.
 */
#ifndef PBI_PLAN_REVERSIBLE_SAT_FORMULA_H
#define PBI_PLAN_REVERSIBLE_SAT_FORMULA_H

#include "plan/reversible/sat/sums.h"
#include "plan/strategy.h"

/* The game, without what is always resident. */
typedef struct pbi_rev_game {
    const pb_game *game;
    uint32_t count; /* needed nodes */
    pb_node *node;
    uint32_t *index;        /* per node of the graph, or UINT32_MAX */
    uint64_t room;          /* the cap minus what is always in use */
    uint64_t max_space;     /* largest workspace */
    uint64_t all;           /* sizes of all nodes together */
    uint64_t min_work;      /* everything once */
    uint64_t min_cost;      /* of a node */
    uint64_t step_literals; /* of the formula of a step, without memory */
    uint32_t min_steps;
} pbi_rev_game;

/* False when memory is exhausted. */
bool pbi_rev_game_init(pbi_rev_game *r, const pb_game *game, pb_arena *arena);

typedef struct pbi_rev_formula {
    pbi_sat sat;
    const pbi_rev_game *r;
    pb_arena *arena;
    uint32_t steps;
    int *resident;  /* resident[t * count + i]: node i is resident after t steps */
    pbi_sums extra; /* work beyond the least; with has_extra */
    bool has_extra;
    pb_status halted; /* PB_OK, or why it is incomplete */
    bool restricted;  /* the number of computations of a node is limited: the absence of a plan proves nothing */
} pbi_rev_formula;

/* From the start to the end in at most this many steps. False: out of memory, or no solver. pbi_sat_full(&f->sat) is
 * true if it is too large. */
bool pbi_rev_formula_open(pbi_rev_formula *f, pb_context *ctx, const pbi_rev_game *r, uint32_t steps,
                          uint64_t max_literals, pb_arena *arena);
void pbi_rev_formula_close(pbi_rev_formula *f);
/* From now on only plans with less work than that. */
bool pbi_rev_formula_less_work(pbi_rev_formula *f, uint64_t work);
/* The plan of a satisfied formula; adds its moves to `moves`. */
pb_status pbi_rev_formula_plan(const pbi_rev_formula *f, pb_moves *moves, uint64_t *work, uint64_t *peak);

/* Is there a path of this many steps to the end that never visits a state twice? If not, every state that leads to the
 * end does so in fewer steps. */
bool pbi_rev_formula_open_path(pbi_rev_formula *f, pb_context *ctx, const pbi_rev_game *r, uint32_t steps,
                               uint64_t max_literals, pb_arena *arena);

#endif
