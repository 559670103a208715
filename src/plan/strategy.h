/* strategy.h -- what every strategy receives and returns. One file and one row add a strategy:
 *
 *     pb_status pbi_plan_frontier(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
 *                                 pbi_plan *plan);
 *
 * A strategy appends moves to plan->moves and sets plan->outcome to PB_FOUND, or leaves PB_GAVE_UP and a reason. It
 * may also return PB_ELIMIT or PB_ECANCELLED when it has no plan. The pipeline verifies every plan and adds bounds,
 * metrics and claims of optimality.
 */
#ifndef PBI_STRATEGY_H
#define PBI_STRATEGY_H

#include "pebble/bound.h"
#include "pebble/plan.h"
#include "pebble/schedule.h"

enum { PBI_MAX_OPTIONS = 16 };

/* What a file says, for strategies with PB_TRAIT_FILE. The pipeline reads it. */
typedef struct pbi_given {
    const char *name;
    const char *text;
    size_t length;
    const pb_moves *moves; /* PB_TRAIT_MOVES: legal without a cap; NULL: `wrong` says which rule is broken */
    const char *wrong;
    pb_game_kind game; /* of the moves */
    uint64_t peak;     /* of the moves */
    pb_step over_step; /* the first move over the cap of the game that is played, if the peak is */
    pb_node over_node;
    uint64_t over_need;
} pbi_given;

typedef struct pbi_plan {
    pb_arena *arena; /* for texts that live as long as the plan */
    pb_moves moves;
    pb_outcome outcome;
    const char *reason;
    const char *note;     /* what the strategy recognized in the graph, a clause; NULL for none. See pbi_plan_note */
    uint64_t lower_bound; /* 0, or a lower bound on the work of every plan of the game, in any order */
    pb_step failed_step;  /* the move that could not fit, UINT64_MAX for none */
    pb_node failed_node;
    uint64_t failed_need; /* memory it needed */

    /* What the plan was really made with, recorded so that the same options give the same plan. */
    pb_option options[PBI_MAX_OPTIONS];
    uint32_t option_count;
    const char *policy;   /* NULL: none was used */
    const char *strategy; /* the strategy that made it, if that is not the one that was asked for; else NULL */
    bool as_asked;        /* the user chose what is computed when: no clean-up */
    bool least_memory;    /* the user asked for its peak: clean-up must not raise it, even if the cap has room */
} pbi_plan;

typedef struct pbi_plan_options {
    const char *policy; /* NULL: the strategy chooses */
    uint64_t seed;
    uint32_t threads;
    bool patient;             /* continue until time or ticks run out */
    double gap;               /* a plan that is proved to be within this share of the least work is enough */
    uint64_t end_ns;          /* 0, or when the context will stop, by its clock: for solvers that seldom poll */
    const pb_option *options; /* known keys only: the pipeline has checked them against the row */
    uint32_t option_count;
    const pb_bounds *bounds; /* of this game */
    const pbi_given *given;  /* NULL, or the file that the option `file` names */
    const pb_moves *start;   /* NULL, or a plan to start from; it need not fit the cap */

    const pb_moves *fast_start; /* the same in fast memory alone, if the game is tiered */
    /* Timed game: plans of the remat game on the first processor, the one for the cap first, if there is one, then
     * those for larger caps. */
    const pb_moves *sequential;
    uint32_t sequential_count;
    bool sequential_fits;   /* the first one is for the cap */
    const pb_moves *tiered; /* NULL, or a plan of the tiered game for the cap, with the first two memories */

    /* NULL, or a callback for each plan found on the way. The calling thread runs it, often, so it must be quick.
     * Plans need not be better than all before. */
    void (*better)(void *state, uint64_t peak, uint64_t makespan);
    void *better_state;
} pbi_plan_options;

typedef pb_status (*pbi_plan_function)(pb_context *, const pb_game *, const pbi_plan_options *, pbi_plan *);

#define STRATEGY(id, name, games, strength, traits, policy, summary, options) \
    pb_status pbi_plan_##id(pb_context *, const pb_game *, const pbi_plan_options *, pbi_plan *);
#define PORTFOLIO(name, games, strength, traits, policy, summary, options)
#include "plan/strategies.def"
#undef PORTFOLIO
#undef STRATEGY

enum {
    PBI_STRATEGY_COUNT = 0
#define STRATEGY(id, name, games, strength, traits, policy, summary, options) +1
#define PORTFOLIO(name, games, strength, traits, policy, summary, options) +1
#include "plan/strategies.def"
#undef PORTFOLIO
#undef STRATEGY
};

/* The function of a row of pb_strategies(); NULL for a portfolio. */
pbi_plan_function pbi_strategy_function(const pb_strategy *row);
/* A portfolio without traits tries every strategy, also those that prove. */
static inline bool pbi_tries_all(const pb_strategy *row) { return row->strength == PB_PORTFOLIO && !row->traits; }
/* The first row that plays all of `games` and has this strength, all of `traits` and none of `without`; NULL if there
 * is none. */
const pb_strategy *pbi_strategy_with(unsigned games, pb_strength strength, unsigned traits, unsigned without);

/* An option's value, or NULL. */
const char *pbi_option_find(const pbi_plan_options *options, const char *key);
/* A whole number from `min` to `max`. *number is the default: it remains when the key is absent or its value is "auto".
 * PB_EINVAL with a message otherwise. */
pb_status pbi_option_number(pb_context *ctx, const pbi_plan_options *options, const char *key, uint64_t min,
                            uint64_t max, uint64_t *number);

/* The option `limit`: how many moves (reversible game) or computations (other games) a plan may have before the
 * strategy gives up. */
pb_status pbi_option_limit(pb_context *ctx, const pbi_plan_options *options, const pb_graph *g, uint64_t *out);
pb_status pbi_option_computations(pb_context *ctx, const pbi_plan_options *options, const pb_graph *g, uint64_t *out);

/* Record an option with the plan. */
pb_status pbi_plan_record(pbi_plan *plan, const char *key, const char *value);
pb_status pbi_plan_record_number(pbi_plan *plan, const char *key, uint64_t value);

/* Note what the plan relies on in the graph, as a clause (printf style): "the graph is an adjoint chain of 100 equal
 * steps". It is shown behind the strategy's name and kept with the schedule. An exact row without a note is assumed
 * to rely on the graph's shape. Returns PB_OK, or PB_ENOMEM. */
pb_status pbi_plan_note(pbi_plan *plan, const char *format, ...);

/* Give up with a sentence (printf style). Returns PB_OK, or PB_ENOMEM. */
pb_status pbi_plan_give_up(pbi_plan *plan, const char *format, ...);
/* Give up because move `step` on node v needs `need`. */
pb_status pbi_plan_over_cap(pbi_plan *plan, const pb_game *game, pb_step step, const char *word, pb_node v,
                            uint64_t need);

/* Forget the plan, keep the arena. */
void pbi_plan_reset(pbi_plan *plan, pb_arena *arena);

#endif
