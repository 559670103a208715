/* grained.c -- see pebble/grain.h. */
#include "api/pipeline/certify_moves.h"
#include "api/pipeline/pipeline.h"
#include "api/pipeline/share.h"
#include "base/context.h"
#include "pebble/grain.h"
#include "plan/sequence/sequence.h"
#include "plan/strategy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PLANS = 4,      /* of the coarse graph, */
    UNUSED = 200,   /* while more than 1/200 of the cap is unused, */
    COARSE_PART = 3 /* in a third of the time */
};

static uint64_t clock_of(const pb_context *ctx) { return ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0; }

static pb_status check_game(pb_context *ctx, const pb_game *game)
{
    if (game->kind != PB_GAME_REMAT || game->borrow)
        return pbi_fail(
            ctx, PB_EINVAL,
            "coarse plans are for the remat game without borrowed memory; plan this game on the graph itself");
    return PB_OK;
}

/* The moves of the fine graph, as if there were no cap, in the arena of `plan`. */
static pb_status expand_moves(pb_context *ctx, const pb_game *game, const pb_coarse *c, const pb_moves *moves,
                              pbi_plan *plan, pbi_figures *figures)
{
    pb_arena scratch;
    pb_game open = *game;
    const pb_node *computed;
    uint64_t count;
    pbi_sequence sequence;
    open.cap = PB_UNLIMITED;
    pb_arena_init(&scratch, ctx);
    pbi_sequence_init(&sequence, &scratch);
    pb_status status = pb_coarse_computations(ctx, c, moves, &scratch, &computed, &count);
    for (uint64_t i = 0; i < count && status == PB_OK; i++)
        status = pbi_sequence_add(&sequence, computed[i]);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, &open, &sequence, plan, figures);
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_coarse_expand(pb_context *ctx, const pb_game *game, const pb_coarse *c, const pb_moves *moves,
                           pb_arena *result, pb_plan_result *out)
{
    pbi_plan plan;
    pbi_figures figures;
    pb_status status = check_game(ctx, game);
    pbi_plan_reset(&plan, result);
    if (status == PB_OK)
        status = expand_moves(ctx, game, c, moves, &plan, &figures);
    if (status != PB_OK)
        return status;
    pbi_given given = {.name = "expanded", .moves = &plan.moves, .game = game->kind, .peak = figures.peak};
    return pbi_certify_moves(ctx, game, NULL, &given, result, out);
}

typedef struct planner {
    pb_context *ctx;
    const pb_game *game;
    const pb_request *request;
    pb_arena *result;
    pb_grained *g;
    uint64_t begun_ns;
    pbi_plan best; /* moves of the fine graph */
    uint64_t best_peak, best_time;
    bool any;
} planner;

/* Nanoseconds that are left of a part of the time; 0: no limit. */
static uint64_t time_left(const planner *p, uint64_t part)
{
    uint64_t all = p->request->time_ns / part, spent = clock_of(p->ctx) - p->begun_ns;
    return !p->request->time_ns ? 0 : spent < all ? all - spent : 1;
}

/* Plans the coarse graph under this cap and expands the plan. *peak: of the expanded plan, 0 if there is none. */
static pb_status plan_rough(planner *p, uint64_t cap, uint64_t *peak)
{
    pb_game game = *p->game;
    pb_request request = *p->request;
    pb_plan_result planned;
    pbi_plan plan;
    pbi_figures figures;
    pbi_share share;
    game.graph = p->g->coarse->graph;
    game.cap = cap;
    request.start = NULL;
    request.start_name = NULL;
    request.find_least = request.find_least && !p->any;
    request.attempts = false;
    request.time_ns = time_left(p, COARSE_PART);
    *peak = 0;
    pbi_share_begin(&share, p->ctx, request.time_ns);
    pb_status status = pb_plan(p->ctx, &game, &request, p->result, &planned);
    pbi_share_end(&share);
    p->g->plans++;
    if (status != PB_OK)
        return status;
    if (p->g->plans == 1)
        p->g->rough = planned;
    if (!planned.certificate)
        return PB_OK;
    pbi_plan_reset(&plan, p->result);
    status = expand_moves(p->ctx, p->game, p->g->coarse, &planned.schedule.moves, &plan, &figures);
    *peak = figures.peak;
    if (status != PB_OK || figures.overflow || figures.peak > p->game->cap || (p->any && figures.time >= p->best_time))
        return status;
    p->any = true;
    p->g->rough = planned;
    p->best = plan;
    p->best_peak = figures.peak;
    p->best_time = figures.time;
    return PB_OK;
}

