/* prop_policies.c -- every strategy with every policy, at caps from none to infeasible: a legal plan or an honest
 * refusal. A policy that is not needed changes nothing, and the log shows whether it was. */
#include "pebble/api.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>
#include <string.h>

enum { TICKS = 30000 };

static uint64_t rescued, helpless; /* strategies without a plan of their own: with one by the policy, and without */

static bool plan_with(law_bench *b, const char *strategy, const char *policy, pb_plan_result *p)
{
    pb_request request = {.seed = b->small->seed, .strategy = strategy, .policy = policy};
    b->ctx.ticks = 0;
    pb_status status = pb_plan(&b->ctx, &b->game, &request, &b->arena, p);
    if (status != PB_OK)
        return law_broken(b, "%s with %s: %s: %s", strategy, policy ? policy : "no policy", pb_status_text(status),
                          b->ctx.error.message);
    return false;
}

/* Does the log show what the policy did? */
static bool is_logged(const pb_strategy *row, const char *policy, const pb_plan_result *plain, const pb_plan_result *p)
{
    const pb_schedule *s = &p->schedule;
    bool evicts = s->policy && strcmp(s->policy, policy) == 0;
    if (!s->policy_asked || strcmp(s->policy_asked, policy) != 0)
        return false;
    if (row->takes_policy)
        return evicts || !p->certificate;
    if (row->strength == PB_PORTFOLIO)
        return true;
    if (plain->certificate)
        return !s->policy;
    return evicts || !p->certificate;
}

static bool policy_fails(law_bench *b)
{
    uint32_t rows, policies;
    const pb_strategy *row = pb_strategies(&rows);
    const pb_policy *policy = pb_policies(&policies);
    char why[PLAN_WHY];
    pb_plan_result plain, p;
    row += b->small->seed % rows;
    policy += b->small->seed / rows % policies;
    b->ctx.tick_limit = TICKS;
    if (plan_with(b, row->name, NULL, &plain) || plan_with(b, row->name, policy->name, &p))
        return true;
    if (!plan_is_honest(&b->game, &p, why))
        return law_broken(b, "%s with %s: %s", row->name, policy->name, why);
    bool alone = !row->takes_policy && row->strength != PB_PORTFOLIO;
    if (alone && plain.certificate && !(p.certificate && plans_are_equal(&plain, &p, why)))
        return law_broken(b, "%s fits by itself, but %s changes its plan: %s", row->name, policy->name,
                          p.certificate ? why : "there is none");
    if (!is_logged(row, policy->name, &plain, &p))
        return law_broken(b, "%s with %s: the log has policy %s, asked %s", row->name, policy->name,
                          p.schedule.policy ? p.schedule.policy : "none",
                          p.schedule.policy_asked ? p.schedule.policy_asked : "none");
    rescued += !plain.certificate && p.certificate;
    helpless += !plain.certificate && !p.certificate;
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 4000);
    law_run("with every policy a plan is legal, or its refusal honest", policy_fails, PB_GAME_ALL, cases);
    law_run_large("the same of larger games", policy_fails, PB_GAME_ALL, cases / 4);
    printf("%" PRIu64 " strategies have a plan by their policy alone, %" PRIu64 " have none\n", rescued, helpless);
    int code = law_finish();
    return rescued > cases / 200 ? code : 1; /* about every 60th game; few of them in a small sample */
}
