/* stretch.c -- see stretch.h.
 *
 * The small game has the values that are in memory at the window's start or are computed in it. A value whose inputs
 * are not all among them cannot be recomputed in it. If there are too many values, the most expensive of those that
 * only pass through become memory that is always in use: they can be read, but not freed.
 */
#include "plan/statespace/stretch.h"

#include "base/context.h"
#include "plan/statespace/live.h"

#include <string.h>

enum { VALUES = 116 }; /* of a small game, so that bits remain for marks */

bool pbi_stretch_apply(const pb_game *game)
{
    const pb_weights *w = &game->weights;
    return game->kind == PB_GAME_REMAT && !game->graph->part && !w->alpha && !w->beta;
}

pb_status pbi_stretch_init(pbi_stretches *w, pb_context *ctx, const pb_game *game, const pbi_event_space *events,
                           pb_arena *arena)
{
    size_t n = game->graph->node_count;
    *w = (pbi_stretches){.ctx = ctx, .game = game, .events = events};
    w->before = pb_arena_zero(arena, n, sizeof *w->before);
    w->after = pb_arena_zero(arena, n, sizeof *w->after);
    w->recovered = pb_arena_zero(arena, n, sizeof *w->recovered);
    w->inside = pb_arena_zero(arena, n, sizeof *w->inside);
    w->place = pb_arena_alloc(arena, n, sizeof *w->place);
    w->node = pb_arena_alloc(arena, n, sizeof *w->node);
    if (!w->before || !w->after || !w->recovered || !w->inside || !w->place || !w->node)
        return PB_ENOMEM;
    return pb_builder_new(ctx, &w->builder);
}

void pbi_stretch_close(pbi_stretches *w)
{
    if (w->builder)
        pb_builder_free(w->builder);
}

/* ---- the values of the window ---- */

/* What is needed before event `k`, given what is needed after it. */
static void step_back(const pbi_stretches *w, const pbi_stretch_plan *p, uint32_t k, bool *needed)
{
    pb_way way = pbi_event_way(w->events, p->event[k]);
    needed[pbi_event_node(w->events, p->event[k])] = false;
    for (uint32_t i = 0; i < way.in_count; i++)
        needed[way.in[i]] = true;
}

static void find_recovered(pbi_stretches *w, const pbi_stretch_plan *p)
{
    for (uint32_t k = 0; w->events->recipes && k < p->count; k++)
        if (pbi_event_is_recipe(w->events, p->event[k]))
            w->recovered[pbi_event_node(w->events, p->event[k])] = true;
}

static bool has_recipe(const pbi_stretches *w, const pbi_stretch_plan *p, uint32_t first, uint32_t length)
{
    for (uint32_t k = first; w->events->recipes && k < first + length; k++)
        if (pbi_event_is_recipe(w->events, p->event[k]))
            return true;
    return false;
}

static void find_needed(pbi_stretches *w, const pbi_stretch_plan *p, uint32_t first, uint32_t end)
{
    const pb_graph *g = w->game->graph;
    for (pb_node v = 0; v < g->node_count; v++)
        w->after[v] = (g->flags[v] & PB_NODE_KEEP) != 0;
    for (uint32_t k = p->count; k-- > end;)
        step_back(w, p, k, w->after);
    memcpy(w->before, w->after, g->node_count * sizeof *w->before);
    memset(w->inside, 0, g->node_count * sizeof *w->inside);
    for (uint32_t k = end; k-- > first;) {
        step_back(w, p, k, w->before);
        w->inside[p->event[k]]++;
    }
}

static bool is_read_inside(const pbi_stretches *w, pb_node v)
{
    const pb_graph *g = w->game->graph;
    for (uint32_t i = g->out_start[v]; i < g->out_start[v + 1]; i++)
        if (w->inside[g->out[i]])
            return true;
    return false;
}

static bool passes_through(const pbi_stretches *w, pb_node v)
{
    return w->before[v] && w->after[v] && !w->inside[v] && !is_read_inside(w, v);
}

/* The values of the small game; those that become fixed memory are left out. False: there are too many. */
static bool choose_values(pbi_stretches *w, uint64_t *fixed)
{
    const pb_graph *g = w->game->graph;
    w->count = 0;
    *fixed = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        w->place[v] = PB_NO_NODE;
        if ((w->before[v] || w->inside[v]) && !passes_through(w, v)) {
            w->place[v] = w->count;
            w->node[w->count++] = v;
        }
    }
    if (w->count > VALUES)
        return false;
    uint32_t room = VALUES - w->count;
    for (pb_node v = 0; v < g->node_count; v++) { /* those most worth freeing: the cheapest for their size */
        if (w->place[v] != PB_NO_NODE || !passes_through(w, v))
            continue;
        uint32_t at = w->count;
        double worth = (double)g->size[v] / ((double)g->cost[v] + 1);
        if (room) {
            room--;
            w->node[w->count++] = v;
        } else {
            double min = worth;
            for (uint32_t i = w->count; i-- > 0 && passes_through(w, w->node[i]);) {
                pb_node u = w->node[i];
                double other = (double)g->size[u] / ((double)g->cost[u] + 1);
                if (other < min) {
                    min = other;
                    at = i;
                }
            }
            pb_node out = at < w->count ? w->node[at] : v;
            *fixed += g->size[out]; /* at most the total size, which fits */
            if (at == w->count)
                continue;
            w->place[out] = PB_NO_NODE;
            w->node[at] = v;
        }
        w->place[v] = at;
    }
    return true;
}

/* ---- the small game ---- */

/* Is it in memory throughout, outside the small game? */
static bool is_fixed(const pbi_stretches *w, pb_node v) { return w->before[v] && w->place[v] == PB_NO_NODE; }

