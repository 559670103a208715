/* plan_check.c -- see plan_check.h. */
#include "support/plan_check.h"

#include "support/reference.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool say(char why[PLAN_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, PLAN_WHY, format, args);
    va_end(args);
    return false;
}

/* The file's figures against the second replay's. */
static bool figures_hold(const pb_game *game, const pb_schedule *s, const reference *r, char why[PLAN_WHY])
{
    const pb_metrics *m = &s->metrics;
    const pb_weights *w = &game->weights;
    wide needed = reference_needed_cost(game->graph), recompute = r->compute_work - needed;
    wide cost = w->alpha * r->peak + w->beta * r->flux + w->gamma * (recompute + r->uncompute_work + r->io);
    if (!s->has_metrics)
        return say(why, "a plan without metrics");
    if (m->peak != r->peak || m->work != r->compute_work + r->uncompute_work || m->io != r->io ||
        m->makespan != m->work + m->io || m->recompute != recompute || m->uncompute != r->uncompute_work ||
        !same_wide(r->flux, m->flux) || m->moves != s->moves.count || m->depth != r->depth || !same_wide(cost, m->cost))
        return say(why, "metrics differ from the replay: peak %" PRIu64 " of %" PRIu64 ", makespan %" PRIu64, m->peak,
                   (uint64_t)r->peak, m->makespan);
    if (s->bound_kind == PB_BOUND_FREE_ORDER && s->lower_bound > m->makespan)
        return say(why, "the plan's makespan %" PRIu64 " is below its own bound %" PRIu64, m->makespan, s->lower_bound);
    if (s->has_cost_bound && pb_u128_compare(s->cost_bound, m->cost) > 0)
        return say(why, "the plan's cost is below its own bound");
    if (s->outcome == PB_OPTIMAL && s->bound_kind != PB_BOUND_FREE_ORDER && !s->has_cost_bound)
        return say(why, "optimal without a bound");
    return true;
}

bool plan_is_honest(const pb_game *game, const pb_plan_result *p, char why[PLAN_WHY])
{
    const pb_schedule *s = &p->schedule;
    if (s->game != game->kind || s->cap != game->cap)
        return say(why, "the schedule names another game or cap");
    if (s->outcome == PB_GAVE_UP || s->outcome == PB_INFEASIBLE) {
        if (!s->reason || !*s->reason)
            return say(why, "%s without a reason", pb_outcome_name(s->outcome));
        if (s->moves.count || p->certificate || s->has_metrics)
            return say(why, "%s with moves, metrics or a certificate", pb_outcome_name(s->outcome));
        return true;
    }
    if (!p->certificate)
        return say(why, "%s without a certificate", pb_outcome_name(s->outcome));
    reference r;
    reference_replay(game, &s->moves, &r);
    if (!r.legal)
        return say(why, "move %" PRIu64 " breaks %s at node %u", r.step, pb_rule_name(r.rule), r.node);
    return figures_hold(game, s, &r, why);
}

bool plan_keeps_to_optimum(const pb_plan_result *p, const bf_answer *work, const bf_answer *cost, char why[PLAN_WHY])
{
    const pb_schedule *s = &p->schedule;
    if (s->outcome == PB_INFEASIBLE && work->feasible)
        return say(why, "proves infeasible what peak %" PRIu64 " does", work->peak);
    if (!work->feasible)
        return !p->certificate || say(why, "finds a plan where there is none");
    pb_u128 least = {0, cost->value};
    if (s->bound_kind == PB_BOUND_FREE_ORDER && s->lower_bound > work->value)
        return say(why, "bound %" PRIu64 ", but makespan %" PRIu64 " is reached", s->lower_bound, work->value);
    if (s->has_cost_bound && pb_u128_compare(s->cost_bound, least) > 0)
        return say(why, "cost bound %" PRIu64 ", but cost %" PRIu64 " is reached", s->cost_bound.low, cost->value);
    if (!p->certificate)
        return true;
    if (s->metrics.makespan < work->value || pb_u128_compare(s->metrics.cost, least) < 0)
        return say(why, "makespan %" PRIu64 " cost %" PRIu64 " beat the optimum %" PRIu64 " and %" PRIu64,
                   s->metrics.makespan, s->metrics.cost.low, work->value, cost->value);
    if (s->outcome == PB_OPTIMAL && pb_u128_compare(s->metrics.cost, least) != 0)
        return say(why, "cost %" PRIu64 " is called optimal, but %" PRIu64 " is reached", s->metrics.cost.low,
                   cost->value);
    return true;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

bool plans_are_equal(const pb_plan_result *a, const pb_plan_result *b, char why[PLAN_WHY])
{
    const pb_schedule *s = &a->schedule, *t = &b->schedule;
    if (s->outcome != t->outcome || !same_text(s->reason, t->reason))
        return say(why, "outcome %s, then %s", pb_outcome_name(s->outcome), pb_outcome_name(t->outcome));
    if (!same_text(s->strategy, t->strategy) || !same_text(s->policy, t->policy) || s->option_count != t->option_count)
        return say(why, "made by %s, then by %s", s->strategy, t->strategy);
    for (uint32_t i = 0; i < s->option_count; i++)
        if (!same_text(s->options[i].key, t->options[i].key) || !same_text(s->options[i].value, t->options[i].value))
            return say(why, "option %s differs", s->options[i].key);
    if (s->bound_kind != t->bound_kind || s->lower_bound != t->lower_bound || s->has_cost_bound != t->has_cost_bound ||
        (s->has_cost_bound && pb_u128_compare(s->cost_bound, t->cost_bound) != 0))
        return say(why, "the bounds differ");
    if (s->has_metrics != t->has_metrics || (s->has_metrics && pb_u128_compare(s->metrics.cost, t->metrics.cost) != 0))
        return say(why, "the metrics differ");
    if (s->moves.count != t->moves.count || s->moves.extra_count != t->moves.extra_count)
        return say(why, "%" PRIu64 " moves, then %" PRIu64, s->moves.count, t->moves.count);
    if (s->moves.count && memcmp(s->moves.move, t->moves.move, s->moves.count * sizeof *s->moves.move) != 0)
        return say(why, "the moves differ");
    if (s->moves.extra_count &&
        memcmp(s->moves.extra, t->moves.extra, s->moves.extra_count * sizeof *s->moves.extra) != 0)
        return say(why, "the by-products of moves differ");
    return true;
}
