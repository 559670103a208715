/* tiered_model.c -- see tiered.h: the game in bits, and what is missing from a state. */
#include "base/checked.h"
#include "game/price.h"
#include "plan/statespace/set.h"
#include "plan/statespace/tiered.h"

static uint64_t bit(unsigned i) { return UINT64_C(1) << i; }

uint64_t pbi_tier_sizes(const pbi_tier_model *m, uint64_t set)
{
    uint64_t sum = 0;
    for (; set; set &= set - 1)
        sum = pbi_add_saturated(sum, m->size[pbi_lowest(set)]);
    return sum;
}

/* The bit of a node, PBI_TIER_NONE if it has none. */
static unsigned find_bit(const pbi_tier_model *m, pb_node v)
{
    for (unsigned b = 0; b < m->bits; b++)
        if (m->node[b] == v)
            return b;
    return PBI_TIER_NONE;
}

static uint64_t bits_of(const pbi_tier_model *m, const pb_node *list, uint32_t from, uint32_t to)
{
    uint64_t set = 0;
    for (uint32_t k = from; k < to; k++) {
        unsigned b = find_bit(m, list[k]);
        set |= b == PBI_TIER_NONE ? 0 : bit(b);
    }
    return set;
}

pbi_tier_way pbi_tier_way_of(const pbi_tier_model *m, unsigned v, uint32_t by)
{
    if (!by)
        return (pbi_tier_way){m->in[v], m->inplace[v], m->cost[v], m->workspace[v], 0};
    pb_way way = pb_graph_way(m->game->graph, m->node[v], by);
    return (pbi_tier_way){bits_of(m, way.in, 0, way.in_count), bits_of(m, way.inplace, 0, way.inplace_count), way.cost,
                          way.workspace, by};
}

static void init_recipes(pbi_tier_model *m, unsigned b)
{
    uint32_t count = pb_game_recipes(m->game) ? pb_graph_recipes(m->game->graph, m->node[b]) : 0;
    m->min_recipe[b] = PBI_TIER_NEVER;
    m->recovered |= count ? bit(b) : 0;
    for (uint32_t by = 1; by <= count; by++) {
        uint64_t cost = pb_graph_way(m->game->graph, m->node[b], by).cost;
        m->min_recipe[b] = cost < m->min_recipe[b] ? cost : m->min_recipe[b];
    }
}

static void init_node(pbi_tier_model *m, unsigned b)
{
    const pb_graph *g = m->game->graph;
    pb_node v = m->node[b];
    uint16_t flags = g->flags[v];
    bool given = flags & PB_NODE_GIVEN;
    m->maker[b] = (uint8_t)find_bit(m, pb_graph_maker(g, v));
    m->in[b] = bits_of(m, g->in, g->in_start[v], g->in_start[v + 1]);
    if (g->inplace_start)
        m->inplace[b] = m->in[b] & bits_of(m, g->inplace, g->inplace_start[v], g->inplace_start[v + 1]);
    if (flags & PB_NODE_HAS_PARTS)
        m->parts[b] = bits_of(m, g->part, g->part_start[v], g->part_start[v + 1]);
    m->cost[b] = g->cost[v];
    m->size[b] = g->size[v];
    m->workspace[b] = g->workspace[v];
    m->given |= given ? bit(b) : 0;
    m->makers |= pb_graph_is_computed(g, v) ? bit(b) : 0;
    m->once |= (flags & PB_NODE_ONCE) && pb_graph_is_computed(g, v) ? bit(b) : 0;
    m->keep |= flags & PB_NODE_KEEP ? bit(b) : 0;
    m->targets |= (flags & PB_NODE_TARGET) && !given ? bit(b) : 0;
    if (given)
        *(flags & PB_NODE_GIVEN_SLOW ? &m->start.slow[0] : &m->start.fast) |= bit(b);
    init_recipes(m, b);
}

static void init_tiers(pbi_tier_model *m)
{
    uint64_t all = pbi_tier_sizes(m, m->bits == PBI_TIER_BITS ? UINT64_MAX : bit(m->bits) - 1);
    m->tiers = m->game->kind == PB_GAME_TIERED ? m->game->tier_count : 0; /* a remat game may list them, too */
    for (unsigned t = 0; t < m->tiers; t++) {
        const pb_tier *tier = &m->game->tiers[t];
        m->tier_cap[t] = all <= tier->cap ? PB_UNLIMITED : tier->cap;
        for (unsigned b = 0; b < m->bits; b++) {
            m->store[t][b] = pbi_store_price(tier, m->size[b]);
            m->load[t][b] = pbi_load_price(tier, m->size[b]);
        }
    }
}

/* Adds a node that may be of use. False: too many. */
static bool add_bit(pbi_tier_model *m, pb_node v)
{
    if (find_bit(m, v) != PBI_TIER_NONE)
        return true;
    if (m->bits == PBI_TIER_BITS)
        return false;
    m->node[m->bits++] = v;
    return true;
}

