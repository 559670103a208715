/* graph_json_refs.c -- nodes by index or name in pebble-graph/1; see graph_json.h. */
#include "base/arena.h"
#include "base/context.h"
#include "io/graph_json.h"

#include <inttypes.h>
#include <string.h>

/* Adds the position to an error of the builder, unless memory is exhausted. */
pb_status pbi_graph_placed(pbi_graph_reader *r, pb_status status, pbi_place place)
{
    if (status != PB_OK && status != PB_ENOMEM) {
        r->ctx->error.line = place.line;
        r->ctx->error.column = place.column;
    }
    return status;
}

pb_status pbi_graph_too_large(pbi_graph_reader *r, uint64_t index, pbi_place place)
{
    return pbi_fail_at(r->ctx, PB_EGRAPH, place.line, place.column,
                       "there is no node %" PRIu64 ": the graph has %" PRIu32 " nodes, counted from 0; correct it",
                       index, pb_builder_node_count(r->builder));
}

static pb_status unknown_name(pbi_graph_reader *r, const char *name, size_t length, pbi_place place)
{
    return pbi_fail_at(r->ctx, PB_EGRAPH, place.line, place.column, "no node is named \"%.*s\"; check the spelling",
                       (int)(length < 80 ? length : 80), name);
}

static pb_status check_index(pbi_graph_reader *r, uint64_t index, pbi_place place)
{
    if (r->nodes_known)
        return index < pb_builder_node_count(r->builder) ? PB_OK : pbi_graph_too_large(r, index, place);
    if (index >= PB_MAX_NODES)
        return pbi_fail_at(r->ctx, PB_EGRAPH, place.line, place.column,
                           "there is no node %" PRIu64 ": a graph has at most %u nodes; correct it", index,
                           PB_MAX_NODES);
    if (index >= r->max_index) {
        r->max_index = index + 1;
        r->max_index_place = place;
    }
    return PB_OK;
}

/* Reads the next value as a node. */
pb_status pbi_graph_reference(pbi_graph_reader *r, pbi_field field, pbi_reference *out)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(&r->json, &kind);
    if (status != PB_OK)
        return status;
    pbi_place place = r->json.place;
    if (kind == PBI_JSON_NUMBER) {
        status = pbi_read_whole(&r->json, field, out);
        return status == PB_OK ? check_index(r, *out, place) : status;
    }
    if (kind != PBI_JSON_STRING)
        return pbi_field_fail(&r->json, field, "must name a node by its index or its name, not by %s",
                              pbi_json_kind_name(kind));
    pbi_slice name;
    status = pbi_read_text(&r->json, field, &name);
    if (status != PB_OK)
        return status;
    *out = pb_builder_find(r->builder, name.bytes, name.length);
    if (*out != PB_NO_NODE)
        return PB_OK;
    if (r->nodes_known)
        return unknown_name(r, name.bytes, name.length, place);
    *out = PBI_NAMED | r->names.length;
    bool kept = pbi_bytes_add(&r->names, name.bytes, name.length) && pbi_bytes_add(&r->names, "", 1);
    return kept ? PB_OK : PB_ENOMEM;
}

static pb_status apply(pbi_graph_reader *r, pbi_reference_use use, pb_node a, pb_node b)
{
    switch (use) {
    case PBI_USE_EDGE: return pb_builder_add_edge(r->builder, a, b);
    case PBI_USE_INPLACE: return pb_builder_add_inplace(r->builder, a, b);
    case PBI_USE_BYPRODUCT: return pb_builder_set_byproduct(r->builder, a, b);
    case PBI_USE_TARGET: return pb_builder_add_target(r->builder, b);
    case PBI_USE_ORDER: return pb_builder_add_order(r->builder, b);
    case PBI_USE_RECIPE: return pb_builder_add_recipe_input(r->builder, a, b);
    case PBI_USE_RECIPE_INPLACE: return pb_builder_add_recipe_inplace(r->builder, a, b);
    }
    return PB_OK;
}

static uint32_t narrow(uint64_t value) { return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX; }

/* Passes a pair to the builder, or stores it until its names are known. `order` must keep its order. */
pb_status pbi_graph_relate(pbi_graph_reader *r, pbi_reference_use use, pbi_reference a, pbi_reference b,
                           pbi_place place)
{
    if (!((a | b) & PBI_NAMED) && !(use == PBI_USE_ORDER && r->order_waits))
        return pbi_graph_placed(r, apply(r, use, (pb_node)a, (pb_node)b), place);
    void *items = r->wait;
    if (!pbi_arena_reserve(&r->waits, &items, &r->wait_room, r->wait_count + 1, sizeof *r->wait))
        return PB_ENOMEM;
    r->wait = items;
    r->wait[r->wait_count++] = (pbi_waiting_reference){a, b, narrow(place.line), narrow(place.column), use};
    r->order_waits = r->order_waits || use == PBI_USE_ORDER;
    return PB_OK;
}

static pb_status look_up(pbi_graph_reader *r, pbi_reference node, pbi_place place, pb_node *out)
{
    *out = (pb_node)node;
    if (!(node & PBI_NAMED))
        return PB_OK;
    const char *name = r->names.bytes + (node & ~PBI_NAMED);
    *out = pb_builder_find(r->builder, name, strlen(name));
    return *out == PB_NO_NODE ? unknown_name(r, name, strlen(name), place) : PB_OK;
}

/* The document is complete: resolves all waiting names. */
pb_status pbi_graph_resolve(pbi_graph_reader *r)
{
    if (r->max_index > pb_builder_node_count(r->builder))
        return pbi_graph_too_large(r, r->max_index - 1, r->max_index_place);
    for (size_t i = 0; i < r->wait_count; i++) {
        const pbi_waiting_reference *w = &r->wait[i];
        pbi_place place = {w->line, w->column};
        pb_node a, b;
        pb_status status = look_up(r, w->a, place, &a);
        if (status == PB_OK)
            status = look_up(r, w->b, place, &b);
        if (status == PB_OK)
            status = pbi_graph_placed(r, apply(r, w->use, a, b), place);
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}
