/* edge_rank.c -- trees in the reversible game: the fewest pebbles, and more of them for fewer moves.
 *
 * Problem     compute the root of an in-tree reversibly, leaving nothing else, within the cap.
 * Idea        rank the edges so that between two edges of equal rank there is one of higher rank. Cut at the highest:
 *             compute the lower part, compute the upper part, uncompute the lower part; each with one pebble less.
 *             The least number of ranks plus one is the least number of pebbles. With more memory, pieces that fit
 *             are computed place by place, and `levels` lists of blocks keep the roots of their parts, as Bennett
 *             does with segments of a chain.
 * Invariants  as in reversible/tree/division.h; budgets limit what a piece may use, and the replay checks the cap.
 * Cost        ranks: near O(n log n) if few values are read at a time; plans: O(moves). Levels l and blocks of
 *             bounded size on trees of bounded degree: about l n^(1/l) pebbles and 2^l n moves.
 * Source      Komarath, Sarma, Sawlani, "Pebbling meets coloring: reversible pebble game on trees", 2018; the
 *             equality with Dymond and Tompa's game: Chan, "Just a pebble game", 2013.
 * Limits      the number of pebbles is proved for one root, equal sizes and no workspace. The number of moves is not
 *             claimed to be minimal. Different sizes are allowed, but the ranks ignore them. A value that does not
 *             stay until the end must be read once.
 */
#include "plan/reversible/tree/better_cuts.h"
#include "plan/reversible/tree/division.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_TRIED = 5, BUDGETS = 8, MAX_POLISH = 20000000 };
#define AUTO_POLISH UINT64_MAX

/* How a plan is made: how the trees are cut, and how much memory it may use. */
typedef struct way {
    pbi_shape shape;
    uint64_t budget;
} way;

/* What the options allow. */
typedef struct wish {
    uint64_t levels, block; /* UINT64_MAX and 0: any */
    bool even, falling;     /* which lists may be tried */
    uint64_t polish;        /* effort for cheaper cuts */
    uint64_t seed;
} wish;

typedef struct planner {
    pb_context *ctx;
    const pb_game *game;
    const pbi_trees *trees;
    uint64_t limit;
    wish wish;
    way best;
    pbi_figures min;
    uint64_t moves; /* of the best */
    bool by_moves;  /* rank plans by moves alone */
    bool any;
    uint64_t polished; /* the effort, if the best plan has cuts that a search found */
    bool too_long;     /* some way fits, but has too many moves */
} planner;

/* Plays without recording moves; stops at the number of moves of the best so far if only moves count. */
static pb_status measure_way(planner *p, const way *w, const pbi_divisions *d)
{
    uint64_t limit = p->any && p->by_moves ? p->moves : p->limit;
    pb_arena scratch;
    pbi_reversible r;
    pb_arena_init(&scratch, p->ctx);
    pb_status status = pbi_reversible_init(&r, p->ctx, p->game, NULL, limit, &scratch);
    if (status == PB_OK)
        status = pbi_divisions_play(d, &r, w->budget, &scratch);
    pb_arena_release(&scratch);
    if (status == PB_ELIMIT && r.step > limit) {
        p->too_long = true;
        return PB_OK;
    }
    if (status == PB_OK && !r.stuck && r.f.fits && !r.f.overflow &&
        (!p->any || pbi_figures_better(p->game, &r.f, &p->min))) {
        p->any = true;
        p->min = r.f;
        p->moves = r.step;
        p->best = *w;
    }
    return status;
}

/* Tries one way: does it fit, and is it the best so far? */
static pb_status try_way(planner *p, const way *w, bool *fits)
{
    pb_arena arena;
    pbi_divisions d;
    pb_arena_init(&arena, p->ctx);
    pb_status status = pbi_divisions_make(p->ctx, p->trees, &w->shape, &arena, &d);
    *fits = status == PB_OK && pbi_divisions_min_memory(&d) <= w->budget;
    if (*fits)
        status = measure_way(p, w, &d);
    pb_arena_release(&arena);
    return status;
}

/* Larger blocks keep less: the smallest power of 2 that fits has the fewest moves, or nearly. */
static pb_status try_level(planner *p, uint32_t levels, bool even, uint64_t budget)
{
    uint64_t block = p->wish.block;
    way w = {{.levels = levels, .block = block ? block : 1, .even = even}, budget};
    pb_status status = PB_OK;
    bool fits = false;
    if (block)
        return try_way(p, &w, &fits);
    for (; w.shape.block <= p->trees->count && !fits && status == PB_OK; w.shape.block *= 2)
        status = try_way(p, &w, &fits);
    return status;
}

