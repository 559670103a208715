/* least_fact.c -- the smallest cap of a game as an answer: what is proved, what is known, and a sentence. See api.h. */
#include "api/pipeline/pipeline.h"

#include "api/pipeline/share.h"
#include "base/context.h"
#include "game/untimed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST_OVERTIME UINT64_C(500000000) /* nanoseconds */
#define MOST_OVERTIME UINT64_C(2000000000)

static pb_status find(pb_context *ctx, const pb_game *game, uint64_t known, const pb_request *request, pb_arena *result,
                      pb_least_fact *out)
{
    pb_plan_result planned;
    pb_least_fact fact = {.kind = game->kind, .bounds = {.least_cap = known}};
    ctx->stopped = PB_GO_ON;
    pb_status status = pbi_least_find(ctx, game, request, result, &fact.bounds, &planned);
    bool proved = fact.bounds.least_why != NULL;
    /* If the time is over, what is known is still an answer. */
    if (proved && (status == PB_ECANCELLED || status == PB_ELIMIT)) {
        *out = fact;
        return PB_OK;
    }
    if (status != PB_OK)
        return status;
    fact.known = planned.certificate != NULL && !fact.bounds.impossible;
    if (fact.known) {
        fact.cap = planned.schedule.metrics.peak;
        fact.strategy = planned.schedule.strategy;
    } else {
        fact.reason = planned.schedule.reason;
    }
    *out = fact;
    return PB_OK;
}

pb_status pb_least_fact_find(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                             pb_least_fact *out)
{
    pb_status untimed = pbi_untimed(ctx, game, "the smallest cap");
    return untimed != PB_OK ? untimed : find(ctx, game, 0, request, result, out);
}

/* ---- after a limit on time ---- */

pb_status pbi_least_after(pb_context *ctx, const pb_game *game, bool infeasible, const pb_request *request,
                          pb_arena *result, const pb_least_fact **out)
{
    pbi_overtime overtime;
    pb_request plain = {.seed = request->seed, .threads = request->threads, .policy = request->policy};
    pb_least_fact *fact = pb_arena_zero(result, 1, sizeof *fact);
    uint64_t more = request->time_ns / 4;
    *out = NULL;
    if (!fact)
        return PB_ENOMEM;
    if (game->borrow || (ctx->stop && ctx->stop(ctx->callback_state) == PB_STOP_INTERRUPT))
        return PB_OK;
    more = more < LEAST_OVERTIME ? LEAST_OVERTIME : more > MOST_OVERTIME ? MOST_OVERTIME : more;
    pbi_overtime_begin(&overtime, ctx, more);
    pb_status status = find(ctx, game, infeasible ? game->cap + 1 : 0, &plain, result, fact);
    pbi_overtime_end(&overtime);
    if (status == PB_OK && !fact->bounds.impossible)
        *out = fact;
    /* After these errors the answer is valid without the fact. */
    return status == PB_ENOMEM || status == PB_EBUG || status == PB_ERANGE ? PB_OK : status;
}

/* ---- as text ---- */

static bool has_shares(const pb_graph *g, uint64_t program_peak)
{
    return program_peak && strcmp(g->size_unit, "byte") == 0;
}

/* Percent of the program peak, to a tenth. Read as a cap, it is not less than `cap`. */
static double share_of(uint64_t cap, uint64_t program_peak)
{
    double tenths = round(1000.0 * ((double)cap / (double)program_peak));
    return (ceil(tenths * (double)program_peak / 1000) < (double)cap ? tenths + 1 : tenths) / 10;
}

void pb_cap_text(uint64_t cap, const pb_graph *g, uint64_t program_peak, char *text, size_t room)
{
    char amount[128];
    pb_amount_text(cap, g->size_unit, amount, sizeof amount);
    if (cap == PB_UNLIMITED)
        snprintf(text, room, "no cap");
    else if (has_shares(g, program_peak))
        snprintf(text, room, "%g %% (%s)", share_of(cap, program_peak), amount);
    else
        snprintf(text, room, "%s", amount);
}

void pb_cap_option_text(uint64_t cap, const pb_graph *g, uint64_t program_peak, char *text, size_t room)
{
    if (has_shares(g, program_peak))
        snprintf(text, room, "%g%%", share_of(cap, program_peak));
    else
        snprintf(text, room, "%" PRIu64, cap);
}

void pb_least_fact_text(const pb_least_fact *l, const pb_game *game, uint64_t program_peak, char *text, size_t room)
{
    const pb_graph *g = game->graph;
    char asked[200], known[200], proved[200];
    bool infeasible = game->cap < l->bounds.least_cap;
    pb_cap_text(game->cap, g, program_peak, asked, sizeof asked);
    pb_cap_text(l->cap, g, program_peak, known, sizeof known);
    pb_cap_text(l->bounds.least_cap, g, program_peak, proved, sizeof proved);
    if (l->known && l->cap <= game->cap)
        snprintf(text, room, "no plan found for %s this way, but %s has one for %s", asked, l->strategy, known);
    else if (l->known && l->cap == l->bounds.least_cap)
        snprintf(text, room, "no plan fits %s; the smallest cap that works is %s", asked, known);
    else if (infeasible && l->known)
        snprintf(text, room, "no plan needs less than %s; the smallest cap with a known plan is %s", proved, known);
    else if (infeasible)
        snprintf(text, room, "no plan needs less than %s; no cap with a plan is known", proved);
    else if (l->known)
        snprintf(text, room, "no plan found for %s; the smallest cap with a known plan is %s", asked, known);
    else
        snprintf(text, room, "no plan found for %s; no cap with a plan is known", asked);
}
