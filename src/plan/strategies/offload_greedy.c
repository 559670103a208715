/* offload_greedy.c -- program order; where memory is too small, values leave it by a fixed rule.
 *
 * Problem     offloading everything takes as long as the link does; only what does not fit has to leave.
 * Idea        one pass over the computations: where memory is too small, kept values are copied out until their next
 *             use, by size (the largest first), by distance (the one whose next use is farthest away), or by cost:
 *             those that cost least for each unit of memory, recomputed if that takes less time than a copy.
 * Invariants  every needed node is computed in program order; what is recomputed is read at once.
 * Cost        O((nodes + edges) log edges) for each pass; recomputations need a few passes.
 * Source      L. Belady, "A study of replacement algorithms", 1966, for the distance; the others are folklore.
 * Limits      the choices do not see the links: a copy counts as if it were alone.
 */
#include "plan/lanes/lanes.h"

#include "base/context.h"

#include <string.h>

static const char *const names[] = {"size", "distance", "cost"};
static const pbi_lanes_relief reliefs[] = {PBI_RELIEF_LARGEST, PBI_RELIEF_FARTHEST, PBI_RELIEF_CHEAPEST};
enum { RULES = 3 };

static uint64_t try_rule(const pbi_lanes *l, pbi_lanes_plan *p, uint32_t rule, pb_arena *scratch)
{
    pbi_lanes_program(l, p);
    return pbi_lanes_sweep(l, p, reliefs[rule], scratch) ? pbi_lanes_decode(l, p, NULL, NULL) : UINT64_MAX;
}

static pb_status plan_by(pb_context *ctx, const pbi_lanes *l, uint32_t rule, pb_arena *scratch, pbi_plan *plan)
{
    pbi_lanes_plan p, best;
    uint64_t makespan = UINT64_MAX;
    uint32_t chosen = 0;
    if (!pbi_lanes_new(l, scratch, &p) || !pbi_lanes_new(l, scratch, &best))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < RULES; i++) {
        uint64_t time = rule == RULES || rule == i ? try_rule(l, &p, i, scratch) : UINT64_MAX;
        if (time < makespan) {
            makespan = time;
            chosen = i;
            pbi_lanes_copy(&best, &p);
        }
    }
    if (makespan == UINT64_MAX)
        return pbi_plan_give_up(plan, "program order does not fit the cap with copies that are chosen by this rule");
    pb_status status = pbi_tick(ctx, 1 + best.count);
    if (status == PB_OK)
        status = pbi_lanes_emit(l, &best, plan);
    return status == PB_OK ? pbi_plan_record(plan, "by", names[chosen]) : status;
}

pb_status pbi_plan_offload_greedy(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_lanes l;
    bool applies;
    const char *by = pbi_option_find(options, "by");
    uint32_t rule = 0;
    while (by && rule < RULES && strcmp(by, names[rule]) != 0)
        rule++;
    if (by && rule == RULES && strcmp(by, "auto") != 0)
        return pbi_fail(ctx, PB_EINVAL, "by=%.40s: expected auto, size, distance or cost", by);
    rule = by ? rule : RULES;
    pb_status status = pbi_lanes_init(&l, game, &scratch, plan, &applies);
    if (status == PB_OK && applies)
        status = plan_by(ctx, &l, rule, &scratch, plan);
    pb_arena_release(&scratch);
    return status;
}
