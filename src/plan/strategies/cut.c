/* cut.c -- keep or recompute, at one price of memory, by minimum cuts.
 *
 * Problem     least work under a cap for large graphs with a forward and a backward pass, such as training steps.
 * Idea        program order is split at its peak. A value that crosses the split is either kept, at a price for its
 *             size, or recomputed behind the split, at its cost and the cost of what it needs: a minimum cut
 *             (cut/cut). The replay recomputes it right before its first reader; the lowest price at which the replay
 *             fits the cap gives the plan. Early values have a slightly higher price: equal layers then change sides
 *             one by one, early layers first. The backward pass needs those last, when much has been freed. A cut
 *             does not count the memory for what it rebuilds, and at high prices it drops a whole chain of layers and
 *             rebuilds it at once. So every g-th of the values that alone cross a place of the forward pass (anchors)
 *             must be kept, for several g.
 *             A value with recipes comes back by its cheapest one, or, in a second search, only if it cannot be
 *             recomputed. Cycles of recipes are broken by values that are kept: of a stack of invertible blocks, what
 *             the last one returns.
 * Invariants  the best plan never gets worse; a stop keeps the best so far.
 * Cost        some twenty cuts and replays for each g, each nearly linear.
 * Source      minimum cuts for what a backward pass saves: PyTorch's partitioner; the price searched on the replayed
 *             peak, the tilt and the anchors are this project's.
 * Limits      program order, one split, nothing computed more than twice; recipes that read only what is computed
 *             before the split.
 */
#include "plan/cut/cut.h"
#include "base/context.h"

#include <math.h>
#include <string.h>

#define TILT 0.01     /* how much more expensive the earliest values are */
#define NEAR 1e-7     /* prices this close, relatively, count as equal */
#define ALIKE 1e-6    /* and amounts of work this close */
#define ENOUGH 0.0001 /* this close to the bound, relatively, other anchors are not tried on graphs with many nodes */
#define ENOUGH_FEW 0.000005
enum {
    MAX_CUTS = 60,
    WORSE = 2, /* consecutive anchors without a better plan before the search stops */
    FILLS = 40 /* values tried one by one for the remaining memory, on smaller graphs */
};
#define MANY 50000

typedef struct search {
    pb_context *ctx;
    const pb_game *game;
    pb_game open; /* the same without a cap */
    const pbi_plan_options *options;
    pbi_cutter cutter;
    pbi_sequence sequence;
    pbi_figures now, best;
    uint8_t *best_kept, *repeated;
    bool found;
    uint64_t ticks;    /* of one cut and replay */
    bool drops_fit;    /* the plan fits that drops all that these anchors allow */
    double price;      /* where the last price search ended */
    uint64_t min_peak; /* the smallest peak of all replays */
} search;

/* A choice fits, or it keeps too much across the split, or what it rebuilds needs too much memory. */
typedef enum verdict { FITS, KEEPS_TOO_MUCH, REBUILDS_TOO_MUCH } verdict;

static pb_status replay_choice(search *s, verdict *out)
{
    pb_status status = pbi_cutter_replay(&s->cutter, &s->sequence);
    if (status == PB_OK)
        status = pbi_sequence_emit(s->ctx, &s->open, &s->sequence, NULL, &s->now);
    if (status != PB_OK)
        return status;
    const pbi_figures *now = &s->now;
    *out = now->peak <= s->game->cap                  ? FITS
           : now->peak_event < s->cutter.front_events ? KEEPS_TOO_MUCH
                                                      : REBUILDS_TOO_MUCH;
    s->min_peak = now->peak < s->min_peak ? now->peak : s->min_peak;
    if (*out == FITS && !now->overflow && (!s->found || pbi_figures_better(s->game, now, &s->best))) {
        s->best = *now;
        s->found = true;
        memcpy(s->best_kept, s->cutter.kept, s->game->graph->node_count);
    }
    return pbi_tick(s->ctx, s->ticks);
}