/* The cap itself; then larger ones, while expanded plans leave memory unused. */
static pb_status plan_roughly(planner *p)
{
    uint64_t limit = p->game->cap, cap = limit, low = 0, high = PB_UNLIMITED, peak;
    pb_status status = PB_OK;
    while (p->g->plans < PLANS && p->ctx->stopped == PB_GO_ON) {
        if (p->any && (p->best_time <= p->game->graph->needed_cost || time_left(p, COARSE_PART) == 1))
            break;
        status = plan_rough(p, cap, &peak);
        const pb_least_fact *least = p->g->rough.least;
        if (status != PB_OK || (!peak && (p->g->plans > 1 || !least || !least->known)))
            break;
        if (!peak) { /* a coarse plan may need less than it states */
            low = cap;
            cap = least->cap;
            continue;
        }
        uint64_t unused = peak <= limit ? limit - peak : 0;
        if (peak > limit)
            high = cap;
        else
            low = cap;
        if (peak <= limit && unused <= limit / UNUSED)
            break;
        cap = unused && unused < high - cap ? cap + unused : low / 2 + high / 2;
        if (cap <= low || cap >= high)
            break;
    }
    return status == PB_ECANCELLED && p->any ? PB_OK : status;
}

/* A local search from the expanded plan. */
static pb_status improve(planner *p)
{
    const pb_strategy *row = pbi_strategy_with(PB_GAME_REMAT, PB_ANYTIME, 0, 0);
    pb_request request = *p->request;
    pb_grained *g = p->g;
    request.strategy = row->name;
    request.start = &p->best.moves;
    request.start_name = NULL;
    request.time_ns = time_left(p, 1);
    request.patient = p->request->patient || p->request->time_ns;
    request.find_least = request.attempts = request.prove = false;
    pb_status status = pb_plan(p->ctx, p->game, &request, p->result, &g->improved);
    if (status == PB_ECANCELLED)
        return PB_OK;
    if (status == PB_OK && g->improved.certificate && pbi_result_better(&g->improved, &g->expanded))
        g->planned = g->improved;
    return status;
}

/* Where the plan came from. */
static pb_status note_grain(pb_grained *g, const pb_coarsen_options *grain, pb_arena *result)
{
    char text[120];
    snprintf(text, sizeof text, "first planned as %" PRIu32 " steps, by %s", g->coarse->cluster_count,
             pb_grain_name(grain->by));
    g->planned.schedule.note = pb_arena_text(result, text, strlen(text));
    return g->planned.schedule.note ? PB_OK : PB_ENOMEM;
}

/* That the steps do not fit proves nothing about the computations inside. */
static pb_status no_plan(pb_grained *g, const pb_coarsen_options *grain, pb_arena *result)
{
    char text[200];
    snprintf(text, sizeof text,
             "no plan of the %" PRIu32 " steps by %s fits the cap when it is expanded; plan smaller steps",
             g->coarse->cluster_count, pb_grain_name(grain->by));
    g->planned = g->rough;
    g->planned.certificate = NULL;
    g->planned.least = NULL;
    g->planned.failed_need = 0;
    g->planned.schedule.has_metrics = g->planned.schedule.has_least = false;
    g->planned.schedule.outcome = PB_GAVE_UP;
    g->planned.schedule.reason = pb_arena_text(result, text, strlen(text));
    return g->planned.schedule.reason ? PB_OK : PB_ENOMEM;
}

