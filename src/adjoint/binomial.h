/* binomial.h -- the numbers of binomial checkpointing, and streams over a part of the steps.
 *
 * beta(s, r) = C(s + r, s) is the largest number of steps that s snapshots can reverse while no step is run more than r
 * times without being taped. For `length` steps, r is the smallest number with length <= beta(s, r).
 */
#ifndef PBI_BINOMIAL_H
#define PBI_BINOMIAL_H

#include "base/checked.h"
#include "pebble/adjoint.h"

/* beta around a segment; numbers above 2^63 are saturated. */
typedef struct pbi_binomial {
    uint64_t reps; /* r */
    uint64_t top;  /* beta(s, r) */
    uint64_t low;  /* beta(s, r-1), 0 for r = 0 */
} pbi_binomial;

/* For 1 <= length <= PB_REVOLVE_MAX_STEPS and s >= 1. */
pbi_binomial pbi_binomial_of(uint64_t length, uint64_t s);

/* Starts a stream over steps start .. start+length-1 out of `steps`, with state `start` in the working state and
 * slots first_slot .. first_slot+slots-1 free. EndForward follows the tape of step steps-1; the caller adds
 * EndReverse. `level` has room for `slots` records. */
void pbi_revolve_start(pb_revolve *stream, uint64_t start, uint64_t length, uint32_t slots);

struct pb_revolve_level {
    uint64_t start, length; /* the remaining part of the segment whose start is in the slot */
    uint32_t reps;
    uint8_t shape;
};

#endif