static pb_status cut_at_price(search *s, double price, verdict *out)
{
    bool done;
    pb_status status = pbi_cutter_run(&s->cutter, price, TILT, &done);
    if (status == PB_OK && !done) { /* absurdly high: the same as no limit */
        *out = REBUILDS_TOO_MUCH;
        return pbi_tick(s->ctx, s->ticks);
    }
    return status == PB_OK ? replay_choice(s, out) : status;
}

/* Do two choices have about the same work? */
static bool about_equal(uint64_t a, uint64_t b) { return fabs((double)a - (double)b) <= ALIKE * (double)b; }

/* The lowest price that does not keep too much, by bisection. */
static pb_status search_price(search *s)
{
    double low = 0, high = 0, price = s->price;
    uint64_t low_time = 0, high_time = 0;
    pb_status status = PB_OK;
    for (int i = 0; i < MAX_CUTS && status == PB_OK; i++) {
        verdict v = FITS;
        status = cut_at_price(s, price, &v);
        if (v == REBUILDS_TOO_MUCH && s->drops_fit)
            v = KEEPS_TOO_MUCH; /* only because it keeps so much at the same time: a higher price will help */
        *(v == KEEPS_TOO_MUCH ? &low : &high) = price;
        *(v == KEEPS_TOO_MUCH ? &low_time : &high_time) = s->now.time;
        if (status != PB_OK || (low > 0 && high > 0 && (high / low < 1 + NEAR || about_equal(low_time, high_time))))
            break;
        double step = i < 3 ? 1.5 : 8; /* the price found for other anchors is close */
        price = !(high > 0) ? price * step : !(low > 0) ? price / step : sqrt(low) * sqrt(high);
        if (price < 1e-30 || price > 1e30)
            break;
    }
    s->price = high > 0 ? high : s->price;
    return status;
}

/* Anchors at this distance. *tried is false when nothing that can be dropped would help. */
static pb_status try_anchors(search *s, uint32_t every, bool *tried)
{
    verdict v = FITS;
    pbi_cutter_anchor(&s->cutter, every);
    pbi_cutter_drop(&s->cutter);
    pb_status status = replay_choice(s, &v);
    *tried = status == PB_OK && v != KEEPS_TOO_MUCH;
    s->drops_fit = v == FITS;
    return *tried ? search_price(s) : status;
}

static bool good_enough(const search *s)
{
    double bound = (double)s->options->bounds->makespan;
    double enough = s->game->graph->node_count > MANY ? ENOUGH : ENOUGH_FEW;
    return s->found && (double)s->best.time <= bound * (1 + enough);
}

static pb_status try_all(search *s)
{
    verdict v;
    memcpy(s->cutter.kept, s->cutter.asked, s->game->graph->node_count);
    pb_status begun = replay_choice(s, &v);
    if (begun != PB_OK || v == FITS)
        return begun;
    uint32_t worse = 0, count = s->cutter.anchor_count;
    pb_status status = PB_OK;
    for (uint32_t every = 1; every <= 1024 && worse < WORSE && status == PB_OK; every *= 2) {
        bool last = every > count, tried, before = s->found;
        uint64_t time = s->best.time;
        status = try_anchors(s, last ? 0 : every, &tried);
        if (good_enough(s) || last)
            break;
        worse = before && tried && s->best.time >= time ? worse + 1 : 0;
        pbi_progress(s->ctx, "cut", every, 0);
    }
    return status;
}

/* The most expensive recomputation whose value may fit into the remaining memory; those above `last` were tried. */
static pb_node next_fill(const search *s, pb_node last)
{
    const pb_graph *g = s->game->graph;
    pb_node best = PB_NO_NODE;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool after = last == PB_NO_NODE || g->cost[v] < g->cost[last] || (g->cost[v] == g->cost[last] && v > last);
        if (after && s->repeated[v] && g->size[v] <= s->game->cap - s->best.peak &&
            (best == PB_NO_NODE || g->cost[v] > g->cost[best]))
            best = v;
    }
    return best;
}

