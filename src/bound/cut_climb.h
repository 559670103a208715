/* cut_climb.h -- good prices for several moments at once, by steps along the slopes.
 *
 * The bound is concave in all prices together. A first guess follows from the prices of memory alone: being resident is
 * worth no more than recomputing, and costs no more than the memory at the moment before. From there each step
 * follows a mean of the last slopes, towards a little more than the best bound so far.
 */
#ifndef PBI_CUT_CLIMB_H
#define PBI_CUT_CLIMB_H

#include "bound/cut_moments.h"

typedef struct pbi_climb {
    pbi_moments *m;
    int64_t best; /* INT64_MIN: nothing yet */
    bool impossible;
    double rate[PBI_MOMENTS]; /* prices of the best */
    double *link[PBI_MOMENTS];
    double *slope[PBI_MOMENTS]; /* recent means, indexed as `link`; */
    double rate_slope[PBI_MOMENTS];
    double *mean[PBI_MOMENTS]; /* of each value: how much of it was kept recently */
    double unit;               /* a typical size: the unit of memory slopes */
} pbi_climb;

bool pbi_climb_init(pbi_climb *c, pbi_moments *m, pb_arena *arena);
/* Starts at these prices of memory, with links guessed from them. */
void pbi_climb_guess(pbi_climb *c, const double *rate);
/* At most `steps` steps from the best prices; fewer if the steps become too small to matter. */
void pbi_climb_run(pbi_climb *c, uint32_t steps);

#endif
