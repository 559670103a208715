/* prop_compare.c -- comparisons and the least cap, on small random games with the exhaustive optimum as judge. */
#include "pebble/api.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>

enum { TICKS = 200000 };

/* Every row is honest, the winner is a plan, and no plan has a smaller cost. */
static bool comparison_fails(law_bench *b)
{
    char why[PLAN_WHY];
    pb_comparison c;
    pb_compare_request request = {.games = (unsigned)b->game.kind, .plan = {.seed = b->small->seed}};
    b->ctx.tick_limit = TICKS;
    if (pb_compare(&b->ctx, &b->game, &request, &b->arena, &c) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (c.interrupted || !c.row_count)
        return law_broken(b, "%u rows, interrupted %d", c.row_count, c.interrupted);
    bool any = false;
    for (uint32_t i = 0; i < c.row_count; i++) {
        if (!plan_is_honest(&b->game, &c.rows[i], why))
            return law_broken(b, "row %s: %s", c.rows[i].asked, why);
        any |= c.rows[i].certificate != NULL;
    }
    if (any != (c.winner < c.row_count) || (any && !c.rows[c.winner].certificate))
        return law_broken(b, "the winner is row %u of %u", c.winner, c.row_count);
    for (uint32_t i = 0; any && i < c.row_count; i++)
        if (c.rows[i].certificate &&
            pb_u128_compare(c.rows[i].schedule.metrics.cost, c.rows[c.winner].schedule.metrics.cost) < 0)
            return law_broken(b, "%s beats the winner %s", c.rows[i].asked, c.rows[c.winner].asked);
    return false;
}

/* Played next to the remat game, the tiered game's bound holds for it too; none is above what a plan reaches. */
static bool bounds_of_two_games_fail(law_bench *b)
{
    pb_comparison c;
    pb_compare_request request = {.games = PB_GAME_REMAT | PB_GAME_TIERED, .plan = {.seed = 1, .prove = true}};
    uint64_t bound[2] = {0, 0}, reached[2] = {UINT64_MAX, UINT64_MAX};
    bool slow = false;
    b->ctx.tick_limit = TICKS;
    if (pb_compare(&b->ctx, &b->game, &request, &b->arena, &c) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    for (uint32_t i = 0; i < c.row_count; i++) {
        const pb_schedule *s = &c.rows[i].schedule;
        bool tiered = s->game == PB_GAME_TIERED;
        if (!c.rows[i].certificate)
            continue;
        reached[tiered] = s->metrics.makespan < reached[tiered] ? s->metrics.makespan : reached[tiered];
        if (s->bound_kind == PB_BOUND_FREE_ORDER && s->lower_bound > bound[tiered])
            bound[tiered] = s->lower_bound;
    }
    for (pb_node v = 0; v < b->game.graph->node_count; v++)
        slow |= (b->game.graph->flags[v] & PB_NODE_GIVEN_SLOW) != 0;
    if (bound[0] > reached[0] || bound[1] > reached[1])
        return law_broken(b, "a plan is better than its bound");
    if (!slow && reached[0] != UINT64_MAX && bound[0] < bound[1])
        return law_broken(b, "remat has the bound %" PRIu64 ", tiered %" PRIu64, bound[0], bound[1]);
    return false;
}

/* The cap that is known to work works, and nothing works below the true least one. */
static bool least_cap_fails(law_bench *b)
{
    char why[PLAN_WHY] = "another graph or game";
    bf_answer least;
    pb_plan_result p;
    pb_request request = {.seed = 1};
    if (!bf_least_peak(b->space, &b->problem, &least))
        return law_skip(b);
    b->ctx.tick_limit = TICKS;
    if (pb_least_cap(&b->ctx, &b->game, &request, &b->arena, &p) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (!p.certificate)
        return least.feasible && p.schedule.outcome == PB_INFEASIBLE &&
               law_broken(b, "no cap is said to work, but peak %" PRIu64 " does", least.value);
    /* Played for the least peak: weights and cap are its own. */
    if (p.game->graph != b->game.graph || p.game->kind != b->game.kind || !plan_is_honest(p.game, &p, why))
        return law_broken(b, "%s", why);
    if (!least.feasible || p.schedule.metrics.peak < least.value || p.schedule.cap < least.value)
        return law_broken(b, "cap %" PRIu64 " is said to work, the least peak is %" PRIu64, p.schedule.cap,
                          least.feasible ? least.value : UINT64_MAX);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 1000);
    law_run("the winner of a comparison is the cheapest honest row", comparison_fails, PB_GAME_ALL, cases);
    law_run("a bound of the tiered game holds for the remat game", bounds_of_two_games_fail, PB_GAME_TIERED, cases / 4);
    law_run("the least cap known is never below the true one", least_cap_fails, PB_GAME_ALL, cases);
    return law_finish();
}