/* Needed nodes, and what their recipes read, with all that it takes to compute that. */
static bool choose_bits(pbi_tier_model *m)
{
    const pb_graph *g = m->game->graph;
    bool fits = true;
    for (pb_node v = 0; v < g->node_count && fits; v++)
        fits = !(g->flags[v] & PB_NODE_NEEDED) || add_bit(m, v);
    for (unsigned b = 0; b < m->bits && fits; b++) {
        pb_node v = m->node[b];
        uint32_t recipes = pb_game_recipes(m->game) ? pb_graph_recipes(g, v) : 0;
        fits = add_bit(m, pb_graph_maker(g, v));
        for (uint32_t by = 0; by <= recipes && fits; by++) {
            pb_way way = pb_graph_way(g, v, by);
            for (uint32_t k = 0; k < way.in_count && fits; k++)
                fits = add_bit(m, way.in[k]);
        }
    }
    return fits;
}

bool pbi_tier_model_init(pbi_tier_model *m, const pb_game *game)
{
    const pb_graph *g = game->graph;
    *m = (pbi_tier_model){.game = game, .base = g->fixed_size, .cap = game->cap};
    if (!choose_bits(m))
        return false;
    for (unsigned b = 0; b < m->bits; b++) {
        unsigned parts = 0;
        init_node(m, b);
        for (uint64_t left = m->parts[b]; left; left &= left - 1)
            parts++;
        if (parts > PBI_TIER_PARTS)
            return false;
    }
    init_tiers(m);
    return true;
}

/* ---- what is missing ---- */

typedef struct tally {
    uint64_t due, paid; /* values that are needed; producers that are counted */
    uint64_t cost;
    uint32_t missing;
} tally;

/* The least cost of loading a value that is in slow memory. */
static uint64_t min_load(const pbi_tier_model *m, const pbi_tier_state *s, unsigned b)
{
    uint64_t min = PBI_TIER_NEVER;
    for (unsigned t = 0; t < m->tiers; t++)
        if ((s->slow[t] & bit(b)) && m->load[t][b] < min)
            min = m->load[t][b];
    return min;
}

static bool is_slow(const pbi_tier_model *m, const pbi_tier_state *s, unsigned b)
{
    for (unsigned t = 0; t < m->tiers; t++)
        if (s->slow[t] & bit(b))
            return true;
    return false;
}

/* A value in slow memory is loaded, or recomputed. Recomputing counts nothing if the node has by-products: another
 * value may need the same computation. */
static void count_load(const pbi_tier_model *m, const pbi_tier_state *s, unsigned b, tally *t)
{
    unsigned maker = m->maker[b];
    uint64_t load = min_load(m, s, b), recompute = m->parts[maker] ? 0 : m->cost[maker];
    bool lost = (m->given & bit(b)) || (m->once & s->ever & bit(maker));
    t->cost = pbi_add_saturated(t->cost, lost || load < recompute ? load : recompute);
    t->missing++;
}

/* A value that is in no memory is computed, with its inputs; false if that is impossible. */
static bool count_computation(const pbi_tier_model *m, const pbi_tier_state *s, unsigned b, tally *t)
{
    unsigned maker = m->maker[b];
    if ((m->given & bit(b)) || (m->once & s->ever & bit(maker)))
        return false;
    if (t->paid & bit(maker))
        return true;
    t->paid |= bit(maker);
    t->cost = pbi_add_saturated(t->cost, m->cost[maker]);
    t->missing++;
    t->due |= m->in[maker] & ~s->fast;
    return true;
}

/* A value that has existed may come back by recipe, whose inputs are not counted; or in one of the other ways. */
static void count_return(const pbi_tier_model *m, const pbi_tier_state *s, unsigned b, tally *t)
{
    unsigned maker = m->maker[b];
    bool lost = (m->given & bit(b)) || (m->once & s->ever & bit(maker));
    uint64_t min = m->min_recipe[b], load = min_load(m, s, b), recompute = m->parts[maker] ? 0 : m->cost[maker];
    min = load < min ? load : min;
    t->cost = pbi_add_saturated(t->cost, !lost && recompute < min ? recompute : min);
    t->missing++;
}

uint64_t pbi_tier_rest(const pbi_tier_model *m, const pbi_tier_state *s, uint32_t *missing)
{
    tally t = {.due = (m->targets & ~s->ever) | (m->keep & ~s->fast)};
    uint64_t seen = 0;
    for (uint64_t left; (left = t.due & ~seen) != 0;) {
        unsigned b = pbi_lowest(left);
        seen |= bit(b);
        if (m->recovered & (m->given | s->ever) & bit(b))
            count_return(m, s, b, &t);
        else if (is_slow(m, s, b))
            count_load(m, s, b, &t);
        else if (!count_computation(m, s, b, &t))
            return PBI_TIER_NEVER;
    }
    *missing = t.missing;
    return t.cost < PBI_TIER_NEVER ? t.cost : PBI_TIER_NEVER - 1;
}
