/* evicting.c -- see evicting.h.
 *
 * Which larger cap? Many strategies choose their settings by it: under no cap at all they all keep everything, and
 * evictions would decide alone. So the caps rise from the one that is asked for, and the first plan that can be
 * followed is taken.
 */
#include "api/pipeline/evicting.h"

#include "base/checked.h"
#include "base/context.h"
#include "plan/evict/demand.h"

#include <string.h>

static bool begins_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* Would more memory help this strategy? */
static bool lacks_memory(const pbi_plan *plan)
{
    const char *reason = plan->reason ? plan->reason : "";
    return plan->outcome == PB_GAVE_UP && !begins_with(reason, "does not apply") && !begins_with(reason, "too large");
}

/* A limit of its own ended the strategy, such as the number of computations: there is time to go on. */
static bool is_own_limit(const pb_context *ctx, pb_status status)
{
    return status == PB_ELIMIT && (!ctx->tick_limit || ctx->ticks <= ctx->tick_limit) && ctx->stopped == PB_GO_ON;
}

static pb_status ask_for(const pbi_task *t, uint64_t cap, pbi_plan *wide)
{
    pb_game game = *t->game;
    pb_bounds bounds;
    pbi_task task = *t;
    game.cap = cap;
    task.game = &game;
    task.bounds = &bounds;
    pb_status status = pb_bounds_make(t->job->ctx, &game, &bounds);
    return status == PB_OK ? pbi_run_strategy(&task, wide) : status;
}

/* Follows the computations of `wide` under the task's cap. */
static pb_status follow(const pbi_task *t, pbi_policy policy, const pbi_plan *wide, pbi_plan *out)
{
    pb_context *ctx = t->job->ctx;
    pbi_plan_options none = {.option_count = 0};
    pbi_demand_options demand = {.policy = policy, .seed = t->job->request->seed, .follow = &wide->moves};
    bool reversible = t->game->kind == PB_GAME_REVERSIBLE;
    pb_status status = reversible ? pbi_option_limit(ctx, &none, t->game->graph, &demand.limit)
                                  : pbi_option_computations(ctx, &none, t->game->graph, &demand.limit);
    if (status != PB_OK)
        return status;
    if (demand.limit < 2 * wide->moves.count)
        demand.limit = 2 * wide->moves.count;
    status =
        reversible ? pbi_demand_reversible(ctx, t->game, &demand, out) : pbi_demand_forward(ctx, t->game, &demand, out);
    return is_own_limit(ctx, status) ? pbi_plan_give_up(out, "%s", ctx->error.message) : status;
}

static pb_status take(const pbi_task *t, uint64_t cap, pbi_policy policy, const pbi_plan *wide, pbi_plan *out)
{
    char text[80];
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < wide->option_count && status == PB_OK; i++)
        status = pbi_plan_record(out, wide->options[i].key, wide->options[i].value);
    out->policy = pbi_policy_name(policy);
    if (status != PB_OK)
        return status;
    if (cap == PB_UNLIMITED)
        return pbi_plan_note(out, "its plan for any amount of memory, with values evicted by the policy %s",
                             out->policy);
    pb_amount_text(cap, t->game->graph->size_unit, text, sizeof text);
    return pbi_plan_note(out, "its plan for %s, with values evicted by the policy %s", text, out->policy);
}

/* Tries one larger cap. *done: `out` has a plan. */
static pb_status try_cap(const pbi_task *t, uint64_t cap, pbi_policy policy, pbi_plan *out, bool *done)
{
    pb_context *ctx = t->job->ctx;
    pb_arena scratch;
    pbi_plan wide;
    pb_arena_init(&scratch, ctx);
    pbi_plan_reset(&wide, &scratch);
    pb_status status = ask_for(t, cap, &wide);
    bool has = status == PB_OK && (wide.outcome == PB_FOUND || wide.outcome == PB_OPTIMAL);
    if (is_own_limit(ctx, status))
        status = PB_OK;
    if (has)
        status = follow(t, policy, &wide, out);
    *done = has && status == PB_OK && out->outcome == PB_FOUND;
    if (*done)
        status = take(t, cap, policy, &wide, out);
    pb_arena_release(&scratch);
    return status;
}

pb_status pbi_plan_evicting(const pbi_task *t, pb_status status, pbi_plan *plan)
{
    static const unsigned quarters[] = {5, 6, 8, 12, 16, 0}; /* of the cap; 0: no cap */
    pb_context *ctx = t->job->ctx;
    const char *name = t->spec->policy ? t->spec->policy : t->job->request->policy;
    pbi_policy policy;
    if (!name || t->spec->row->takes_policy || t->job->in_portfolio || !pbi_policy_parse(name, &policy))
        return status;
    if (is_own_limit(ctx, status))
        status = pbi_plan_give_up(plan, "%s", ctx->error.message);
    if (status != PB_OK || !lacks_memory(plan))
        return status;
    plan->policy = pbi_policy_name(policy);
    if (policy == PBI_ABORT)
        return PB_OK;
    pbi_plan last;
    bool done = false;
    for (size_t i = 0; i < sizeof quarters / sizeof *quarters && status == PB_OK && !done; i++) {
        uint64_t cap = PB_UNLIMITED;
        if (quarters[i] && !pbi_mul_div_up(t->game->cap, quarters[i], 4, &cap))
            cap = PB_UNLIMITED;
        pbi_plan_reset(&last, plan->arena);
        status = try_cap(t, cap, policy, &last, &done);
    }
    if (done)
        *plan = last;
    if (status == PB_OK && !done)
        status = pbi_plan_give_up(plan, "%.300s; with evictions by the policy %s: %.300s", plan->reason, plan->policy,
                                  last.reason ? last.reason : "it has no plan for more memory either");
    return status == PB_ELIMIT ? PB_OK : status; /* ticks are used up: the first answer stands */
}
