/* orders.c -- small changes of the orders of a plan, accepted by threshold.
 *
 * Most changes move a step on the critical path to an earlier place on its device, or a step before it to a later one;
 * some do so for several micro-batches in a row, drop what F saves or keep it.
 */
#include "plan/stages/search.h"

#include "base/context.h"

#include <string.h>

enum { FARTHEST = 12, PATH = 256 };

typedef struct path {
    pbi_critical step[PATH];
    uint32_t count;
} path;

static void find_path(const pbi_stages_search *x, path *p)
{
    pbi_critical at;
    p->count = 0;
    pbi_stages_critical_last(x->k, &x->now, &at);
    uint64_t seen = 0;
    do {
        seen++;
        if (p->count < PATH)
            p->step[p->count++] = at;
        else
            p->step[seen * 0x9e3779b97f4a7c15u >> 56] = at; /* a sample */
    } while (pbi_stages_critical_before(x->k, &at));
}

static void move_step(pbi_stages_plan *plan, uint32_t d, uint32_t from, uint32_t to)
{
    pbi_step_code *s = plan->step[d], code = s[from];
    if (to < from)
        memmove(s + to + 1, s + to, (from - to) * sizeof *s);
    else
        memmove(s + from, s + from + 1, (to - from) * sizeof *s);
    s[to] = code;
}

/* The next place of this code after `at`, or the count. */
static uint32_t find_code(const pbi_stages_plan *plan, uint32_t d, uint32_t at, pbi_step_code code)
{
    while (at < plan->count[d] && plan->step[d][at] != code)
        at++;
    return at;
}

/* Moves the step at `at` by `by` places, and those of the same code after it as far. */
static bool shift(pbi_stages_search *x, pbi_stages_plan *plan, pbi_critical from, int by)
{
    uint32_t d = from.device, at = from.at, repeats = 1;
    pbi_step_code code = plan->step[d][at];
    if (pbi_rng_below(&x->rng, 4) == 0)
        repeats = 2 + (uint32_t)pbi_rng_below(&x->rng, pbi_rng_below(&x->rng, 2) ? 4 : x->k->s->micro);
    bool changed = false;
    for (uint32_t i = 0; i < repeats && at < plan->count[d]; i++) {
        int64_t to = (int64_t)at + by;
        if (to < 0 || to >= plan->count[d])
            break;
        changed |= plan->step[d][to] != code;
        move_step(plan, d, at, (uint32_t)to);
        at = find_code(plan, d, ((uint32_t)to > at ? (uint32_t)to : at) + 1, code);
    }
    return changed;
}

/* Which micro-batch the step belongs to. */
static uint32_t micro_at(const pbi_stages_plan *plan, uint32_t d, uint32_t at)
{
    uint32_t m = 0;
    for (uint32_t i = 0; i < at; i++)
        m += plan->step[d][i] == plan->step[d][at];
    return m;
}

/* Moves the F of a micro-batch: later if it is kept from now on, so that it holds memory for less time. */
static void move_forward(pbi_stages_search *x, pbi_stages_plan *plan, uint32_t c, uint32_t m)
{
    const pbi_stages *s = x->k->s;
    uint32_t d = s->part[c].device, at = 0, by = 1 + (uint32_t)pbi_rng_below(&x->rng, 2 * FARTHEST);
    for (uint32_t i = 0; i <= m; i++)
        at = find_code(plan, d, i ? at + 1 : 0, PBI_STEP(c, PBI_STAGE_F));
    if (at >= plan->count[d])
        return;
    if (plan->dropped[(size_t)c * s->micro + m])
        move_step(plan, d, at, at > by ? at - by : 0);
    else
        move_step(plan, d, at, at + by < plan->count[d] ? at + by : plan->count[d] - 1);
}

