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
    law_run("the least cap known is never below the true one", least_cap_fails, PB_GAME_ALL, cases);
    return law_finish();
}
