/* trials.h -- plans for several choices of a method's numbers; the cheapest that fits is kept.
 *
 *     pbi_trials t;
 *     pbi_trials_init(&t, ctx, game, make, state);
 *     for (... choices ... && status == PB_OK)
 *         status = pbi_trials_try(&t, (pbi_choice){k}, &result);
 *     status = pbi_trials_finish(&t, status, plan);      always, also after an error
 *     if (t.fits) ... t.best is the choice ...
 */
#ifndef PBI_PLAN_SEQUENCE_TRIALS_H
#define PBI_PLAN_SEQUENCE_TRIALS_H

#include "plan/sequence/sequence.h"

enum { PBI_CHOICE = 3 };

/* The method defines what the numbers mean. */
typedef struct pbi_choice {
    uint64_t number[PBI_CHOICE];
} pbi_choice;

/* Appends the computations of a choice to `s`; scratch and result in `arena`. PB_ELIMIT: too many computations. */
typedef pb_status (*pbi_trial_maker)(void *state, const pbi_choice *choice, pb_arena *arena, pbi_sequence *s);

typedef enum pbi_trial {
    PBI_TRIAL_FITS,
    PBI_TRIAL_TOO_LARGE,
    PBI_TRIAL_TOO_LONG, /* above the limit on computations, or above 64 bits */
} pbi_trial;

typedef struct pbi_trials {
    pb_context *ctx;
    const pb_game *game;
    pbi_trial_maker make;
    void *state;
    uint32_t tried, too_long;
    uint64_t least_peak; /* of those that were not too long */

    bool fits; /* some plan fits; then the following are set */
    pb_arena arena;
    pbi_sequence s;
    pbi_figures f;
    pbi_choice best;
} pbi_trials;

void pbi_trials_init(pbi_trials *t, pb_context *ctx, const pb_game *game, pbi_trial_maker make, void *state);
/* *peak may be NULL; it is set unless the trial was too long. */
pb_status pbi_trials_try(pbi_trials *t, pbi_choice choice, pbi_trial *result, uint64_t *peak);
/* Is there a plan that computes nothing twice, under weights for work alone? No other is cheaper. */
bool pbi_trials_done(const pbi_trials *t);
/* Writes the best plan, also after a stop, or gives up and reports the smallest peak. Releases everything but
 * figures. */
pb_status pbi_trials_finish(pbi_trials *t, pb_status status, pbi_plan *plan);

#endif
