/* metrics.c -- figures of a certified schedule: sums come from the certificate, the depth is computed here. */
#include "pebble/metrics.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

/* One copy of a value, in fast memory or in a tier: the level at which it was made (GONE: there is none), and the
 * highest level that read it. The latter outlasts its removal: the next copy comes after it. */
typedef struct level {
    uint32_t made, read;
} level;
#define GONE UINT32_MAX

typedef struct depths {
    const pb_graph *g;
    const pb_moves *moves;
    level *fast;
    level *slow[PB_MAX_TIERS];
} depths;

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void make(level *l, uint32_t now) { *l = (level){now, now}; }

static uint32_t read_inputs(depths *d, pb_node v, uint32_t by, uint32_t start)
{
    pb_way way = pb_graph_way(d->g, v, by);
    uint32_t now = start;
    for (uint32_t k = 0; k < way.in_count; k++)
        now = later(now, d->fast[way.in[k]].made);
    now++;
    for (uint32_t k = 0; k < way.in_count; k++)
        d->fast[way.in[k]].read = later(d->fast[way.in[k]].read, now);
    return now;
}

/* A computation that overwrites an input or makes by-products. */
static uint32_t compute_level(depths *d, pb_step k)
{
    const pb_move *move = &d->moves->move[k];
    level *made = &d->fast[move->node];
    bool again = made->made != GONE; /* run only for by-products: the value itself does not change */
    uint32_t count, start = again ? 0 : made->read;
    const pb_node *also = pb_moves_also(d->moves, k, &count);
    for (uint32_t i = 0; i < count; i++)
        start = later(start, d->fast[also[i]].read);
    pb_node over = pb_moves_over(d->moves, k);
    if (over != PB_NO_NODE) /* reuses its memory: after everything that read it */
        start = later(start, d->fast[over].read);
    uint32_t now = read_inputs(d, move->node, move->by, start);
    if (over != PB_NO_NODE)
        d->fast[over].made = GONE;
    if (!again)
        make(made, now);
    for (uint32_t i = 0; i < count; i++)
        make(&d->fast[also[i]], now);
    return now;
}

/* A copy of `from` becomes `to`. */
static uint32_t copy_level(level *from, level *to)
{
    uint32_t now = later(from->made, to->read) + 1;
    from->read = later(from->read, now);
    make(to, now);
    return now;
}

/* Free and drop have length 0. */
static uint32_t move_level(depths *d, pb_step k)
{
    const pb_move *move = &d->moves->move[k];
    pb_node v = move->node;
    level *fast = &d->fast[v];
    uint32_t now = 0;
    switch (move->op) {
    case PB_COMPUTE:
        if (move->flags)
            return compute_level(d, k);
        now = read_inputs(d, v, move->by, fast->read);
        make(fast, now);
        return now;
    case PB_UNCOMPUTE:
        now = read_inputs(d, d->g->flags[v] & PB_NODE_BYPRODUCT ? d->g->owner[v] : v, 0, fast->read);
        *fast = (level){GONE, now};
        return now;
    case PB_FREE: fast->made = GONE; return 0;
    case PB_STORE: return copy_level(fast, &d->slow[move->tier - 1][v]);
    case PB_LOAD: return copy_level(&d->slow[move->tier - 1][v], fast);
    default: d->slow[move->tier - 1][v].made = GONE; return 0;
    }
}

static bool depths_init(depths *d, const pb_game *game, const pb_moves *moves, pb_arena *scratch)
{
    const pb_graph *g = game->graph;
    uint32_t tiers = game->kind == PB_GAME_TIERED ? game->tier_count : 0;
    *d = (depths){.g = g, .moves = moves, .fast = pb_arena_alloc(scratch, g->node_count, sizeof *d->fast)};
    for (uint32_t t = 0; t < tiers; t++)
        if (!(d->slow[t] = pb_arena_zero(scratch, g->node_count, sizeof **d->slow)))
            return false;
    for (pb_node v = 0; d->fast && v < g->node_count; v++)
        d->fast[v] = (level){(g->flags[v] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW)) == PB_NODE_GIVEN ? 0 : GONE, 0};
    return d->fast != NULL;
}

/* The critical path: the longest chain of moves that depend on each other. */
static pb_status measure_depth(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t *depth)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    depths d;
    pb_status status = depths_init(&d, game, moves, &scratch) ? PB_OK : PB_ENOMEM;
    uint32_t most = 0;
    for (pb_step k = 0; k < moves->count && status == PB_OK; k++) {
        if ((k & 0xffff) == 0)
            status = pbi_poll(ctx);
        most = later(most, move_level(&d, k));
    }
    pb_arena_release(&scratch);
    *depth = most;
    return status;
}

bool pb_metrics_cost(const pb_metrics *m, const pb_weights *w, pb_u128 *cost)
{
    pb_u128 part, sum = pbi_u128_product(w->alpha, m->peak);
    if (!pbi_u128_scale(m->flux, w->beta, &part) || !pbi_u128_add(&sum, part))
        return false;
    pb_u128 extra = pbi_u128(m->recompute);
    pbi_u128_add(&extra, pbi_u128(m->uncompute));
    pbi_u128_add(&extra, pbi_u128(m->io));
    if (!pbi_u128_scale(extra, w->gamma, &part) || !pbi_u128_add(&sum, part))
        return false;
    *cost = sum;
    return true;
}

