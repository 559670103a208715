/* sweep_state.h -- a sweep in progress: what its cells have found, and what that proves about the others. */
#ifndef PBI_API_STUDY_SWEEP_STATE_H
#define PBI_API_STUDY_SWEEP_STATE_H

#include "api/pipeline/pipeline.h"

/* The result of planning one cell, without results of other cells. */
typedef struct pbi_finding {
    bool tried, plan;     /* planning finished; it found a plan */
    pb_schedule schedule; /* in the result's arena; not yet verified there */
    double seconds;
} pbi_finding;

typedef struct pbi_sweep_state {
    pb_context *ctx;
    const pb_game *base;
    const pb_sweep_request *request;
    pb_arena *result;
    pb_sweep *out;
    pbi_job job;           /* for the main thread; workers copy it */
    pb_request plan;       /* the request of every cell */
    const pbi_spec *specs; /* [line] */
    pbi_finding *found;    /* [cell] */

    /* Bounds on the makespan by game and cap, [game * cap_count + cap], which also apply under smaller caps. */
    uint64_t *makespan;
    /* Bounds on the cost by weights, game and cap, likewise. */
    struct pbi_cost_bound {
        bool known;
        pb_u128 cost;
    } * cost;
    pb_bounds least[PB_SWEEP_GAMES];  /* by game: bounds under any cap, for the games that are played */
    uint32_t no_plan[PB_SWEEP_GAMES]; /* by game: this cap and all smaller ones are infeasible; cap_count: not known */
    uint32_t no_plan_at[PB_SWEEP_GAMES]; /* a cell that proves it */
} pbi_sweep_state;

static inline uint32_t pbi_game_at(pb_game_kind kind)
{
    return kind == PB_GAME_REMAT ? 0 : kind == PB_GAME_REVERSIBLE ? 1 : kind == PB_GAME_TIERED ? 2 : 3;
}

/* Checks the request and fills in caps, weights, lines and the number of cells. `ctx`, `base`, `request`, `result` and
 * `out` are set before; ctx->tick_limit is the limit of each plan. */
pb_status pbi_sweep_begin(pbi_sweep_state *s);

/* What planning a cell may start from, each NULL for nothing. Without it the plan depends on the cell alone. */
typedef struct pbi_cell_help {
    const pb_moves *start;  /* a plan under a larger cap */
    pbi_bound_cache *cache; /* bounds of cells with the same cap and weights */
} pbi_cell_help;
/* Plans one cell, with any context. */
pb_status pbi_sweep_plan(const pbi_sweep_state *s, uint32_t cell, const pbi_cell_help *help, pb_context *ctx,
                         pb_arena *arena, pb_plan_result *out);
/* The answer of a cell whose planning failed with the message in ctx->error: gave up. */
pb_status pbi_sweep_failed(const pbi_sweep_state *s, uint32_t cell, pb_context *ctx, pb_arena *arena,
                           pb_plan_result *out);

/* The game of a cell. In the timed game the machine has the cell's cap; it is in `arena`. */
pb_status pbi_sweep_game(const pbi_sweep_state *s, uint32_t cell, pb_arena *arena, pb_game *out);
/* Allocates cells and bounds, with nothing known. */
pb_status pbi_sweep_state_init(pbi_sweep_state *s, pb_arena *scratch);
/* Fills `least`. Runs before planning, which may use up the time: the bounds would then be weaker than those of other
 * commands. */
pb_status pbi_sweep_prove_least(pbi_sweep_state *s);
/* Bounds and infeasibility from all results so far. */
void pbi_sweep_share(pbi_sweep_state *s);
/* Whether results of other cells decide this one: proved infeasible, or a known plan meets the bound. */
bool pbi_sweep_decided(const pbi_sweep_state *s, uint32_t cell);
/* Every cell of the sweep from the results, verified. PB_EBUG if a plan beats a bound. */
pb_status pbi_sweep_conclude(pbi_sweep_state *s);
/* The last pass: pbi_sweep_conclude, and winners, front and flips. */
pb_status pbi_sweep_end(pbi_sweep_state *s);

#endif
