/* least_cap.c -- the smallest cap that is known to work.
 *
 * Quick strategies run first: without a cap, and then at caps halfway between the smallest peak so far and the proved
 * bound. Then the search lowers the best plan step by step, each time starting from the last plan that fit: in large
 * steps while they succeed, in smaller ones when they fail. Effort is counted in ticks. The effort of each step shrinks
 * as graphs grow: hundreds of nodes take some seconds, and large graphs little more than the quick strategies.
 */
#include "api/pipeline/pipeline.h"

#include "base/context.h"
#include "game/untimed.h"
#include "plan/strategy.h"

#include <string.h>

#define THOROUGH UINT64_C(2000000) /* ticks */
enum { SMALL_GRAPH = 20000, MOST_EXACT = 36, HALVINGS = 10, FIRST_PART = 20, LEAST_PART = 12, LAST_PART = 320 };

/* Ticks of the search: ALL_EACH for each node and edge, but at most ALL_MOST, and fewer on large graphs, because a tick
 * takes longer there. */
#define ALL_EACH UINT64_C(4000)
#define ALL_MOST UINT64_C(2000000)
#define ALL_LARGE UINT64_C(9000000000)
#define TRY_LEAST UINT64_C(100000)

typedef struct finder {
    pbi_job job;
    pb_game game;
    pb_plan_result best; /* the plan with the smallest peak so far */
    pb_arena arena;      /* holds `best` */
    bool any;
    bool thorough;             /* the cap is the proved bound: exact strategies get more effort, and a plan is final */
    uint64_t limit;            /* the caller's limit on ticks */
    uint64_t quick, each, all; /* ticks: of a quick strategy, of one try of the search, of all tries */
} finder;

static uint64_t peak_of(const finder *f) { return f->best.schedule.metrics.peak; }

/* Plans with one strategy at a cap, starting from the best plan so far. Keeps the plan if its peak is smaller. */
static pb_status try_row(finder *f, const pb_strategy *row, uint64_t cap, uint64_t ticks, uint64_t seed)
{
    pb_plan_result now;
    pb_arena arena;
    pb_request request = *f->job.request;
    pbi_job job = f->job;
    job.request = &request;
    request.seed = seed;
    request.start = f->any ? &f->best.schedule.moves : NULL;
    f->game.cap = cap;
    pb_arena_init(&arena, f->job.ctx);
    f->job.ctx->tick_limit = ticks;
    pb_status status = pbi_plan_row(&job, &f->game, &(pbi_spec){.row = row}, &arena, &now);
    if (status != PB_OK || !now.certificate || (f->any && now.schedule.metrics.peak >= peak_of(f))) {
        pb_arena_release(&arena);
        return status;
    }
    if (f->any)
        pb_arena_release(&f->arena);
    f->arena = arena;
    f->best = now;
    f->any = true;
    return PB_OK;
}

static bool has(const pb_strategy *row, unsigned trait) { return row->traits & trait; }

/* Does the strategy try a cap at little cost? Solvers do not, and the search runs later. On large graphs all but a few
 * strategies take too long. */
static bool is_quick(const finder *f, const pb_strategy *row, uint64_t cap)
{
    if (row->strength == PB_PORTFOLIO || row->strength == PB_ANYTIME || has(row, PB_TRAIT_SOLVER) ||
        has(row, PB_TRAIT_FILE) || !(row->games & (unsigned)f->game.kind))
        return false;
    if (f->game.graph->node_count > SMALL_GRAPH)
        return has(row, PB_TRAIT_QUICK);
    if (has(row, PB_TRAIT_EXHAUSTIVE) && f->game.kind == PB_GAME_REVERSIBLE && f->game.graph->needed_count > MOST_EXACT)
        return false; /* it would use up its limit at nearly every cap */
    return cap == PB_UNLIMITED || !has(row, PB_TRAIT_ANY_CAP);
}

static uint64_t ticks_for(const finder *f, const pb_strategy *row)
{
    bool exact =
        row->strength == PB_EXACT && (has(row, PB_TRAIT_EXHAUSTIVE) || f->game.graph->shape != PB_SHAPE_GENERAL);
    return exact && f->thorough && f->quick < THOROUGH && !f->limit ? THOROUGH : f->quick;
}

/* Runs the quick strategies until one fits the cap. Without a cap, runs all of them. */
static pb_status try_quick(finder *f, uint64_t cap, bool *found)
{
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    pb_status status = PB_OK;
    *found = false;
    for (uint32_t i = 0; i < count && status == PB_OK && !*found; i++) {
        if (is_quick(f, &rows[i], cap))
            status = try_row(f, &rows[i], cap, ticks_for(f, &rows[i]), f->job.request->seed);
        *found = cap != PB_UNLIMITED && f->any && peak_of(f) <= cap;
    }
    return status;
}

