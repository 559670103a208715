/* lanes.c -- the setting of a plan, plans from other plans, and what follows from a sequence. See lanes.h. */
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
        if (needed && (l->g->flags[v] & PB_NODE_BYPRODUCT))
            return "does not apply: the graph has by-products, which only back-to-back supports";
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
    f->from = pb_arena_alloc(arena, uses, sizeof *f->from);
    f->after_use = pb_arena_alloc(arena, uses, 1);
    f->after_make = pb_arena_alloc(arena, steps, 1);
    f->after_start = pb_arena_alloc(arena, n, 1);
    f->load = pb_arena_alloc(arena, steps + 1, sizeof *f->load);
    f->touched = pb_arena_alloc(arena, n, sizeof *f->touched);
    f->touched_use = pb_arena_alloc(arena, n, sizeof *f->touched_use);
    return l->out_time && l->in_time && f->use_start && f->from && f->after_use && f->after_make && f->after_start &&
           f->load && f->touched && f->touched_use && pbi_lanes_run_new(l, arena);
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
    uint64_t most = 8 * (uint64_t)g->needed_count + 1024, uses = 8 * (uint64_t)g->edge_count + 1024;
    if (most > UINT32_MAX / 2 || uses > UINT32_MAX / 2)
        return pbi_fail(l->ctx, PB_ELIMIT, "the graph is too large for this strategy");
    l->most = (uint32_t)most;
    l->most_uses = (uint32_t)uses;
    if (!get_memory(l, arena))
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
        const uint32_t *row = &l->g->in_start[p->step[i].node];
        for (uint32_t k = row[0]; k < row[1]; k++) {
            pb_node u = l->g->in[k];
            if (l->can_fetch && l->game->timing->start[u] == l->host && !seen[u] && k - row[0] < PBI_LANES_MAX_FETCH)
                p->step[i].fetch |= UINT64_C(1) << (k - row[0]);
            seen[u] = 1;
        }
    }
}

bool pbi_lanes_take(const pbi_lanes *l, const pb_moves *moves, pbi_lanes_plan *p)
{
    p->count = 0;
    for (pb_step k = 0; k < moves->count; k++) {
        if (moves->move[k].op != PB_COMPUTE)
            continue;
        if (moves->move[k].by) /* values come back by their own inputs only */
            return false;
        if (p->count == l->most)
            return false;
        p->step[p->count++] = (pbi_lane_step){moves->move[k].node, PBI_LANES_MAX_DISTANCE, 0};
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

/* ---- what follows from a sequence ---- */

static void start_check(const pbi_lanes *l, uint32_t count)
{
    const pbi_lanes_facts *f = &l->facts;
    const uint32_t *start = l->game->timing->start;
    memset(f->load, 0, ((size_t)count + 1) * sizeof *f->load);
    memset(f->touched_use, 0xff, l->g->node_count * sizeof *f->touched_use);
    for (pb_node v = 0; v < l->g->node_count; v++) {
        f->touched[v] = start[v] == UINT32_MAX ? PBI_NEVER : PBI_AT_START;
        f->after_start[v] = PBI_LANES_FREE;
    }
}

/* The value u is used, or kept until the end, after its last use so far. */
static void set_after(const pbi_lanes *l, pb_node u, uint8_t what)
{
    const pbi_lanes_facts *f = &l->facts;
    if (f->touched_use[u] != PBI_NEVER)
        f->after_use[f->touched_use[u]] = what;
    else if (f->touched[u] == PBI_AT_START)
        f->after_start[u] = what;
    else
        f->after_make[f->touched[u]] = what;
}

/* Input k of step i is use number `use`. */
static bool check_use(const pbi_lanes *l, const pbi_lanes_plan *p, uint32_t i, uint32_t k, uint32_t use)
{
    const pbi_lanes_facts *f = &l->facts;
    pb_node u = l->g->in[l->g->in_start[p->step[i].node] + k];
    uint32_t from = f->touched[u], begin = from == PBI_AT_START ? 0 : from + 1;
    bool fetched = l->can_fetch && pbi_lanes_fetches(&p->step[i], k);
    bool outside = from == PBI_AT_START && l->game->timing->start[u] != l->memory;
    if (from == PBI_NEVER || (outside && !fetched))
        return false;
    uint64_t size = l->g->size[u];
    f->load[fetched ? i : begin] += size;
    f->load[i + 1] -= size;
    f->from[use] = from;
    set_after(l, u, fetched ? PBI_LANES_EVICT : PBI_LANES_KEEP);
    f->after_use[use] = PBI_LANES_FREE;
    f->touched[u] = i;
    f->touched_use[u] = use;
    return true;
}

/* Kept values stay after their last use. */
static bool check_end(const pbi_lanes *l, uint32_t count)
{
    const pbi_lanes_facts *f = &l->facts;
    for (pb_node v = 0; v < l->g->node_count; v++) {
        if (!(l->g->flags[v] & PB_NODE_KEEP))
            continue;
        if (f->touched[v] == PBI_NEVER)
            return false;
        if (f->touched[v] == PBI_AT_START && l->game->timing->start[v] != l->memory)
            continue; /* kept where it is */
        f->load[f->touched[v] == PBI_AT_START ? 0 : f->touched[v] + 1] += l->g->size[v];
        f->load[count] -= l->g->size[v];
        set_after(l, v, PBI_LANES_KEEP);
    }
    return true;
}

bool pbi_lanes_check(const pbi_lanes *l, const pbi_lanes_plan *p)
{
    pbi_lanes_facts *f = (pbi_lanes_facts *)&l->facts;
    uint32_t use = 0;
    start_check(l, p->count);
    for (uint32_t i = 0; i < p->count; i++) {
        pb_node v = p->step[i].node;
        uint32_t inputs = l->g->in_start[v + 1] - l->g->in_start[v];
        f->use_start[i] = use;
        if (inputs > l->most_uses - use)
            return false;
        for (uint32_t k = 0; k < inputs; k++)
            if (!check_use(l, p, i, k, use++))
                return false;
        uint64_t made = l->g->size[v] + l->g->workspace[v];
        f->load[i] += made;
        f->load[i + 1] -= made;
        f->touched[v] = i;
        f->touched_use[v] = PBI_NEVER;
        f->after_make[i] = PBI_LANES_FREE;
    }
    f->use_start[p->count] = use;
    if (!check_end(l, p->count))
        return false;
    uint64_t load = l->fixed;
    f->worst = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        load += f->load[i];
        f->load[i] = load;
        f->worst = load > f->load[f->worst] ? i : f->worst;
    }
    return true;
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
