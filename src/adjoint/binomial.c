/* binomial.c -- the cost of binomial checkpointing, in closed form.
 *
 * Griewank and Walther, Algorithm 799, ACM TOMS 26 (2000): with r the smallest number such that l <= beta(s, r), the
 * minimum of forward steps in addition to the l taped ones is t = r*l - beta(s+1, r-1). Among the schedules that
 * reach it the minimum of snapshots written, including state 0, is max(beta(s-1, r-1), l - beta(s, r-1)) for l >=
 * 2: constant from beta(s, r-1) up to beta(s, r-1) + beta(s-1, r-1) steps, then one more for each step
 * (tests/unit/test_binomial.c has the dynamic program). Every snapshot is released by one Move, every step except
 * the first to be reversed follows a Copy or Move, and every Copy is followed by one advance: so there are 4*l actions.
 */
#include "adjoint/binomial.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>

pbi_binomial pbi_binomial_of(uint64_t length, uint64_t s)
{
    int64_t slots = (int64_t)(s < PB_REVOLVE_MAX_STEPS ? s : PB_REVOLVE_MAX_STEPS);
    int64_t below = -1, reps = (int64_t)length - 1; /* beta(1, length - 1) = length */
    while (reps - below > 1) {
        int64_t middle = below + (reps - below) / 2;
        if (pbi_beta(slots, middle) < length)
            below = middle;
        else
            reps = middle;
    }
    return (pbi_binomial){(uint64_t)reps, pbi_beta(slots, reps), pbi_beta(slots, reps - 1)};
}

/* r*l - beta(s+1, r-1). The second term is beta(s, r-1) * (s+r) / (s+1); from r = 3 on s + 1 is below 2^32. */
static pb_u128 extra_steps(uint64_t l, uint64_t s, const pbi_binomial *b)
{
    uint64_t r = b->reps;
    if (r <= 1)
        return pbi_u128(l - 1);
    pb_u128 sum = pbi_u128_product(r, l), less = pbi_u128(s + 2);
    uint32_t rest;
    if (r > 2)
        less = pbi_u128_divide(pbi_u128_product(b->low, s + r), (uint32_t)(s + 1), &rest);
    return (pb_u128){sum.high - less.high - (sum.low < less.low), sum.low - less.low};
}

pb_status pb_revolve_count(pb_context *ctx, uint64_t steps, uint64_t snapshots, pb_revolve_cost *out)
{
    if (steps > PB_REVOLVE_MAX_STEPS)
        return pbi_fail(ctx, PB_ERANGE, "%" PRIu64 " steps are too many; use at most 10^15", steps);
    if (steps > 1 && snapshots == 0)
        return pbi_fail(ctx, PB_EINVAL, "reversing %" PRIu64 " steps needs at least one snapshot, for state 0; add one",
                        steps);
    if (steps <= 1) {
        *out = (pb_revolve_cost){.forward_steps = pbi_u128(steps), .actions = steps ? 4 : 2};
        return PB_OK;
    }
    uint64_t s = snapshots < steps - 1 ? snapshots : steps - 1; /* more are never used */
    pbi_binomial b = pbi_binomial_of(steps, s);
    uint64_t flat = pbi_beta((int64_t)s - 1, (int64_t)b.reps - 1);
    *out = (pb_revolve_cost){.forward_steps = extra_steps(steps, s, &b),
                             .writes = flat > steps - b.low ? flat : steps - b.low,
                             .reads = steps - 1,
                             .actions = 4 * steps,
                             .repetitions = b.reps};
    pbi_u128_add(&out->forward_steps, pbi_u128(steps));
    return PB_OK;
}