/* Bisects between the smallest peak of a quick strategy and the proved bound. A difference of one percent is close
 * enough. */
static pb_status halve(finder *f, uint64_t low)
{
    bool found;
    pb_status status = try_quick(f, PB_UNLIMITED, &found);
    int rounds = f->game.graph->node_count > SMALL_GRAPH ? 2 : HALVINGS;
    for (int i = 0; i < rounds && status == PB_OK && f->any; i++) {
        uint64_t high = peak_of(f);
        if (low >= high || (i > 0 && high - low < high / 100))
            break;
        uint64_t cap = i == 0 ? low : low + (high - low) / 2;
        f->thorough = i == 0;
        status = try_quick(f, cap, &found);
        if (!found)
            low = cap + 1;
    }
    return status;
}

/* Searches for plans at lower and lower caps, each time from the best plan so far. */
static pb_status lower(finder *f, uint64_t low)
{
    const pb_strategy *row = pbi_strategy_with((unsigned)f->game.kind, PB_ANYTIME, 0, 0);
    uint64_t spent = 0, part = FIRST_PART;
    pb_status status = PB_OK;
    bool fits = row && f->game.graph->node_count <= SMALL_GRAPH && f->any;
    for (uint32_t try = 0; fits && status == PB_OK && spent < f->all && part <= LAST_PART && peak_of(f) > low; try++) {
        uint64_t high = peak_of(f), cap = high - high / part;
        cap = cap < high ? cap : high - 1;
        status = try_row(f, row, cap > low ? cap : low, f->each, f->job.request->seed + try);
        spent += f->each;
        if (peak_of(f) == high)
            part *= 2;
        else
            part = part * 2 / 3 > LEAST_PART ? part * 2 / 3 : LEAST_PART;
    }
    return status;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Many plans are tried, so none may take long. The caller's limit is for each plan; the whole search gets ten times
 * that. */
static void share_ticks(finder *f, uint64_t limit)
{
    const pb_graph *g = f->game.graph;
    uint64_t parts = (uint64_t)g->node_count + g->edge_count + 1;
    f->limit = limit;
    f->quick = limit ? limit : 60000 + 16 * parts;
    f->all = smaller(smaller(ALL_EACH * parts, ALL_MOST), ALL_LARGE / parts);
    f->each = f->all / 10 > TRY_LEAST ? f->all / 10 : smaller(f->all, TRY_LEAST);
    if (limit) {
        f->each = smaller(f->each, limit);
        f->all = f->all / 10 < limit ? f->all : 10 * limit;
    }
}

static pb_status find(finder *f, pb_bounds *bounds)
{
    pb_status status = pbi_least_bound(f->job.ctx, &f->game, bounds->least_cap, bounds);
    f->job.quick = bounds;
    if (status == PB_OK)
        status = halve(f, bounds->least_cap);
    return status == PB_OK && !bounds->impossible ? lower(f, bounds->least_cap) : status;
}

pb_status pbi_least_find(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                         pb_bounds *proved, pb_plan_result *out)
{
    finder f = {.game = *game};
    pb_bounds bounds = {.least_cap = proved->least_cap};
    pb_plan_result planned;
    uint64_t limit = ctx->tick_limit;
    ctx->stopped = PB_GO_ON;
    f.game.weights = (pb_weights){1, 0, 0, 0}; /* strategies that compare plans then take the smallest peak */
    share_ticks(&f, limit);
    pb_status status = pbi_job_init(&f.job, ctx, game->graph, request);
    f.job.as_made = game->graph->node_count > SMALL_GRAPH; /* a clean-up hardly changes peaks, and takes time */
    if (status == PB_OK)
        status = find(&f, &bounds);
    if (f.any && (status == PB_OK || status == PB_ECANCELLED)) {
        pbi_held held = pbi_hold(ctx);
        status = pbi_result_copy(ctx, &f.best, result, &planned);
        pbi_resume(ctx, held);
    } else if (status == PB_OK) {
        pbi_spec spec = {.row = pbi_strategy_with((unsigned)game->kind, PB_PORTFOLIO, 0, 0)};
        f.game.cap = bounds.least_cap;
        ctx->tick_limit = f.quick;
        status = pbi_plan_row(&f.job, &f.game, &spec, result, &planned);
    }
    ctx->tick_limit = limit;
    if (f.any)
        pb_arena_release(&f.arena);
    if (bounds.least_why)
        *proved = bounds;
    if (status == PB_OK)
        *out = planned;
    return status;
}

pb_status pb_least_cap(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                       pb_plan_result *out)
{
    pb_bounds proved = {.least_cap = 0};
    pb_status untimed = pbi_untimed(ctx, game, "the smallest cap");
    return untimed != PB_OK ? untimed : pbi_least_find(ctx, game, request, result, &proved, out);
}