static pb_status plan_coarse(planner *p, const pb_coarsen_options *grain)
{
    pb_context *ctx = p->ctx;
    pb_grained *g = p->g;
    pb_bounds bounds;
    pb_status status = check_game(ctx, p->game);
    if (status == PB_OK)
        status = pb_bounds_make(ctx, p->game, &bounds);
    if (status == PB_OK && bounds.least_cap > p->game->cap) /* the pipeline says why */
        return pb_plan(ctx, p->game, p->request, p->result, &g->planned);
    if (status == PB_OK)
        status = pb_coarsen(ctx, p->game->graph, grain, p->result, &g->coarse);
    if (status == PB_OK)
        status = plan_roughly(p);
    g->coarse_seconds = (double)(clock_of(ctx) - p->begun_ns) * 1e-9;
    if (status != PB_OK)
        return status;
    if (!p->any)
        return no_plan(g, grain, p->result);
    pbi_held held = pbi_hold(ctx);
    pbi_given given = {.name = "expanded", .moves = &p->best.moves, .game = p->game->kind, .peak = p->best_peak};
    status = pbi_certify_moves(ctx, p->game, NULL, &given, p->result, &g->expanded);
    pbi_resume(ctx, held);
    g->planned = g->expanded;
    if (status == PB_OK && ctx->stopped == PB_GO_ON && p->best_time > p->game->graph->needed_cost)
        status = improve(p);
    return status == PB_OK && !g->planned.schedule.note ? note_grain(g, grain, p->result) : status;
}

pb_status pb_plan_grained(pb_context *ctx, const pb_game *game, const pb_request *request,
                          const pb_coarsen_options *grain, pb_arena *result, pb_grained *out)
{
    pb_grained g = {.plans = 0};
    planner p = {.ctx = ctx, .game = game, .request = request, .result = result, .g = &g, .begun_ns = clock_of(ctx)};
    ctx->stopped = PB_GO_ON;
    bool direct = grain->by == PB_GRAIN_OPERATION && !grain->nodes;
    pb_status status = direct ? pb_plan(ctx, game, request, result, &g.planned) : plan_coarse(&p, grain);
    g.improve_seconds = (double)(clock_of(ctx) - p.begun_ns) * 1e-9 - g.coarse_seconds;
    if (status == PB_OK)
        *out = g;
    return status;
}

pb_status pb_compare_grains(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                            pb_grain_rows *rows)
{
    pb_status status = PB_OK;
    uint64_t begun = clock_of(ctx);
    rows->winner = UINT32_MAX;
    for (uint32_t i = 0; i < rows->count && status == PB_OK; i++) {
        pb_grain_row *row = &rows->row[i];
        pb_request each = *request;
        pbi_share share;
        uint64_t start = clock_of(ctx), left = request->time_ns - (start - begun);
        if (request->time_ns)
            each.time_ns = start - begun < request->time_ns ? left / (rows->count - i) + 1 : 1;
        pbi_share_begin(&share, ctx, each.time_ns);
        status = pb_plan_grained(ctx, game, &each, &row->grain, result, &row->result);
        pbi_share_end(&share);
        row->seconds = (double)(clock_of(ctx) - start) * 1e-9;
        row->applies = status == PB_OK;
        if (status == PB_EINVAL) {
            snprintf(row->why, sizeof row->why, "%s", ctx->error.message);
            status = PB_OK;
        }
        if (row->applies && row->result.planned.certificate &&
            (rows->winner == UINT32_MAX ||
             pbi_result_better(&row->result.planned, &rows->row[rows->winner].result.planned)))
            rows->winner = i;
    }
    return status;
}
