/* lanes.c -- the setting of a plan, and plans from other plans. See lanes.h. */
#include "plan/lanes/lanes.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <string.h>

/* ---- the setting ---- */

/* The first memory with links from the processor's and back. */
static void find_links(pbi_lanes *l)
{
    const pb_machine *m = l->game->timing->machine;
    for (uint32_t i = 0; i < m->link_count && !l->can_fetch; i++)
        for (uint32_t k = 0; m->links[i].from == l->memory && k < m->link_count && !l->can_fetch; k++)
            if (m->links[k].from == m->links[i].to && m->links[k].to == l->memory) {
                l->can_fetch = true;
                l->out = i;
                l->in = k;
                l->host = m->links[i].to;
            }
    if (!l->can_fetch)
        return;
    l->one_lane = l->game->timing->lane[l->out] == l->game->timing->lane[l->in];
    uint64_t cap = l->host ? m->memories[l->host].cap : l->game->cap, used = l->game->timing->fixed[l->host];
    for (pb_node v = 0; v < l->g->node_count; v++)
        if (l->game->timing->start[v] == l->host)
            used = pbi_add_saturated(used, l->g->size[v]);
    l->host_room = cap == PB_UNLIMITED ? UINT64_MAX : cap > used ? cap - used : 0;
}

/* Why there is no plan of this form; NULL: there may be one. */
static const char *misfit(const pbi_lanes *l)
{
    const pb_timing *t = l->game->timing;
    for (pb_node v = 0; v < l->g->node_count; v++) {
        bool needed = l->g->flags[v] & PB_NODE_NEEDED;
        if (needed && pb_graph_is_computed(l->g, v) && l->duration[v] == PB_NO_TIME)
            return "does not apply: the first processor cannot compute every node";
        if (needed && t->start[v] != UINT32_MAX && t->start[v] != l->memory &&
            (!l->can_fetch || t->start[v] != l->host))
            return "does not apply: a given value starts in a memory without a link to the first processor's";
        if ((l->g->flags[v] & PB_NODE_KEEP) && t->keep[v] != UINT32_MAX && t->keep[v] != l->memory)
            return "does not apply: a value must be kept in another memory than the first processor's";
        if ((l->g->flags[v] & PB_NODE_KEEP) && t->keep[v] == l->memory && (l->g->flags[v] & PB_NODE_GIVEN) &&
            t->start[v] != l->memory) /* it might have to be fetched although nothing reads it */
            return "does not apply: a value that starts in another memory must be kept in the first processor's";
    }
    return NULL;
}

static bool get_memory(pbi_lanes *l, pb_arena *arena)
{
    pbi_lanes_facts *f = &l->facts;
    size_t n = (size_t)l->g->node_count + 1, steps = (size_t)l->most + 1, uses = (size_t)l->most_uses + 1;
    l->out_time = pb_arena_zero(arena, n, sizeof *l->out_time);
    l->in_time = pb_arena_zero(arena, n, sizeof *l->in_time);
    f->use_start = pb_arena_alloc(arena, steps, sizeof *f->use_start);
    f->make_start = pb_arena_alloc(arena, steps, sizeof *f->make_start);
    f->from = pb_arena_alloc(arena, uses, sizeof *f->from);
    f->after_use = pb_arena_alloc(arena, uses, 1);
    f->after_make = pb_arena_alloc(arena, (size_t)l->most_makes + 1, 1);
    f->after_start = pb_arena_alloc(arena, n, 1);
    f->load = pb_arena_alloc(arena, steps + 1, sizeof *f->load);
    f->over = pb_arena_alloc(arena, steps, sizeof *f->over);
    f->touched = pb_arena_alloc(arena, n, sizeof *f->touched);
    f->touched_use = pb_arena_alloc(arena, n, sizeof *f->touched_use);
    f->output = pb_arena_alloc(arena, n, sizeof *f->output);
    return l->out_time && l->in_time && f->use_start && f->make_start && f->from && f->after_use && f->after_make &&
           f->after_start && f->load && f->over && f->touched && f->touched_use && f->output &&
           pbi_lanes_run_new(l, arena);
}

