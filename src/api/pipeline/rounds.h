/* rounds.h -- which strategy a portfolio runs next, and with how much effort.
 *
 *     count = pbi_turns_make(game, traits, turns);
 *     for each round, for each turn: if (pbi_turn_is_due(&r, &turns[i], was_cut, round)) run with pbi_turn_effort(...)
 *
 * Everything here follows from the traits of strategies.def, the size and shape of the graph, and the best plan so far.
 */
#ifndef PBI_API_PIPELINE_ROUNDS_H
#define PBI_API_PIPELINE_ROUNDS_H

#include "plan/strategy.h"

/* A strategy to run. `fast`: for plans in fast memory alone, in the tiered game. */
typedef struct pbi_turn {
    const pb_strategy *row;
    bool fast;
} pbi_turn;
enum { PBI_MAX_TURNS = 2 * PBI_STRATEGY_COUNT };

/* First every strategy runs. Then those that ran out of effort run again, while that is likely to pay. */
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
    double gap;   /* a plan within this share of the bound is enough */
    bool patient; /* use all the time or ticks that are allowed */

    /* The best plan so far. */
    pb_outcome outcome; /* PB_GAVE_UP: none */
    uint64_t makespan;
    bool uses_slow; /* it stores or loads */

    bool exact_cut; /* an exact strategy ran out of effort in the first round */
} pbi_rounds;

/* Fills `turns` with the strategies of the game that have all of `traits`, in their order. Returns their number. */
uint32_t pbi_turns_make(const pb_game *game, unsigned traits, pbi_turn turns[PBI_MAX_TURNS]);
/* Is nothing left to gain? The answer is proved, or, on a large graph, nearly proved. */
bool pbi_rounds_done(const pbi_rounds *r);
/* Should this turn run in this round? `was_cut`: it ran out of effort the last time. */
bool pbi_turn_is_due(const pbi_rounds *r, const pbi_turn *t, bool was_cut, pbi_round now);
/* Ticks for the turn; 0: as many as the caller allows. */
uint64_t pbi_turn_effort(const pbi_rounds *r, const pb_strategy *row, pbi_round now);
/* Bytes that the turn may use in addition to those in use; 0: any number. */
size_t pbi_turn_memory(const pbi_rounds *r);

#endif
