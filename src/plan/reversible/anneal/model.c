/* model.c -- the reversible game in units, for the search over intervals: see spans.h. */
#include "plan/reversible/anneal/spans.h"

#include "base/arena.h"
#include "plan/reversible/units.h"

/* Values of a unit that are computed with it. */
static bool is_member(const pb_graph *g, pb_node v, pb_node maker)
{
    return (g->flags[v] & PB_NODE_NEEDED) && pb_graph_maker(g, v) == maker;
}

/* Size of the unit and whether it is kept to the end; false when some of its values are kept and some are not. */
static bool weigh_unit(const pb_graph *g, pb_node v, uint64_t *size, bool *stays)
{
    uint32_t final = pbi_is_final(g, v) ? 1 : 0, members = 1;
    *size = g->size[v];
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            if (is_member(g, g->part[k], v)) {
                *size += g->size[g->part[k]];
                final += pbi_is_final(g, g->part[k]) ? 1 : 0;
                members++;
            }
    *stays = final > 0;
    return final == 0 || final == members;
}

static int32_t scaled_up(const pbi_rev_model *m, uint64_t size)
{
    return (int32_t)(size / m->unit + (size % m->unit != 0));
}

int32_t pbi_rev_model_cap(const pbi_rev_model *m, uint64_t cap)
{
    uint64_t units = cap < m->base ? 0 : (cap - m->base) / m->unit;
    return units < 2 * PBI_SLOTS_MAX ? (int32_t)units : (int32_t)(2 * PBI_SLOTS_MAX);
}

static bool alloc_model(pbi_rev_model *m, const pb_graph *g, pb_arena *arena)
{
    size_t n = m->count;
    m->node = pb_arena_alloc(arena, n, sizeof *m->node);
    m->in_start = pb_arena_zero(arena, n + 1, sizeof *m->in_start);
    m->out_start = pb_arena_zero(arena, n + 2, sizeof *m->out_start);
    m->in = pb_arena_alloc(arena, g->edge_count, sizeof *m->in);
    m->out = pb_arena_alloc(arena, g->edge_count, sizeof *m->out);
    m->size = pb_arena_alloc(arena, n, sizeof *m->size);
    m->space = pb_arena_alloc(arena, n, sizeof *m->space);
    m->cost = pb_arena_alloc(arena, n, sizeof *m->cost);
    m->stays = pb_arena_alloc(arena, n, sizeof *m->stays);
    m->once = pb_arena_alloc(arena, n, sizeof *m->once);
    return m->node && m->in_start && m->out_start && m->in && m->out && m->size && m->space && m->cost && m->stays &&
           m->once;
}

/* Inputs as units, each once. */
static void add_inputs(pbi_rev_model *m, const uint32_t *unit_of, uint32_t unit)
{
    const pb_graph *g = m->game->graph;
    pb_node v = m->node[unit];
    uint32_t begin = m->in_start[unit], count = begin;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        uint32_t u = unit_of[pb_graph_maker(g, g->in[k])];
        bool known = u == PBI_REV_NONE; /* given */
        for (uint32_t j = begin; j < count && !known && g->owner; j++)
            known = m->in[j] == u;
        if (!known)
            m->in[count++] = u;
    }
    m->in_start[unit + 1] = count;
}

static void add_readers(pbi_rev_model *m)
{
    uint32_t edges = m->in_start[m->count];
    for (uint32_t k = 0; k < edges; k++)
        m->out_start[m->in[k] + 2]++;
    for (uint32_t u = 0; u < m->count; u++)
        m->out_start[u + 2] += m->out_start[u + 1];
    for (uint32_t u = 0; u < m->count; u++)
        for (uint32_t k = m->in_start[u]; k < m->in_start[u + 1]; k++)
            m->out[m->out_start[m->in[k] + 1]++] = u;
}