/* Keeps single values if memory remains. */
static pb_status keep_single_values(search *s)
{
    const pb_graph *g = s->game->graph;
    pb_node x = PB_NO_NODE;
    pb_status status = PB_OK;
    for (int i = 0; i < FILLS && status == PB_OK; i++) {
        verdict v;
        memcpy(s->cutter.kept, s->best_kept, g->node_count);
        if (!i) {
            status = replay_choice(s, &v);
            memcpy(s->repeated, s->cutter.done, g->node_count);
        }
        x = next_fill(s, x);
        if (x == PB_NO_NODE || status != PB_OK)
            break;
        s->cutter.kept[x] = 1;
        status = replay_choice(s, &v);
    }
    return status;
}

static pb_status write_plan(search *s, pbi_plan *plan)
{
    memcpy(s->cutter.kept, s->best_kept, s->game->graph->node_count);
    pb_status status = pbi_cutter_replay(&s->cutter, &s->sequence);
    return status == PB_OK ? pbi_sequence_emit(s->ctx, s->game, &s->sequence, plan, NULL) : status;
}

static pb_status init_search(search *s, pbi_cutter_recipes recipes, pb_arena *arena)
{
    const pb_graph *g = s->game->graph;
    pbi_sequence_init(&s->sequence, arena);
    s->open = *s->game;
    s->open.cap = PB_UNLIMITED;
    s->min_peak = UINT64_MAX;
    s->ticks = ((uint64_t)g->node_count + g->edge_count) / 16 + 1;
    s->price = ((double)g->needed_cost + 1) / ((double)g->total_size + 1);
    s->best_kept = pb_arena_alloc(arena, g->node_count, 1);
    s->repeated = pb_arena_alloc(arena, g->node_count, 1);
    if (!s->best_kept || !s->repeated)
        return PB_ENOMEM;
    pb_status status = pbi_cutter_init(s->ctx, &s->cutter, s->game, arena);
    return status == PB_OK ? pbi_cutter_use(&s->cutter, recipes) : status;
}

static pb_status run_search(search *s, pbi_cutter_recipes recipes, pb_arena *arena)
{
    pb_status status = init_search(s, recipes, arena);
    if (status == PB_OK)
        status = try_all(s);
    if (status == PB_OK && s->found && s->game->graph->node_count <= MANY &&
        (double)s->best.time > (double)s->options->bounds->makespan * (1 + s->options->gap))
        status = keep_single_values(s);
    return status;
}

/* A value that is given in slow memory of a game without one: only a recipe brings it. */
static pb_node out_of_reach(const pb_game *game)
{
    const pb_graph *g = game->graph;
    if (!pb_game_recipes(game) || (game->kind == PB_GAME_TIERED && game->tier_count))
        return PB_NO_NODE;
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && (g->flags[v] & PB_NODE_NEEDED) && pb_graph_recipes(g, v))
            return v;
    return PB_NO_NODE;
}

pb_status pbi_plan_cut(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    search all = {.ctx = ctx, .game = game, .options = options}, few = all, *best = &all;
    pb_node missing = out_of_reach(game);
    if (missing != PB_NO_NODE)
        return pbi_plan_give_up(plan, "does not apply: %.60s is given in slow memory, and only a recipe brings it",
                                pb_graph_name(game->graph, missing));
    pb_arena_init(&scratch, ctx);
    pb_status status = run_search(&all, PBI_CUTTER_ALL_RECIPES, &scratch);
    if (status == PB_OK && pb_game_recipes(game)) {
        status = run_search(&few, PBI_CUTTER_FEW_RECIPES, &scratch);
        best = few.found && (!all.found || pbi_figures_better(game, &few.best, &all.best)) ? &few : &all;
        best->min_peak = few.min_peak < all.min_peak ? few.min_peak : all.min_peak;
    }
    if (best->found && (status == PB_OK || status == PB_ECANCELLED || status == PB_ELIMIT)) {
        pbi_held held = pbi_hold(ctx);
        status = write_plan(best, plan);
        pbi_resume(ctx, held);
    } else if (status == PB_OK) {
        char min_peak[40];
        pb_quantity_text(best->min_peak, game->graph->size_unit, min_peak, sizeof min_peak);
        status = pbi_plan_give_up(plan, "does not fit: the smallest peak of all cuts tried is %s", min_peak);
    }
    pb_arena_release(&scratch);
    return status;
}
