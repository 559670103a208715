/* graph_check.c -- a full audit of a frozen graph, for tests and debug builds. */
#include "base/context.h"
#include "pebble/graph.h"

#include <inttypes.h>

static pb_status broken(pb_context *ctx, const char *fact, pb_node v)
{
    return pbi_fail(ctx, PB_EBUG, "broken graph: %s at node %" PRIu32, fact, v);
}

static bool row_has(const uint32_t *start, const pb_node *row, pb_node v, pb_node wanted)
{
    for (uint32_t k = start[v]; k < start[v + 1]; k++)
        if (row[k] == wanted)
            return true;
    return false;
}

static pb_status check_rows(pb_context *ctx, const pb_graph *g)
{
    if (g->in_start[g->node_count] != g->edge_count || g->out_start[g->node_count] != g->edge_count)
        return broken(ctx, "rows do not add up to the edge count", 0);
    for (pb_node v = 0; v < g->node_count; v++) {
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            if (k > g->in_start[v] && g->in[k] <= g->in[k - 1])
                return broken(ctx, "inputs do not ascend", v);
            if (!row_has(g->out_start, g->out, g->in[k], v))
                return broken(ctx, "an input does not list its reader", v);
        }
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
            if (k > g->out_start[v] && g->out[k] <= g->out[k - 1])
                return broken(ctx, "readers do not ascend", v);
        for (uint32_t k = g->inplace_start ? g->inplace_start[v] : 0; g->inplace_start && k < g->inplace_start[v + 1];
             k++)
            if (!row_has(g->in_start, g->in, v, g->inplace[k]))
                return broken(ctx, "`inplace` lists a node that is not an input", v);
    }
    return PB_OK;
}

static pb_status check_order(pb_context *ctx, const pb_graph *g, uint32_t *place)
{
    for (uint32_t i = 0; i < g->order_count; i++) {
        if (place[g->order[i]])
            return broken(ctx, "the order repeats", g->order[i]);
        place[g->order[i]] = i + 1;
    }
    for (pb_node v = 0; v < g->node_count; v++) {
        bool computed = !(g->flags[v] & (PB_NODE_GIVEN | PB_NODE_BYPRODUCT));
        if (computed != (place[v] != 0))
            return broken(ctx, "the order is not exactly the computed nodes", v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k], maker = g->owner && g->owner[u] != PB_NO_NODE ? g->owner[u] : u;
            if (place[maker] >= place[v])
                return broken(ctx, "the order breaks an edge", v);
            if (g->depth[u] >= g->depth[v])
                return broken(ctx, "depth does not grow", v);
            if ((g->flags[v] & PB_NODE_NEEDED) && !(g->flags[u] & PB_NODE_NEEDED))
                return broken(ctx, "an input of a needed node is not needed", v);
        }
    }
    return PB_OK;
}

static pb_status check_byproducts(pb_context *ctx, const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++) {
        bool marked = (g->flags[v] & PB_NODE_BYPRODUCT) != 0;
        bool owned = g->owner && g->owner[v] != PB_NO_NODE;
        if (marked != owned)
            return broken(ctx, "by-product flag and owner differ", v);
        if (owned && !row_has(g->part_start, g->part, g->owner[v], v))
            return broken(ctx, "an owner does not list its by-product", v);
    }
    return PB_OK;
}

static pb_status check_notes(pb_context *ctx, const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++) {
        const pb_node_work *work = g->work ? &g->work[v] : NULL;
        if (work && ((work->op != PB_NO_WORD && work->op >= g->word_count) ||
                     (work->dtype != PB_NO_WORD && work->dtype >= g->word_count)))
            return broken(ctx, "its work has a word that is not in the list", v);
        for (uint32_t k = g->note ? g->note_start[v] : 0; g->note && k < g->note_start[v + 1]; k++)
            if (g->note[k].word >= g->word_count || g->note[k].kind > PB_NOTE_KEEP ||
                (k > g->note_start[v] && g->note[k].kind < g->note[k - 1].kind))
                return broken(ctx, "a note has an unknown word or kind, or kinds do not ascend", v);
    }
    return PB_OK;
}

static bool row_is_sound(const pb_graph *g, pb_node v, const pb_node *row, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (row[i] >= g->node_count || row[i] == v || (i && row[i] <= row[i - 1]))
            return false;
    return true;
}

static pb_status check_recipes(pb_context *ctx, const pb_graph *g)
{
    for (pb_node v = 0; g->recipe_start && v < g->node_count; v++)
        for (uint32_t k = g->recipe_start[v]; k < g->recipe_start[v + 1]; k++) {
            const pb_recipe *r = &g->recipe[k];
            uint32_t found = 0;
            if (!row_is_sound(g, v, r->in, r->in_count) || !row_is_sound(g, v, r->inplace, r->inplace_count))
                return broken(ctx, "the inputs of a recipe do not ascend, or are not other nodes", v);
            for (uint32_t i = 0; i < r->in_count; i++)
                found += found < r->inplace_count && r->inplace[found] == r->in[i];
            if (found != r->inplace_count)
                return broken(ctx, "an in-place entry of a recipe is not an input", v);
            for (uint32_t i = 0; i < r->time_count; i++)
                if (r->time[i].word >= g->word_count)
                    return broken(ctx, "a recipe has an unknown processor", v);
        }
    return PB_OK;
}

pb_status pb_graph_check(pb_context *ctx, const pb_graph *g)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint32_t *place = pb_arena_zero(&scratch, g->node_count, sizeof *place);
    pb_status status = place ? check_rows(ctx, g) : PB_ENOMEM;
    if (status == PB_OK)
        status = check_order(ctx, g, place);
    if (status == PB_OK)
        status = check_byproducts(ctx, g);
    if (status == PB_OK)
        status = check_notes(ctx, g);
    if (status == PB_OK)
        status = check_recipes(ctx, g);
    uint32_t targets = 0;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if (g->flags[v] & PB_NODE_TARGET && (targets >= g->target_count || g->targets[targets++] != v))
            status = broken(ctx, "the target list and flags differ", v);
    if (status == PB_OK && targets != g->target_count)
        status = broken(ctx, "the target list is too long", 0);
    pb_arena_release(&scratch);
    return status;
}
