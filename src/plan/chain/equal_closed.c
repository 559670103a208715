/* equal_closed.c -- Revolve's own case by closed form: no tables.
 *
 * When steps run in place and gradients read their input alone and take no memory, s snapshots and the working state
 * are s + 1 values, and the fewest forward steps are those of binomial checkpointing. Its stream of actions is the
 * plan: an advance computes states, a reversal computes a gradient, and copies are values that are kept. An advance
 * always starts at a kept state and continues in place. A state is no longer needed when its step has been reversed.
 */
#include "base/checked.h"
#include "base/context.h"
#include "pebble/adjoint.h"
#include "plan/chain/equal.h"

enum { BATCH = 256 };

bool pbi_equal_is_closed(const pbi_equal *t)
{
    return t->c.step_inplace && !t->c.reads_output && t->c.grad_size == 0 && t->tier_count == 0;
}

static pb_status advance(const pbi_chain *c, const pb_action *a, pb_moves *moves)
{
    pb_status status = pb_moves_add_compute(moves, c->forward[a->n0 + 1], PB_NO_NODE, NULL, 0);
    for (uint64_t n = a->n0 + 2; n <= a->n1 && status == PB_OK; n++)
        status = pb_moves_add_compute(moves, c->forward[n], c->forward[n - 1], NULL, 0);
    return status;
}

static pb_status reverse(const pbi_chain *c, uint64_t n, pb_moves *moves)
{
    uint64_t place = c->steps - 1 - n; /* its index in c->gradient */
    pb_node before = place ? c->gradient[place - 1] : PB_NO_NODE;
    bool over = c->grad_inplace && place;
    pb_status status = pb_moves_add_compute(moves, c->gradient[place], over ? before : PB_NO_NODE, NULL, 0);
    if (n == 0) /* values that remain at the end need not be freed */
        return status;
    if (status == PB_OK && place && !over)
        status = pb_moves_add(moves, PB_FREE, before, 0);
    return status == PB_OK ? pb_moves_add(moves, PB_FREE, c->forward[n], 0) : status;
}

static pb_status add_action(const pbi_chain *c, const pb_action *a, pb_moves *moves)
{
    if (a->kind == PB_ACTION_REVERSE)
        return reverse(c, a->n0, moves);
    if (a->kind == PB_ACTION_FORWARD && !(a->flags & PB_WRITE_REVERSE)) /* a gradient reruns its own step */
        return advance(c, a, moves);
    return PB_OK;
}

/* Steps and gradients in 64 bits? */
static bool work_fits(const pbi_equal *t, const pb_graph *g, pb_u128 forward_steps)
{
    uint64_t work;
    if (forward_steps.high || !pbi_mul(forward_steps.low, t->c.step_cost, &work))
        return false;
    for (uint32_t i = 0; i < t->c.steps; i++)
        if (!pbi_add(work, g->cost[t->c.gradient[i]], &work))
            return false;
    return true;
}

pb_status pbi_equal_closed(pbi_equal *t, const pb_graph *g, pbi_plan *plan)
{
    pb_action batch[BATCH];
    pb_revolve stream;
    pb_revolve_cost cost;
    pb_arena scratch;
    uint64_t snapshots = t->max_held > 1 ? t->max_held - 1 : 1;
    pb_status status = pb_revolve_count(t->ctx, t->c.steps, snapshots, &cost);
    if (status == PB_OK && !work_fits(t, g, cost.forward_steps))
        return pbi_plan_give_up(plan, "the work of this plan exceeds 2^64; use a coarser cost unit");
    pb_arena_init(&scratch, t->ctx);
    if (status == PB_OK)
        status = pb_revolve_init(t->ctx, t->c.steps, snapshots, &scratch, &stream);
    for (size_t got; status == PB_OK && (got = pb_revolve_next_many(&stream, batch, BATCH)) > 0;) {
        status = pbi_tick(t->ctx, got);
        for (size_t i = 0; i < got && status == PB_OK; i++)
            status = add_action(&t->c, &batch[i], &plan->moves);
    }
    pb_arena_release(&scratch);
    plan->outcome = status == PB_OK ? PB_FOUND : plan->outcome;
    return status;
}