/* ---- ways ---- */

static void add_way(pbi_lanes *l, pb_node v, uint32_t by, uint64_t duration, uint32_t *overs)
{
    const pb_graph *g = l->g;
    pb_way way = pb_graph_way(g, v, by);
    uint32_t parts = g->owner && !by ? g->part_start[v + 1] - g->part_start[v] : 0;
    pbi_lane_way *w = &l->way[by ? g->node_count + g->recipe_start[v] + by - 1 : v];
    *w = (pbi_lane_way){way.in, duration, way.workspace, v, way.in_count, *overs, 0, parts};
    l->most_parts = parts > l->most_parts ? parts : l->most_parts;
    for (uint32_t k = 0; k < way.inplace_count; k++)
        for (uint32_t i = 0; i < way.in_count; i++)
            if (way.in[i] == way.inplace[k]) {
                uint64_t old = g->size[way.in[i]], new = g->size[v];
                l->over[(*overs)++] = (pbi_lane_over){i, old < new ? old : new};
                w->over_count++;
            }
}

/* All ways on the first processor. */
static bool list_ways(pbi_lanes *l, pb_arena *arena)
{
    const pb_graph *g = l->g;
    const pb_timing *t = l->game->timing;
    uint32_t recipes = t->recipe_count, overs = 0;
    size_t places = g->inplace_start ? g->inplace_start[g->node_count] : 0;
    for (uint32_t r = 0; r < recipes; r++)
        places += g->recipe[r].inplace_count;
    l->way_count = g->node_count + recipes;
    l->way = pb_arena_zero(arena, (size_t)l->way_count + 1, sizeof *l->way);
    l->over = pb_arena_alloc(arena, places + 1, sizeof *l->over);
    if (!l->way || !l->over)
        return false;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (pb_graph_is_computed(g, v))
            add_way(l, v, 0, l->duration[v], &overs);
        for (uint32_t by = 1; recipes && by <= pb_graph_recipes(g, v); by++)
            add_way(l, v, by, t->recipe[g->recipe_start[v] + by - 1], &overs);
    }
    return true;
}

static bool set_limits(pbi_lanes *l)
{
    const pb_graph *g = l->g;
    uint64_t edges = g->edge_count, most = 8 * (uint64_t)g->needed_count + 1024;
    for (uint32_t r = 0; r < l->game->timing->recipe_count; r++)
        edges += g->recipe[r].in_count;
    uint64_t uses = 8 * edges + 1024, makes = most + 8 * (uint64_t)g->node_count;
    if (most > UINT32_MAX / 2 || uses > UINT32_MAX / 2 || makes > UINT32_MAX / 2)
        return false;
    l->most = (uint32_t)most;
    l->most_uses = (uint32_t)uses;
    l->most_makes = (uint32_t)makes;
    return true;
}

pb_status pbi_lanes_init(pbi_lanes *l, const pb_game *game, pb_arena *arena, pbi_plan *plan, bool *applies)
{
    const pb_timing *t = game->timing;
    const pb_graph *g = game->graph;
    *l = (pbi_lanes){.ctx = arena->ctx, .game = game, .g = g, .duration = t->duration};
    l->memory = t->machine->processors[0].memory;
    l->cap = l->memory ? t->machine->memories[l->memory].cap : game->cap;
    l->fixed = t->fixed[l->memory];
    l->total = g->needed_cost;
    find_links(l);
    const char *why = misfit(l);
    *applies = why == NULL;
    if (why)
        return pbi_plan_give_up(plan, "%s", why);
    if (!set_limits(l))
        return pbi_fail(l->ctx, PB_ELIMIT, "the graph is too large for this strategy");
    if (!list_ways(l, arena) || !get_memory(l, arena))
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count && l->can_fetch; v++) {
        l->out_time[v] = pb_machine_copy_time(t->machine, &t->machine->links[l->out], g->size[v]);
        l->in_time[v] = pb_machine_copy_time(t->machine, &t->machine->links[l->in], g->size[v]);
    }
    return PB_OK;
}

