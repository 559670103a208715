/* exact.c -- the strategy `exact` in the reversible game: where it starts, and what it reports. */
#include "plan/reversible/exact/exact.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>

typedef struct tally {
    uint64_t peak, work, memory;
    bool overflow;
} tally;

/* Peak and work of a legal schedule. */
static bool measure(const pb_game *game, const pb_moves *moves, pb_arena *scratch, tally *t)
{
    const pb_graph *g = game->graph;
    bool *resident = pb_arena_zero(scratch, g->node_count, sizeof *resident);
    if (!resident)
        return false;
    *t = (tally){.memory = g->fixed_size};
    for (pb_node v = 0; v < g->node_count; v++)
        t->memory += g->flags[v] & PB_NODE_GIVEN ? g->size[v] : 0;
    t->peak = t->memory;
    for (pb_step k = 0; k < moves->count; k++) {
        pb_node v = moves->move[k].node, over = pb_moves_over(moves, k);
        uint32_t count;
        const pb_node *also = pb_moves_also(moves, k, &count);
        bool removes = moves->move[k].op == PB_UNCOMPUTE;
        uint64_t made = removes || resident[v] ? 0 : g->size[v], gone = removes ? g->size[v] : 0;
        uint64_t taken = over == PB_NO_NODE ? 0 : g->size[over], saved = made < taken ? made : taken;
        for (uint32_t i = 0; i < count; i++) {
            resident[also[i]] = true;
            made += g->size[also[i]];
        }
        resident[v] = !removes;
        if (over != PB_NO_NODE)
            resident[over] = false;
        uint64_t during = t->memory + made - saved + g->workspace[v];
        t->peak = during > t->peak ? during : t->peak;
        t->memory += made - taken - gone;
        t->overflow = t->overflow || !pbi_add(t->work, g->cost[v], &t->work);
    }
    return true;
}

pb_status pbi_rev_copy(const pb_moves *from, pb_moves *to)
{
    pb_status status = PB_OK;
    for (pb_step k = 0; k < from->count && status == PB_OK; k++) {
        const pb_move *move = &from->move[k];
        uint32_t count;
        const pb_node *also = pb_moves_also(from, k, &count);
        if (move->op == PB_COMPUTE)
            status = pb_moves_add_compute(to, move->node, pb_moves_over(from, k), also, count);
        else
            status = pb_moves_add(to, PB_UNCOMPUTE, move->node, 0);
    }
    return status;
}

/* The work of the plan to start from if that fits. Not with weights on memory: among plans with equal work it may be
 * the best known for its work, not for its cost. */
pb_status pbi_rev_use_start(pb_context *ctx, const pb_game *game, const pb_moves *start, uint64_t *known)
{
    pb_arena scratch;
    tally t;
    *known = PBI_REV_NEVER;
    if (!start || game->weights.alpha || game->weights.beta)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    bool measured = measure(game, start, &scratch, &t);
    pb_arena_release(&scratch);
    if (measured && !t.overflow && t.peak <= game->cap)
        *known = t.work;
    return measured ? PB_OK : PB_ENOMEM;
}

static pb_status conclude(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                          const pbi_rev_answer *a, pbi_plan *plan)
{
    const pb_weights *w = &game->weights;
    if (a->end == PBI_REV_INFEASIBLE && a->overflow)
        return pbi_fail(ctx, PB_ERANGE, "the work of every plan found exceeds 2^64; use a coarser cost unit");
    if (a->end == PBI_REV_INFEASIBLE) {
        pb_status status = pbi_plan_give_up(plan, "an exhaustive search found that no plan fits the cap");
        plan->outcome = PB_INFEASIBLE;
        return status;
    }
    plan->lower_bound = a->bound;
    if (a->work == PBI_REV_NEVER && a->status != PB_OK)
        return a->status;
    if (a->work == PBI_REV_NEVER)
        return pbi_fail(ctx, PB_ELIMIT, "limit hit: no plan among the first %" PRIu64 " states; raise its option limit",
                        a->states);
    pb_status status = a->own ? PB_OK : pbi_rev_copy(options->start, &plan->moves);
    plan->outcome = PB_FOUND;
    if (status != PB_OK || a->end != PBI_REV_PROVED)
        return status;
    if (!w->alpha && !w->beta)
        plan->outcome = PB_OPTIMAL;
    return pbi_plan_note(plan, "no plan has less work (proved in %" PRIu64 " state%s)", a->states,
                         a->states == 1 ? "" : "s");
}

pb_status pbi_plan_exact_reversible(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                                    uint64_t limit, pbi_plan *plan)
{
    pbi_rev_sets m;
    pbi_rev_answer answer;
    pbi_search_limits limits = {.bound = options->bounds->makespan, .bytes = limit};
    if (!pbi_rev_sets_init(&m, game))
        return pbi_plan_give_up(plan, "too large: more than %d values and once-only nodes", PBI_REV_BITS);
    pb_status status = pbi_rev_use_start(ctx, game, options->start, &limits.known);
    if (status == PB_OK)
        status = pbi_rev_solve(ctx, &m, &limits, &plan->moves, &answer);
    if (status == PB_OK)
        status = conclude(ctx, game, options, &answer, plan);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
