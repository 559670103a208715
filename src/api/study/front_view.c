/* front_view.c -- the front of the reversible game for a comparison, with Bennett's recursion; see summary.h. */
#include "pebble/summary.h"

#include "plan/strategy.h"

enum { MAX_NODES = 40 };
#define MAX_EFFORT UINT64_C(2000000) /* moves examined: well below a second */
/* Nanoseconds of a time limit per move: some four times what it takes. */
#define TIME_EACH UINT64_C(1000)

bool pb_front_is_point(const pb_plan_result *p, const pb_front_point *point)
{
    return p->certificate && p->schedule.game == PB_GAME_REVERSIBLE && p->schedule.metrics.peak == point->peak &&
           p->schedule.metrics.work == point->work;
}

bool pb_front_matters(const pb_comparison *rows)
{
    for (uint32_t i = 0; i < rows->row_count; i++)
        if (rows->rows[i].schedule.game == PB_GAME_REVERSIBLE)
            return true;
    return false;
}

/* Bennett in the memory of each point; what fits in less also fits in more. */
static pb_status place_bennett(pb_context *ctx, const pb_graph *g, pb_arena *result, pb_front_view *view)
{
    pb_game game = {.graph = g, .kind = PB_GAME_REVERSIBLE, .weights = PB_WEIGHTS_DEFAULT};
    pb_request request = PB_REQUEST_DEFAULT;
    uint64_t best = UINT64_MAX;
    request.strategy = pbi_strategy_with(PB_GAME_REVERSIBLE, PB_HEURISTIC, PB_TRAIT_RECURSION, 0)->name;
    view->bennett = pb_arena_alloc(result, view->front.count, sizeof *view->bennett);
    if (!view->bennett)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < view->front.count; i++) {
        pb_arena scratch;
        pb_plan_result planned;
        pb_arena_init(&scratch, ctx);
        game.cap = view->front.point[i].peak;
        pb_status status = pb_plan(ctx, &game, &request, &scratch, &planned);
        if (status == PB_OK && planned.certificate && planned.schedule.metrics.work < best)
            best = planned.schedule.metrics.work;
        pb_arena_release(&scratch);
        if (status != PB_OK)
            return status;
        view->bennett[i] = best;
    }
    return PB_OK;
}

pb_status pb_front_view_make(pb_context *ctx, const pb_graph *g, uint64_t time_ns, pb_arena *result, pb_front_view *out)
{
    uint64_t effort = MAX_EFFORT;
    pb_front_view view = {.bennett = NULL};
    *out = view;
    if (time_ns && time_ns / TIME_EACH < effort)
        effort = time_ns / TIME_EACH + 1;
    if (g->needed_count > MAX_NODES)
        return PB_OK;
    pb_status status = pb_reversible_front(ctx, g, effort, result, &view.front);
    if (status == PB_OK)
        status = place_bennett(ctx, g, result, &view);
    if (status == PB_OK)
        *out = view;
    bool no_matter = status == PB_ERANGE || status == PB_ECANCELLED; /* the table is useful without it */
    return no_matter ? PB_OK : status;
}
