/* tree_starts.c -- see tree_starts.h. */
#include "plan/reversible/anneal/tree_starts.h"

#include "base/context.h"
#include "plan/reversible/tree/better_cuts.h"
#include "plan/reversible/tree/division.h"

enum {
    MAX_MOVES = 1 << 20,
    LOOKS = 200, /* number of places tried for each cut: more bring little */
    A_TICK = 400 /* entries of tables that take as long as a tick of a search */
};

static bool is_plain(const pbi_trees *t)
{
    return t->root_count == 1 && t->equal && !t->overwrites && t->count > 2 && t->g->size[t->node[0]] > 0;
}

static uint64_t effort_of(const pbi_trees *t, const pbi_rev_tree *way)
{
    uint64_t values = t->budget / t->g->size[t->node[0]], enough = t->count; /* all fit: there is nothing to do */
    if (values < t->count)
        enough = LOOKS * values * t->count * t->count;
    return way->effort < enough ? way->effort : enough;
}

static pb_status play_cuts(pb_context *ctx, const pb_game *game, const pbi_trees *t, const uint32_t *cuts,
                           pb_arena *arena, pbi_plan *plan)
{
    pbi_divisions d;
    pbi_reversible r;
    pbi_shape shape = {.block = 1, .cuts = cuts};
    pb_status status = pbi_divisions_make(ctx, t, &shape, arena, &d);
    if (status == PB_OK)
        status = pbi_reversible_init(&r, ctx, game, plan, MAX_MOVES, arena);
    if (status == PB_OK)
        status = pbi_divisions_play(&d, &r, t->budget, arena);
    if (status == PB_OK)
        pbi_reversible_finish(&r);
    return status;
}

static pb_status cut(pb_context *ctx, const pb_game *game, const pbi_trees *t, const pbi_rev_tree *way, pb_arena *arena,
                     pbi_plan *plan)
{
    uint64_t values = t->budget / t->g->size[t->node[0]], work;
    uint32_t max_rank, *cuts = pb_arena_zero(arena, t->count, sizeof *cuts);
    if (!cuts)
        return PB_ENOMEM;
    if (values >= t->count)
        return PB_OK;
    pb_status status = pbi_edge_rank(ctx, t, NULL, cuts, &max_rank);
    if (status == PB_OK)
        status = pbi_better_cuts(ctx, t, way->effort, way->seed, cuts, &work);
    return status == PB_OK && work < MAX_MOVES ? play_cuts(ctx, game, t, cuts, arena, plan) : status;
}

/* Does not count the ticks of the search for cuts, which are too many for its short steps here, but its effort. */
static pb_status cut_soon(pb_context *ctx, const pb_game *game, const pbi_rev_tree *way, pb_arena *arena,
                          pbi_plan *plan)
{
    pbi_trees trees;
    bool are_trees = false;
    uint64_t begun = ctx->ticks;
    pbi_held held = pbi_hold(ctx);
    pb_status status = pbi_trees_read(game, arena, plan, &trees, &are_trees);
    bool plain = status == PB_OK && are_trees && is_plain(&trees);
    pbi_rev_tree chosen = {.effort = plain ? effort_of(&trees, way) : 0, .seed = way->seed};
    if (plain)
        status = cut(ctx, game, &trees, &chosen, arena, plan);
    pbi_resume(ctx, held);
    ctx->ticks = begun;
    return status == PB_OK ? pbi_tick(ctx, chosen.effort / A_TICK) : status;
}

pb_status pbi_rev_tree_plan(pb_context *ctx, const pb_game *game, const pbi_rev_tree *way, pb_arena *arena,
                            pb_moves *moves)
{
    pbi_plan plan = {.arena = arena};
    pb_moves_init(&plan.moves, arena);
    pb_moves_init(moves, arena);
    pb_status status = cut_soon(ctx, game, way, arena, &plan);
    if (status == PB_OK && plan.outcome == PB_FOUND)
        *moves = plan.moves;
    return status;
}
