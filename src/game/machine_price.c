/* machine_price.c -- a graph and its slow memories in the times of a machine. */
#include "game/machine_price.h"

#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"

#include <inttypes.h>
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

pb_status pbi_recipe_duration(pb_context *ctx, const pb_graph *g, const pb_machine *m, const pb_machine_processor *p,
                              const pb_recipe *r, uint64_t *out)
{
    for (uint32_t i = 0; i < r->time_count; i++)
        if (strcmp(g->words[r->time[i].word], p->name) == 0) {
            *out = r->time[i].value;
            return PB_OK;
        }
    pb_work work = pb_graph_work_of(g, &r->work);
    return pb_machine_duration(ctx, m, p, &work, r->cost, out);
}

static pb_status price_recipes(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *scratch,
                               const uint64_t **out)
{
    uint32_t count = g->recipe_start ? g->recipe_start[g->node_count] : 0;
    uint64_t *cost = pb_arena_alloc(scratch, count, sizeof *cost);
    pb_status status = cost || !count ? PB_OK : PB_ENOMEM;
    for (pb_node v = 0; count && v < g->node_count; v++)
        for (uint32_t i = g->recipe_start[v]; i < g->recipe_start[v + 1] && status == PB_OK; i++) {
            status = pbi_recipe_duration(ctx, g, m, &m->processors[0], &g->recipe[i], &cost[i]);
            if (status == PB_EINVAL || status == PB_ERANGE) {
                char sentence[sizeof ctx->error.message];
                memcpy(sentence, ctx->error.message, sizeof sentence);
                return pbi_fail(ctx, status, "recipe %" PRIu32 " of node \"%.80s\": %.400s", i - g->recipe_start[v] + 1,
                                pb_graph_name(g, v), sentence);
            }
        }
    *out = count ? cost : NULL;
    return status;
}

static pb_status node_time(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_node v, uint64_t *out)
{
    const pb_machine_processor *p = &m->processors[0];
    return pbi_measured_time(g, v, p->name, out) ? PB_OK : pbi_formula_duration(ctx, g, m, p, v, out);
}

static const pb_machine_memory *find_memory(const pb_machine *m, const char *name)
{
    for (uint32_t i = 0; i < m->memory_count; i++)
        if (strcmp(m->memories[i].name, name) == 0)
            return &m->memories[i];
    return NULL;
}

/* What `fixed` states for a memory; 0 if it names others only. */
static uint64_t fixed_in(const pb_graph *g, const char *memory)
{
    for (uint32_t i = 0; i < g->fixed_count; i++)
        if (strcmp(g->words[g->fixed[i].word], memory) == 0)
            return g->fixed[i].value;
    return 0;
}

static uint64_t usable(const pb_machine_memory *memory)
{
    return memory->cap == PB_UNLIMITED ? PB_UNLIMITED : memory->cap - memory->reserve;
}

/* Whether all memories of `fixed` are the machine's, and those behind the first have room for it; the first is checked
 * with everything else that is in it, against the cap. */
static pb_status check_fixed(pb_context *ctx, const pb_graph *g, const pb_machine *m)
{
    for (uint32_t i = 0; i < g->fixed_count; i++) {
        const char *name = g->words[g->fixed[i].word];
        const pb_machine_memory *memory = find_memory(m, name);
        if (!memory)
            return pbi_fail(ctx, PB_EINVAL,
                            "the graph's \"fixed\" names the memory \"%.60s\", which machine \"%.60s\" does not have "
                            "(its first is \"%.60s\"); rename one of them, or choose another machine",
                            name, m->name, m->memories[0].name);
        if (memory != m->memories && g->fixed[i].value > usable(memory))
            return pbi_fail(ctx, PB_EINVAL,
                            "the graph's \"fixed\" needs %llu in the memory \"%.60s\" of machine \"%.60s\", which has "
                            "%llu; correct one of them",
                            (unsigned long long)g->fixed[i].value, name, m->name, (unsigned long long)usable(memory));
    }
    return PB_OK;
}

/* `fixed` replaces fixed_size: its entry for the machine's first memory is in every peak. */
static pb_status replace_fixed(pb_context *ctx, pb_graph *g, const pb_machine *m)
{
    if (!g->fixed_count)
        return PB_OK;
    pb_status status = check_fixed(ctx, g, m);
    uint64_t fixed = fixed_in(g, m->memories[0].name), workspace = 0, all;
    for (pb_node v = 0; v < g->node_count; v++)
        workspace = g->workspace[v] > workspace ? g->workspace[v] : workspace;
    if (status == PB_OK && (!pbi_add(g->total_size - g->fixed_size, fixed, &g->total_size) ||
                            !pbi_add(g->total_size, workspace, &all) || all == UINT64_MAX))
        status = pbi_fail(ctx, PB_ERANGE, "the sum of all sizes and of \"fixed\" exceeds 2^64; use a coarser unit");
    g->fixed_size = fixed;
    return status;
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
        status = price_recipes(ctx, own, m, &scratch, &costs.recipe_cost);
    if (status == PB_OK)
        status = pb_graph_with_costs(ctx, own, &costs, result, &timed);
    pb_arena_release(&scratch);
    if (status != PB_OK)
        return status;
    *priced = *timed;
    priced->priced_by = m;
    priced->unpriced = own;
    status = replace_fixed(ctx, priced, m);
    if (status == PB_OK)
        *out = priced;
    return status;
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
        .cap = usable(memory),
        .store_link = store->name,
        .load_link = load->name,
        .store_bandwidth = m->per_second ? store->bandwidth : 0,
        .load_bandwidth = m->per_second ? load->bandwidth : 0,
        .per_second = m->per_second,
    };
}

uint32_t pb_graph_tiers(const pb_graph *g, pb_tier tiers[PB_MAX_TIERS], uint32_t *count)
{
    const pb_machine *m = g->priced_by;
    uint32_t all = pb_machine_tiers(m, tiers, count), tier = 0;
    for (uint32_t i = 1; i < m->memory_count && tier < *count; i++)
        if (find_link(m, 0, i) && find_link(m, i, 0)) {
            if (tiers[tier].cap != PB_UNLIMITED)
                tiers[tier].cap -= fixed_in(g, m->memories[i].name); /* pb_graph_price has checked that it fits */
            tier++;
        }
    return all;
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
