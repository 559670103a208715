/* graph_costs.c -- the same graph with other costs: unchanged parts are shared, so it needs only two arrays. */
#include "base/checked.h"
#include "base/context.h"
#include "pebble/graph.h"

#include <string.h>

static pb_status replace_costs(pb_context *ctx, pb_graph *g, const uint64_t *cost, pb_arena *result)
{
    const pb_graph *old = g;
    uint64_t *own = pb_arena_alloc(result, (size_t)g->node_count + 1, sizeof *own), sum = 0;
    if (!own)
        return PB_ENOMEM;
    uint64_t needed = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool computed = pb_graph_is_computed(g, v);
        own[v] = computed ? cost[v] : old->cost[v];
        if (!pbi_add(sum, own[v], &sum))
            return pbi_fail(ctx, PB_ERANGE, "the sum of all costs exceeds 2^64; use a coarser cost unit");
        needed += computed && (g->flags[v] & PB_NODE_NEEDED) ? own[v] : 0;
    }
    g->cost = own;
    g->needed_cost = needed;
    return PB_OK;
}

/* The recipes with other costs. The sum of the node costs is known to fit. */
static pb_status replace_recipe_costs(pb_context *ctx, pb_graph *g, const uint64_t *cost, pb_arena *result)
{
    uint32_t count = g->recipe_start ? g->recipe_start[g->node_count] : 0;
    pb_recipe *own = pb_arena_alloc(result, count, sizeof *own);
    uint64_t sum = 0;
    if (!count || !cost)
        return PB_OK;
    if (!own)
        return PB_ENOMEM;
    bool fits = true;
    for (pb_node v = 0; v < g->node_count; v++)
        fits = fits && pbi_add(sum, g->cost[v], &sum);
    for (uint32_t i = 0; i < count; i++) {
        own[i] = g->recipe[i];
        own[i].cost = cost[i];
        fits = fits && pbi_add(sum, cost[i], &sum);
    }
    if (!fits)
        return pbi_fail(ctx, PB_ERANGE, "the sum of all costs exceeds 2^64; use a coarser cost unit");
    g->recipe = own;
    return PB_OK;
}

/* "a,b", or the one that is not empty. */
static const char *join(pb_arena *arena, const char *a, const char *b)
{
    size_t first = strlen(a), second = strlen(b);
    if (!first || !second)
        return pb_arena_text(arena, first ? a : b, first ? first : second);
    char *text = pb_arena_alloc(arena, first + second + 2, 1);
    if (!text)
        return NULL;
    memcpy(text, a, first);
    text[first] = ',';
    memcpy(text + first + 1, b, second + 1);
    return text;
}

static pb_status add_extra(pb_graph *g, const char *const *added, pb_arena *result)
{
    pb_node *node = pb_arena_alloc(result, (size_t)g->node_count + 1, sizeof *node);
    const char **text = pb_arena_alloc(result, (size_t)g->node_count + 1, sizeof *text);
    uint32_t count = 0, old = 0;
    if (!node || !text)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool had = old < g->extra_count && g->extra_node[old] == v;
        if (!had && !added[v])
            continue;
        text[count] = join(result, had ? g->extra_text[old] : "", added[v] ? added[v] : "");
        if (!text[count])
            return PB_ENOMEM;
        node[count++] = v;
        old += had;
    }
    g->extra_node = node;
    g->extra_text = text;
    g->extra_count = count;
    return PB_OK;
}

static bool replace_text(pb_arena *result, const char *text, const char **field)
{
    if (text)
        *field = pb_arena_text(result, text, strlen(text));
    return *field != NULL;
}

pb_status pb_graph_with_costs(pb_context *ctx, const pb_graph *g, const pb_graph_costs *costs, pb_arena *result,
                              const pb_graph **out)
{
    pb_graph *copy = pb_arena_alloc(result, 1, sizeof *copy);
    if (!copy)
        return PB_ENOMEM;
    *copy = *g;
    copy->cost_digits = costs->cost_unit ? 0 : g->cost_digits;
    pb_status status = replace_costs(ctx, copy, costs->cost, result);
    if (status == PB_OK)
        status = replace_recipe_costs(ctx, copy, costs->recipe_cost, result);
    if (status == PB_OK && (!replace_text(result, costs->cost_unit, &copy->cost_unit) ||
                            !replace_text(result, costs->size_unit, &copy->size_unit) ||
                            (costs->extra && !(copy->extra = join(result, g->extra, costs->extra)))))
        status = PB_ENOMEM;
    if (status == PB_OK && costs->node_extra)
        status = add_extra(copy, costs->node_extra, result);
    if (status == PB_OK)
        *out = copy;
    return status;
}

pb_status pb_graph_form_hash(pb_context *ctx, const pb_graph *g, char hash[PB_HASH_TEXT])
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_graph form = g->unpriced ? *g->unpriced : *g;
    form.work = NULL; /* work, times and machines are costs too */
    form.note = NULL;
    form.machine = NULL;
    form.cost = pb_arena_zero(&scratch, (size_t)g->node_count + 1, sizeof *form.cost);
    uint32_t recipes = g->recipe_start ? g->recipe_start[g->node_count] : 0;
    pb_recipe *recipe = pb_arena_alloc(&scratch, recipes, sizeof *recipe);
    for (uint32_t i = 0; recipe && i < recipes; i++) {
        recipe[i] = form.recipe[i];
        recipe[i].cost = 0;
        recipe[i].work = (pb_node_work){.op = PB_NO_WORD, .dtype = PB_NO_WORD};
        recipe[i].time_count = 0;
    }
    form.recipe = recipe;
    pb_status status = form.cost && (recipe || !recipes) ? pb_graph_hash(ctx, &form, hash) : PB_ENOMEM;
    pb_arena_release(&scratch);
    return status;
}
