/* rounds.h -- which strategy a portfolio asks next, and with how much effort.
 *
 *     count = pbi_turns_make(game, turns);
 *     for each round, for each turn: if (pbi_turn_is_due(&r, &turns[i], was_cut, round)) ask with pbi_turn_effort(...)
 *
 * Everything here follows from the traits of strategies.def, the size and shape of the graph, and the best plan so far.
 */
#ifndef PBI_API_PIPELINE_ROUNDS_H
#define PBI_API_PIPELINE_ROUNDS_H

#include "plan/strategy.h"

/* A strategy to ask; `fast`: for plans in fast memory alone, in the tiered game. */
typedef struct pbi_turn {
    const pb_strategy *row;
    bool fast;
} pbi_turn;
enum { PBI_MAX_TURNS = 2 * PBI_STRATEGY_COUNT };

/* A first try by all; then those that ran out of effort, while that seems to pay. */
typedef enum pbi_round {
    PBI_ROUND_FIRST,
    PBI_ROUND_SOON,
    PBI_ROUND_EXACT,
    PBI_ROUND_MORE,
    PBI_ROUND_ANYTIME,
    PBI_ROUND_LAST,
    PBI_ROUND_COUNT
} pbi_round;

typedef struct pbi_rounds {
    const pb_game *game;
    const pb_bounds *bounds;
    bool patient; /* use all the time or ticks there are */

    /* The best plan so far. */
    pb_outcome outcome; /* PB_GAVE_UP: none */
    uint64_t makespan;
    bool uses_slow; /* it stores or loads */

    bool exact_cut; /* an exact strategy ran out of effort in the first round */
} pbi_rounds;

/* The strategies of the game in their order; returns how many. */
uint32_t pbi_turns_make(const pb_game *game, pbi_turn turns[PBI_MAX_TURNS]);
/* Is there nothing left to gain: proved, or nearly proved on a large graph? */
bool pbi_rounds_done(const pbi_rounds *r);
/* Should it be asked in this round? `was_cut`: it ran out of effort when it was asked last. */
bool pbi_turn_is_due(const pbi_rounds *r, const pbi_turn *t, bool was_cut, pbi_round now);
/* Ticks for it, 0: as many as the caller allows. */
uint64_t pbi_turn_effort(const pbi_rounds *r, const pb_strategy *row, pbi_round now);
/* Bytes that it may take in addition to what is in use, 0: any. */
size_t pbi_turn_memory(const pbi_rounds *r);

#endif
