/* cut_moments.c -- see cut_moments.h. */
#include "bound/cut_moments.h"

#include "base/context.h"

pb_status pbi_moments_init(pbi_moments *m, pb_context *ctx, pb_arena *arena, const pb_game *game)
{
    size_t n = game->graph->node_count;
    *m = (pbi_moments){.ctx = ctx, .most = UINT64_MAX};
    for (uint32_t k = 0; k < PBI_MOMENTS; k++) {
        pb_status status = pbi_cut_network_init_linked(ctx, &m->net[k], arena, game);
        if (status != PB_OK)
            return status;
        m->linked[k] = pb_arena_alloc(arena, n, sizeof *m->linked[k]);
        m->link[k] = pb_arena_alloc(arena, n, sizeof *m->link[k]);
        m->kept[k] = pb_arena_zero(arena, n, 1);
        if (!m->linked[k] || !m->link[k] || !m->kept[k])
            return PB_ENOMEM;
    }
    return PB_OK;
}

uint64_t pbi_moments_work(const pbi_moments *m)
{
    uint64_t work = 0;
    for (uint32_t k = 0; k < PBI_MOMENTS; k++)
        work += m->net[k].flow.work;
    return work;
}

/* The values that can be resident at k, and that moment k - 1 has to provide. */
static void find_links(pbi_moments *m, uint32_t k)
{
    const pbi_cut_network *before = &m->net[k - 1];
    pbi_cut_network *net = &m->net[k];
    uint8_t *wanted = m->kept[k];
    uint32_t count = 0;
    pbi_cut_network_mark_needed(net, wanted);
    for (pb_node x = 0; x < net->game->graph->node_count; x++)
        if (wanted[x] && net->settled[x] == PBI_CUT_OPEN && pbi_cut_network_chooses(net, x) &&
            pbi_cut_network_chooses(before, x)) {
            m->link[k][count] = 0;
            m->linked[k][count++] = x;
        }
    m->linked_count[k] = count;
}

bool pbi_moments_at(pbi_moments *m, const pb_node *z, uint32_t count)
{
    m->count = count;
    for (uint32_t k = 0; k < count; k++) {
        m->net[k].until = k + 1 < count ? z[k + 1] : PB_NO_NODE;
        pbi_cut_network_at(&m->net[k], z[k]);
        m->free_size[k] = m->net[k].free_size;
        if (!m->net[k].fits)
            return false;
        if (k)
            find_links(m, k);
    }
    return true;
}

/* Prices in whole numbers. A link counts if residence is still undecided; a value decided to be resident is needed
 * at the moment before. Returns the sum of all links. */
static int64_t set_links(pbi_moments *m, uint32_t k)
{
    pbi_cut_network *before = &m->net[k - 1], *net = &m->net[k];
    double most = (double)(INT64_C(1) << net->bits);
    int64_t sum = 0;
    for (uint32_t i = 0; i < m->linked_count[k]; i++) {
        pb_node x = m->linked[k][i];
        double price = m->link[k][i] < most ? m->link[k][i] : most;
        int64_t whole = net->settled[x] == PBI_CUT_OPEN && price > 0 ? (int64_t)price : 0;
        net->toll[x] = before->bounty[x] = whole;
        sum += whole;
        if (net->settled[x] == PBI_CUT_HELD)
            pbi_cut_network_require(before, x);
    }
    return sum;
}

static void clear_links(pbi_moments *m, uint32_t k)
{
    for (uint32_t i = 0; i < m->linked_count[k]; i++)
        m->net[k].toll[m->linked[k][i]] = m->net[k - 1].bounty[m->linked[k][i]] = 0;
}

/* The minimum cut of one moment, and the values it keeps. */
static pbi_flow_end cut(pbi_moments *m, uint32_t k, pbi_rate rate, int64_t *flow)
{
    pbi_cut_network *net = &m->net[k];
    pbi_cut found;
    uint64_t spent = pbi_moments_work(m) - net->flow.work, most = m->most > spent ? m->most - spent : 0;
    *flow = 0;
    pbi_flow_forget(&net->flow);
    pbi_cut_network_price(net, rate);
    pbi_flow_end end = pbi_flow_run(m->ctx, &net->flow, most, flow);
    net->flow.work += 4 * (uint64_t)net->game->graph->node_count;
    if (end == PBI_FLOW_FULL) {
        pbi_cut_network_read(net, rate, &found, m->kept[k]);
        m->size[k] = found.size;
    }
    return end;
}

int64_t pbi_moments_evaluate(pbi_moments *m)
{
    uint32_t roots[PBI_MOMENTS];
    int64_t value = 0, flow, total = 0;
    bool full = true, huge = false;
    for (uint32_t k = 0; k < m->count; k++)
        roots[k] = m->net[k].flow.root_count;
    for (uint32_t k = 1; k < m->count; k++)
        value -= set_links(m, k);
    for (uint32_t k = 0; k < m->count && full; k++) {
        pbi_rate rate = pbi_rate_of(m->rate[k]);
        pbi_flow_end end = cut(m, k, rate, &flow);
        full = end == PBI_FLOW_FULL;
        huge = end == PBI_FLOW_UNLIMITED || end == PBI_FLOW_HUGE;
        value += full ? flow - pbi_rate_times(rate, m->free_size[k], true) : 0;
        total += m->net[k].total_work;
    }
    for (uint32_t k = 0; k < m->count; k++)
        m->net[k].flow.root_count = roots[k];
    for (uint32_t k = 1; k < m->count; k++)
        clear_links(m, k);
    m->stopped = m->stopped || (!full && !huge) || pbi_poll(m->ctx) != PB_OK;
    if (huge || (full && value > total))
        return PBI_FLOW_INF;
    return full ? value : INT64_MIN;
}

int pbi_moments_slope(const pbi_moments *m, uint32_t k, uint32_t i)
{
    pb_node x = m->linked[k][i];
    if (m->net[k].settled[x] != PBI_CUT_OPEN)
        return 0;
    return (int)m->kept[k][x] - (int)pbi_cut_network_there(&m->net[k - 1], x);
}
