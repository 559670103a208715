/* metrics.c -- figures of a certified schedule: sums come from the certificate, depth is worked out here. */
#include "pebble/metrics.h"

#include "base/checked.h"
#include "base/context.h"

/* Per node: the level at which its value is there, and the highest level that read it since. */
typedef struct level {
    uint32_t made, read;
} level;

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* The removal of a value comes after every move that read it; what is made there next comes after that. */
static void removed(level *l) { l->made = l->read = later(l->made, l->read); }

static uint32_t read_inputs(const pb_graph *g, level *levels, pb_node v, uint32_t start)
{
    uint32_t now = start;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        now = later(now, levels[g->in[k]].made);
    now++;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        levels[g->in[k]].read = later(levels[g->in[k]].read, now);
    return now;
}

static uint32_t compute_level(const pb_graph *g, const pb_moves *moves, pb_step k, level *levels)
{
    pb_node v = moves->move[k].node;
    uint32_t count = 0, start = levels[v].read;
    const pb_node *also = NULL;
    if (moves->move[k].flags & PB_MOVE_ALSO)
        also = pb_moves_also(moves, k, &count);
    for (uint32_t i = 0; i < count; i++)
        start = later(start, levels[also[i]].read);
    pb_node over = PB_NO_NODE;
    if (moves->move[k].flags & PB_MOVE_OVER) { /* takes u's memory: after all that read u */
        over = pb_moves_over(moves, k);
        start = later(start, levels[over].read);
    }
    uint32_t now = read_inputs(g, levels, v, start);
    if (over != PB_NO_NODE)
        removed(&levels[over]);
    levels[v].made = levels[v].read = now;
    for (uint32_t i = 0; i < count; i++)
        levels[also[i]].made = levels[also[i]].read = now;
    return now;
}

/* The longest chain of moves that depend on each other; free and drop have no length. */
static pb_status measure_depth(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t *depth)
{
    const pb_graph *g = game->graph;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    level *levels = pb_arena_zero(&scratch, g->node_count, sizeof *levels);
    uint32_t *stored = game->kind == PB_GAME_TIERED ? pb_arena_zero(&scratch, g->node_count, sizeof *stored) : NULL;
    pb_status status = levels && (stored || game->kind != PB_GAME_TIERED) ? PB_OK : PB_ENOMEM;
    uint32_t most = 0;
    for (pb_step k = 0; k < moves->count && status == PB_OK; k++) {
        pb_node v = moves->move[k].node;
        uint32_t now = 0;
        if ((k & 0xffff) == 0)
            status = pbi_poll(ctx);
        switch (moves->move[k].op) {
        case PB_COMPUTE: now = compute_level(g, moves, k, levels); break;
        case PB_UNCOMPUTE:
            now = read_inputs(g, levels, g->flags[v] & PB_NODE_BYPRODUCT ? g->owner[v] : v,
                              later(levels[v].made, levels[v].read));
            levels[v].made = levels[v].read = now;
            break;
        case PB_FREE: removed(&levels[v]); break;
        case PB_STORE:
            now = levels[v].made + 1;
            levels[v].read = later(levels[v].read, now);
            stored[v] = later(stored[v], now);
            break;
        case PB_LOAD:
            now = later(levels[v].read, stored[v]) + 1;
            levels[v].made = levels[v].read = now;
            break;
        default: break;
        }
        most = later(most, now);
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

pb_status pb_metrics_measure(pb_context *ctx, const pb_certificate *c, pb_metrics *out)
{
    const pb_game *game = pb_certificate_game(c);
    const pb_moves *moves = pb_certificate_moves(c);
    const pb_totals *t = pb_certificate_totals(c);
    const pb_graph *g = game->graph;
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
    };
    m.overhead = g->needed_cost ? (double)m.makespan / (double)g->needed_cost - 1.0 : 0.0;
    if (!pb_metrics_cost(&m, &game->weights, &m.cost))
        return pbi_fail(ctx, PB_ERANGE, "the weighted cost passes 2^128");
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
