/* price_link.c -- decimal prices of tiers as links of a machine, for replays that only support whole numbers as prices.
 *
 * Idea    a link costs latency + per_unit * size + ceil(size * 10^9 / bandwidth). The whole part of the price per unit
 *         is per_unit; the fixed part, rounded down or up, is the latency. The remaining price of each value gives an
 *         interval for the bandwidth. 10^9 over the fractional part is used if it is in that interval: it is for every
 *         size if the fixed part is whole and 1 over the fractional part is whole too.
 *         The machine also prices the nodes: its processor takes 1 ns per operation, which is the cost of a node that
 *         states its operations as its cost; nodes that state no work have their cost in any case.
 * Limits  there are no links if no bandwidth gives the exact price for all values of the graph, if a machine prices the
 *         graph, or if a node states work other than its cost.
 */
#include "base/decimal.h"
#include "game/price.h"

#define SECOND UINT64_C(1000000000)

/* The price of this size minus that of a link without bandwidth; false: it would be negative. */
static bool what_remains(const pb_tier *tier, bool load, const pb_price_link *l, uint64_t size, uint64_t *rest)
{
    uint64_t price = load ? pbi_load_price(tier, size) : pbi_store_price(tier, size), part;
    if (!pbi_mul(l->per_unit, size, &part) || !pbi_add(part, l->latency, &part) || part > price)
        return false;
    *rest = price - part;
    return price != UINT64_MAX;
}

static bool serves(const pb_graph *g, const pb_tier *tier, bool load, const pb_price_link *l)
{
    uint64_t rest;
    for (pb_node v = 0; v < g->node_count; v++) {
        /* ceil(ticks / bandwidth) must equal the remaining price */
        pb_u128 ticks = pbi_u128_product(g->size[v], SECOND);
        if (!what_remains(tier, load, l, g->size[v], &rest))
            return false;
        if (!l->bandwidth || !g->size[v] ? rest != 0
                                         : !rest || pb_u128_compare(pbi_u128_product(rest, l->bandwidth), ticks) < 0 ||
                                               pb_u128_compare(pbi_u128_product(rest - 1, l->bandwidth), ticks) >= 0)
            return false;
    }
    return true;
}

/* The smallest bandwidth that is not slower than the price of any value of moderate size. */
static uint64_t least_bandwidth(const pb_graph *g, const pb_tier *tier, bool load, const pb_price_link *l)
{
    uint64_t most = 1, rest;
    for (pb_node v = 0; v < g->node_count; v++) {
        uint64_t ticks, one;
        if (!pbi_mul(g->size[v], SECOND, &ticks) || !what_remains(tier, load, l, g->size[v], &rest) || !rest)
            continue;
        one = ticks / rest + (ticks % rest != 0);
        most = one > most ? one : most;
    }
    return most;
}

static bool find_link(const pb_graph *g, const pb_tier *tier, bool load, pb_price_link *l)
{
    uint64_t fixed = pbi_tier_price(tier, load ? PB_LOAD_COST : PB_STORE_COST);
    uint64_t price = pbi_tier_price(tier, load ? PB_LOAD_PER_UNIT : PB_STORE_PER_UNIT);
    uint64_t unit = pbi_decimal_unit(tier->digits), behind = price % unit, up = fixed % unit != 0;
    for (uint64_t more = up + 1; more-- > 0;) {
        *l = (pb_price_link){fixed / unit + more, price / unit, 0};
        if (serves(g, tier, load, l))
            return true;
        uint64_t ticks = SECOND * unit; /* fits: digits are at most 9 */
        l->bandwidth = behind ? ticks / behind + (ticks % behind != 0) : 0;
        if (behind && serves(g, tier, load, l))
            return true;
        l->bandwidth = behind ? least_bandwidth(g, tier, load, l) : 0;
        if (behind && serves(g, tier, load, l))
            return true;
    }
    return false;
}

/* Whether the replay's processor, which takes a nanosecond per operation, gives each node its cost. */
static bool costs_operations(const pb_graph *g)
{
    for (pb_node v = 0; g->work && v < g->node_count; v++)
        if (pb_graph_is_computed(g, v) && (g->work[v].has_flops || g->work[v].has_bytes) &&
            g->work[v].flops != g->cost[v])
            return false;
    return true;
}

bool pbi_price_links(const pb_graph *g, const pb_tier *tiers, uint32_t count, pb_price_link links[][2])
{
    bool decimal = false;
    for (uint32_t i = 0; i < count; i++)
        decimal |= tiers[i].digits > 0;
    decimal = decimal && !g->priced_by && costs_operations(g);
    for (uint32_t i = 0; i < count && decimal; i++)
        decimal = find_link(g, &tiers[i], false, &links[i][0]) && find_link(g, &tiers[i], true, &links[i][1]);
    return decimal;
}