/* ---- plans ---- */

bool pbi_lanes_new(const pbi_lanes *l, pb_arena *arena, pbi_lanes_plan *p)
{
    *p = (pbi_lanes_plan){pb_arena_alloc(arena, (size_t)l->most + 1, sizeof *p->step), 0};
    return p->step != NULL;
}

void pbi_lanes_copy(pbi_lanes_plan *to, const pbi_lanes_plan *from)
{
    memcpy(to->step, from->step, from->count * sizeof *to->step);
    to->count = from->count;
}

/* What is fetched when the first computation that reads it comes: values that start in the other memory. */
static void fetch_given(const pbi_lanes *l, pbi_lanes_plan *p)
{
    uint8_t *seen = l->facts.after_start;
    memset(seen, 0, l->g->node_count);
    for (uint32_t i = 0; i < p->count; i++) {
        const pbi_lane_way *w = pbi_lanes_way(l, &p->step[i]);
        for (uint32_t k = 0; k < w->in_count; k++) {
            pb_node u = w->in[k];
            if (l->can_fetch && l->game->timing->start[u] == l->host && !seen[u] && k < PBI_LANES_MAX_FETCH)
                p->step[i].fetch |= UINT64_C(1) << k;
            seen[u] = 1;
        }
        seen[w->node] = 1; /* a given value may come back by a recipe instead */
    }
}

/* The inputs that were loaded since they were used last. */
static uint64_t loaded_inputs(const pbi_lanes *l, uint32_t way, uint8_t *loaded)
{
    const pbi_lane_way *w = &l->way[way];
    uint64_t bits = 0;
    for (uint32_t k = 0; k < w->in_count; k++) {
        if (loaded[w->in[k]] && k < PBI_LANES_MAX_FETCH)
            bits |= UINT64_C(1) << k;
        loaded[w->in[k]] = 0;
    }
    return bits;
}

bool pbi_lanes_take(const pbi_lanes *l, const pb_moves *moves, pbi_lanes_plan *p)
{
    uint8_t *loaded = l->facts.after_start;
    memset(loaded, 0, l->g->node_count);
    p->count = 0;
    for (pb_step k = 0; k < moves->count; k++) {
        const pb_move *m = &moves->move[k];
        if (m->op == PB_LOAD || m->op == PB_FREE)
            loaded[m->node] = m->op == PB_LOAD && l->can_fetch;
        if (m->op != PB_COMPUTE)
            continue;
        uint32_t way = m->by ? l->g->node_count + l->g->recipe_start[m->node] + m->by - 1 : m->node;
        if (p->count == l->most || way >= l->way_count || l->way[way].duration == PB_NO_TIME)
            return false;
        p->step[p->count++] = (pbi_lane_step){way, PBI_LANES_MAX_DISTANCE, loaded_inputs(l, way, loaded)};
    }
    fetch_given(l, p);
    return true;
}

void pbi_lanes_program(const pbi_lanes *l, pbi_lanes_plan *p)
{
    p->count = 0;
    for (uint32_t i = 0; i < l->g->order_count; i++)
        if (l->g->flags[l->g->order[i]] & PB_NODE_NEEDED)
            p->step[p->count++] = (pbi_lane_step){l->g->order[i], PBI_LANES_MAX_DISTANCE, 0};
    fetch_given(l, p);
}

/* ---- the result ---- */

pb_status pbi_lanes_emit(const pbi_lanes *l, const pbi_lanes_plan *p, pbi_plan *plan)
{
    pb_status status = PB_OK;
    pbi_lanes_check(l, p);
    uint64_t makespan = pbi_lanes_decode(l, p, &plan->moves, &status);
    if (status == PB_OK && makespan != UINT64_MAX)
        plan->outcome = PB_FOUND;
    return status;
}
