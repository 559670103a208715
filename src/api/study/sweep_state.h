/* sweep_state.h -- a sweep in the making: what its cells have found by themselves, and what that shows of the others. */
#ifndef PBI_API_STUDY_SWEEP_STATE_H
#define PBI_API_STUDY_SWEEP_STATE_H

#include "api/pipeline/pipeline.h"

/* What planning one cell gave, before anything is carried over from other cells. */
typedef struct pbi_finding {
    bool tried, plan;     /* planned to an answer; the answer is a plan */
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

    /* Bounds by game and cap, [game * cap_count + cap]: the makespan, which holds under smaller caps too. */
    uint64_t *makespan;
    /* Bounds on the cost by weights, game and cap, likewise. */
    struct pbi_cost_bound {
        bool known;
        pb_u128 cost;
    } * cost;
    uint32_t no_plan[3];    /* by game: from this cap down none is feasible; cap_count: not known */
    uint32_t no_plan_at[3]; /* a cell that shows it */
} pbi_sweep_state;

static inline uint32_t pbi_game_at(pb_game_kind kind)
{
    return kind == PB_GAME_REMAT ? 0 : kind == PB_GAME_REVERSIBLE ? 1 : 2;
}

/* Room for the bounds, and nothing known. */
pb_status pbi_sweep_state_init(pbi_sweep_state *s, pb_arena *scratch);
/* Bounds and infeasibility from all findings so far. */
void pbi_sweep_share(pbi_sweep_state *s);
/* Do other cells' findings settle this one: proved infeasible, or a plan at hand that meets the bound? */
bool pbi_sweep_settled(const pbi_sweep_state *s, uint32_t cell);
/* Every cell of the result from the findings, verified. PB_EBUG when a plan passes a bound. */
pb_status pbi_sweep_conclude(pbi_sweep_state *s);

#endif
