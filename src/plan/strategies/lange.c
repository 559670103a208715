/* lange.c -- the fewest values at a time that a chain allows, whatever the work.
 *
 * Problem     compute the end of a chain reversibly in the least memory.
 * Idea        Lange, McKenzie and Tapp reverse a computation in no extra space by touring its configurations; that
 *             takes the steps apart and is not a pebbling. The pebbling closest to it is the recursion with the
 *             fewest pebbles, one more than log2 of the length, and of those plans the one with the fewest moves.
 * Invariants  as in knill.c; the cap does not change the plan, it only decides whether the plan is accepted.
 * Cost        O(moves): about n^1.5 of them.
 * Source      Lange, McKenzie, Tapp, "Reversible space equals deterministic space", 2000; Knill, 1995.
 * Limits      if sizes differ, the least memory of the recursion, not of all plans.
 */
#include "plan/reversible/line/best_cuts.h"

#include "base/context.h"

static pb_status plan_line(pb_context *ctx, const pb_game *game, const pbi_line *line, uint64_t limit,
                           pb_arena *scratch, pbi_plan *plan)
{
    pbi_best_cuts k;
    pbi_reversible r;
    enum { EFFORT = 100000000 };
    pb_status status = pbi_best_cuts_init(ctx, &k, line, EFFORT, scratch);
    if (status != PB_OK)
        return status;
    uint64_t memory = pbi_best_cuts_min_memory(&k);
    if (memory == UINT64_MAX && k.overflow)
        return pbi_fail(ctx, PB_ERANGE, "the work of every plan found exceeds 2^64; use a coarser cost unit");
    if (memory == UINT64_MAX)
        return pbi_plan_give_up(plan, "does not fit: even the plan with the fewest values exceeds the cap");
    status = pbi_reversible_init(&r, ctx, game, plan, limit, scratch);
    if (status == PB_OK)
        status = pbi_best_cuts_play(&k, &r, memory, scratch);
    if (status == PB_OK && r.f.overflow)
        return pbi_fail(ctx, PB_ERANGE, "the work of the plan exceeds 2^64; use a coarser cost unit");
    if (status == PB_OK)
        pbi_reversible_finish(&r);
    return status;
}

pb_status pbi_plan_lange(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pbi_line line;
    bool is_line;
    uint64_t limit;
    pb_status status = pbi_option_limit(ctx, options, game->graph, &limit);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = pbi_line_read(game, &scratch, plan, &line, &is_line);
    if (status == PB_OK && is_line) {
        if (line.count)
            status = plan_line(ctx, game, &line, limit, &scratch, plan);
        else
            plan->outcome = PB_FOUND;
    }
    pb_arena_release(&scratch);
    return status == PB_OK && is_line ? pbi_plan_record_number(plan, "limit", limit) : status;
}
