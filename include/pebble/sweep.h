/* sweep.h -- the results of a sweep over caps, strategies and weights. api.h makes one (pb_sweep_make), report.h writes
 * it.
 *
 * A plan found under a smaller cap is a plan under every larger one, so within a line (a strategy in its game) the cost
 * never increases with the cap, by construction. A portfolio also uses the plans of the other lines of its game.
 */
#ifndef PEBBLE_SWEEP_H
#define PEBBLE_SWEEP_H

#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PB_NO_CELL UINT32_MAX
enum { PB_SWEEP_GAMES = 4 };

/* A strategy in the game that it plays. */
typedef struct pb_sweep_line {
    const char *spec; /* as requested: "every-k:k=10" */
    pb_game_kind game;
    bool portfolio; /* its plans are those of other strategies */
} pb_sweep_line;

typedef struct pb_sweep_cell {
    bool present;                      /* false: a stop came before it, and no other cell's plan fits */
    pb_schedule schedule;              /* everything its file contains; outcome and reason if there is no plan */
    const pb_game *game;               /* as played; NULL if the cell is missing */
    const pb_certificate *certificate; /* NULL: no plan */
    uint32_t from;  /* the cell whose planning found the plan; PB_NO_CELL: known before, or there is none */
    bool planned;   /* false: decided by other cells */
    double seconds; /* of planning, by ctx->clock_ns */
} pb_sweep_cell;

/* Another strategy becomes the cheapest: between the caps `cap` and `cap + 1` (0-based, the second is smaller) with
 * the weights `weights`, or between the weights `weights` and `weights + 1` at one cap. */
typedef struct pb_sweep_flip {
    bool across_weights;
    uint32_t weights, cap;
    uint32_t before, after; /* the winning cells on both sides; PB_NO_CELL: nothing fits */
} pb_sweep_flip;

typedef struct pb_sweep {
    const pb_graph *graph;
    uint64_t program_peak; /* 100 % of caps */
    uint64_t borrow;       /* memory in addition to each cap that plans may borrow */
    const char *policy;    /* of the request; NULL: none. Not set in cells of strategies that take no policy */
    uint64_t *caps;        /* descending, no two equal */
    uint32_t cap_count;
    pb_sweep_line *lines;
    uint32_t line_count;
    pb_weights *weights;
    uint32_t weights_count;
    pb_sweep_cell *cells; /* [pb_sweep_at()] */
    uint32_t cell_count;

    pb_stop stopped; /* not PB_GO_ON: cells may be missing, or could be better */
    unsigned games;  /* pb_game_kind bits of the lines */
    /* For each game (index 0 remat, 1 reversible, 2 tiered, 3 timed): the proven minimum cap, and the smallest peak of
     * any plan here (in the timed game of the first memory), UINT64_MAX for none. */
    uint64_t proved_least[PB_SWEEP_GAMES], least_peak[PB_SWEEP_GAMES];

    /* Computed by pb_sweep_mark. */
    uint32_t *winner;     /* [weights * cap_count + cap]: a cell, PB_NO_CELL if nothing fits */
    uint32_t *cheapest;   /* [weights]: the cell with the lowest cost, PB_NO_CELL for none */
    uint32_t *front;      /* cells that no other beats in both peak and makespan, peak descending */
    uint32_t front_count; /* over all lines and weights */
    uint32_t knee;        /* a cell of the front; PB_NO_CELL if the front is straight or has fewer than three points */
    pb_sweep_flip *flips; /* across caps first, in the order of weights and caps; then across weights */
    uint32_t flip_count;
} pb_sweep;

/* The cell of weights w, line l and cap k, all 0-based. */
static inline uint32_t pb_sweep_at(const pb_sweep *s, uint32_t w, uint32_t l, uint32_t k)
{
    return (w * s->line_count + l) * s->cap_count + k;
}
static inline uint32_t pb_sweep_cap_of(const pb_sweep *s, uint32_t cell) { return cell % s->cap_count; }
static inline uint32_t pb_sweep_line_of(const pb_sweep *s, uint32_t cell)
{
    return cell / s->cap_count % s->line_count;
}
static inline uint32_t pb_sweep_weights_of(const pb_sweep *s, uint32_t cell)
{
    return cell / s->cap_count / s->line_count;
}

/* The strategy that a winning plan is credited to: the line's spec, or for a portfolio the strategy that made the
 * plan. */
const char *pb_sweep_winner_name(const pb_sweep *s, uint32_t cell);

/* Fills winners, front, knee and flips from the cells; their arrays come from `result`. pb_sweep_make calls it.
 *   winner   the lowest cost at a cap; in descending order of caps, the previous winner is kept if it costs no more, so
 *            that a tie is not a flip
 *   knee     the point of the front furthest below the straight line between its two ends, both axes scaled to the
 *            distance of the ends */
pb_status pb_sweep_mark(pb_sweep *s, pb_arena *result);

#ifdef __cplusplus
}
#endif
#endif