/* On large trees each trial takes long: fewer ways are tried. */
static pb_status try_budget(planner *p, uint64_t budget)
{
    enum { LARGE = 1 << 20 };
    bool fits, any = p->wish.levels == UINT64_MAX;
    uint64_t first = any ? 1 : p->wish.levels, last = any ? MAX_TRIED : p->wish.levels;
    if (any && p->trees->count > LARGE)
        last = MAX_TRIED / 2;
    pb_status status = PB_OK;
    for (uint64_t levels = first; levels && levels <= last && status == PB_OK; levels++) {
        if (p->wish.falling)
            status = try_level(p, (uint32_t)levels, false, budget);
        if (status == PB_OK && p->wish.even && (levels > 1 || !p->wish.falling)) /* one level has blocks of one size */
            status = try_level(p, (uint32_t)levels, true, budget);
    }
    if (status == PB_OK && (any || p->wish.levels == 0)) /* the fewest values, and often the most moves */
        status = try_way(p, &(way){{.block = 1}, budget}, &fits);
    return status;
}

/* Memory above the sum of all values is of no use. */
static uint64_t useful_budget(const pbi_trees *t)
{
    uint64_t all = 0, space = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        pb_node v = t->node[i];
        if (!pbi_add(all, t->g->size[v], &all))
            return t->budget;
        space = t->g->workspace[v] > space ? t->g->workspace[v] : space;
    }
    return pbi_add(all, space, &all) && all < t->budget ? all : t->budget;
}

/* With weights on memory, using less than the cap may be better. */
static pb_status choose_budget(planner *p, uint64_t min)
{
    const pb_weights *w = &p->game->weights;
    uint64_t budget = useful_budget(p->trees), step = budget > min ? (budget - min) / BUDGETS + 1 : 1;
    p->by_moves = !w->alpha && !w->beta;
    for (uint32_t i = 1; i < p->trees->count && p->by_moves; i++)
        p->by_moves = p->trees->g->cost[p->trees->node[i]] == p->trees->g->cost[p->trees->node[0]];
    pb_status status = try_budget(p, budget);
    for (uint64_t b = min; (w->alpha || w->beta) && b < budget && status == PB_OK; b += step)
        status = try_budget(p, b);
    return status;
}

/* Is the number of values by ranks proved to be minimal? */
static bool is_exact(const pbi_trees *t) { return t->root_count == 1 && t->equal && !t->overwrites; }

/* Small trees: other cuts than those by ranks may cost less. */
static pb_status polish(planner *p, pb_arena *scratch)
{
    const pbi_trees *t = p->trees;
    const pb_weights *w = &p->game->weights;
    uint64_t size = t->count ? t->g->size[t->node[0]] : 0, work = UINT64_MAX;
    uint32_t max, *rank = pb_arena_zero(scratch, t->count, sizeof *rank);
    if (!rank)
        return PB_ENOMEM;
    if (!p->any || !p->wish.polish || !is_exact(t) || !size || t->budget / size >= t->count || w->alpha || w->beta ||
        (p->wish.levels && p->wish.levels != UINT64_MAX))
        return PB_OK;
    uint64_t values = t->budget / size, effort = p->wish.polish;
    if (effort == AUTO_POLISH) { /* try each cut in about a hundred places, as far as the effort allows */
        uint64_t trial = (uint64_t)t->count * values;
        effort = trial > MAX_POLISH / 200 / t->count ? MAX_POLISH : 200 * t->count * trial;
    }
    pb_status status = pbi_edge_rank(p->ctx, t, NULL, rank, &max);
    if (status == PB_OK)
        status = pbi_better_cuts(p->ctx, t, effort, p->wish.seed, rank, &work);
    if (status == PB_ENOMEM || work >= p->min.time)
        return status == PB_ENOMEM ? status : PB_OK;
    p->polished = effort;
    p->best = (way){{.block = 1, .cuts = rank}, useful_budget(t)};
    return PB_OK;
}

/* So that the same options give the same plan. */
static pb_status record(const planner *p, pbi_plan *plan)
{
    const pbi_shape *shape = &p->best.shape;
    pb_status status = pbi_plan_record_number(plan, "levels", shape->levels);
    if (status == PB_OK && shape->levels)
        status = pbi_plan_record_number(plan, "block", shape->block);
    if (status == PB_OK && shape->levels > 1)
        status = pbi_plan_record(plan, "lists", shape->even ? "even" : "falling");
    return status == PB_OK ? pbi_plan_record_number(plan, "polish", p->polished) : status;
}

