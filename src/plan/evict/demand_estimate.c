/* demand_estimate.c -- what it takes to bring a value back: by its own inputs, by a recipe, from slow memory. */
#include "plan/evict/demand_state.h"

#include "base/arena.h"
#include "base/checked.h"
#include "game/price.h"
#include "plan/reversible/units.h"

enum { FAR = 48 /* values that an estimate of a recomputation visits */, BREAKS_CHAIN = 1000 /* times the score */ };

static bool keep_value(pbi_demand *d, pb_node v)
{
    void *items = d->kept;
    if (!pbi_arena_reserve(&d->scratch, &items, &d->kept_room, d->kept_count + 1, sizeof *d->kept))
        return false;
    d->kept = items;
    d->kept[d->kept_count++] = v;
    pbi_demand_pin(d, v);
    return true;
}

/* Adds the work of recomputing u by its own inputs, and what that needs, down to what is resident. What is visited is
 * marked with the current stamp. With `keep`, what is resident and read is pinned. UINT64_MAX: too deep to tell, not
 * possible now, or out of memory. */
static uint64_t add_work(pbi_demand *d, pb_node u, uint64_t cost, bool keep)
{
    const pb_graph *g = d->g;
    pb_node list[FAR];
    uint32_t count = 0, next = 0;
    list[count++] = u;
    for (; next < count; next++) {
        pb_node v = list[next], maker = pb_graph_maker(g, v);
        bool stored = d->tier && d->tier[v];
        if (d->seen[stored ? v : maker] == d->stamp)
            continue;
        d->seen[stored ? v : maker] = d->stamp;
        if (stored) {
            cost = pbi_add_saturated(cost, pbi_load_price(&d->game->tiers[d->tier[v] - 1], g->size[v]));
            continue;
        }
        if (pbi_is_final_computation(g, v) || d->waiting[maker])
            return UINT64_MAX;
        cost = pbi_add_saturated(cost, g->cost[maker]);
        for (uint32_t k = g->in_start[maker]; k < g->in_start[maker + 1]; k++) {
            if (d->resident[g->in[k]]) {
                if (keep && !keep_value(d, g->in[k]))
                    return UINT64_MAX;
                continue;
            }
            if (count == FAR)
                return d->rough ? pbi_add_saturated(cost, cost) : UINT64_MAX;
            list[count++] = g->in[k];
        }
    }
    d->examined += count;
    return cost;
}

/* Work of recomputing u by its own inputs, or of loading it. */
uint64_t pbi_demand_own_cost(pbi_demand *d, pb_node u)
{
    d->stamp++;
    return add_work(d, u, 0, false);
}

/* Work of a recipe of u, with that of its missing inputs. */
uint64_t pbi_demand_recipe_cost(pbi_demand *d, pb_node u, uint32_t by, bool keep)
{
    pb_way way = pb_graph_way(d->g, u, by);
    uint64_t cost = way.cost;
    d->stamp++;
    d->waiting[pb_graph_maker(d->g, u)]++;
    for (uint32_t k = 0; k < way.in_count && cost != UINT64_MAX; k++) {
        bool known = (d->g->flags[way.in[k]] & PB_NODE_NEEDED) && d->existed[way.in[k]];
        if (!d->resident[way.in[k]])
            cost = known ? add_work(d, way.in[k], cost, keep) : UINT64_MAX;
    }
    d->waiting[pb_graph_maker(d->g, u)]--;
    return cost;
}

/* For the policy `priority` if there are recipes: what it takes to get v back, over size and staleness. If other values
 * come back from v, and v itself cannot come back by a recipe now, evicting it breaks their chain. */
static double score_of(void *state, pb_node v)
{
    pbi_demand *d = state;
    uint64_t cost, recipe = UINT64_MAX;
    d->resident[v] = 0;
    d->rough = true;
    cost = pbi_demand_own_cost(d, v);
    d->rough = false;
    for (uint32_t by = pb_graph_recipes(d->g, v); by > 0; by--) {
        uint64_t now = pbi_demand_recipe_cost(d, v, by, false);
        recipe = now < recipe ? now : recipe;
    }
    d->resident[v] = 1;
    double weight = recipe == UINT64_MAX && pbi_demand_brings_back(d, v) ? BREAKS_CHAIN : 1;
    cost = recipe < cost ? recipe : cost;
    return weight * (double)cost / ((double)d->g->size[v] * (double)(d->e.clock - d->e.touched[v] + 1));
}

static void ignore(void *state, pb_node v)
{
    (void)state;
    (void)v;
}

static void ignore_end(void *state, pb_node v, bool dead)
{
    (void)state;
    (void)v;
    (void)dead;
}

/* The recipe of u that costs least, if it costs no more than `other`; 0 if there is none. */
uint32_t pbi_demand_best_recipe(pbi_demand *d, pb_node u, uint64_t other)
{
    uint32_t best = 0;
    for (uint32_t by = d->e.recipes && d->existed[u] ? pb_graph_recipes(d->g, u) : 0; by > 0; by--) {
        uint64_t cost = pbi_demand_recipe_cost(d, u, by, false);
        if (cost <= other && cost != UINT64_MAX) {
            best = by;
            other = cost;
        }
    }
    return best;
}

pbi_evict_scorer pbi_demand_scorer(pbi_demand *d)
{
    return (pbi_evict_scorer){d, score_of, ignore, ignore, ignore_end, 256, 128, 0};
}