/* One unit after the other; false when one does not fit the model. */
static bool fill_units(pbi_rev_model *m, uint32_t *unit_of)
{
    const pb_graph *g = m->game->graph;
    uint32_t count = 0;
    double cost = 0, moves = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        unit_of[v] = PBI_REV_NONE;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        uint64_t size;
        bool stays;
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        if (!weigh_unit(g, v, &size, &stays))
            return false;
        unit_of[v] = count;
        m->node[count] = v;
        m->size[count] = scaled_up(m, size);
        m->space[count] = scaled_up(m, g->workspace[v]);
        m->cost[count] = (double)g->cost[v];
        m->stays[count] = stays;
        m->once[count] = (g->flags[v] & PB_NODE_ONCE) != 0;
        m->final_count += stays;
        cost += (double)g->cost[v] * (stays ? 1 : 2);
        moves += stays ? 1 : 2;
        add_inputs(m, unit_of, count++);
    }
    m->average = cost > 0 ? cost / moves : 1;
    add_readers(m);
    return true;
}

/* Temperatures and prices are in terms of work, so weights are, too: one more move at a usual amount of memory
 * counts its work. With a weight on flux, memory that is always in use makes work more expensive. */
static void scale_weights(pbi_rev_model *m)
{
    const pb_weights *w = &m->game->weights;
    double unit = (double)m->unit, cap = pbi_rev_model_cap(m, m->game->cap), all = 0;
    m->gamma = m->scale = 1;
    if (!w->alpha && !w->beta)
        return;
    for (uint32_t u = 0; u < m->count; u++)
        all += m->size[u];
    double alpha = (double)w->alpha * unit, beta = (double)w->beta * unit, usual = (all < cap ? all : cap) / 2 + 1;
    double gamma = (double)w->gamma + (double)w->beta * (double)m->base;
    if (gamma == 0)
        gamma = 1e-9 * (alpha + beta); /* on ties prefer the shorter plan */
    m->scale = gamma + beta * usual;
    m->alpha = alpha / m->scale;
    m->beta = beta / m->scale;
    m->gamma = gamma / m->scale;
}

/* The bound on the cost leaves out needed work and includes the peak that is always in use. The objective of the search
 * includes the former and leaves out the latter. */
double pbi_rev_model_bound(const pbi_rev_model *m, const pb_bounds *bounds)
{
    const pb_weights *w = &m->game->weights;
    if (!w->alpha && !w->beta)
        return (double)bounds->makespan;
    if (!bounds->has_cost)
        return 0;
    double cost = (double)bounds->cost.high * 0x1p64 + (double)bounds->cost.low;
    double anyway = (double)w->gamma * (double)m->game->graph->needed_cost - (double)w->alpha * (double)m->base;
    return (cost + anyway) / m->scale * (1 + 1e-12); /* rounded sums may be slightly above */
}

pb_status pbi_rev_model_init(pbi_rev_model *m, pb_context *ctx, const pb_game *game, pb_arena *arena,
                             const char **misfit)
{
    const pb_graph *g = game->graph;
    uint64_t given = 0, max_size;
    *m = (pbi_rev_model){.game = game, .base = g->fixed_size};
    *misfit = NULL;
    for (pb_node v = 0; v < g->node_count; v++)
        given += g->flags[v] & PB_NODE_GIVEN ? g->size[v] : 0;
    m->base += given;
    for (uint32_t i = 0; i < g->order_count; i++)
        m->count += (g->flags[g->order[i]] & PB_NODE_NEEDED) != 0;
    max_size = g->total_size - m->base;
    for (uint32_t i = 0; i < g->order_count; i++)
        max_size = g->workspace[g->order[i]] > max_size ? g->workspace[g->order[i]] : max_size;
    m->unit = max_size / (PBI_SLOTS_MAX / 2) + 1;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint32_t *unit_of = pb_arena_alloc(&scratch, g->node_count, sizeof *unit_of);
    pb_status status = unit_of && alloc_model(m, g, arena) ? PB_OK : PB_ENOMEM;
    if (status == PB_OK && !fill_units(m, unit_of))
        *misfit = "does not apply: of a node and its by-products, some must be kept and others not";
    if (status == PB_OK)
        scale_weights(m);
    pb_arena_release(&scratch);
    return status;
}