double pb_metrics_gap(uint64_t makespan, uint64_t lower_bound)
{
    if (!lower_bound)
        return makespan ? -1.0 : 0.0;
    return ((double)makespan - (double)lower_bound) / (double)lower_bound;
}

uint64_t pb_metrics_objective(const pb_game *game, const pb_metrics *m)
{
    return game->kind == PB_GAME_TIMED && game->objective == PB_OBJECTIVE_SPAN ? m->span : m->makespan;
}

bool pb_metrics_cost_in(const pb_game *game, const pb_metrics *m, const pb_weights *w, pb_u128 *cost)
{
    pb_u128 flux, sum = pbi_u128_product(w->alpha, m->peak);
    if (game->kind != PB_GAME_TIMED)
        return pb_metrics_cost(m, w, cost);
    if (!pbi_u128_scale(m->flux, w->beta, &flux) || !pbi_u128_add(&sum, flux) ||
        !pbi_u128_add(&sum, pbi_u128_product(w->gamma, pb_metrics_objective(game, m))))
        return false;
    *cost = sum;
    return true;
}

void pb_metrics_stalls(const pb_certificate *c, uint64_t stall[PB_STALL_COUNT])
{
    const pb_game *game = pb_certificate_game(c);
    const pb_lane_use *lanes = pb_certificate_totals(c)->timed.lanes;
    memset(stall, 0, PB_STALL_COUNT * sizeof *stall);
    for (uint32_t p = 0; game->kind == PB_GAME_TIMED && p < game->timing->machine->processor_count; p++)
        for (int i = 0; i < PB_STALL_COUNT; i++)
            stall[i] = pbi_add_saturated(stall[i], lanes[p].stall[i]);
}

uint64_t pb_metrics_capped(const pb_metrics *m) { return m->peaks ? m->peaks[0] : m->peak; }

/* Everything is in the certificate. */
static pb_status measure_timed(pb_context *ctx, const pb_certificate *c, pb_metrics *out)
{
    const pb_game *game = pb_certificate_game(c);
    const pb_totals *t = pb_certificate_totals(c);
    pb_metrics m = {.peak = t->peak,
                    .work = t->compute_work,
                    .io = t->io,
                    .makespan = t->timed.makespan,
                    .recompute = t->timed.recompute,
                    .recompute_count = t->timed.recompute_count,
                    .flux = t->flux,
                    .moves = pb_certificate_moves(c)->count,
                    .gap = -1.0,
                    .span = t->timed.span,
                    .peaks = t->timed.peaks};
    uint64_t needed = game->graph->needed_cost;
    bool alone = game->timing->machine->processor_count == 1;
    m.overhead = !alone ? -1.0 : needed ? (double)m.makespan / (double)needed - 1.0 : 0.0;
    if (!pb_metrics_cost_in(game, &m, &game->weights, &m.cost))
        return pbi_fail(ctx, PB_ERANGE, "the weighted cost exceeds 2^128; use smaller weights");
    *out = m;
    return PB_OK;
}

pb_status pb_metrics_measure(pb_context *ctx, const pb_certificate *c, pb_metrics *out)
{
    const pb_game *game = pb_certificate_game(c);
    const pb_moves *moves = pb_certificate_moves(c);
    const pb_totals *t = pb_certificate_totals(c);
    const pb_graph *g = game->graph;
    if (game->kind == PB_GAME_TIMED)
        return measure_timed(ctx, c, out);
    pb_metrics m = {
        .peak = t->peak,
        .work = t->compute_work + t->uncompute_work,
        .io = t->io,
        .makespan = t->compute_work + t->uncompute_work + t->io,
        .recompute = t->compute_work - g->needed_cost,
        .recompute_count = t->compute_count - g->needed_count,
        .uncompute = t->uncompute_work,
        .flux = t->flux,
        .moves = moves->count,
        .gap = -1.0,
        .borrowed = t->borrowed,
    };
    m.overhead = g->needed_cost ? (double)m.makespan / (double)g->needed_cost - 1.0 : 0.0;
    if (!pb_metrics_cost(&m, &game->weights, &m.cost))
        return pbi_fail(ctx, PB_ERANGE, "the weighted cost exceeds 2^128; use smaller weights");
    pb_status status = measure_depth(ctx, game, moves, &m.depth);
    if (status == PB_OK)
        *out = m;
    return status;
}

void pb_pareto_mark(const pb_metrics *const *points, uint32_t count, bool *on_front)
{
    for (uint32_t i = 0; i < count; i++) {
        on_front[i] = points[i] != NULL;
        for (uint32_t j = 0; j < count && on_front[i]; j++) {
            if (j == i || !points[j])
                continue;
            bool no_worse = points[j]->peak <= points[i]->peak && points[j]->makespan <= points[i]->makespan;
            bool better = points[j]->peak < points[i]->peak || points[j]->makespan < points[i]->makespan;
            on_front[i] = !(no_worse && (better || j < i));
        }
    }
}