static pb_status play_best(planner *p, pb_arena *scratch, pbi_plan *plan)
{
    pbi_divisions d;
    pbi_reversible r;
    pb_status status = pbi_divisions_make(p->ctx, p->trees, &p->best.shape, scratch, &d);
    if (status == PB_OK)
        status = pbi_reversible_init(&r, p->ctx, p->game, plan, p->limit, scratch);
    if (status == PB_OK)
        status = pbi_divisions_play(&d, &r, p->best.budget, scratch);
    if (status != PB_OK)
        return status;
    pbi_reversible_finish(&r);
    return record(p, plan);
}

static pb_status give_up_ranks(const pbi_trees *t, uint64_t min, pbi_plan *plan)
{
    char need[100], left[100];
    pb_amount_text(min, t->g->size_unit, need, sizeof need);
    pb_amount_text(t->budget, t->g->size_unit, left, sizeof left);
    return pbi_plan_give_up(plan, "does not fit: the tree needs %s, and the cap leaves %s for it", need, left);
}

/* Reports that nothing that was tried fits. */
static pb_status report_no_fit(const planner *p, uint64_t min, uint64_t values, pbi_plan *plan)
{
    const pbi_trees *t = p->trees;
    if (p->too_long)
        return pbi_fail(p->ctx, PB_ELIMIT,
                        "limit hit: every plan that fits needs more than %" PRIu64 " moves; raise its option limit",
                        p->limit);
    if (t->budget >= min)
        return pbi_plan_give_up(plan, "does not fit: with these options no plan fits the cap");
    if (!is_exact(t))
        return give_up_ranks(t, min, plan);
    pb_status status = pbi_plan_give_up(
        plan, "a tree of %" PRIu32 " nodes needs %" PRIu64 " values in memory, and the cap has room for %" PRIu64,
        t->count, values, t->budget / t->g->size[t->node[0]]);
    plan->outcome = PB_INFEASIBLE;
    return status;
}

static pb_status plan_trees(planner *p, pb_arena *scratch, pbi_plan *plan)
{
    pbi_divisions d;
    pb_status status = pbi_divisions_make(p->ctx, p->trees, &(pbi_shape){.block = 1}, scratch, &d);
    if (status != PB_OK)
        return status;
    uint64_t min = pbi_divisions_min_memory(&d);
    if (p->trees->budget >= min || !is_exact(p->trees))
        status = choose_budget(p, min);
    if (!p->any)
        return status == PB_OK ? report_no_fit(p, min, (uint64_t)d.ranks + 1, plan) : status;
    if (status == PB_OK)
        status = polish(p, scratch);
    if (status == PB_ENOMEM)
        return status;
    pbi_held held = pbi_hold(p->ctx); /* also after a stop: write the best plan so far */
    status = play_best(p, scratch, plan);
    pbi_resume(p->ctx, held);
    return status;
}

static pb_status read_options(planner *p, const pbi_plan_options *options)
{
    const char *lists = pbi_option_find(options, "lists");
    bool any = !lists || strcmp(lists, "auto") == 0;
    p->wish.levels = UINT64_MAX;
    p->wish.polish = AUTO_POLISH;
    pb_status status = pbi_option_limit(p->ctx, options, p->game->graph, &p->limit);
    if (status == PB_OK)
        status = pbi_option_number(p->ctx, options, "levels", 0, PBI_MAX_LEVELS, &p->wish.levels);
    if (status == PB_OK)
        status = pbi_option_number(p->ctx, options, "block", 1, UINT32_MAX, &p->wish.block);
    if (status == PB_OK)
        status = pbi_option_number(p->ctx, options, "polish", 0, UINT32_MAX, &p->wish.polish);
    p->wish.seed = options->seed;
    p->wish.even = any || strcmp(lists, "even") == 0;
    p->wish.falling = any || strcmp(lists, "falling") == 0;
    if (status == PB_OK && !p->wish.even && !p->wish.falling)
        return pbi_fail(p->ctx, PB_EINVAL, "lists must be auto, even or falling, not '%.60s'", lists);
    return status;
}

pb_status pbi_plan_edge_rank(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pbi_trees trees;
    bool are_trees = false;
    planner p = {.ctx = ctx, .game = game, .trees = &trees};
    pb_status status = read_options(&p, options);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = pbi_trees_read(game, &scratch, plan, &trees, &are_trees);
    if (status == PB_OK && are_trees && !trees.count)
        plan->outcome = PB_FOUND;
    else if (status == PB_OK && are_trees)
        status = plan_trees(&p, &scratch, plan);
    pb_arena_release(&scratch);
    if (status == PB_OK && plan->outcome == PB_FOUND)
        status = pbi_plan_note(plan, "every value is read once, as in a tree");
    return status == PB_OK && are_trees ? pbi_plan_record_number(plan, "limit", p.limit) : status;
}