static bool can_be_made(const pbi_stretches *w, pb_node v)
{
    const pb_graph *g = w->game->graph;
    if ((g->flags[v] & PB_NODE_GIVEN) || ((g->flags[v] & PB_NODE_ONCE) && !w->inside[v]))
        return false;
    for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
        if (w->place[g->in[i]] == PB_NO_NODE && !is_fixed(w, g->in[i]))
            return false;
    return true;
}

/* A target, or a value that comes back by recipe later, whose only computations are in the window. */
static bool is_due(const pbi_stretches *w, const pbi_stretch_plan *p, pb_node v)
{
    uint32_t all = 0;
    if (!((w->game->graph->flags[v] & PB_NODE_TARGET) || w->recovered[v]) || !w->inside[v])
        return false;
    for (uint32_t k = 0; k < p->count; k++)
        all += p->event[k] == v;
    return all == w->inside[v];
}

static pb_status add_node(pbi_stretches *w, const pbi_stretch_plan *p, uint32_t at)
{
    const pb_graph *g = w->game->graph;
    pb_node v = w->node[at], out;
    bool made = can_be_made(w, v), due = is_due(w, p, v);
    pb_node_spec spec = {.cost = g->cost[v], .size = g->size[v], .workspace = g->workspace[v]};
    spec.flags = (uint16_t)((made ? g->flags[v] & PB_NODE_ONCE : PB_NODE_GIVEN) | (w->after[v] ? PB_NODE_KEEP : 0));
    if (!made)
        spec.cost = spec.workspace = 0;
    pb_status status = pb_builder_add_node(w->builder, &spec, &out);
    if (status == PB_OK &&
        (due || w->after[v])) /* kept values are targets too: if there were none, every sink would be a target */
        status = pb_builder_add_target(w->builder, out);
    for (uint32_t i = g->in_start[v]; made && i < g->in_start[v + 1] && status == PB_OK; i++)
        if (w->place[g->in[i]] != PB_NO_NODE)
            status = pb_builder_add_edge(w->builder, w->place[g->in[i]], at);
    uint32_t none = 0, i = g->inplace_start ? g->inplace_start[v] : none,
             end = g->inplace_start ? g->inplace_start[v + 1] : none;
    for (; made && i < end && status == PB_OK; i++)
        if (w->place[g->inplace[i]] != PB_NO_NODE)
            status = pb_builder_add_inplace(w->builder, at, w->place[g->inplace[i]]);
    return status;
}

static pb_status build(pbi_stretches *w, const pbi_stretch_plan *p, uint64_t fixed, pb_arena *arena, pb_game *small)
{
    pb_status status = PB_OK;
    pb_builder_clear(w->builder);
    pb_builder_set_fixed_size(w->builder, fixed);
    for (uint32_t i = 0; i < w->count && status == PB_OK; i++)
        status = add_node(w, p, i);
    *small = *w->game;
    return status == PB_OK ? pb_builder_freeze(w->builder, arena, &small->graph) : status;
}

/* ---- trying ---- */

typedef struct stretch {
    uint32_t first, length;
} stretch;

static void splice(const pbi_stretches *w, pbi_stretch_plan *p, stretch at, const pbi_live *live)
{
    size_t count;
    const pbi_live_step *steps = pbi_live_plan(live, &count);
    const pbi_live_model *m = pbi_live_model_of(live);
    uint32_t end = at.first + at.length;
    memmove(p->event + at.first + count, p->event + end, (p->count - end) * sizeof *p->event);
    for (size_t i = 0; i < count; i++)
        p->event[at.first + i] = w->node[m->node[steps[i].node]];
    p->count = p->count - at.length + (uint32_t)count;
}

static pb_status solve(pbi_stretches *w, pbi_stretch_plan *p, stretch at, uint64_t states, pb_arena *arena,
                       uint64_t *saved)
{
    const pb_graph *g = w->game->graph;
    uint64_t fixed, work = 0;
    size_t count;
    pb_game small;
    pbi_live *live;
    pbi_live_answer answer;
    bool resident[VALUES];
    if (!choose_values(w, &fixed) || fixed > w->game->cap)
        return PB_OK;
    pb_status status = build(w, p, fixed, arena, &small);
    if (status == PB_OK)
        status = pbi_live_new(w->ctx, &small, 0, arena, &live);
    if (status != PB_OK || !live)
        return status;
    for (uint32_t i = 0; i < w->count; i++)
        resident[i] = w->before[w->node[i]];
    for (uint32_t k = at.first; k < at.first + at.length; k++)
        work += g->cost[p->event[k]];
    pbi_live_set_start(live, resident);
    pbi_live_set_known(live, work);
    status = pbi_live_solve(live, UINT64_C(1) << 26, states, &answer);
    if (status != PB_OK)
        return status;
    pbi_live_plan(live, &count);
    if (answer.own && answer.work < work && p->count - at.length + count <= p->room) {
        *saved = work - answer.work;
        splice(w, p, at, live);
    }
    return answer.status;
}

pb_status pbi_stretch_try(pbi_stretches *w, pbi_stretch_plan *plan, uint32_t first, uint32_t length, uint64_t states,
                          uint64_t *saved)
{
    pb_arena scratch;
    *saved = 0;
    if (first >= plan->count)
        return PB_OK;
    length = length < plan->count - first ? length : plan->count - first;
    if (has_recipe(w, plan, first, length))
        return PB_OK;
    find_recovered(w, plan);
    find_needed(w, plan, first, first + length);
    pb_arena_init(&scratch, w->ctx);
    pb_status status = solve(w, plan, (stretch){first, length}, states, &scratch, saved);
    pb_arena_release(&scratch);
    return status;
}
