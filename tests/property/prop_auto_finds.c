/* prop_auto_finds.c -- on games so small that every way can be looked at, `auto` finds a plan wherever there is one, with few
 * ticks as well. */
#include "pebble/api.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>

static uint64_t feasible;

static bool gives_up(law_bench *b)
{
    static const uint64_t ticks[] = {5000, 20000};
    char why[PLAN_WHY];
    uint64_t seed = b->small->seed;
    pb_plan_result p;
    bf_answer best;
    pb_request request = {.strategy = "auto", .seed = 1 + seed % 4, .patient = true};
    if (!bf_least_makespan(b->space, &b->problem, &best))
        return law_skip(b);
    b->ctx.tick_limit = ticks[seed % 2];
    pb_status status = pb_plan(&b->ctx, &b->game, &request, &b->arena, &p);
    if (status != PB_OK)
        return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    if (!plan_is_honest(&b->game, &p, why))
        return law_broken(b, "%s", why);
    feasible += best.feasible;
    if (best.feasible && !p.certificate)
        return law_broken(b, "%" PRIu64 " ticks: %s, but makespan %" PRIu64 " is possible: %s", b->ctx.tick_limit,
                          pb_outcome_name(p.schedule.outcome), best.value, p.schedule.reason);
    return !best.feasible && p.certificate && law_broken(b, "a plan where there is none");
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 2000);
    law_run("auto finds a plan in the remat game", gives_up, PB_GAME_REMAT, cases);
    law_run("auto finds a plan in the reversible game", gives_up, PB_GAME_REVERSIBLE, cases);
    law_run("auto finds a plan in the tiered game", gives_up, PB_GAME_TIERED, cases);
    int code = law_finish();
    return feasible > cases ? code : 1;
}
