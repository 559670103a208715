/* offload_all.c -- program order, and every value that is not read for a while leaves memory and comes back.
 *
 * Problem     the usual way to offload: nothing is recomputed.
 * Idea        a value leaves memory if its next use is more than `after` computations away. It is copied out as soon as
 *             it is made, and fetched as early as there is room. Several distances are tried; the shortest makespan
 *             counts.
 * Invariants  every needed node is computed once, in program order.
 * Cost        O(nodes + edges) for each distance.
 * Source      torch's save_on_cpu, torchtune's activation offloading with prefetch.
 * Limits      the link is the limit where it is slow: nothing is chosen by size.
 */
#include "plan/lanes/lanes.h"

#include "base/context.h"

/* Fetches what is not read for more than `after` computations. */
static void fetch_far(const pbi_lanes *l, pbi_lanes_plan *p, uint32_t after)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t k = 0, use = l->facts.use_start[i]; use < l->facts.use_start[i + 1]; k++, use++) {
            uint32_t from = l->facts.from[use], length = from == PBI_AT_START ? i : i - from - 1;
            if (length > after && k < PBI_LANES_MAX_FETCH)
                p->step[i].fetch |= UINT64_C(1) << k;
        }
}

static uint64_t try_distance(const pbi_lanes *l, pbi_lanes_plan *p, uint32_t after)
{
    pbi_lanes_program(l, p);
    if (!pbi_lanes_check(l, p))
        return UINT64_MAX;
    fetch_far(l, p, after);
    return pbi_lanes_check(l, p) && pbi_lanes_fits(l, p) ? pbi_lanes_decode(l, p, NULL, NULL) : UINT64_MAX;
}

pb_status pbi_plan_offload_all(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_lanes l;
    pbi_lanes_plan p;
    bool applies;
    uint64_t chosen = UINT64_MAX, best = UINT64_MAX;
    pb_status status = pbi_option_number(ctx, options, "after", 0, UINT32_MAX - 1, &chosen);
    if (status == PB_OK)
        status = pbi_lanes_init(&l, game, &scratch, plan, &applies);
    if (status == PB_OK && applies && !pbi_lanes_new(&l, &scratch, &p))
        status = PB_ENOMEM;
    uint64_t first = chosen == UINT64_MAX ? 1 : chosen, last = chosen == UINT64_MAX ? game->graph->order_count : chosen;
    for (uint64_t after = first; status == PB_OK && applies && after <= last; after *= 2) {
        uint64_t makespan = try_distance(&l, &p, (uint32_t)after);
        if (makespan < best) {
            best = makespan;
            chosen = after;
        }
        status = pbi_tick(ctx, 1 + p.count);
        if (!after)
            break;
    }
    if (status == PB_OK && applies && best == UINT64_MAX)
        status = pbi_plan_give_up(plan, "the cap is too small for program order, even if everything leaves memory");
    else if (status == PB_OK && applies && try_distance(&l, &p, (uint32_t)chosen) == best)
        status = pbi_lanes_emit(&l, &p, plan);
    if (status == PB_OK && plan->outcome == PB_FOUND)
        status = pbi_plan_record_number(plan, "after", chosen);
    pb_arena_release(&scratch);
    return status;
}
