/* machine_price.c -- a graph and its slow memories in the times of a machine. */
#include "game/machine_price.h"

#include "base/context.h"
#include "game/price.h"

#include <string.h>

bool pbi_measured_time(const pb_graph *g, pb_node v, const char *processor, uint64_t *out)
{
    for (uint32_t i = g->note ? g->note_start[v] : 0; g->note && i < g->note_start[v + 1]; i++)
        if (g->note[i].kind == PB_NOTE_TIME && strcmp(g->words[g->note[i].word], processor) == 0) {
            *out = g->note[i].value;
            return true;
        }
    return false;
}

pb_status pbi_formula_duration(pb_context *ctx, const pb_graph *g, const pb_machine *m, const pb_machine_processor *p,
                               pb_node v, uint64_t *out)
{
    pb_work work = pb_graph_work(g, v);
    pb_status status = pb_machine_duration(ctx, m, p, &work, g->cost[v], out);
    if (status == PB_EINVAL || status == PB_ERANGE) {
        char sentence[sizeof ctx->error.message];
        memcpy(sentence, ctx->error.message, sizeof sentence);
        return pbi_fail(ctx, status, "node \"%.80s\": %.400s", pb_graph_name(g, v), sentence);
    }
    return status;
}

static pb_status node_time(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_node v, uint64_t *out)
{
    const pb_machine_processor *p = &m->processors[0];
    return pbi_measured_time(g, v, p->name, out) ? PB_OK : pbi_formula_duration(ctx, g, m, p, v, out);
}

pb_status pb_graph_price(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *result,
                         const pb_graph **out)
{
    const pb_graph *own = g->unpriced ? g->unpriced : g, *timed;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint64_t *cost = pb_arena_alloc(&scratch, (size_t)own->node_count + 1, sizeof *cost);
    pb_graph *priced = pb_arena_alloc(result, 1, sizeof *priced);
    pb_status status = cost && priced ? PB_OK : PB_ENOMEM;
    for (pb_node v = 0; v < own->node_count && status == PB_OK; v++)
        if (pb_graph_is_computed(own, v))
            status = node_time(ctx, own, m, v, &cost[v]);
    pb_graph_costs costs = {.cost = cost, .cost_unit = m->time_unit};
    if (status == PB_OK)
        status = pb_graph_with_costs(ctx, own, &costs, result, &timed);
    pb_arena_release(&scratch);
    if (status != PB_OK)
        return status;
    *priced = *timed;
    priced->priced_by = m;
    priced->unpriced = own;
    *out = priced;
    return PB_OK;
}

/* The first link that joins two memories; NULL: there is none. */
static const pb_machine_link *find_link(const pb_machine *m, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < m->link_count; i++)
        if (m->links[i].from == from && m->links[i].to == to)
            return &m->links[i];
    return NULL;
}

pb_tier pbi_machine_tier(const pb_machine *m, const pb_machine_link *store, const pb_machine_link *load)
{
    const pb_machine_memory *memory = &m->memories[store->to];
    return (pb_tier){
        .store_cost = store->latency,
        .load_cost = load->latency,
        .store_per_unit = store->per_unit,
        .load_per_unit = load->per_unit,
        .cap = memory->cap == PB_UNLIMITED ? PB_UNLIMITED : memory->cap - memory->reserve,
        .store_link = store->name,
        .load_link = load->name,
        .store_bandwidth = m->per_second ? store->bandwidth : 0,
        .load_bandwidth = m->per_second ? load->bandwidth : 0,
        .per_second = m->per_second,
    };
}

uint32_t pb_machine_tiers(const pb_machine *m, pb_tier tiers[PB_MAX_TIERS], uint32_t *count)
{
    uint32_t all = 0;
    for (uint32_t i = 1; i < m->memory_count; i++) {
        const pb_machine_link *store = find_link(m, 0, i), *load = find_link(m, i, 0);
        if (!store || !load)
            continue;
        if (all < PB_MAX_TIERS)
            tiers[all] = pbi_machine_tier(m, store, load);
        all++;
    }
    *count = all < PB_MAX_TIERS ? all : PB_MAX_TIERS;
    return all;
}