/* Drops what F of this micro-batch saves and recomputes it before B, or keeps it. */
static bool toggle(pbi_stages_search *x, pbi_stages_plan *plan, uint32_t c, uint32_t m)
{
    const pbi_stages *s = x->k->s;
    uint32_t d = s->part[c].device, at = 0, earlier = 0;
    uint8_t *dropped = &plan->dropped[(size_t)c * s->micro];
    for (uint32_t i = 0; i < m; i++)
        earlier += dropped[i];
    if (dropped[m]) {
        for (uint32_t i = 0; i <= earlier; i++)
            at = find_code(plan, d, i ? at + 1 : 0, PBI_STEP(c, PBI_STAGE_R));
        move_step(plan, d, at, plan->count[d] - 1);
        plan->count[d]--;
    } else {
        for (uint32_t i = 0; i <= m; i++)
            at = find_code(plan, d, i ? at + 1 : 0, PBI_STEP(c, PBI_STAGE_B));
        uint32_t back = (uint32_t)pbi_rng_below(&x->rng, 3);
        at = at > back ? at - back : at;
        plan->step[d][plan->count[d]] = PBI_STEP(c, PBI_STAGE_R);
        plan->count[d]++;
        move_step(plan, d, plan->count[d] - 1, at);
    }
    dropped[m] = !dropped[m];
    return true;
}

static bool change(pbi_stages_search *x, const path *p, pbi_stages_plan *plan)
{
    const pbi_stages *s = x->k->s;
    pbi_critical at = p->step[pbi_rng_below(&x->rng, p->count)];
    if (pbi_rng_below(&x->rng, 8) == 0) {
        at.device = (uint32_t)pbi_rng_below(&x->rng, s->devices);
        if (!plan->count[at.device])
            return false;
        at.at = (uint32_t)pbi_rng_below(&x->rng, plan->count[at.device]);
    }
    int by = 1 + (int)pbi_rng_below(&x->rng, pbi_rng_below(&x->rng, 2) ? 3 : FARTHEST);
    if (s->recompute && pbi_rng_below(&x->rng, 4) == 0) {
        uint32_t c = pbi_step_part(plan->step[at.device][at.at]);
        uint32_t m = micro_at(plan, at.device, at.at);
        uint32_t other = (uint32_t)pbi_rng_below(&x->rng, 4);
        m = m < s->micro ? m : 0;
        bool done = toggle(x, plan, c, m);
        if (other == 0) /* another one in its place */
            done = toggle(x, plan, c, (uint32_t)pbi_rng_below(&x->rng, s->micro));
        else if (other == 1)
            move_forward(x, plan, c, m);
        return done;
    }
    if (pbi_rng_below(&x->rng, 2) == 0 && at.at) {
        at.at--;
        return shift(x, plan, at, by);
    }
    return shift(x, plan, at, -by);
}

/* Takes the trial as the plan to go on from, or not. */
static bool judge(pbi_stages_search *x, double slack)
{
    uint64_t limit = x->now.value + (uint64_t)slack;
    if (!pbi_stages_value(x->k, &x->trial, limit))
        return false;
    pbi_stages_plan old = x->now;
    x->now = x->trial;
    x->trial = old;
    if (x->now.value >= x->best.value && !(x->k->span && slack < 1))
        return true;
    pbi_stages_copy(x->k, &x->trial, &x->now);
    if (x->k->span) {
        uint64_t gap = x->now.value - x->bound, least = gap > 64 ? x->now.value - gap / 64 : x->bound;
        pbi_stages_tighten(x->k, &x->trial, least, &x->spare);
        pbi_stages_copy(x->k, &x->now, &x->trial);
    }
    pbi_stages_offer(x);
    pbi_stages_value(x->k, &x->now, x->k->span ? x->now.value : UINT64_MAX);
    return true;
}

pb_status pbi_stages_try_orders(pbi_stages_search *x, uint64_t trials, double warm)
{
    pb_status status = PB_OK;
    path p = {.count = 0};
    pbi_stages_copy(x->k, &x->now, &x->best);
    if (!pbi_stages_value(x->k, &x->now, x->k->span ? x->now.value : UINT64_MAX))
        return PB_OK;
    find_path(x, &p);
    for (uint64_t i = 0; i < trials && status == PB_OK && x->best.value > x->bound; i++) {
        double left = 1.0 - (double)i / (double)trials;
        double slack = warm * left * left * (double)x->best.value * pbi_rng_real(&x->rng);
        pbi_stages_copy(x->k, &x->trial, &x->now);
        if (change(x, &p, &x->trial) && judge(x, slack))
            find_path(x, &p);
        status = pbi_tick(x->ctx, 1 + x->k->most / 64);
    }
    return status;
}
