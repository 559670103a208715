/* game_bounds.c -- see game_bounds.h. */
#include "api/pipeline/game_bounds.h"

#include "api/pipeline/prove.h"
#include "api/pipeline/share.h"
#include "base/context.h"
#include "plan/strategy.h"

static unsigned slot_of(const pb_game *game)
{
    return game->kind == PB_GAME_REMAT ? 0 : game->kind == PB_GAME_REVERSIBLE ? 1 : 2;
}

static pb_status tighten(const pbi_job *job, const pb_game *game, pb_bounds *bounds)
{
    uint64_t effort = pb_bounds_effort(job->ctx, game), most = job->request->bound_effort;
    pbi_share share; /* the rest of the time is for planning */
    pbi_share_begin(&share, job->ctx, job->request->time_ns / 2);
    pb_status status = pb_bounds_tighten(job->ctx, game, most && most < effort ? most : effort, bounds);
    pbi_share_end(&share);
    return status == PB_ENOMEM ? PB_OK : status; /* planning may still work with the memory that is left */
}

/* Reports only bounds of the game that the caller asked for, not those of intermediate games. */
static void tell_bounds(const pbi_job *job, const pb_game *game, const pb_bounds *bounds)
{
    if (job->cache)
        pbi_emit(job->request, &(pb_event){.kind = PB_EVENT_BOUND, .game = game, .bounds = bounds});
}

/* The quick bounds: computed, unless the job has them already. */
static pb_status make(const pbi_job *job, const pb_game *game, pb_bounds *bounds)
{
    if (!job->quick)
        return pb_bounds_make(job->ctx, game, bounds);
    *bounds = *job->quick;
    return PB_OK;
}

static pb_status prove(const pbi_job *job, const pb_game *game, uint64_t tried, pb_bounds *bounds)
{
    pbi_share share; /* leaves time for the search that follows */
    pbi_share_begin(&share, job->ctx, job->request->time_ns / 4);
    pb_status status = pbi_prove(job, game, tried, bounds);
    pbi_share_end(&share);
    return status;
}

pb_status pbi_bounds_raise(const pbi_job *job, const pb_game *game, pbi_bound_level level_needed, pbi_bound_cache *own,
                           pb_bounds **bounds)
{
    pbi_bound_cache *cache = job->cache ? job->cache : own;
    pbi_bound_level *level = &cache->level[slot_of(game)];
    pb_status status = PB_OK;
    *bounds = &cache->bounds[slot_of(game)];
    if (!job->cache)
        level_needed = PBI_BOUNDS_QUICK;
    while (status == PB_OK && (*level < level_needed || *level == PBI_BOUNDS_NONE)) {
        if (*level == PBI_BOUNDS_NONE)
            status = make(job, game, *bounds);
        else if (*level == PBI_BOUNDS_QUICK)
            status = tighten(job, game, *bounds);
        else
            status = prove(job, game, cache->tried[slot_of(game)], *bounds);
        if (status == PB_OK) {
            *level = (pbi_bound_level)(*level + 1);
            tell_bounds(job, game, *bounds);
        }
    }
    return status;
}

void pbi_bounds_tried(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pbi_bound_cache *own)
{
    const pb_weights *w = &game->weights;
    uint32_t count;
    bool all_effort = job->ctx->tick_limit == job->ticks;
    if (!w->alpha && !w->beta && w->gamma && !spec->option_count && all_effort)
        (job->cache ? job->cache : own)->tried[slot_of(game)] |= UINT64_C(1) << (spec->row - pb_strategies(&count));
}

pbi_bound_level pbi_bounds_first(const pb_strategy *row, const pb_graph *g)
{
    bool proves = row->strength == PB_EXACT || pbi_tries_all(row);
    return g->shape != PB_SHAPE_GENERAL && proves ? PBI_BOUNDS_QUICK : PBI_BOUNDS_TIGHT;
}

void pbi_bounds_state(const pb_game *game, const pb_bounds *bounds, pb_schedule *s)
{
    s->bound_kind = PB_BOUND_FREE_ORDER;
    s->lower_bound = bounds->makespan;
    s->has_cost_bound = bounds->has_cost && (game->weights.alpha || game->weights.beta);
    s->cost_bound = bounds->cost;
}
